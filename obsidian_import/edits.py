"""Exact edits: a finder yields them, one place applies them, last to first, each guarded by what it expects to find.

Texts are never changed through placeholders; an edit carries what it replaces, so it can be checked and taken back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from obsidian_import.model import Edit


def splice(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits; ValueError where one does not fit the text or overlaps another."""
    parts: list[str] = []
    done = 0
    for edit in sorted(edits, key=_place):
        if edit.start < done or edit.end - edit.start != len(edit.old) or text[edit.start : edit.end] != edit.old:
            raise ValueError(f"edit at {edit.start} does not fit: {edit.old!r} is not there, or two edits overlap")
        parts += (text[done : edit.start], edit.new)
        done = edit.end
    parts.append(text[done:])
    return "".join(parts)


def unsplice(text: str, edits: Sequence[Edit]) -> str:
    """The inverse of `splice` with the same edits; ValueError where the text is not what they left."""
    moved = 0
    back: list[Edit] = []
    for edit in sorted(edits, key=_place):
        start = edit.start + moved
        back.append(Edit(start, start + len(edit.new), edit.new, edit.old, edit.why))
        moved += len(edit.new) - len(edit.old)
    return splice(text, back)


def _place(edit: Edit) -> tuple[int, int]:
    return edit.start, edit.end
