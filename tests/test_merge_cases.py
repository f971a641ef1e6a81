"""Each file of `cases/merge` is one merge: base, wanted, actual, and what comes of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from obsidian_import.merge import _merge, merge

CASES = sorted((Path(__file__).parent / "cases" / "merge").glob("*.md"))


def parts(text: str) -> dict[str, str]:
    _, *rest = re.split(r"^-- (\w+) --\n", text, flags=re.MULTILINE)
    return dict(zip(rest[::2], rest[1::2], strict=True))


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_case(path: Path) -> None:
    case = parts(path.read_text(encoding="utf-8"))
    merged = merge(case["base"], case["wanted"], case["actual"])
    if "conflict" in case:
        assert merged.conflicts == tuple(case["conflict"].splitlines())
        return
    assert merged.conflicts == ()
    assert merged.text == case["expected"]
    assert merge(case["base"], case["wanted"], merged.text).text == merged.text, "merged a second time"


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_crlf_is_no_edit(path: Path) -> None:
    """A person's editor made CRLF of the file: the same merge, and the file stays CRLF to the last line."""
    case = parts(path.read_text(encoding="utf-8"))
    merged = merge(case["base"], case["wanted"], case["actual"].replace("\n", "\r\n"))
    if "conflict" in case:
        assert merged.conflicts
        return
    assert merged.text == case["expected"].replace("\n", "\r\n")


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_bom_and_missing_last_newline_are_no_edits(path: Path) -> None:
    case = parts(path.read_text(encoding="utf-8"))
    merged = merge(case["base"], case["wanted"], "\ufeff" + case["actual"].rstrip("\n"))
    if "conflict" in case:
        assert merged.conflicts
        return
    assert merged.text.startswith("\ufeff")
    assert merged.text[1:].rstrip("\n") == case["expected"].rstrip("\n")


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_the_laws_hold_for_the_merge_proper(path: Path) -> None:
    case = parts(path.read_text(encoding="utf-8"))
    b, w, a = case["base"], case["wanted"], case["actual"]
    for actual in (a, a.replace("\n", "\r\n"), a.replace("\n", "\r\n", 9), "\ufeff" + a.rstrip("\n")):
        assert _merge(b, b, actual).text == actual
    assert _merge(b, w, w).text == w
    assert _merge(b, w, b).text.split() == w.split()


def test_a_file_with_both_line_ends_keeps_them_and_gets_the_commoner_one() -> None:
    block, first, second = "---\nmessages: 1\n---\n", "## You · 3f2a\n\nHello\nthere", "\n\n## Claude · 77b0\n\nHi\n"
    actual = (block + first).replace("\n", "\r\n") + "\nmine\n"
    merged = merge(block + first + "\n", block.replace("1", "2") + first + second, actual)
    assert merged.conflicts == ()
    ours = (block.replace("1", "2") + first).replace("\n", "\r\n")
    assert merged.text == ours + "\nmine" + second.replace("\n", "\r\n")
