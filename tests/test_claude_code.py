"""Claude Code transcripts, case by case: `cases/formats/claude-code/<case>` and the talk it is, as text, beside it.

`OBSIDIAN_IMPORT_REGEN=1 pytest tests/test_claude_code.py` writes the expected texts anew: read the diff as a person.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from obsidian_import.formats import claude_code
from obsidian_import.model import Aside, Conversation, Problem, Skip, Text, ToolResult
from tests.claude_code_help import CASES, NoMemo, dump, files_of, found_in

REGEN = bool(os.environ.get("OBSIDIAN_IMPORT_REGEN"))
ALL = sorted(p for p in CASES.iterdir() if p.is_dir() or p.suffix in (".jsonl", ".json"))


@pytest.mark.parametrize("case", ALL, ids=lambda p: p.name)
def test_case(case: Path) -> None:
    shown = dump(found_in(case))
    expected = case.parent / f"{case.stem}.expected.txt"
    if REGEN:
        expected.write_text(shown, encoding="utf-8")
    assert shown == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", ALL, ids=lambda p: p.name)
def test_every_case_is_claimed_and_reads_the_same_without_the_hint(case: Path) -> None:
    files = files_of(case)
    assert all(claude_code.claims(f) for f in files)
    for group in claude_code.groups(files, NoMemo()):
        bare = type(group)(group.format, group.files)
        with_hint = dump(list(claude_code.read(group)))
        if not group.hint.get("summaries"):
            assert dump(list(claude_code.read(bare))) == with_hint


def talks(case: str) -> list[Conversation]:
    return [c for c in found_in(CASES / case) if isinstance(c, Conversation)]


# ------------------------------------------------------------------ must stay as it is


def test_a_tag_in_prose_stays() -> None:
    text = "\n".join(t.text for t in talks("wrappers.jsonl")[0].turns if t.role == "user")
    for said in (
        "In my log I see <system-reminder> and `<command-name>`; what are they?",
        "<command-name>/x</command-name> stands in my log. Why?",
        "kept, it is pasted",
        "<div> is broken on the page",
        "/review only the parser <b>please</b>",
        "line one\nline two",
        "\u00a0❯ ./run.sh\nwhy?\u2028next\nline".strip(),
    ):
        assert said in text


def test_no_wrapper_is_a_persons_words() -> None:
    for case in ("wrappers.jsonl", "compaction.jsonl", "queue.jsonl"):
        for turn in talks(case)[0].turns:
            if turn.role == "user":
                for never in (
                    "Do not mention",
                    "Caveat:",
                    "opened the file",
                    "interrupted",
                    "A peer",
                    "task-id",
                    "continued from",
                ):
                    assert never not in turn.text
            else:
                for never in ("API Error", "No response requested", "(no content)"):
                    assert never not in turn.text


def test_what_is_typed_while_claude_works_is_there_once() -> None:
    (talk,) = talks("queue.jsonl")
    said = [t.text for t in talk.turns if t.role == "user"]
    assert said == [
        "Start the work",
        "only in the queue: use port 8080",
        "steer left",
        "half a thought, finished",
        "look at this",
        "last words",
    ]


def test_helpers_and_empty_sessions_are_said_not_hidden() -> None:
    found = found_in(CASES / "no-talk")
    why = {s.source.split(".")[0]: s.why for s in found if isinstance(s, Skip)}
    assert why == {
        "33333333-3333-4333-8333-333333333333": "an empty session",
        "mem": "a memory plugin's own session",
        "ping": "a warm-up of the client",
        "snapshots": "only state records, no message",
        "summary": "a summary helper's session",
        "title": "a title helper's session",
        "usage": "only commands and client messages, no talk",
        "warmup": "a warm-up of the client",
        "wrapper": "only commands and client messages, no talk",
    }
    # equal ids, times and answers do not make copies of sessions that begin with different words
    assert {c.session_id for c in found if isinstance(c, Conversation)} == {"talk-about-warmup", "unanswered"}


# ------------------------------------------------------------------ lineages


def test_a_resumed_talk_is_one_note_with_everything_once() -> None:
    (talk,) = talks("lineage-resumed")
    assert talk.key.endswith("11111111")
    assert len(talk.aka) == 2
    assert [t.text for t in talk.turns if t.role == "user"] == [
        "Start a talk",
        "Go on",
        "Resumed with a new id",
        "Third part, old ids kept in the copy",
    ]
    assert talk.title == "A resumed talk"
    assert [f[:8] for f in talk.files] == ["11111111", "22222222", "33333333"]


def test_the_origin_may_be_gone(tmp_path: Path) -> None:
    for path in sorted((CASES / "lineage-resumed").iterdir())[1:]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    found = [c for c in found_in(tmp_path) if isinstance(c, Conversation)]
    assert [len(c.turns) for c in found] == [8]


def test_a_fork_holds_its_own_words_and_names_its_origin() -> None:
    a, b = talks("lineage-forked")
    assert (a.parent, b.parent) == ("", a.key)
    assert [t.text for t in a.turns] == ["Shared start", "Shared answer.", "The way of A", "A it is."]
    assert [t.text for t in b.turns] == ["The way of B", "B it is."]


def test_lines_in_the_wrong_file_go_to_their_session() -> None:
    a, b = talks("lineage-wrong-file")
    assert [t.text for t in a.turns] == ["In A", "A."]
    assert [t.text for t in b.turns] == ["In B", "B.", "B again, written into the file of A", "B still."]
    assert b.files[0].endswith("2222.jsonl")


def test_order_of_the_files_does_not_matter() -> None:
    for case in ("lineage-resumed", "lineage-forked", "lineage-wrong-file", "lineage-agents"):
        files = files_of(CASES / case)
        for order in (files, files[::-1]):
            shown = [r for g in claude_code.groups(order, NoMemo()) for r in claude_code.read(g)]
            keys = sorted(dump([r]) for r in shown)
            if order is files:
                first = keys
        assert keys == first


def test_the_same_file_twice_says_everything_once(tmp_path: Path) -> None:
    for case in ("plain.jsonl", "merged.jsonl", "queue.jsonl", "agents-inline.jsonl"):
        once = talks(case)[0]
        folder = tmp_path / case
        folder.mkdir()
        for name in ("a", "b"):
            (folder / name).mkdir()
            (folder / name / case).write_bytes((CASES / case).read_bytes())
        twice = [c for c in found_in(folder) if isinstance(c, Conversation)]
        assert len(twice) == 1
        assert twice[0].turns == once.turns


def test_a_growing_session_only_adds(tmp_path: Path) -> None:
    for case in ("plain.jsonl", "wrappers.jsonl", "compaction.jsonl"):
        lines = (CASES / case).read_bytes().splitlines(keepends=True)
        before: list[tuple[str, str]] = []
        for count in range(1, len(lines) + 1):
            path = tmp_path / case
            path.write_bytes(b"".join(lines[:count]))
            found = [c for c in found_in(path) if isinstance(c, Conversation)]
            now = [(t.id, t.text) for t in found[0].turns] if found else []
            assert [i for i, _ in now[: len(before)]] == [i for i, _ in before]
            assert all(new.startswith(old) for (_, old), (_, new) in zip(before, now, strict=False))
            before = now


# ------------------------------------------------------------------ sub-agents


def test_sub_agents_stand_behind_their_call() -> None:
    found = found_in(CASES / "lineage-agents")
    (main, lone) = [c for c in found if isinstance(c, Conversation)]
    blocks = main.turns[1].blocks
    kinds = [type(b).__name__ for b in blocks]
    assert kinds == ["ToolCall", "Aside", "ToolResult", "ToolCall", "Aside", "ToolResult", "Text"]
    assert [b.title for b in blocks if isinstance(b, Aside)] == ["Look around", "Dig in the archive"]
    dig = blocks[4]
    assert isinstance(dig, Aside)
    assert [b.title for t in dig.turns for b in t.blocks if isinstance(b, Aside)] == ["Deeper"]
    assert [a.title for a in main.asides] == ["A step of a workflow."]
    assert lone.title == "Sub-agent: I have lost my session."
    assert lone.parent.endswith("33333333")
    assert [s.why for s in found if isinstance(s, Skip)] == ["a warm-up of the client"]


def test_inline_sub_agents_interleaved() -> None:
    (talk,) = talks("agents-inline.jsonl")
    answers = {b.title: b.turns[-1].text for b in talk.turns[1].blocks if isinstance(b, Aside)}
    assert answers == {"First thing": "First done.", "Second thing": "Second done."}
    assert [a.title for a in talk.asides] == ["Nobody called me."]


# ------------------------------------------------------------------ damage, memo, trouble


def test_every_damaged_line_is_named_and_the_rest_is_read() -> None:
    found = found_in(CASES / "damaged.jsonl")
    lines = sorted(p.line or 0 for p in found if isinstance(p, Problem))
    raw = (CASES / "damaged.jsonl").read_bytes().split(b"\n")
    assert lines[-1] == len(raw)
    (talk,) = [c for c in found if isinstance(c, Conversation)]
    said = "\n".join(t.text for t in talk.turns)
    for kept in (
        "glued after",
        "two in one",
        "second of them",
        "NULs before",
        "NULs after",
        "tab\there",
        "big int",
        "the end",
    ):
        assert kept in said
    assert "half an emoji: \ufffd, whole: 😀, escaped: \\ud83d" in said
    assert "a\u2028b\u2029c\x85d" in said


def test_an_unchanged_file_is_not_read_again() -> None:
    class Counting:
        def __init__(self) -> None:
            self.kept: dict[str, object] = {}

        def get(self, file: object, kind: str) -> object | None:
            return self.kept.get(file.where + kind)

        def put(self, file: object, kind: str, value: object) -> None:
            self.kept[file.where + kind] = value

    memo = Counting()
    files = files_of(CASES / "lineage-resumed")
    first = list(claude_code.groups(files, memo))

    class Closed:
        def __init__(self, file: object) -> None:
            self.name, self.where, self.size, self.mtime = file.name, file.where, file.size, file.mtime

        def open(self) -> object:
            raise AssertionError("read again")

        def head(self, size: int = 65536) -> bytes:
            raise AssertionError("read again")

    again = list(claude_code.groups([Closed(f) for f in files], memo))
    assert [g.hint for g in again] == [g.hint for g in first]


def test_a_file_that_cannot_be_opened_is_a_fatal_problem() -> None:
    class Gone:
        name = where = "x.jsonl"
        size, mtime = 1, None

        def open(self) -> object:
            raise PermissionError(13, "Permission denied")

        def head(self, size: int = 65536) -> bytes:
            return b""

    found = [r for g in claude_code.groups([Gone()], NoMemo()) for r in claude_code.read(g)]
    assert [(type(p), p.fatal) for p in found] == [(Problem, True)]
    assert "Permission denied" in found[0].what


def test_only_a_stump_is_a_fatal_problem(tmp_path: Path) -> None:
    path = tmp_path / "11111111-1111-4111-8111-111111111111.jsonl"
    path.write_bytes(b'{"type":"user","sessionId":"x","mess')
    found = found_in(path)
    assert [(type(p), p.fatal, p.line) for p in found] == [(Problem, True, 1)]


@pytest.mark.parametrize(
    ("cwd", "project"),
    [
        ("/srv/my-app", "my-app"),
        ("/srv/my-app/", "my-app"),
        ("C:\\Users\\me\\My App", "My App"),
        ("c:/Users/me/x", "x"),
        ("\\\\server\\share\\x", "x"),
        ("/srv/a\\b", "a\\b"),
        ("/srv/my-app/.claude/worktrees/fix-1", "my-app"),
        ("/srv/my-app/.claude/worktrees/fix-1/sub", "my-app"),
        ("/srv/.claude", ".claude"),
        ("/", ""),
        ("C:\\", ""),
        ("", ""),
    ],
)
def test_project(cwd: str, project: str) -> None:
    assert claude_code.project_of(cwd) == project


# ------------------------------------------------------------------ the real samples


def test_samples(samples: Path) -> None:
    found = found_in(samples / "claude-code")
    by_key = {c.session_id: c for c in found if isinstance(c, Conversation)}
    todo = by_key["fe5e1c67-53e7-4862-81ae-d0e013e3270b"]
    agents = [b for t in todo.turns for b in t.blocks if isinstance(b, Aside) and b.kind == "agent"]
    assert (len(todo.turns), len(agents)) == (4, 5)
    assert not todo.asides
    results = [b for t in todo.turns for b in t.blocks if isinstance(b, ToolResult)]
    assert all(r.call for r in results)
    assert todo.project == "Demo"
    assert not any(p.fatal for p in found if isinstance(p, Problem))
    assert any(isinstance(b, Text) for b in by_key["edge_cases"].turns[0].blocks)
