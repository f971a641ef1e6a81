"""What holds for any block: reading never raises, setting changes our keys and nothing else, or refuses."""

from __future__ import annotations

import contextlib

from hypothesis import example, given, settings
from hypothesis import strategies as st

from obsidian_import.properties import Refused, emit, equal, problem, read, set_keys, split

SCALARS = st.one_of(
    st.text(max_size=12),
    st.integers(),
    st.booleans(),
    st.floats(),
    st.sampled_from(["NO", "01234", "12:30", "2026-03-01", "[[X]]", "a: b", "# c", "- x", "|", "null"]),
)
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=4))
KEYS = st.sampled_from(["title", "tags", "a", "b", "messages", "n", "my key", "🚀"])
PIECES = st.sampled_from(
    [
        "a: 1\n", "a: 'x' # c\n", "b:\n  - one\n  - two # c\n", "b:\n- one\n# c\n- 1\n", "tags: [a, 'b']\n", "tags:\n", "# comment\n", "\n",
        "title: |\n  lit\n\n", "title: >-\n  fold\n  ed\n", "messages: 3   # n\n", "x: &k [1]\n", "y: *k\n", "n: {a: [1, 2]}\n", "'my key': 'it''s'\n",
        "🚀: 漢 # 🚀\n", "a: b: c\n", "- x\n", "...\n", "  c: 1\n", "z: one\n  two\n", "\u2028", 'k: "a\\nb"\n', "? q\n: 1\n", "b: [1,\n  2]\n", "m:\n  a: 1\n  b: 2\n",
    ]
)  # fmt: skip
BLOCKS = st.lists(PIECES, max_size=7).map(lambda pieces: "---\n" + "".join(pieces) + "---\nbody\n")
NOTES = st.one_of(
    BLOCKS,
    BLOCKS.map(lambda text: text.replace("\n", "\r\n")),
    BLOCKS.map(lambda text: "\ufeff" + text),
    st.text(max_size=40),
    st.text(alphabet="-: \n\r[]{}a'\"#&*!|>%@`?,~\ufeff", max_size=60).map(lambda inner: f"---\n{inner}\n---\n"),
)


@settings(max_examples=200)
@given(NOTES)
@example("---\n? \n---\n")
def test_reading_never_raises(text: str) -> None:
    values = read(text)
    assert isinstance(values, dict)
    why = problem(text)
    assert not (why and values)
    block = split(text)
    if block:
        assert 0 <= block.start < block.inner <= block.close < block.end <= len(text)


@settings(max_examples=200)
@given(st.dictionaries(st.one_of(KEYS, st.text(max_size=8)), VALUES, max_size=6))
def test_what_is_written_is_read(mapping: dict[str, object]) -> None:
    block = emit(mapping)
    values = read(block)
    assert problem(block) is None
    assert emit(values) == block
    assert set_keys(block, values) == block
    assert "\n" + emit({}) not in block
    for key, value in mapping.items():
        assert equal(values[key.encode("utf-8", "replace").decode()], value) if key.isascii() else True


@settings(max_examples=300)
@given(NOTES, st.dictionaries(KEYS, st.one_of(st.none(), VALUES), max_size=3))
def test_setting_keys_changes_those_keys_only(text: str, updates: dict[str, object]) -> None:
    before = read(text)
    try:
        after_text = set_keys(text, updates)
    except Refused:
        return
    after = read(after_text)
    for key in {*before, *after} - {*updates}:
        assert repr(after[key]) == repr(before[key])
    for key, value in updates.items():
        assert (key in after) is (value is not None)
    # Every line of a person outside our keys is there, in order, byte for byte.
    block = split(text)
    if block:
        assert after_text.startswith(text[: block.inner])
        assert after_text.endswith(text[block.close :])
        left = iter(after_text.splitlines(keepends=True))
        for line in text[block.inner : block.close].splitlines(keepends=True):
            if line.startswith(("#", "x:", "y:", "m:", "k:", "'my key'", "🚀")) and not {"my key", "🚀"} & {*updates}:
                assert line in left, line
    else:
        bom = text.startswith("\ufeff")
        assert after_text[bom:].endswith(text[bom:])
    # Once is enough, and what was put in can be taken out again.
    assert set_keys(after_text, updates) == after_text
    with contextlib.suppress(Refused):
        fresh = {key: None for key in updates if key not in before}
        assert read(set_keys(after_text, fresh)).keys() <= before.keys()
