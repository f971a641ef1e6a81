"""Links as the manifest keeps them: enough to explain each, to take it out and to make it again. Pure."""

from __future__ import annotations

from typing import Any

from obsidian_import.edits import unsplice
from obsidian_import.manifest import NoteState
from obsidian_import.model import Edit, Link
from obsidian_import.sidecar import Texts


def record(link: Link) -> dict[str, Any]:
    """A link as one JSON object of an entry's `edits`; offsets count the unlinked text."""
    edit = link.edit
    return {
        "start": edit.start,
        "end": edit.end,
        "old": edit.old,
        "new": edit.new,
        "why": edit.why,
        "target": link.target,
        "text": link.text,
        "tier": link.tier,
        "score": round(link.score, 2),
        "terms": {name: round(value, 2) for name, value in link.terms.items()},
        "line": link.line,
    }


def recorded(state: NoteState) -> list[Link]:
    """Our links in the text we generated last."""
    return [
        Link(
            Edit(e["start"], e["end"], e["old"], e["new"], e["why"]),
            e["target"],
            e["text"],
            e["tier"],
            e["score"],
            e.get("terms", {}),
            e["line"],
        )
        for e in state.entry.edits
    ]


def unlinked(texts: Texts, state: NoteState) -> str | None:
    """The text we generated last, without our links; None where it is lost."""
    text = texts.text(state.base)
    if text is None:
        return None
    try:
        return unsplice(text, [link.edit for link in recorded(state)])
    except ValueError:
        return None


def words(link: Link) -> str:
    """What a reader sees of a link: the linked words, of a talk's own `[[X|y]]` what it shows."""
    if link.tier == "own" and link.text.startswith("\\[\\["):
        return link.text[4:].removesuffix("]]").rpartition("|")[2].rstrip("\\") or link.text
    return link.text
