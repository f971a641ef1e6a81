"""Chat Markdown in, Obsidian Markdown out: what must stay first, then what must change, then the laws."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_import.render import dialect

CASES = sorted((Path(__file__).parent / "cases" / "dialect").glob("*.md"), key=lambda p: (p.name[:4] != "stay", p.name))


def load(path: Path) -> tuple[str, str, str]:
    # bytes, because a case may hold a carriage return
    flags, _, rest = path.read_bytes().decode().partition("\n=== input\n")
    given_text, _, expected = rest.partition("\n=== expected\n")
    return flags, given_text, expected.removesuffix("\n")


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_case(path: Path) -> None:
    flags, text, expected = load(path)
    assert dialect.convert(text, headings="headings=no" not in flags) == expected
    if path.name.startswith("stay"):
        assert text == expected


def test_there_are_cases() -> None:
    assert sum(p.name.startswith("stay") for p in CASES) >= 20
    assert sum(p.name.startswith("change") for p in CASES) >= 20


ALPHABET = [
    "#",
    "##",
    "# ",
    "\n",
    "\n\n",
    "`",
    "```",
    "~~~",
    "$",
    "$$",
    "\\",
    "\\(",
    "\\)",
    "\\[",
    "\\]",
    "-",
    "---",
    "===",
    "=",
    " ",
    "    ",
]
PIECES = st.sampled_from(
    [*ALPHABET, "> ", "- ", "1. ", "x", "5", "word", "x^2", "|", "## You · 3f2a", "\x1b[1m", "\t", "\r", "·", "é"]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=60))


@given(TEXTS)
def test_no_line_looks_like_a_message_heading(text: str) -> None:
    assert not dialect.MESSAGE_HEADING.search(dialect.convert(text))
    assert not dialect.MESSAGE_HEADING.search(dialect.convert(text, headings=False))


@given(TEXTS)
def test_outside_fences_every_heading_is_below_a_message(text: str) -> None:
    out = dialect.convert(text)
    for code, piece in dialect.outside(out):
        if not code:
            assert not re.search(r"^#{1,2}(?=[ \t]|$)", piece, re.MULTILINE)


@given(TEXTS)
def test_fenced_code_stays_byte_for_byte(text: str) -> None:
    text = dialect.terminal(text)
    before = [piece for code, piece in dialect.outside(text) if code]
    out = dialect.convert(text)
    for piece in before:
        assert dialect.MESSAGE_HEADING.sub(lambda hit: " " + hit[0], piece) in out


@given(TEXTS)
def test_pieces_are_the_text(text: str) -> None:
    assert "".join(piece for _, piece in dialect.outside(text)) == text


LETTERS = re.compile(r"[^\W_]+")


@given(TEXTS)
def test_no_word_is_lost(text: str) -> None:
    text = dialect.terminal(text)
    assert LETTERS.findall(dialect.convert(text)) == LETTERS.findall(text)


@given(TEXTS)
def test_words_without_signs_stay(text: str) -> None:
    plain = re.sub(r"[#$\\=\x00-\x09\x0b-\x1f\x7f-\x9f-]", "", text)
    assert dialect.convert(plain) == plain


@given(
    st.lists(
        st.sampled_from(["$5", "$6.50", "costs", "to", "and", "$1,000", "US$7", "(", ")", ","]), min_size=1, max_size=12
    )
)
def test_money_never_becomes_maths(words: list[str]) -> None:
    out = dialect.convert(" ".join(words))
    bare = re.findall(r"(?<!\\)\$", out)
    assert len(bare) <= 1


@given(TEXTS)
def test_terminal_leaves_no_escape_and_settles(text: str) -> None:
    once = dialect.terminal(text)
    assert "\x1b" not in once
    assert "\r" not in once


@pytest.mark.parametrize(
    "text",
    [
        "`" * 30_000,
        "\\(" * 20_000,
        "$" * 30_000,
        "$x" * 20_000,
        "```\n" * 10_000,
        "> " * 20_000,
        "a\n-" * 10_000,
        "\\[" * 20_000,
        "# " * 20_000,
        "- " * 20_000 + "```",
        "`a`` " * 10_000,
        "$a\\" * 10_000,
        "\\[a\n" * 8_000,
        "x\n" * 20_000 + "---",
        ("x\n" * 300 + "- \n") * 50 + "---",
        "1. " * 9_000 + "```",
        "    ```\n" * 6_000,
        "$1 a " * 10_000,
        "[](" * 10_000,
        "~~~ `\n" * 8_000,
    ],
)
def test_hostile_texts_end(text: str) -> None:
    # a quadratic rule would take minutes here; the suite's own limit is what fails
    assert isinstance(dialect.convert(text), str)
