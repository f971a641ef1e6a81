"""Golden cases of the account exports: as `format_cases`, and the text of a document is shown too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from obsidian_import.model import Aside, Block, Conversation, Found, Media, Turn
from tests import format_cases

REGEN = bool(os.environ.get("OBSIDIAN_IMPORT_REGEN"))
"""Read before a fixture takes such variables away."""


def check(case: Path) -> None:
    """Compare what is read of a case with its expected file (or write that file)."""
    for path in [case, *case.rglob("*")] if case.is_dir() else [case]:
        os.utime(path, (format_cases.FIXED_MTIME, format_cases.FIXED_MTIME))
    lines = [line for found in format_cases.read(case) for line in show(found)]
    text = "\n".join(lines).replace(f"{case.parent}{os.sep}", "") + "\n"
    expected = case.with_name(case.name + ".expected.txt")
    if REGEN:
        expected.write_bytes(text.encode())
    assert text == expected.read_bytes().decode()


def show(found: Found) -> Iterator[str]:
    if isinstance(found, Conversation):
        found = replace(
            found,
            turns=tuple(map(_turn, found.turns)),
            asides=tuple(b for one in found.asides for b in _block(one)),  # type: ignore[misc]
        )
    yield from format_cases.show(found)


def _turn(turn: Turn) -> Turn:
    return replace(turn, blocks=tuple(shown for block in turn.blocks for shown in _block(block)))


def _block(block: Block) -> tuple[Block, ...]:
    if isinstance(block, Media) and block.text is not None:
        return block, Aside("context", "the text of this document", text=block.text)
    if isinstance(block, Aside):
        return (replace(block, turns=tuple(map(_turn, block.turns))),)
    return (block,)
