"""What holds for every merge, whatever the texts; and what git makes of the same lines."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from obsidian_import import properties
from obsidian_import.lines import COST, merge_lines
from obsidian_import.merge import _merge, merge

LINES = st.sampled_from(
    [
        "",
        "",
        "alpha",
        "beta [[Kafka]]",
        "gamma  ",
        "- item",
        "```",
        "> [!tool]- Bash",
        "> x",
        "### sub",
        "delta\u2028e",
        "~~~",
        "---",
    ]
)
IDS = ["3f2a", "77b0", "c0de", "ab12", "9f9f1", "1234"]


def heading(number: int) -> str:
    return f"## {'You' if number % 2 else 'Claude'} · 2026-03-01 10:1{number} · {IDS[number]}"


def closed(lines: list[str]) -> list[str]:
    """As `inert` leaves a message: no fence open at its end."""
    fence = ""
    for line in lines:
        if line in {"```", "~~~"} and fence in {"", line}:
            fence = "" if fence else line
    return [*lines, fence] if fence else lines


@st.composite
def talks(draw: st.DrawFn) -> dict[int, list[str]]:
    chosen = draw(st.lists(st.integers(0, 5), unique=True, max_size=5).map(sorted))
    return {n: closed(draw(st.lists(LINES, max_size=6))) for n in chosen}


def note(talk: dict[int, list[str]]) -> str:
    block = properties.emit({"title": "A talk", "tags": ["chat-import"], "messages": len(talk)})
    body = "\n\n".join("\n".join([heading(n), "", *lines]) for n, lines in talk.items())
    return block + (body + "\n" if body else "")


@st.composite
def later(draw: st.DrawFn, talk: dict[int, list[str]]) -> dict[int, list[str]]:
    """The same talk some days later."""
    result = {}
    for n in range(6):
        if n not in talk:
            if draw(st.integers(0, 3)) == 0:
                result[n] = closed(draw(st.lists(LINES, max_size=4)))
        elif draw(st.integers(0, 9)):
            result[n] = closed(draw(edited(talk[n])))
    return result


@st.composite
def edited(draw: st.DrawFn, lines: list[str], own: bool = False) -> list[str]:
    result = list(lines)
    for number in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(result)))
        act = draw(st.sampled_from(["insert", "append", "replace", "delete"]))
        new = f"mine {number} {draw(st.integers(0, 99))}" if own else draw(LINES)
        if act == "insert":
            result.insert(at, new)
        elif act == "append":
            result += draw(st.sampled_from([["", new], [new]]))
        elif at < len(result):
            result[at : at + 1] = [new] if act == "replace" else []
    return result


@st.composite
def merges(draw: st.DrawFn) -> tuple[str, str, str]:
    base = draw(talks())
    wanted = draw(later(base))
    # The person edits lines anywhere, headings included.
    actual = "\n".join(draw(edited(note(base).split("\n"), own=True)))
    shape = draw(st.sampled_from(["", "", "crlf", "trim", "bom", "swap"]))
    if shape == "crlf":
        actual = actual.replace("\n", "\r\n")
    elif shape == "trim":
        actual = "\n".join(line.rstrip() for line in actual.split("\n"))
    elif shape == "bom":
        actual = "\ufeff" + actual
    elif shape == "swap" and "\n## " in actual:
        head, *rest = actual.split("\n## ")
        actual = "\n## ".join([head, *reversed(rest)])
    return note(base), note(wanted), actual


def lines_of(text: str) -> list[str]:
    return [line for line in text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n") if line.strip()]


@settings(max_examples=400)
@given(merges())
def test_no_line_of_a_person_is_lost(texts: tuple[str, str, str]) -> None:
    base, wanted, actual = texts
    merged = merge(base, wanted, actual)
    if merged.conflicts:
        return
    ours = lines_of(base)
    there = lines_of(merged.text)
    if not (merged.left or properties.problem(actual)):
        theirs = properties.read(actual).keys() - properties.read(base).keys()
        assert theirs <= properties.read(merged.text).keys()
    for line in lines_of(actual):
        if line not in ours and line.startswith("mine"):
            assert there.count(line) >= 1, line


@settings(max_examples=300)
@given(merges())
def test_one_side_alone_is_taken_to_the_byte(texts: tuple[str, str, str]) -> None:
    base, wanted, actual = texts
    for merger in (merge, _merge):
        assert merger(base, base, actual).text == actual
        assert merger(base, wanted, wanted).text == wanted
    assert merge(base, wanted, base).text == wanted
    assert _merge(base, wanted, base).text == wanted


@settings(max_examples=400)
@given(merges())
def test_a_merge_made_twice_is_made_once(texts: tuple[str, str, str]) -> None:
    """Also by another machine that does not know that it was made (the base is still the old one)."""
    base, wanted, actual = texts
    merged = merge(base, wanted, actual)
    if merged.conflicts:
        return
    assert merge(wanted, wanted, merged.text).text == merged.text
    again = merge(base, wanted, merged.text)
    for line in lines_of(merged.text):
        if line.startswith("mine"):
            assert again.conflicts or line in lines_of(again.text)


@given(merges())
def test_line_ends_stay_the_persons(texts: tuple[str, str, str]) -> None:
    base, wanted, actual = texts
    merged = merge(base, wanted, actual.replace("\r\n", "\n").replace("\n", "\r\n"))
    if "\n" in actual:
        assert merged.text.count("\n") == merged.text.count("\r\n")


@settings(max_examples=200)
@given(
    st.text(alphabet="ab\n\r#-·` ~", max_size=60), st.text(alphabet="ab\n\r#-·` ~", max_size=60), st.text(max_size=60)
)
def test_any_texts(base: str, wanted: str, actual: str) -> None:
    merged = merge(base, wanted, actual)
    assert merge(base, base, actual).text == actual
    assert isinstance(merged.text, str)


# ------------------------------------------------------------------ git as an oracle


def git(folder: Path, base: str, wanted: str, actual: str) -> str | None:
    for name, text in (("b", base), ("w", wanted), ("a", actual)):
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    done = subprocess.run(["git", "merge-file", "-p", "a", "b", "w"], cwd=folder, capture_output=True, check=False)
    return done.stdout.decode() if done.returncode == 0 else None


@st.composite
def single(draw: st.DrawFn) -> tuple[str, str, str]:
    """One section of distinct lines, so that how lines are paired is no matter of taste."""
    base = [f"line {n}" for n in range(draw(st.integers(1, 8)))]

    def side(who: str) -> list[str]:
        result = list(base)
        for number in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(result)))
            act = draw(st.sampled_from(["insert", "replace", "delete"]))
            if act == "insert":
                result.insert(at, f"{who} {number}")
            elif at < len(result):
                result[at : at + 1] = [f"{who} {number}"] if act == "replace" else []
        return result

    return tuple("".join(line + "\n" for line in lines) for lines in (base, side("ours"), side("mine")))


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
@settings(max_examples=250)
@given(texts=single())
def test_where_git_merges_we_merge_alike(tmp_path_factory: pytest.TempPathFactory, texts: tuple[str, str, str]) -> None:
    base, wanted, actual = texts
    assume(actual not in (base, wanted) and base != wanted)
    folder = tmp_path_factory.mktemp("git")
    theirs = git(folder, base, wanted, actual)
    merged = merge(base, wanted, actual)
    if theirs is not None:
        assert not merged.conflicts
        # An empty side: the person deleted all there was; what we add to nothing has no line to stand behind.
        assert merged.text.split() == theirs.split()
    elif not merged.conflicts:
        # Documented in `lines`: lines put in beside changed ones, lines that touch one for one, both at the end.
        result = merged.text.splitlines()
        assert [line for line in result if line.startswith("mine")] == [
            line for line in actual.splitlines() if line.startswith("mine")
        ]
        assert set(result) <= {*base.splitlines(), *wanted.splitlines(), *actual.splitlines()}
        assert {line for line in wanted.splitlines() if line.startswith("ours")} <= set(result)


# ------------------------------------------------------------------ size


def test_lines_that_are_all_alike_do_not_take_for_ever() -> None:
    """difflib alone needs minutes here; this ends in well under a second, in a conflict or not."""
    base = "\n".join(["same"] * 3000 + ["end"])
    wanted = "\n".join(["ours", *["same", "other"] * 1500, "end"])
    actual = "\n".join([*["same", "mine"] * 1500, "x"])
    assert COST < 3000 * 1500
    merged = merge_lines(base, wanted, actual)
    assert merged is None or merged.count("mine") == 1500


def test_anchors_are_found_in_a_long_section() -> None:
    base = [line for n in range(4000) for line in (f"line {n}", "")]
    wanted, actual = base.copy(), base.copy()
    wanted[100] = "ours"
    actual[7000] = "mine"
    actual[50:50] = ["mine too", ""]
    expected = actual.copy()
    expected[102] = "ours"
    assert merge_lines("\n".join(base), "\n".join(wanted), "\n".join(actual)) == "\n".join(expected)
