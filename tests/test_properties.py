"""The properties block: what is none, what its values are, and that only our bytes change."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date, datetime
from pathlib import Path

import pytest

from obsidian_import.properties import LIMIT, Refused, emit, equal, problem, read, set_keys, split

CASES = sorted((Path(__file__).parent / "cases" / "properties").glob("*.md"))


# ------------------------------------------------------------------ what is no block


@pytest.mark.parametrize(
    "text",
    [
        "",
        "body",
        "----\na: 1\n----\n",
        "\n---\na: 1\n---\n",
        " ---\na: 1\n---\n",
        "# T\n---\na: 1\n---\n",
        "---a\na: 1\n---\n",
        "--- \na: 1\n---\n",
        "---\na: 1\n",
        "---\na: 1\n...\nbody\n",
        "---\na: 1\n--- \nbody\n",
        "---\na: 1\n ---\nbody\n",
        "---\na: 1\n----\nbody\n",
        "---",
        "---\n",
        "+++\na = 1\n+++\n",
        '{"a": 1}\n',
        "\ufeff\ufeff---\na: 1\n---\n",
        "---\ra: 1\r---\r",
        "---\u2028a: 1\u2028---\u2028",
    ],
)
def test_no_block(text: str) -> None:
    assert split(text) is None
    assert read(text) == {}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("---\na: 1\n---\n", {"a": 1}),
        ("---\na: 1\n---", {"a": 1}),
        ("\ufeff---\r\na: 1\r\n---\r\nbody", {"a": 1}),
        ("---\n---\n", {}),
        ("---\n# only a comment\n---\n", {}),
        ("---\n\n---\n---\na: 2\n---\n", {}),
        ("---\na: 1\n---\n\n---\nb: 2\n---\n", {"a": 1}),
        ('---\n{"a": [1, "x"]}\n---\n', {"a": [1, "x"]}),
    ],
)
def test_block(text: str, values: dict[str, object]) -> None:
    assert read(text) == values
    assert problem(text) is None
    block = split(text)
    assert block is not None
    assert text[block.start : block.inner].strip() == "---"
    assert text[block.close : block.end].strip() == "---"


# ------------------------------------------------------------------ values


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("NO", "NO"),
        ("yes", "yes"),
        ("off", "off"),
        ("01234", "01234"),
        ("0o17", "0o17"),
        ("0x1f", "0x1f"),
        ("12:30", "12:30"),
        ("1.10", "1.10"),
        ("1e3", "1e3"),
        ("1_000", "1_000"),
        ("+1", "+1"),
        (".5", ".5"),
        (".inf", ".inf"),
        ("=", "="),
        ("<<", "<<"),
        ("2026-03-01", "2026-03-01"),
        ("2026-03-01T10:11:12", "2026-03-01T10:11:12"),
        ("2026-03-01 10:11:12+02:00", "2026-03-01 10:11:12+02:00"),
        ("0000-00-00", "0000-00-00"),
        ("9" * 5000, "9" * 5000),
        ("[[Other note]]", [["Other note"]]),
        ('"[[X]]"', "[[X]]"),
        ("'1'", "1"),
        ("!!str 5", "5"),
        ("5", 5),
        ("-3", -3),
        ("0", 0),
        ("1.5", 1.5),
        ("true", True),
        ("False", False),
        ("", None),
        ("~", None),
        ("null", None),
        ("[a, 1, NO]", ["a", 1, "NO"]),
        ("{b: {c: [1]}}", {"b": {"c": [1]}}),
        ("|\n  one\n  two", "one\ntwo\n"),
        (">-\n  one\n  two", "one two"),
        ("🚀 é 漢", "🚀 é 漢"),
    ],
)
def test_value(source: str, value: object) -> None:
    found = read(f"---\nk: {source}\n---\n")
    assert found == {"k": value}
    assert type(found["k"]) is type(value)
    assert problem(f"---\nk: {source}\n---\n") is None


BOMB = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(11)
)


@pytest.mark.parametrize(
    "inner",
    [
        "a: 1\na: 2\n",
        "a: {b: 1, b: 2}\n",
        "a: b: c\n",
        "a: @x\n",
        "a: %x\n",
        "\ta: 1\n",
        "a: [1\n",
        'a: "\n',
        "a: *nowhere\n",
        "a: &a [*a]\n",
        "- a\n- b\n",
        "just text\n",
        "a: 1\n...\nb: 2\n",
        "a: {{title}}\n",
        "? [a]\n: 1\n",
        "a: \x01\n",
        "a: \ud800\n",
        "a: " + "[" * 3000 + "\n",
        "a: " + "[" * 900 + "]" * 900 + "\n",
        "a: !!python/object/apply:os.system [id]\n",
        "a: !!binary eHg=\n",
        "a: !!int x\n",
        "a: !!timestamp 0000-99-99\nb: !x y\n",
        BOMB,
        "a: &a x\nb: [" + ", ".join(["*a"] * 101) + "]\n",
        "a: " + "x" * LIMIT + "\n",
    ],
    ids=lambda inner: inner[:24],
)
def test_malformed_says_why_and_is_not_touched(inner: str) -> None:
    text = f"---\n{inner}---\nbody\n"
    assert read(text) == {}
    assert problem(text)
    with pytest.raises(Refused):
        set_keys(text, {"ours": 1})


def test_an_unclosed_block_has_a_reason_and_is_not_touched() -> None:
    for text in ("---\na: 1\n", "---", "\ufeff---\r\na: 1\r\n", "--- \na: 1\n---\n"):
        assert problem(text)
        with pytest.raises(Refused):
            set_keys(text, {"ours": 1})


def test_a_huge_note_costs_no_more_than_its_block() -> None:
    assert read("---\na: 1\n---\n" + "x: y\n" * 400_000) == {"a": 1}


# ------------------------------------------------------------------ our own block


def test_the_block_of_the_architecture() -> None:
    assert emit(
        {
            "title": "Fix the flaky auth test",
            "type": "chat",
            "source": "claude-code",
            "project": "my-app",
            "created": "2026-03-01T10:11:12",
            "updated": datetime(2026, 3, 1, 11, 40, 3),
            "day": date(2026, 3, 1),
            "tags": ["chat-import", "python", "testing"],
            "session_id": "5c0375b4-57a5-4f26-b12d-d022ee4e51b7",
            "import_id": "claude-code:5c0375b4-57a5-4f26-b12d-d022ee4e51b7",
            "messages": 42,
            "nothing": None,
        }
    ) == (
        "---\n"
        'title: "Fix the flaky auth test"\n'
        "type: chat\n"
        "source: claude-code\n"
        "project: my-app\n"
        "created: 2026-03-01T10:11:12\n"
        "updated: 2026-03-01T11:40:03\n"
        "day: 2026-03-01\n"
        "tags: [chat-import, python, testing]\n"
        "session_id: 5c0375b4-57a5-4f26-b12d-d022ee4e51b7\n"
        'import_id: "claude-code:5c0375b4-57a5-4f26-b12d-d022ee4e51b7"\n'
        "messages: 42\n"
        "---\n"
    )


@pytest.mark.parametrize(
    "text",
    ["NO", "y", "null", "Nan", ".inf", "01234", "1e3", "0x1f", "12:30", "1_000", "1.10", "- a", "a: b", "a #b", "#a", "@x", "%x", "*a", "&a", "!a",
     "|", ">", "'", '"', "[x]", "{x}", "a\nb", "---", "...", " a", "a ", "", "\u2028", "\x85", "\x7f", "\ufeff", "\ufffe", "\\", "`", "?", "-", "~",
     "[[X]]", "=", "<<", "2026-03", "2026-03-01", "🚀", "a\tb", "\x00", "<% x %>", "{{x}}", "5" * 30, "Обычный", "𝒳"],
)  # fmt: skip
def test_any_text_comes_back_as_text(text: str) -> None:
    import yaml

    for key in ("title", "status"):
        block = emit({key: text, "list": [text, "z"], "n": 1})
        assert read(block) == {key: text, "list": [text, "z"], "n": 1}
        assert block.count("\n") == 5, "one line a key"
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]", block)
        # Any other reader (YAML 1.1, with its octals and booleans) sees the same text; dates may be dates to it.
        other = yaml.safe_load(block.strip("-\n"))
        assert [str(item) for item in (other[key], *other["list"])] == [text, text, "z"]


def test_lists_in_lists_are_no_link() -> None:
    block = emit({"k": [["a"], ["b", 1.5, True, None]], "m": {"x": [1]}})
    assert "[[" not in block
    assert read(block) == {"k": [["a"], ["b", 1.5, True, None]], "m": {"x": [1]}}


def test_what_is_no_number_everywhere_is_written_as_text() -> None:
    values = {"a": 10**30, "b": float("nan"), "c": float("inf"), "d": 1e100, "e": 2.0, "f": "x\ud800"}
    assert read(emit(values)) == {
        "a": "1" + "0" * 30,
        "b": "nan",
        "c": "inf",
        "d": "1e+100",
        "e": "2.0",
        "f": "x\ufffd",
    }


# ------------------------------------------------------------------ the same to a person


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("2026-03-01T10:11:12", "2026-03-01 10:11:12"),
        ("2026-03-01T10:11:00", "2026-03-01T10:11"),
        ("2026-03-01T10:11:12", "2026-03-01T10:11:12.000Z"),
        ("2026-03-01T10:11:12", datetime(2026, 3, 1, 10, 11, 12)),
        ("2026-03-01", date(2026, 3, 1)),
        (["a"], "a"),
        ([], None),
        ("", None),
        ([], ""),
        (42, "42"),
        (True, "true"),
        (["a", 1], ["a", "1"]),
        (" a ", "a"),
        ({"a": [1]}, {"a": "1"}),
    ],
)
def test_equal(a: object, b: object) -> None:
    assert equal(a, b)
    assert equal(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("a", "b"),
        ("a", "A"),
        (["a", "b"], ["b", "a"]),
        (["a", "b"], "a, b"),
        ("2026-03-01T10:11:12", "2026-03-01"),
        ("2026-03-01T10:11:12", "2026-03-01T10:11:13"),
        ("2026-03-01T10:11:12", "2026-03-01T10:11:12+02:00"),
        (1, 2),
        (True, False),
        (None, False),
        (0, None),
        (["a"], []),
    ],
)
def test_not_equal(a: object, b: object) -> None:
    assert not equal(a, b)
    assert not equal(b, a)


# ------------------------------------------------------------------ setting keys


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_case(path: Path) -> None:
    """`before`, the keys to set as a block, `after`; and the same with CRLF, a BOM, and set a second time."""
    _, *rest = re.split(r"^== (\w+) ==\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    case = dict(zip(rest[::2], rest[1::2], strict=True))
    updates = read(case["set"])
    if "refused" in case:
        with pytest.raises(Refused, match=case["refused"].strip()):
            set_keys(case["before"], updates)
        return
    for before, after in (
        (case["before"], case["after"]),
        (case["before"].replace("\n", "\r\n"), case["after"].replace("\n", "\r\n")),
        ("\ufeff" + case["before"], "\ufeff" + case["after"]),
    ):
        assert set_keys(before, updates) == after
        assert set_keys(after, updates) == after
        assert set_keys(before, {}) == before


def test_setting_what_is_there_changes_no_byte() -> None:
    text = "---\na:   'x'  # c\nb: [ 1,2 ]\nc:\n- 1\n-   2\nd: 2026-03-01T10:11:12\n---\n"
    assert set_keys(text, read(text)) == text
    assert set_keys(text, {"d": datetime(2026, 3, 1, 10, 11, 12), "zz": None}) == text


def test_a_note_without_a_block_gets_one() -> None:
    assert set_keys("body\n", {"a": 1, "b": None}) == "---\na: 1\n---\nbody\n"
    assert set_keys("\ufeffone\r\ntwo", {"a": 1}) == "\ufeff---\r\na: 1\r\n---\r\none\r\ntwo"
    assert set_keys("", {"a": 1}) == "---\na: 1\n---\n"
    assert set_keys("----\nx\n----\n", {"a": 1}) == "---\na: 1\n---\n----\nx\n----\n"
    assert set_keys("body\n", {"a": None}) == "body\n"


def test_the_body_is_never_read_for_properties() -> None:
    body = "\n---\na: 1\n---\na: 2\n"
    assert set_keys(f"---\na: 0\n---\n{body}", {"a": 9}) == f"---\na: 9\n---\n{body}"


def test_reading_imports_no_network_and_no_clock() -> None:
    """The room is pure: nothing of it opens a file or a socket when it is imported."""
    code = "import obsidian_import.properties, sys; print('socket' in sys.modules, 'requests' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["False", "False"]
