"""Which words give which tags."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_import import keywords, tags

CASES = sorted((Path(__file__).parent / "cases" / "tags").glob("*.md"), key=lambda p: (p.name[:4] != "stay", p.name))
MAP = tags.keymap()


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_case(path: Path) -> None:
    _, _, rest = path.read_text(encoding="utf-8").partition("\n=== input\n")
    text, _, expected = rest.partition("\n=== expected\n")
    found = tags.tag([text], MAP)
    assert "\n".join(f"{tag}: {word}" for tag, word in found.items()) == expected.strip("\n")
    if path.name.startswith("stay"):
        assert not found


def test_the_map_is_as_large_as_promised_and_all_of_it_can_be_found() -> None:
    assert len(MAP.keys) >= 66
    for word, tag in MAP.keys.items():
        spelled = keywords.CASED.get(word, word)
        assert tag in tags.tag([f"with {spelled} here"], MAP), word


def test_the_tables_name_only_keys_that_are_there() -> None:
    assert set(keywords.SHORT.split()) <= set(MAP.keys)
    assert set(keywords.CASED) <= set(MAP.keys)
    assert {line.partition(":")[0] for line in keywords.NOT.strip().split("\n")} <= set(MAP.keys)


@pytest.mark.parametrize(
    "word",
    ["sql", "llm", "gpt", "rag", "nlp", "git", "api", "aws", "gcp", "css", "ci", "ai", "ui", "auth", "java", "npm"],
)
def test_a_short_key_is_a_whole_word(word: str) -> None:
    tag = MAP.keys[word]
    assert tags.tag([f"{word}"], MAP) == {tag: word}
    for text in (f"x{word}", f"{word}ish", f"x{word}x", f"_{word}", f"{word}_", f"{word}9"):
        assert word not in tags.tag([text], MAP).values(), text


@pytest.mark.parametrize("tag", sorted(set(MAP.keys.values())))
def test_every_tag_is_legal(tag: str) -> None:
    assert tags.legal(tag) == tag


def test_a_person_adds_overrides_and_removes() -> None:
    mine = tags.keymap(
        {
            "kafka": "messaging",
            "claude": "anthropic",
            "test": None,
            "Größe": "Maß einheit",
            "数据库": "db",
            "k9": "dog",
            "???": "x",
            "y": "#!",
        }
    )
    found = tags.tag(["Kafka, Claude, testing, GRÖSSE, größen, 我的数据库, k9s and K9"], mine)
    assert found == {"messaging": "kafka", "anthropic": "claude", "Maß-einheit": "größe", "db": "数据库", "dog": "k9"}
    assert "testing" not in tags.tag(["a test"], mine)
    assert tags.tag(["k9s"], mine) == {}


def test_a_persons_word_wins_over_our_exceptions() -> None:
    assert tags.tag(["go ahead"], tags.keymap({"go": "golang"})) == {"golang": "go"}


def test_a_person_makes_a_key_short() -> None:
    assert "docker" in tags.tag(["dockerized"], MAP)
    assert "docker" not in tags.tag(["dockerized"], tags.keymap(short=["Docker"]))
    assert tags.keymap(short=["Docker"]).short >= {"docker", "git"}


def test_order_is_that_of_first_appearance_over_all_texts() -> None:
    assert list(tags.tag(["docker then git", "python"], MAP)) == ["docker", "git", "python"]


@given(st.lists(st.text(max_size=40), max_size=5))
def test_never_raises_and_one_text_or_many_is_the_same(texts: list[str]) -> None:
    assert tags.tag(texts, MAP) == tags.tag(["\n".join(texts)], MAP)


@given(st.text(max_size=30), st.sampled_from(sorted(MAP.keys)), st.text(max_size=30))
def test_what_is_found_stands_in_the_text_at_a_words_start(before: str, word: str, after: str) -> None:
    text = f"{before}{word}{after}"
    for found in tags.tag([text], MAP).values():
        assert re.search(rf"(?<![a-z0-9_]){re.escape(found)}" if found[0].isalnum() else re.escape(found), text.lower())


@given(st.text(max_size=30))
def test_legal_tags_are_legal(text: str) -> None:
    tag = tags.legal(text)
    assert tags.legal(tag) == tag
    if tag:
        assert not re.search(r"[\s#,\[\]\"'`<>]", tag)
        assert not tag.isdigit()


def test_a_large_talk_is_read_in_batches() -> None:
    texts = ["x" * 70_000, "git", "y" * 70_000, "docker"]
    assert tags.tag(texts, MAP) == {"git": "git", "docker": "docker"}
