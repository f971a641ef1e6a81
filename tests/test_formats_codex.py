"""Codex rollouts: golden cases, each message once, growth keeps ids."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_import.formats import codex
from obsidian_import.model import Conversation, File, Group, Skip
from tests import format_cases
from tests.format_cases import MemoryFile, NoMemo


@pytest.mark.parametrize("case", format_cases.cases("codex"), ids=lambda case: case.name)
def test_golden(case: Path) -> None:
    format_cases.check(case)


def _rollout(*records: object) -> bytes:
    head = {
        "timestamp": "2026-01-01T00:00:00Z",
        "type": "session_meta",
        "payload": {"id": "s1", "cwd": "C:\\work\\app"},
    }
    return b"\n".join(json.dumps(one).encode() for one in (head, *records)) + b"\n"


def _item(role: str, text: str) -> dict[str, object]:
    kind = "input_text" if role == "user" else "output_text"
    return {
        "timestamp": "2026-01-01T00:00:01Z",
        "type": "response_item",
        "payload": {"type": "message", "role": role, "content": [{"type": kind, "text": text}]},
    }


def _event(role: str, text: str) -> dict[str, object]:
    return {
        "timestamp": "2026-01-01T00:00:01Z",
        "type": "event_msg",
        "payload": {"type": f"{'user' if role == 'user' else 'agent'}_message", "message": text},
    }


def _read(*files: File) -> list[object]:
    return [found for group in codex.groups(files, NoMemo()) for found in codex.read(group)]


def _talk(raw: bytes) -> Conversation:
    return next(one for one in _read(MemoryFile("r/rollout.jsonl", raw)) if isinstance(one, Conversation))


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["user", "assistant"]),
            st.sampled_from(["a", "b", "a b"]),
            st.sampled_from(["item", "event", "both", "both, turned"]),
        ),
        max_size=12,
    )
)
def test_each_message_once_on_whichever_channel(said: list[tuple[str, str, str]]) -> None:
    # One channel a file, as real ones are: both, or only one of them.
    channel = said[0][2] if said else "both"
    records: list[object] = []
    for role, text, _ in said:
        pair = [_item(role, text), _event(role, text)]
        records += {"item": pair[:1], "event": pair[1:], "both": pair, "both, turned": pair[::-1]}[channel]
    talks = [one for one in _read(MemoryFile("r/rollout.jsonl", _rollout(*records))) if isinstance(one, Conversation)]
    read = [
        (turn.role, block.text)
        for talk in talks
        for turn in talk.turns
        for block in turn.blocks
        if hasattr(block, "text")
    ]
    assert read == [(role, text) for role, text, _ in said]


def test_ids_stay_when_the_session_grows_and_the_project_is_a_windows_one() -> None:
    one = _talk(_rollout(_item("user", "a"), _item("assistant", "b")))
    two = _talk(_rollout(_item("user", "a"), _item("assistant", "b"), _item("user", "c"), _item("assistant", "d")))
    assert [turn.id for turn in two.turns][:2] == [turn.id for turn in one.turns]
    assert (one.key, one.project) == (two.key, "app")


def test_an_archived_copy_is_said_and_the_longer_one_read() -> None:
    short = MemoryFile("a/r.jsonl", _rollout(_item("user", "a")))
    long = MemoryFile("b/r.jsonl", _rollout(_item("user", "a"), _item("assistant", "b")))
    found = _read(short, long)
    assert [type(one) for one in found] == [Skip, Conversation]
    assert [one.source for one in found if isinstance(one, Skip)] == ["a/r.jsonl"]


@pytest.mark.parametrize(
    "raw", [b"", b"{}", b"[1]", b'{"type":"user","sessionId":"x","message":{}}\n', b'{"id":"x"}\n', b"text"]
)
def test_not_claimed(raw: bytes) -> None:
    assert not codex.claims(MemoryFile("x/a.jsonl", raw))


_JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "payload", "role", "content", "text", "message", "id", "call_id", "arguments", "output", "name", "source", "subagent", "action", "summary", "image_url", "git"]), inner, max_size=5), max_leaves=12)  # fmt: skip


@given(st.lists(_JSON | st.builds(lambda kind, payload: {"timestamp": "x", "type": kind, "payload": payload}, st.sampled_from(["session_meta", "event_msg", "response_item", "compacted", "turn_context"]), _JSON), max_size=8), st.binary(max_size=60))  # fmt: skip
@settings(max_examples=40)
def test_never_raises(records: list[object], noise: bytes) -> None:
    raw = _rollout(*records) + noise
    codex.claims(MemoryFile("x/a.jsonl", raw))
    for found in _read(MemoryFile("x/a.jsonl", raw), MemoryFile("x/b.jsonl", noise)):
        list(format_cases.show(found))  # type: ignore[arg-type]


@given(st.sampled_from(["message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "local_shell_call", "web_search_call"]), st.dictionaries(st.sampled_from(["role", "content", "summary", "arguments", "input", "output", "action", "name", "call_id"]), _JSON, max_size=6))  # fmt: skip
@settings(max_examples=60)
def test_never_raises_on_items(kind: str, item: dict[str, object]) -> None:
    record = {"timestamp": 1, "type": "response_item", "payload": {**item, "type": kind}}
    list(codex.read(Group(codex.NAME, (MemoryFile("x/a.jsonl", _rollout(record)),))))
