"""Laws of the Claude Code reader: it never raises, whatever the bytes; nothing that was said is lost or doubled."""

from __future__ import annotations

import io
import json
import tracemalloc
from typing import Any, BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_import import jsonl
from obsidian_import.formats import claude_code
from obsidian_import.model import Aside, Conversation, Found, Problem, Skip, Text, Turn
from tests.claude_code_help import CASES, NoMemo, dump, files_of


class Memory:
    def __init__(self, data: bytes, name: str = "a.jsonl") -> None:
        self.data, self.name, self.where, self.size, self.mtime = data, name, name, len(data), None

    def open(self) -> BinaryIO:
        return io.BytesIO(self.data)

    def head(self, size: int = 65536) -> bytes:
        return self.data[:size]


def read(*files: Memory) -> list[Found]:
    found = []
    for file in files:
        claude_code.claims(file)
    for group in claude_code.groups(files, NoMemo()):
        json.dumps(group.hint)
        found += list(claude_code.read(group))
    for one in found:
        assert isinstance(one, Conversation | Problem | Skip)
        if isinstance(one, Conversation):
            assert one.title
            assert one.title.isprintable()
            ids = [t.id for t in one.turns]
            assert len(ids) == len(set(ids))
        dump([one]).encode()  # no lone surrogate anywhere
    return found


LINES = [
    line
    for path in sorted(CASES.rglob("*.jsonl"))
    for line in path.read_bytes().split(b"\n")
    if line.startswith(b"{") and len(line) < 2000
]
KEYS = [
    "type", "message", "content", "uuid", "parentUuid", "sessionId", "timestamp", "cwd", "gitBranch", "isSidechain", "isMeta", "agentId",
    "toolUseResult", "id", "input", "name", "role", "text", "thinking", "source", "data", "operation", "attachment", "prompt", "summary",
    "leafUuid", "customTitle", "aiTitle", "origin", "kind", "forkedFrom", "isCompactSummary", "subtype", "tool_use_id", "is_error", "todos",
    "file_path", "old_string", "new_string", "edits", "questions", "command", "media_type", "title", "model", "stop_reason", "sessionKind",
]  # fmt: skip
WORDS = st.sampled_from(
    ["user", "assistant", "system", "attachment", "queued_command", "queue-operation", "enqueue", "dequeue", "remove", "popAll", "text",
     "tool_use", "tool_result", "thinking", "image", "document", "base64", "summary", "custom-title", "Edit", "Write", "TodoWrite", "Task",
     "AskUserQuestion", "<command-name>/x</command-name>", "<system-reminder>", "</system-reminder>", "[Request interrupted by user]",
     "2026-03-01T10:00:00.000Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "\ud83d", "\x00", "\u2028", "", "progress"]
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | WORDS | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=25,
)


@given(st.lists(st.binary(max_size=200), max_size=3))
@settings(max_examples=60)
def test_any_bytes(datas: list[bytes]) -> None:
    read(*(Memory(data, f"{n}.jsonl") for n, data in enumerate(datas)))


@given(
    st.lists(
        st.tuples(st.sampled_from(LINES), st.lists(st.tuples(st.integers(0, 2000), st.binary(max_size=8)), max_size=3)),
        max_size=6,
    )
)
@settings(max_examples=60)
def test_any_bytes_inside_real_lines(parts: list[tuple[bytes, list[tuple[int, bytes]]]]) -> None:
    lines = []
    for line, edits in parts:
        for at, new in edits:
            line = line[:at] + new + line[at + len(new) // 2 :]  # noqa: PLW2901
        lines.append(line)
    read(Memory(b"\n".join(lines)))


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=9), max_size=5), st.booleans())
@settings(max_examples=120)
def test_any_types_anywhere(records: list[dict[str, Any]], two: bool) -> None:
    data = "\n".join(json.dumps(r) for r in records).encode()
    read(Memory(data), *([Memory(data, "s/subagents/agent-b.jsonl"), Memory(data, "agent-b.meta.json")] if two else []))


@given(st.data())
@settings(max_examples=100)
def test_wrong_types_in_real_records(data: st.DataObject) -> None:
    lines = []
    for line in data.draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=6)):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        target: Any = record
        for _ in range(data.draw(st.integers(0, 4))):
            items = (
                list(target.items())
                if isinstance(target, dict)
                else list(enumerate(target))
                if isinstance(target, list)
                else []
            )
            inner = [k for k, v in items if isinstance(v, dict | list) and v]
            if not inner:
                break
            target = target[data.draw(st.sampled_from(inner))]
        keys = list(target) if isinstance(target, dict) else list(range(len(target)))
        if keys:
            target[data.draw(st.sampled_from(keys))] = data.draw(JSON)
        lines.append(json.dumps(record).encode())
    read(Memory(b"\n".join(lines)))


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"type":"user","sessionId":"x","message":' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"type":"assistant","sessionId":"x","message":{"content":[{"type":"tool_use","input":'
        + b'{"a":' * 900
        + b"1"
        + b"}" * 900
        + b"}]}}",
        b'{"type":"user","sessionId":"x","n":' + b"9" * 5000 + b"}",
        b'{"type":"user","type":"assistant","sessionId":"x","sessionId":3,"message":1,"message":{"content":"twice"}}',
        b'{"type":"user","message":{"content":"no session"}}',
        b'{"type":"user","sessionId":"","uuid":"","message":{"content":["x",null,1,[],{}]}}',
        b"\xef\xbb\xbf\xef\xbb\xbf{}",
        b"\xff\xfe{\x00}\x00",
        b"\x00" * 200_000,
        b'{"a":NaN}\n{"b":1e999}\n',
    ],
    ids=range(12),
)
def test_hostile_lines(raw: bytes) -> None:
    read(Memory(raw))
    read(Memory(raw + b"\n" + LINES[0] + b"\n" + raw))


def test_a_broken_line_full_of_openings_takes_no_ages() -> None:
    read(Memory(b'{"a":{"b":[' * 200_000 + b"\n" + LINES[0]))


# ------------------------------------------------------------------ nothing lost, nothing doubled

UUIDS = st.integers(0, 2**40).map(lambda n: f"00000000-0000-4000-8000-{n:012x}")


@st.composite
def talk(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Lines of one talk: prompts and answers, some answers on several lines, each text unique."""
    lines: list[dict[str, Any]] = []
    parent = None
    for n in range(draw(st.integers(1, 8))):
        role = draw(st.sampled_from(["user", "assistant"]))
        uuid = f"{draw(st.integers(0, 2**32 - 1)):08x}-0000-4000-8000-{n:012x}"
        text = f"words {n} of {draw(st.integers(0, 9))}"
        content: Any = text if role == "user" and draw(st.booleans()) else [{"type": "text", "text": text}]
        message = {"role": role, "content": content}
        if role == "assistant":
            message["id"] = f"msg_{draw(st.integers(0, 3))}"
        lines.append(
            {
                "type": role,
                "uuid": uuid,
                "parentUuid": parent,
                "sessionId": "s1",
                "message": message,
                "timestamp": f"2026-03-01T10:00:{n:02d}.000Z",
            }
        )
        parent = uuid
    return lines


def said(found: list[Found]) -> list[str]:
    def of(turns: tuple[Turn, ...]) -> list[str]:
        out = []
        for turn in turns:
            for block in turn.blocks:
                if isinstance(block, Text):
                    out.append(block.text)
                elif isinstance(block, Aside):
                    out += of(block.turns)
        return out

    return [text for c in found if isinstance(c, Conversation) for text in of(c.turns)]


def encode(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def words(lines: list[dict[str, Any]]) -> list[str]:
    return sorted(c if isinstance(c := line["message"]["content"], str) else c[0]["text"] for line in lines)


@given(talk())
def test_every_word_once(lines: list[dict[str, Any]]) -> None:
    assert sorted(said(read(Memory(encode(lines), "s1.jsonl")))) == words(lines)


@given(talk(), talk(), st.integers(0, 8), st.booleans(), st.booleans())
@settings(max_examples=60)
def test_copies_say_every_word_once(
    first: list[dict[str, Any]], more: list[dict[str, Any]], cut: int, rewritten: bool, swap: bool
) -> None:
    kept = first[: max(1, cut)]
    copied = [dict(line, sessionId="s2") if rewritten else line for line in kept]
    own = []
    parent = kept[-1]["uuid"]
    for n, line in enumerate(more):
        text = f"more {n}"
        message = dict(line["message"], content=text, id=f"msg_own_{n}")
        own.append(
            dict(
                line,
                uuid="f" + line["uuid"][1:-1] + "f",
                parentUuid=parent,
                sessionId="s2",
                message=message,
                timestamp=f"2026-03-01T11:00:{n:02d}.000Z",
            )
        )
        parent = own[-1]["uuid"]
    files = [Memory(encode(first), "s1.jsonl"), Memory(encode(copied + own), "s2.jsonl")]
    found = read(*(files[::-1] if swap else files))
    assert sorted(said(found)) == sorted(words(first) + words(own))
    talks = [c for c in found if isinstance(c, Conversation)]
    if len(kept) == len(first):
        assert [(c.key, c.aka) for c in talks] == [("claude-code:s1", ("claude-code:s2",))]
    else:
        assert sorted((c.key, c.parent) for c in talks) == [
            ("claude-code:s1", ""),
            ("claude-code:s2", "claude-code:s1"),
        ]


@given(talk(), st.integers(1, 8))
def test_growth_keeps_every_turns_id(lines: list[dict[str, Any]], cut: int) -> None:
    def turns(count: int) -> list[Turn]:
        return [
            t for c in read(Memory(encode(lines[:count]), "s1.jsonl")) if isinstance(c, Conversation) for t in c.turns
        ]

    before, after = turns(cut), turns(len(lines))
    assert [t.id for t in after[: len(before)]] == [t.id for t in before]


# ------------------------------------------------------------------ jsonl


@given(st.binary(max_size=300))
def test_lines_are_counted_as_an_editor_does(data: bytes) -> None:
    last = data.count(b"\n") + 1
    for line, _, value in jsonl.read(io.BytesIO(data), lambda _: True):
        assert 1 <= line <= last
        assert isinstance(value, dict | jsonl.Damage)


@given(st.lists(st.dictionaries(st.text(max_size=5), JSON, min_size=1, max_size=3), max_size=5))
def test_whole_records_come_back(records: list[dict[str, Any]]) -> None:
    data = b"\r\n".join(json.dumps(r, ensure_ascii=True).encode() for r in records)
    got = list(jsonl.read(io.BytesIO(data), lambda _: True))
    assert [line for line, _, _ in got] == list(range(1, len(records) + 1))
    assert all(isinstance(value, dict) for _, _, value in got)


def test_a_large_file_is_not_held() -> None:
    line = json.dumps({"type": "file-history-snapshot", "sessionId": "x", "snapshot": "y" * 100_000}).encode() + b"\n"

    class Long(Memory):
        def open(self) -> BinaryIO:
            class Endless(io.RawIOBase):
                left = 400
                rest = b""

                def readable(self) -> bool:
                    return True

                def readinto(self, buffer: Any) -> int:
                    if not self.rest:
                        if not self.left:
                            return 0
                        self.left, self.rest = self.left - 1, line
                    part = self.rest[: len(buffer)]
                    self.rest = self.rest[len(part) :]
                    buffer[: len(part)] = part
                    return len(part)

            return io.BufferedReader(Endless())

    tracemalloc.start()
    found = read(Long(line, "x.jsonl"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(found[0], Skip)
    assert peak < 4_000_000


def test_the_cases_are_claimed_and_other_formats_are_not() -> None:
    for file in files_of(CASES):
        assert claude_code.claims(file)
    for data, name in [
        (b'{"timestamp":"2026","type":"session_meta","payload":{"id":"x"}}\n', "rollout.jsonl"),
        (b'[{"uuid":"u","name":"n","chat_messages":[]}]', "conversations.json"),
        (b'[{"mapping":{},"current_node":"x"}]', "conversations.json"),
        (b'# Notes\n\n{"type":"user","sessionId":"x"}\n', "notes.md"),
        (b"PK\x03\x04", "x.zip"),
        (b"\x89PNG\r\n", "x.png"),
        (b"{}", "x.json"),
        (b"", "notes.txt"),
    ]:
        assert not claude_code.claims(Memory(data, name))
