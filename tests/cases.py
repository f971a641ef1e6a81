"""Reads case files: text that goes in, and what must come out.

A file is an optional first line `# flags: a, b`, the input, and, where it must change, a line `# output` and the result.
Without that line the input must stay as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CASES = Path(__file__).parent / "cases"


class Case(NamedTuple):
    name: str
    flags: frozenset[str]
    input: str
    expected: str


def read_cases(folder: str) -> Iterator[Case]:
    """The cases of `tests/cases/<folder>`, sorted by name."""
    for path in sorted((CASES / folder).glob("*.md")):
        text = path.read_bytes().decode("utf-8")
        flags: frozenset[str] = frozenset()
        if text.startswith("# flags:"):
            line, _, text = text.partition("\n")
            flags = frozenset(flag.strip() for flag in line[8:].split(",") if flag.strip())
        given, marker, wanted = text.partition("\n# output\n")
        yield Case(path.stem, flags, given + "\n" if marker else text, wanted if marker else text)
