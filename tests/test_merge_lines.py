"""Lines of one section: what both sides may do without a conflict, and what they may not."""

from __future__ import annotations

import pytest

from obsidian_import.lines import merge_lines

CONFLICT = None


def lines(*given: str) -> str:
    return "\n".join(given)


@pytest.mark.parametrize(
    ("base", "wanted", "actual"),
    [
        (lines("p", "x", "q"), lines("p", "X", "q"), lines("p", "mine", "q")),
        (lines("p", "x", "q"), lines("p", "q"), lines("p", "mine", "q")),
        (lines("p", "x", "q"), lines("p", "X", "q"), lines("p", "q")),
        # Our blank line is among theirs, but their line took the place of one that we took out.
        (lines("p", "x", "q"), lines("p", "", "q"), lines("p", "mine", "", "q")),
        # What one side put in stands in the midst of what the other rewrote.
        (lines("p", "a", "b", "q"), lines("p", "a", "ours", "b", "q"), lines("p", "mine", "q")),
        (lines("p", "a", "b", "q"), lines("p", "ours", "q"), lines("p", "a", "mine", "b", "q")),
        # Code that nobody wrote.
        (lines("```", "a", "b", "```"), lines("```", "a", "B", "```"), lines("```", "a", "b", "mine", "```")),
        (lines("```", "a", "b", "```"), lines("```", "a", "ours", "", "b", "```"), lines("```", "a", "mine", "", "b", "```")),
        # Both put lines between two that belong together.
        (lines("a", "b"), lines("a", "ours", "b"), lines("a", "mine", "b")),
        # The person took the link out; we changed the words around it as well.
        ("see [[Kafka]] now", "see [[Kafka]] then", "see Kafka now"),
        (lines("a", "b"), "c", "d"),
        (lines("a", "b"), "", lines("a", "b", "c", "d").replace("a", "A")),
    ],
)  # fmt: skip
def test_conflict(base: str, wanted: str, actual: str) -> None:
    assert merge_lines(base, wanted, actual) is CONFLICT


@pytest.mark.parametrize(
    ("base", "wanted", "actual", "expected"),
    [
        # Links of ours: the person's line stays where only links changed on it.
        ("see [[Kafka]] now", "see Kafka now", "see [[Kafka]] today", "see [[Kafka]] today"),
        ("see [[Kafka]]", "see [[a/Kafka|Kafka]]", "see Kafka", "see Kafka"),
        (r"| [[A\|B]] |", "| B |", "| B, mine |", "| B, mine |"),
        (r"see \[\[X]]", "see [[X]]", r"see \[\[X]] here", r"see \[\[X]] here"),
        ("[[A]] and [[B]]", "[[A]] and [[c/B|B]]", "A and [[B]]", "A and [[B]]"),
        ("a [[K]]", "a K", lines("a [[K]], mine", "second"), lines("a [[K]], mine", "second")),
        (lines("a [[K]]", "x"), lines("a K", "X"), lines("a [[K]], mine", "x"), lines("a [[K]], mine", "X")),
        # A trimmed line is ours still; blanks that a person put behind a line are theirs.
        ("gamma  ", "delta", lines("gamma", "", "mine"), lines("delta", "", "mine")),
        (lines("a", "b"), lines("a", "B"), lines("a  ", "b"), lines("a  ", "B")),
        # Lines beside changed ones.
        (lines("a", "b"), lines("A", "b"), lines("a", "mine", "b"), lines("A", "mine", "b")),
        (lines("a", "b"), lines("a", "ours", "b"), lines("a", "B"), lines("a", "ours", "B")),
        (lines("a", "", "b"), lines("a", "", "ours", "", "b"), lines("a", "", "mine", "", "b"),
         lines("a", "", "ours", "", "mine", "", "b")),
        # The same on both sides, or one among the other.
        ("a", lines("a", "x"), lines("a", "x"), lines("a", "x")),
        ("a", lines("a", "x"), lines("a", "x", "mine"), lines("a", "x", "mine")),
        ("a", lines("a", "x", "y"), lines("a", "x"), lines("a", "x", "y")),
        ("a", "A", lines("A", "mine"), lines("A", "mine")),
        # Nothing left, nothing there.
        ("", "a", "b", lines("a", "b")),
        (lines("a", "b"), lines("a", "b", "c"), "", "c"),
        # Only \n ends a line.
        ("a\u2028b\x0cc", "a\u2028b\x0cc\nd", "a\u2028b\x0cC", "a\u2028b\x0cC\nd"),
    ],
)  # fmt: skip
def test_clean(base: str, wanted: str, actual: str, expected: str) -> None:
    assert merge_lines(base, wanted, actual) == expected
    assert merge_lines(base, wanted, expected) == expected, "merged a second time"


def test_mixed_line_ends_stay_where_they_are() -> None:
    assert merge_lines("a\nb", "a\nB", "a\r\nb\n\r\nmine", "\r\n") == "a\r\nB\r\n\r\nmine"
    assert merge_lines("a", "a\n\nours", "a\r\nmine", "\r\n") == "a\r\nmine\r\n\r\nours"
    assert merge_lines("a", "a\n\nours", "a\n\r\nmine", "\n") == "a\n\nours\n\r\nmine"
