"""Our links to notes that got another name or place: mended, not dropped. Pure but for the world it is given.

The linker only links what a note is called today. Where a note of ours links "Old name" and that note is now
"New name", the words still mean it: the link is kept with the new target, and says why it is there.
"""

from __future__ import annotations

from collections.abc import Sequence

from obsidian_import.manifest import NoteState
from obsidian_import.model import Edit, Link
from obsidian_import.names.addresses import render_link
from obsidian_import.records import recorded, unlinked, words
from obsidian_import.world import World

_AROUND = 24  # characters on each side by which a place is found again in a text that has grown


def with_renamed(world: World, state: NoteState | None, text: str, path: str, found: Sequence[Link]) -> Sequence[Link]:
    """`found`, and the links of last time whose notes were renamed; `text` is unlinked, in order, nothing overlaps."""
    if state is None:
        return found
    notes = world.snapshot.notes
    stale = [link for link in recorded(state) if link.target not in notes or "renamed" in link.terms]
    if not stale:
        return found
    from obsidian_import.suggestions import repair  # noqa: PLC0415 (only for what is stale)

    index = world.lexicon.index
    became = repair({link.target for link in stale}, index, world.lexicon)
    before = unlinked(world.texts, state) or ""
    linked = {link.target for link in found}
    kept = list(found)
    for link in stale:
        target = became.get(link.target)
        if target is None or target in linked or target not in notes or notes[target].ours:
            continue
        start = _place(link, before, text)
        if start is None or any(start < o.edit.end and o.edit.start < start + len(link.edit.old) for o in kept):
            continue
        address = index.address(target, path)
        new = render_link(
            address.text, words(link), table="\\|" in link.edit.new, markdown=index.settings.markdown_links
        )
        if address.problem or new is None:
            continue
        old_name = link.target.rpartition("/")[2].removesuffix(".md")
        why = (
            link.edit.why if "renamed" in link.terms else f"{old_name} is called {address.text.rpartition('/')[2]} now"
        )
        edit = Edit(start, start + len(link.edit.old), link.edit.old, new, why)
        line = text.count("\n", 0, start) + 1
        kept.append(Link(edit, target, link.text, link.tier, link.score, {**link.terms, "renamed": 1.0}, line))
        linked.add(target)
    return sorted(kept, key=lambda one: one.edit.start)


def _place(link: Link, before: str, text: str) -> int | None:
    """Where the linked words stand now: at the same offset, else where their surroundings stand exactly once."""
    edit = link.edit
    if text[: edit.end] == before[: edit.end]:
        return edit.start
    left = before[max(0, edit.start - _AROUND) : edit.start]
    words = left + edit.old + before[edit.end : edit.end + _AROUND]
    at = text.find(words) if words.strip() else -1
    return at + len(left) if at >= 0 and text.find(words, at + 1) < 0 else None
