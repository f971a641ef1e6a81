"""claude.ai exports: golden cases; shapes, batches, streams and laws stand in the tests after them."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_import.formats import _exports, _jsonstream, claude_ai, formats
from obsidian_import.model import Aside, Conversation, Found, Media, Problem, Skip, Text, Turn
from tests import format_cases, web_cases
from tests.format_cases import MemoryFile, NoMemo

CASES = format_cases.cases("claude-ai")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_golden(case: Path) -> None:
    web_cases.check(case)


def test_no_golden_output_shows_what_is_private() -> None:
    for folder in ("claude-ai", "chatgpt"):
        for expected in (format_cases.CASES / folder).glob("*.expected.txt"):
            assert "private" not in expected.read_text(encoding="utf-8").casefold()


def _message(own: str, who: str, text: str, **more: object) -> dict[str, Any]:
    return {"uuid": own, "sender": who, "text": "", "content": [{"type": "text", "text": text}], **more}


def _chat(own: str, *texts: str, updated: str = "2026-01-02T00:00:00Z") -> dict[str, Any]:
    messages = [_message(f"{own}{n}", ("human", "assistant")[n % 2], text) for n, text in enumerate(texts)]
    return {"uuid": own, "name": own, "updated_at": updated, "chat_messages": messages}


def _read(*raws: bytes, name: str = "conversations.json") -> list[Found]:
    files = [MemoryFile(f"x{number}/{name}", raw) for number, raw in enumerate(raws)]
    return [found for group in claude_ai.groups(files, NoMemo()) for found in claude_ai.read(group)]


def _talks(*raws: bytes) -> list[Conversation]:
    return [one for one in _read(*raws) if isinstance(one, Conversation)]


# ------------------------------------------------------------------ what is whose


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"{}",
        b"[1]",
        b'[{"uuid": "u", "full_name": "x", "email_address": "y"}]',
        b'[{"id": "c", "title": "t", "mapping": {"chat_messages": {}}}]',
        b'{"type": "user", "text": "\\"chat_messages\\": []"}',
        b'{"a": {"chat_messages": []}}',
        b"chat_messages",
    ],
)
def test_not_claimed(raw: bytes) -> None:
    assert not claude_ai.claims(MemoryFile("x/conversations.json", raw))


@pytest.mark.parametrize(
    "shape",
    [
        lambda one: [one],
        lambda one: one,
        lambda one: {"version": 2, "conversations": [one]},
        lambda one: [{"uuid": "e", "name": "", "summary": "x" * 20_000, "chat_messages": []}, one],
    ],
)
def test_every_shape_is_claimed_by_one_format_whatever_its_name(shape: Any) -> None:
    raw = json.dumps(shape(_chat("c", "hi", "ho"))).encode()
    for name in ("conversations.json", "my chats (2).json", "export"):
        file = MemoryFile(f"x/{name}", b"\xef\xbb\xbf \n" + raw)
        assert [form.NAME for form in formats() if form.claims(file)] == [claude_ai.NAME]
        assert [one.key for one in _talks(file.raw)] == ["claude.ai:c"]


def test_several_zips_with_their_manifest_are_one_export(tmp_path: Path) -> None:
    parts: dict[str, dict[str, object]] = {
        "conversations-000.zip": {"conversations.json": [{**_chat("c", "hi"), "project_uuid": "p"}]},
        "projects-000.zip": {"projects/p.json": {"uuid": "p", "name": "Garden", "prompt_template": "x", "docs": []}},
    }
    for name, members in parts.items():
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as made:
            for member, value in members.items():
                made.writestr(member, json.dumps(value))
    manifest = tmp_path / "manifest-0-1.json"
    manifest.write_text(json.dumps({"files": [{"url": f"https://e.org/{name}?x=1"} for name in parts]}))
    talks = format_cases.talks(manifest)
    assert {(one.key, one.project, one.kind) for one in talks} == {
        ("claude.ai:c", "Garden", "chat"),
        ("claude.ai:project:p", "Garden", "project"),
    }


# ------------------------------------------------------------------ batches


def test_of_two_copies_the_newest_is_read_and_said_once_whatever_the_order() -> None:
    old = json.dumps([_chat("a", "1"), _chat("c", "1"), _chat("d", "1")]).encode()
    new = json.dumps([_chat("c", "1", "2", updated="2026-02-01T00:00:00Z"), _chat("d", "1", "2", updated="2026-02-01T00:00:00Z")]).encode()  # fmt: skip
    for raws in ((old, new), (new, old)):
        found = _read(*raws)
        sizes = {one.session_id: len(one.turns) for one in found if isinstance(one, Conversation)}
        assert sizes == {"a": 1, "c": 2, "d": 2}
        assert len([one for one in found if isinstance(one, Conversation)]) == 3
        assert [one.why[:7] for one in found if isinstance(one, Skip)] == ["2 entri"]


def test_files_without_a_talk_in_common_stay_apart() -> None:
    files = [MemoryFile(f"{name}.json", json.dumps([_chat(name, "x")]).encode()) for name in "abc"]
    both = MemoryFile("d.json", json.dumps([_chat("a", "x"), _chat("c", "x")]).encode())
    assert [len(group.files) for group in claude_ai.groups(files, NoMemo())] == [1, 1, 1]
    assert [len(group.files) for group in claude_ai.groups([*files, both], NoMemo())] == [3, 1]


class _Memo(NoMemo):
    def __init__(self) -> None:
        self.kept: dict[str, object] = {}

    def get(self, file: Any, kind: str) -> object | None:
        return self.kept.get(f"{kind} {file.where}")

    def put(self, file: Any, kind: str, value: object) -> None:
        self.kept[f"{kind} {file.where}"] = json.loads(json.dumps(value))


def test_the_index_is_remembered_and_a_strange_memory_does_no_harm() -> None:
    files = [MemoryFile("a.json", json.dumps([_chat("a", "x")]).encode())]
    memo = _Memo()
    first = list(claude_ai.groups(files, memo))
    files[0].open = None  # type: ignore[assignment, method-assign]
    assert list(claude_ai.groups(files, memo)) == first
    memo.kept = {key: [["x"]] for key in memo.kept}
    files[0].open = MemoryFile("a.json", files[0].raw).open  # type: ignore[method-assign]
    assert list(claude_ai.groups(files, memo)) == first


# ------------------------------------------------------------------ growth, branches


def test_ids_stay_when_the_talk_grows() -> None:
    one, two = (_talks(json.dumps([_chat("c", *"abcd"[:size])]).encode())[0] for size in (2, 4))
    assert [turn.id for turn in two.turns][:2] == [turn.id for turn in one.turns]
    assert one.key == two.key


@st.composite
def _trees(draw: st.DrawFn) -> list[dict[str, Any]]:
    size = draw(st.integers(1, 12))
    messages = []
    for number in range(size):
        parent = draw(st.sampled_from(["root", "lost", *range(size)]))
        at = f"2026-01-01T00:00:{draw(st.integers(0, 59)):02d}Z"
        name = {"root": "00000000-0000-4000-8000-000000000000", "lost": "lost"}.get(str(parent), f"m{parent}")
        messages.append(
            _message(
                f"m{number}",
                draw(st.sampled_from(["human", "assistant"])),
                f"text {number}",
                parent_message_uuid=name,
                created_at=at,
            )
        )
    return messages


def _everything(turns: tuple[Turn, ...]) -> list[str]:
    out = []
    for turn in turns:
        for block in turn.blocks:
            if isinstance(block, Text):
                out.append(block.text)
            elif isinstance(block, Aside):
                out += _everything(block.turns)
    return out


@given(_trees(), st.none() | st.integers(0, 11))
def test_of_any_tree_every_message_is_shown_exactly_once(messages: list[dict[str, Any]], leaf: int | None) -> None:
    chat = {"uuid": "c", "name": "x", "chat_messages": messages, "current_leaf_message_uuid": f"m{leaf}"}
    talk = _talks(json.dumps(chat).encode())[0]
    shown = _everything(talk.turns) + [text for aside in talk.asides for text in _everything(aside.turns)]
    assert sorted(shown) == sorted(f"text {number}" for number in range(len(messages)))
    if leaf is not None and leaf < len(messages):
        assert f"text {leaf}" in [turn.text for turn in talk.turns]


def test_a_chain_of_ten_thousand_forks_is_folded_flat() -> None:
    messages = [_message("m0", "human", "0", parent_message_uuid="00000000-0")]
    messages += [
        _message(f"m{number}", "assistant", "x", parent_message_uuid=f"m{max(0, number - 2)}")
        for number in range(1, 10_000)
    ]
    talk = _talks(json.dumps({"uuid": "c", "name": "", "chat_messages": messages}).encode())[0]
    assert len(_everything(talk.turns)) == 10_000
    assert not any(isinstance(b, Aside) for t in talk.turns for a in t.blocks if isinstance(a, Aside) for u in a.turns for b in u.blocks)  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from("ab"), st.text("xy", max_size=3), st.text("xyz", max_size=3)), max_size=8))
def test_artifacts_end_as_their_commands_say(commands: list[tuple[str, str, str]]) -> None:
    final: dict[str, str] = {}
    content: list[dict[str, Any]] = []
    for number, (key, old, new) in enumerate(commands):
        if key not in final:
            final[key] = old + new + old
            body = {"command": "create", "id": key, "title": key, "type": "text/markdown", "content": final[key]}
        else:
            body = {"command": "update", "id": key, "old_str": old, "new_str": new}
            if old:
                final[key] = final[key].replace(old, new, 1)
        content.append({"type": "tool_use", "id": f"t{number}", "name": "artifacts", "input": body})
    chat = {"uuid": "c", "name": "x", "chat_messages": [{"uuid": "m", "sender": "assistant", "content": content}]}
    made = [
        b for talk in _talks(json.dumps(chat).encode()) for t in talk.turns for b in t.blocks if isinstance(b, Media)
    ]
    assert {one.name.removesuffix(".md"): one.text for one in made} == final
    assert len(made) == len(final)


# ------------------------------------------------------------------ nothing raises


def _values(value: Any) -> list[tuple[Any, Any]]:
    """Every place (container, key) of a JSON value."""
    out: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        for key in list(one) if isinstance(one, dict) else range(len(one)):
            out.append((one, key))
            if isinstance(one[key], dict | list):
                waiting.append(one[key])
    return out


SAMPLES = [json.loads(path.read_bytes()) for path in CASES if path.suffix == ".json" and path.name != "damaged.json"]
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 1.5, "", "x", "\ud800", [], {}, [None], [[]], {"a": 1}, [{"type": 5}], 10**400]
)


@given(st.integers(0, len(SAMPLES) - 1), st.lists(st.tuples(st.integers(0, 10_000), ODD), min_size=1, max_size=6))
@settings(max_examples=150)
def test_wrong_types_everywhere_never_raise(which: int, changes: list[tuple[int, Any]]) -> None:
    sample = copy.deepcopy(SAMPLES[which])
    for place, value in changes:
        places = _values(sample)
        if places:
            box, key = places[place % len(places)]
            box[key] = copy.deepcopy(value)
    raw = json.dumps(sample).encode()
    claude_ai.claims(MemoryFile("x.json", raw))
    for found in _read(raw):
        "\n".join(web_cases.show(found)).encode()  # no lone surrogate is left, either


@given(st.integers(0, len(SAMPLES) - 1), st.data())
def test_cut_and_damaged_files_never_raise_and_are_said(which: int, data: st.DataObject) -> None:
    raw = json.dumps(SAMPLES[which]).encode()
    at = data.draw(st.integers(1, len(raw) - 1))
    noise = data.draw(st.binary(max_size=6))
    damaged = raw[:at] + noise + raw[at + data.draw(st.integers(0, 10)) :]
    claude_ai.claims(MemoryFile("x.json", damaged))
    for found in (*_read(damaged), *_read(raw[:at])):
        "\n".join(web_cases.show(found))
    if at < len(raw.rstrip()) - 1:
        assert any(isinstance(one, Problem) for one in _read(raw[:at]))


@given(st.binary(max_size=300))
def test_any_bytes(raw: bytes) -> None:
    claude_ai.claims(MemoryFile("x.json", raw))
    _read(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b'[{"uuid":"x","chat_messages":' + b"[" * 200_000,
        b'[{"chat_messages":[]}' * 3,
    ],
    ids=["lists", "objects", "messages", "glued"],
)
def test_deep_nesting_is_a_problem(raw: bytes) -> None:
    assert any(isinstance(one, Problem) for one in _read(raw))


def test_one_broken_talk_costs_only_itself() -> None:
    good = [json.dumps(_chat(f"c{number}", "hi")) for number in range(200)]
    good[100] = good[100].replace('"text"', '"text', 1)
    found = _read(f"[{', '.join(good)}]".encode())
    assert len([one for one in found if isinstance(one, Conversation)]) == 199
    assert len([one for one in found if isinstance(one, Problem)]) == 1


# ------------------------------------------------------------------ made to be in the way


def test_a_table_in_a_text_is_no_attack_and_a_wall_of_structure_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_jsonstream, "_DENSE_FROM", 10_000)
    monkeypatch.setattr(_jsonstream, "CHUNK", 4096)
    table = json.dumps([_chat("c", "1,2,3,4,5,\n" * 10_000)]).encode()
    assert len(_talks(table)) == 1
    wall = b'[{"uuid":"x","chat_messages":[' + b"[]," * 40_000 + b"{}]}]"
    assert [type(one) for one in _read(wall)] == [Problem, Problem]


def test_a_list_of_other_things_is_said_in_few_words() -> None:
    found = _read(b"[" + b"1," * 100_000 + json.dumps(_chat("c", "hi")).encode() + b"]")
    assert 1 < len(found) < 60
    assert all(isinstance(one, Problem) for one in found)


def test_a_talk_of_more_messages_than_anybody_has_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_exports, "MAX_MESSAGES", 5)
    found = _read(json.dumps([_chat("a", *"123456"), _chat("b", *"12345")]).encode())
    assert [type(one) for one in found] == [Problem, Conversation]


@given(st.lists(st.integers(0, 30), max_size=5), st.integers(1, 40))
def test_the_stream_gives_the_same_whatever_is_read_at_once(sizes: list[int], chunk: int) -> None:
    values = [{"chat_messages": ['é😀\\"}{][,' * size], "n": [1.5, -size, None, True]} for size in sizes]
    raw = b"\xef\xbb\xbf" + json.dumps({"v": 12.25, "conversations": values}, ensure_ascii=False).encode()
    before, _jsonstream.CHUNK = _jsonstream.CHUNK, chunk  # type: ignore[misc]
    try:
        assert list(_jsonstream.Stream(io.BytesIO(raw), lambda one: "chat_messages" in one)) == values
    finally:
        _jsonstream.CHUNK = before  # type: ignore[misc]
