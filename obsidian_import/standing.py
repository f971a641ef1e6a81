"""How a note of ours stands: as we left it, edited, moved, deleted, in conflict, or not downloaded. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from obsidian_import.manifest import NoteState
from obsidian_import.world import World


@dataclass(frozen=True, slots=True)
class Standing:
    """One note as it lies there now, against what the manifest says."""

    key: str
    part: int
    path: str
    was: str
    state: Literal["as left", "edited", "deleted", "unknown", "conflict"]
    why: str = ""

    @property
    def moved(self) -> bool:
        """Whether a person put it elsewhere."""
        return self.state not in ("deleted", "unknown") and self.path != self.was


def standing(world: World, state: NoteState) -> Standing:
    """Look at one note. A file that cannot be read counts as unknown, never as deleted."""
    path = world.find(state.key, state.part, state.path)
    if path is None:
        name = state.path.rpartition("/")[2]  # a stub has no identity but its name, wherever it was moved
        stub = next((p for p in world.snapshot.undownloaded if p.rpartition("/")[2] == name), None)
        return Standing(state.key, state.part, stub or state.path, state.path, "unknown" if stub else "deleted")
    clash = world.clashes.get((state.key, state.part))
    if clash is not None:
        return Standing(state.key, state.part, path, state.path, "conflict", clash)
    try:
        actual = world.actual(path)
    except OSError as error:
        return Standing(state.key, state.part, path, state.path, "unknown", error.strerror or str(error))
    return Standing(state.key, state.part, path, state.path, "as left" if actual == state.landed else "edited")
