"""5 PLAN: what is wanted + what is there + what we left last time → a Plan. Pure.

One rule with three states decides everything (`reconcile`): import, undo and relink differ only in what they call
base and wanted. States are compared by digest; texts are only fetched where two sides changed and must be merged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from obsidian_import.manifest import Change
from obsidian_import.merge import Merged
from obsidian_import.model import Problem

Action = Literal["create", "update", "delete", "keep", "conflict", "skip"]


@dataclass(frozen=True, slots=True)
class Keep:
    """The file stays as it is; why."""

    why: str


@dataclass(frozen=True, slots=True)
class Set:
    """The file becomes this text (a digest; None: it goes)."""

    after: str | None
    why: str
    merged: str | None = None
    """The merged text where neither side alone is the outcome; then `after` is not known yet."""


@dataclass(frozen=True, slots=True)
class Clash:
    """Both sides changed the same thing: the person's file stays, and we say so."""

    why: str


def reconcile(
    base: str | None, wanted: str | None, actual: str | None, merge: Callable[[], Merged | None]
) -> Keep | Set | Clash:
    """The one rule of architecture §4, on digests. `merge` is called only when all three differ and exist.

    `merge` gives None where a text it needs is lost; that is a conflict, never a guess.
    """
    if wanted == actual:
        return Keep("already so")
    if base == actual:
        return Set(wanted, "")
    if base == wanted:
        return Keep("you changed it, the source did not")
    if actual is None:
        return Keep("you deleted it")
    if base is None:
        return Clash("a note stands here that the manifest does not know")
    if wanted is None:
        return Clash("you have changed it since")
    merged = merge()
    if merged is None:
        return Clash("the text we last wrote is lost, so your edits cannot be told from ours")
    if merged.conflicts:
        return Clash("you and the source changed the same lines: " + "; ".join(merged.conflicts[:3]))
    return Set(None, "merged with your edits", merged.text)


@dataclass(frozen=True, slots=True)
class Row:
    """One note of a plan, as people and scripts read it (the `notes` of `--json`)."""

    action: Action
    key: str
    path: str
    title: str = ""
    source: str = ""
    origin: str = ""
    project: str = ""
    created: str = ""
    tags: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    """Tag → the word that gave it."""
    links: tuple[Mapping[str, Any], ...] = ()
    redactions: Mapping[str, int] = field(default_factory=dict)
    inert: Mapping[str, int] = field(default_factory=dict)
    part: int = 1
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        """The object of the contract; `part` only where a talk has several."""
        row: dict[str, Any] = {
            "action": self.action,
            "key": self.key,
            "path": self.path,
            "title": self.title,
            "source": self.source,
            "origin": self.origin,
            "project": self.project,
            "created": self.created,
            "tags": list(self.tags),
            "tag_words": dict(self.words),
            "links": [
                {k: link[k] for k in ("target", "text", "line", "tier", "score", "why", "sentence") if k in link}
                for link in self.links
            ],
            "redactions": dict(self.redactions),
            "inert": dict(self.inert),
            "why": self.why,
        }
        if self.part > 1:
            row["part"] = self.part
        return row


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a run would do. A dry run prints it and stops; `apply` carries out the same value."""

    command: str
    rows: tuple[Row, ...] = ()
    changes: tuple[Change, ...] = ()
    problems: tuple[Problem, ...] = ()
    undoes: str = ""
    refused: tuple[tuple[str, int], ...] = ()
    read: int = 0
    """Talks read."""
    notices: tuple[str, ...] = ()
    """What a person should know that is no problem (sessions soon deleted, notes that were moved)."""

    def totals(self) -> dict[str, int]:
        """The `totals` of `--json`."""
        count: dict[str, int] = dict.fromkeys(("create", "update", "keep", "conflict", "skip"), 0)
        links = redactions = 0
        for row in self.rows:
            count[row.action] = count.get(row.action, 0) + 1
            links += len(row.links)
            redactions += sum(row.redactions.values())
        return {"read": self.read, **count, "links": links, "redactions": redactions}

    def as_json(self, run: str | None, vault: str, *, dry_run: bool) -> dict[str, Any]:
        """The object that `import`, `undo` and `relink` print with `--json`."""
        return {
            "run": run,
            "dry_run": dry_run,
            "vault": vault,
            "notes": [row.as_json() for row in self.rows],
            "problems": [{"source": p.source, "line": p.line, "what": p.what, "hint": p.hint} for p in self.problems],
            "totals": self.totals(),
            "notices": list(self.notices),
        }

    @property
    def needs_a_look(self) -> bool:
        """Exit 4: a conflict, or an input of which nothing could be read."""
        return any(r.action == "conflict" for r in self.rows) or any(p.fatal for p in self.problems)


def conflicts(rows: Sequence[Row]) -> list[Row]:
    """The rows a person has to look at."""
    return [r for r in rows if r.action == "conflict"]
