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
@settings(max_examples=60)
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

    talks = [c for c in found if isinstance(c, Conversation)]
    return [text for c in talks for turns in (c.turns, *(a.turns for a in c.asides)) for text in of(turns)]


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
@settings(max_examples=40)
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


# ------------------------------------------------------------------ shapes that once were traps


class Lines:
    """Records of one session, linked as Claude Code links them."""

    def __init__(self, sid: str, prefix: str = "a") -> None:
        self.sid, self.prefix, self.last, self.records = sid, prefix, None, []

    def add(self, kind: str, content: Any, **more: Any) -> str:
        n = len(self.records) + 1
        uuid = f"{self.prefix:0<8}-0000-4000-8000-{n:012x}"
        record = {
            "type": kind,
            "uuid": uuid,
            "parentUuid": self.last,
            "sessionId": self.sid,
            "timestamp": f"2026-03-01T1{n // 3600}:{n // 60 % 60:02d}:{n % 60:02d}.000Z",
            "message": {
                "role": kind,
                "content": content,
                **({"id": f"msg_{self.prefix}{n}"} if kind == "assistant" else {}),
            },
        }
        record.update(more)
        self.records.append(record)
        self.last = uuid
        return uuid

    def file(self, name: str = "") -> Memory:
        return Memory(encode(self.records), name or f"{self.sid}.jsonl")


def conversations(*files: Memory) -> list[Conversation]:
    return [c for c in read(*files) if isinstance(c, Conversation)]


def test_a_talk_that_goes_on_in_a_new_file_after_compaction_is_one() -> None:
    one, two = Lines("s1"), Lines("s2", "b")
    one.add("user", "Begin")
    last = one.add("assistant", "Begun.")
    two.add("system", None, subtype="compact_boundary", parentUuid=None, logicalParentUuid=last)
    two.add(
        "user",
        "This session is being continued from a previous conversation that ran out of context.",
        isCompactSummary=True,
    )
    two.add("user", "Go on")
    two.add("assistant", "Gone on.")
    (talk,) = conversations(two.file(), one.file())
    assert (talk.key, talk.aka) == ("claude-code:s1", ("claude-code:s2",))
    assert [t.text for t in talk.turns] == ["Begin", "Begun.", "Go on", "Gone on."]
    assert [b.kind for t in talk.turns for b in t.blocks if isinstance(b, Aside)] == ["compaction"]


def test_a_compaction_summary_may_name_the_file_before() -> None:
    sid = "11111111-1111-4111-8111-111111111111"
    one, two = Lines(sid), Lines("s2", "b")
    one.add("user", "Begin")
    one.add("assistant", "Begun.")
    two.add(
        "user",
        f"This session is being continued from a previous conversation. Read the full transcript at: /x/{sid}.jsonl",
        isCompactSummary=True,
    )
    two.add("user", "Go on")
    (talk,) = conversations(one.file(), two.file())
    assert talk.aka == ("claude-code:s2",)
    (alone,) = conversations(two.file())
    assert alone.parent == f"claude-code:{sid}"


def test_a_fork_by_pointer_names_its_parent() -> None:
    one, two = Lines("s1"), Lines("s2", "b")
    one.add("user", "Begin")
    one.add("assistant", "Begun.")
    two.records.append({"type": "fork-context-ref", "sessionId": "s2", "forkedSessionId": "s1"})
    two.add("user", "Another way")
    two.add("assistant", "Taken.")
    a, b = conversations(one.file(), two.file())
    assert (a.parent, b.parent) == ("", a.key)


def test_a_fresh_background_copy_is_no_note() -> None:
    one = Lines("s1")
    for n in range(3):
        one.add("user", f"q{n}")
        one.add("assistant", f"a{n}")
    copy = [dict(r, sessionId="s2", sessionKind="bg", forkedFrom={"sessionId": "s1"}) for r in one.records[:4]]
    found = read(one.file(), Memory(encode(copy), "s2.jsonl"))
    assert [c.key for c in found if isinstance(c, Conversation)] == ["claude-code:s1"]
    assert [s.why for s in found if isinstance(s, Skip)] == ["a copy of another session that adds nothing"]


def test_nested_sub_agents_whatever_their_names() -> None:
    for outer, inner in (("aaaa", "bbbb"), ("bbbb", "aaaa")):
        main = Lines("s1")
        main.add("user", "Go")
        main.add("assistant", [{"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "outer task"}}])
        files = [main.file()]
        for name, prompt, answer in ((outer, "outer task", "outer done"), (inner, "inner task", "inner done")):
            agent = Lines("s1", name)
            agent.add("user", prompt, isSidechain=True, agentId=name)
            if name == outer:
                agent.add(
                    "assistant",
                    [{"type": "tool_use", "id": "t2", "name": "Task", "input": {"prompt": "inner task"}}],
                    isSidechain=True,
                    agentId=name,
                )
            agent.add("assistant", answer, isSidechain=True, agentId=name)
            files.append(agent.file(f"agent-{name}.jsonl"))
        (talk,) = conversations(*files)
        assert not talk.asides
        assert sorted(said([talk])) == ["Go", "inner done", "inner task", "outer done", "outer task"]


def test_agents_that_start_each_other_are_not_lost() -> None:
    files = []
    for name, other in (("aaaa", "bbbb"), ("bbbb", "aaaa")):
        agent = Lines("s1", name)
        agent.add("user", f"task {name}", isSidechain=True, agentId=name)
        agent.add(
            "assistant",
            [{"type": "tool_use", "id": f"t{name}", "name": "Task", "input": {"prompt": f"task {other}"}}],
            isSidechain=True,
            agentId=name,
        )
        files.append(agent.file(f"agent-{name}.jsonl"))
    main = Lines("s1", "c")
    main.add("user", "Go")
    main.add("assistant", "Gone.")
    assert sorted(said(read(main.file(), *files))) == ["Go", "Gone.", "task aaaa", "task bbbb"]


def test_many_rewinds_to_one_place_stand_side_by_side() -> None:
    lines = Lines("s1")
    lines.add("user", "Start")
    place = lines.add("assistant", "Started.")
    for n in range(60):
        lines.last = place
        lines.add("user", f"try {n}")
        lines.add("assistant", f"tried {n}")
    (talk,) = conversations(lines.file())
    assert [t.text for t in talk.turns] == ["Start", "Started.", "try 59", "tried 59"]
    branches = [b for b in talk.turns[2].blocks if isinstance(b, Aside)]
    assert [b.turns[0].text for b in branches] == [f"try {n}" for n in range(59)]


def test_rewinds_inside_rewinds_do_not_nest_for_ever() -> None:
    lines = Lines("s1")
    places = [lines.add("user", "Start")]
    for n in range(40):
        lines.add("user", f"down {n}")
        places.append(lines.add("assistant", f"was {n}"))
    for n in reversed(range(40)):
        lines.last = places[n]
        lines.add("user", f"up {n}")
        lines.add("assistant", f"is {n}")
    (talk,) = conversations(lines.file())

    def depth(turns: tuple[Turn, ...]) -> int:
        return 1 + max((depth(b.turns) for t in turns for b in t.blocks if isinstance(b, Aside)), default=0)

    assert depth(talk.turns) < 10
    assert len(said([talk])) == 161


@pytest.mark.parametrize(
    "text",
    [
        " " * 300_000 + "x",
        "<system-reminder>\n" * 50_000,
        "x\n<system-reminder>y</system-reminder>\n" * 20_000,
        "<pasted_content id='1'>" * 50_000,
        "x </system-reminder>" * 50_000,
        "\x1b]" * 100_000,
        "<command-args>" * 50_000,
    ],
    ids=range(7),
)
def test_hostile_texts_take_no_ages(text: str) -> None:
    lines = Lines("s1")
    lines.add("user", text)
    lines.add("user", [{"type": "tool_result", "tool_use_id": "x", "content": text}])
    read(lines.file())


def test_many_of_everything_takes_no_ages() -> None:
    lines = Lines("s1")
    count = 4000
    for n in range(count):
        lines.add("assistant", [{"type": "tool_use", "id": f"t{n}", "name": "Task", "input": {"prompt": f"task {n}"}}])
    for n in range(count):
        lines.add("user", f"task {n}", isSidechain=True, parentUuid=None)
    for n in range(count):
        lines.add("user", [{"type": "tool_result", "tool_use_id": f"t{n}", "content": f"done {n}"}])
    for n in range(count):
        lines.records.append(
            {
                "type": "queue-operation",
                "operation": "enqueue",
                "content": f"later {n}",
                "sessionId": "s1",
                "timestamp": str(n),
            }
        )
    for n in range(count):
        lines.add("user", f"now {n}")
    (talk,) = conversations(lines.file())
    assert len([b for b in talk.turns[0].blocks if isinstance(b, Aside)]) == count
