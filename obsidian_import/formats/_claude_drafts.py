"""Turns while they may still grow, and what becomes of them at the end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from obsidian_import.formats import _claude_records as records
from obsidian_import.model import Aside, Block, Role, Turn

_NESTED = 6
"""So many folded things stand inside each other at most; the rest stands in line."""


@dataclass(slots=True, eq=False)
class Draft:
    """A turn that may still grow."""

    id: str
    role: Role
    at: str
    blocks: list[Block] = field(default_factory=list)
    parent: str = ""
    queued: str = ""
    """Text of a message that so far only stands in the queue; such a draft may turn out to be a second copy."""
    dead: bool = False
    depth: int = 0
    """How many abandoned branches are folded into each other inside."""


def fold_rewound(drafts: list[Draft]) -> list[Draft]:
    """Fold what was rewound: a prompt, answered, and later asked anew from the same place."""
    kept: list[Draft] = []
    asked: dict[str, int] = {}
    for draft in drafts:
        place = asked.get(draft.parent) if draft.role == "user" and draft.parent else None
        if place is not None and any(d.role == "assistant" for d in kept[place:]):
            gone = kept[place:]
            depth = 1 + max(d.depth for d in gone)
            if depth <= _NESTED:
                del kept[place:]
                for one in gone:
                    if asked.get(one.parent, -1) >= place:
                        del asked[one.parent]
                first = gone[0]
                earlier = [b for b in first.blocks if isinstance(b, Aside) and b.kind == "branch"]
                first.blocks = [b for b in first.blocks if b not in earlier]
                turns = tuple(Turn(d.id, d.role, tuple(d.blocks), records.when(d.at)) for d in gone)
                draft.blocks += [*earlier, Aside("branch", "Abandoned: asked again from here", turns)]
                draft.depth = depth if len(gone) > 2 or not earlier else first.depth
        if draft.role == "user" and draft.parent:
            asked.setdefault(draft.parent, len(kept))
        kept.append(draft)
    return kept


def unique(drafts: list[Draft]) -> None:
    """No id twice: foreign writers repeat them, and a note's headings are made of them."""
    seen: Counter[str] = Counter()
    for draft in drafts:
        seen[draft.id] += 1
        if seen[draft.id] > 1:
            draft.id = f"{draft.id}-{seen[draft.id]}"
