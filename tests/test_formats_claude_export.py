"""The text of /export: what is read of it, and that a talk keeps its identity when it is exported again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_import.formats.claude_export import is_export
from obsidian_import.formats.terminal import unwrap
from obsidian_import.model import Conversation, Skip
from tests import format_cases

FOLDER = "claude-export"


@pytest.mark.parametrize("case", format_cases.cases(FOLDER), ids=lambda case: case.name)
def test_golden(case: Path) -> None:
    format_cases.check(case)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "> a quote\n\nand an answer\n",
        "> a quote\n● a bullet\n",
        "# About\n\n ▐▛███▜▌ is the sign of Claude Code\n",
        "Some\nlines\nand\nmore\n ▐▛███▜▌   Claude Code v2.1.119\n",
        "╭────╮\n│ hi │\n╰────╯\n",
    ],
)
def test_other_texts_are_no_exports(text: str) -> None:
    assert not is_export(text)


def _export(width: int, answer: str, more: str = "") -> str:
    lines: list[str] = []
    line = "●"
    for word in answer.split():
        if len(line) + 1 + len(word) > width:
            lines.append(line)
            line = " "
        line += f" {word}"
    lines.append(line)
    return (
        f" ▐▛███▜▌   Claude Code v2.1.119\n▝▜█████▛▘  Opus\n  ▘▘ ▝▝    ~/app\n\n❯ why?\n\n{chr(10).join(lines)}\n{more}"
    )


def test_identity_survives_growth_another_width_and_another_name(tmp_path: Path) -> None:
    answer = "Because the parser reads every line twice, and the second time it does so without its cache. " * 3
    a, b = tmp_path / "2026-01-01-why.txt", tmp_path / "other.md"
    a.write_text(_export(80, answer))
    b.write_text(_export(100, answer, "\n❯ and now?\n\n● Now it does not.\n"))
    found = format_cases.read(a, b)
    talks = [one for one in found if isinstance(one, Conversation)]
    assert [len(talk.turns) for talk in talks] == [4]
    assert talks[0].turns[1].text == answer.strip()
    assert [one.source for one in found if isinstance(one, Skip)] == [str(a)]


@given(st.lists(st.from_regex(r"[a-z]{1,12}", fullmatch=True), min_size=1, max_size=80), st.integers(30, 120))
def test_unwrap_undoes_a_greedy_wrap(words: list[str], width: int) -> None:
    lines, line = [], ""
    for word in words:
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
    lines.append(line)
    assert unwrap(lines, width) == " ".join(words)


def test_a_drawn_table_is_put_into_a_fence() -> None:
    assert unwrap(["text", "┌──┐", "│ x│", "└──┘", "more"], 78) == "text\n```\n┌──┐\n│ x│\n└──┘\n```\nmore"


@pytest.mark.parametrize(
    "lines",
    [
        ["a short line", "and another"],
        ["- " + "x" * 70, "- " + "y" * 70],
        ["def f():", "    " + "return 1"],
        ["1. " + "x" * 74, "2. " + "y" * 74],
    ],
)
def test_unwrap_keeps(lines: list[str]) -> None:
    assert unwrap(lines, 78) == "\n".join(lines)


_PIECES = [
    *" >❯⏺●⎿✻∴※!#\n│╭╰─▐▛█▜▌ab(c):-\x1b\u00a0",
    "  ⎿  ",
    "\n● ",
    "\n❯ ",
    "Claude Code v2",
    "\nBash(",
    "\n● " + "Name" * 9 + "(",
    "x" * 90,
    " (ctrl+o to expand)",
    "\n  ",
]


@given(st.lists(st.sampled_from(_PIECES), max_size=200).map("".join))
def test_never_raises(text: str) -> None:
    file = _Memory("x/2026-02-03-x.txt", (" ▐▛███▜▌   Claude Code v2.1.119\n" + text).encode("utf-8", "surrogatepass"))
    from obsidian_import.formats import claude_export
    from obsidian_import.model import Group

    claude_export.claims(file)
    for found in claude_export.read(Group("claude-export", (file,))):
        list(format_cases.show(found))


@given(st.binary(max_size=2000))
def test_never_raises_on_bytes(raw: bytes) -> None:
    from obsidian_import.formats import claude_export
    from obsidian_import.model import Group

    file = _Memory("x/x.txt", raw)
    claude_export.claims(file)
    for found in claude_export.read(Group("claude-export", (file,))):
        list(format_cases.show(found))


_Memory = format_cases.MemoryFile
