"""Relink: the same generated text with the links of today's vault, as a plan. Reads only.

The unlinked text of a note is what we generated last, with our own edits taken out again; so a note can be linked
anew long after its transcript was deleted. What a person has done to the note is merged as in an import.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable
from typing import Any

from obsidian_import.landing import Lander, Wanted, linker
from obsidian_import.manifest import Change, NoteState
from obsidian_import.plan import Plan, Row
from obsidian_import.properties import read as read_properties
from obsidian_import.records import unlinked
from obsidian_import.world import World


def row_of(state: NoteState, text: str) -> Row:
    """What the generated text says of its own talk."""
    said = read_properties(text)
    tags = said.get("tags")
    return Row(
        "keep",
        state.key,
        state.path,
        title=state.entry.title,
        source=state.entry.source,
        origin=str(said.get("origin", "")),
        project=str(said.get("project", "")),
        created=str(said.get("created", "")),
        tags=tuple(str(t) for t in tags) if isinstance(tags, list) else (),
        words=dict(state.entry.tags),
        redactions=dict(state.entry.redactions),
        inert=dict(state.entry.inert),
        part=state.part,
    )


def relink(
    world: World,
    lander: Lander,
    only: Collection[str] | None = None,
    without: Container[tuple[str, int]] = (),
    *,
    command: str = "relink",
    mend: Callable[[str], str] = str,
) -> Plan:
    """The plan that brings our notes (`only` these paths or keys; `without` these) to what today's vault says.

    `mend` is applied to the unlinked text first (`check --repair`).
    """
    rows: list[Row] = []
    changes: list[Change] = []
    for state in chosen(world, only):
        if (state.key, state.part) in without:
            continue
        text = unlinked(world.texts, state)
        path = world.find(state.key, state.part, state.path)
        if text is None:
            rows.append(_lost(state, path))
            continue
        if path is None:
            continue  # deleted by a person, or not downloaded: neither is brought back by links
        text = mend(text)
        wanted = Wanted(
            key=state.key,
            part=state.part,
            text=text,
            row=row_of(state, text),
            source=state.entry.source,
            assets=tuple(state.entry.assets),
            project=state.entry.project,
        )
        row, change = lander.land(wanted, path, state, exists=True)
        rows.append(row)
        if change is not None:
            changes.append(change)
    return Plan(command, tuple(rows), tuple(changes), read=len(rows))


def chosen(world: World, only: Iterable[str] | None) -> list[NoteState]:
    """The notes that stand, in the order of their paths; with `only`, those with one of these paths or keys."""
    states = sorted(world.states(), key=lambda s: (s.path, s.part))
    if only is None:
        return states
    names = {name.removesuffix(".md") for name in only}
    return [
        s
        for s in states
        if names & {s.key, s.path.removesuffix(".md"), (world.find(s.key, s.part, s.path) or "").removesuffix(".md")}
    ]


def _lost(state: NoteState, path: str | None) -> Row:
    return Row(
        "conflict",
        state.key,
        path or state.path,
        title=state.entry.title,
        source=state.entry.source,
        part=state.part,
        why="the text we generated is lost from the sidecar: import the talk again, then relink",
    )


def suggestions(world: World) -> list[dict[str, Any]]:
    """Likely links over all our notes, most useful first: text, target, reason, how many notes, where."""
    judge = linker(world)
    pairs: dict[tuple[str, str], dict[str, Any]] = {}
    for state in world.states():
        text, path = unlinked(world.texts, state), world.find(state.key, state.part, state.path)
        if text is None or path is None:
            continue
        for miss in judge.find(text, path, suggest=True).misses:
            if not miss.suggested:
                continue
            item = pairs.setdefault(
                (miss.text.casefold(), miss.target),
                {
                    "text": miss.text,
                    "target": miss.target,
                    "reason": miss.reason,
                    "notes": 0,
                    "score": miss.score,
                    "in": [],
                },
            )
            item["notes"] += 1
            item["score"] = max(item["score"], miss.score)
            item["in"].append(path)
    return sorted(pairs.values(), key=lambda i: (-i["notes"], -i["score"], i["text"]))
