"""Markdown files: whose marks they bear, what is read of them, and what makes two files one talk."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_import.formats import markdown
from obsidian_import.formats.dialects import DIALECTS, cut, fenced
from obsidian_import.formats.frontmatter import carried
from obsidian_import.model import Aside, Conversation, Group, Skip, Text, ToolCall, ToolResult
from tests import format_cases
from tests.format_cases import MemoryFile

FOLDER = "markdown"


def _read(text: str, name: str = "notes/a.md") -> list[object]:
    return list(markdown.read(Group(markdown.NAME, (MemoryFile(name, text.encode("utf-8", "surrogatepass")),))))


def _talk(text: str, name: str = "notes/a.md") -> Conversation:
    return next(one for one in _read(text, name) if isinstance(one, Conversation))


@pytest.mark.parametrize("case", format_cases.cases(FOLDER), ids=lambda case: case.name)
def test_golden(case: Path) -> None:
    format_cases.check(case)


# -- must stay one body


@pytest.mark.parametrize(
    "text",
    [
        "# A note\n\nJust text.\n",
        "# Roles\n\n## User\n\nreads\n\n## Administrator\n\nwrites\n",
        "```\n## 👤 User\n\nhi\n\n## 🤖 Claude\n\nyo\n```\n",
        "> **You:** hi\n>\n> **Claude:** yo\n",
        "    ## User\n\n    ## Assistant\n",
        "## Assistant\n\nfirst the assistant\n\n## User\n\nthen the user\n",
        "~~~~\n**You:** a\n~~~\n**Claude:** b\n~~~~\n",
        "",
        "---\na: 1\n---\n",
    ],
)
def test_a_file_without_marks_is_one_body(text: str) -> None:
    found = _read(text)
    assert all(one.turns == () and one.body is not None for one in found if isinstance(one, Conversation))


def test_a_plain_body_is_kept_to_the_letter() -> None:
    body = "# T\n\nText with [[x]], #tag, `code` and\ttab  \n\n- [ ] task\n\n<div>html</div>"
    assert _talk(f"---\nrating: 3\n---\n{body}\n").body == body


# -- fences


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("```\nM\n```\nM", "1110"),
        ("````\n```\nM\n```\n````\nM", "111110"),
        ("~~~\n```\nM\n~~~\nM", "11110"),
        ("```py\nM\ntext\n```py\nM\n```", "100111"),  # the first one never closed
        ("```\nx\nM\ny", "1100"),
        ("```\nx\ny", "111"),
        ("- ```\n  M\n  ```\nM", "1110"),
        ("``` not ` a fence\nM", "00"),
    ],
)
def test_fences(lines: str, expected: str) -> None:
    split = lines.split("\n")
    assert "".join("1" if inside else "0" for inside in fenced(split, lambda line: line.strip() == "M")) == expected


@given(st.lists(st.sampled_from(["```", "```py", "~~~", "````", "M", "text", "", "> ```", "- ```"]), max_size=40))
def test_every_mark_outside_fences_begins_a_message_and_no_line_is_lost(lines: list[str]) -> None:
    dialect = DIALECTS[-1]
    marked = ["**You:** x" if line == "M" else line for line in lines]
    before, messages = cut(marked, dialect)
    assert len(before) + sum(1 + len(m.lines) - bool(m.mark.rest) for m in messages) == len(marked)


# -- identity


def _marked(*pairs: tuple[str, str]) -> str:
    return "# Conversation with Claude\n\n" + "".join(
        f"## Human:\n\n{q}\n\n---\n\n## Claude:\n\n{a}\n\n---\n\n" for q, a in pairs
    )


def test_a_talk_without_id_keeps_its_key_when_it_grows_and_is_renamed() -> None:
    one = _talk(_marked(("Why?", "Because of the rain.")), "a/Chat.md")
    two = _talk(_marked(("Why?", "Because of the rain."), ("And?", "So.")), "b/Chat (1).md")
    assert one.key == two.key


def test_two_talks_that_begin_alike_differ() -> None:
    assert _talk(_marked(("hi", "Hello! How can I help?"))).key != _talk(_marked(("hi", "Hi there."))).key


def test_a_plain_note_keeps_its_key_when_it_is_edited_and_not_when_it_is_another_file() -> None:
    assert _talk("one\n", "x/notes/a.md").key == _talk("two\n", "notes/a.md").key
    assert _talk("one\n", "x/a.md").key != _talk("one\n", "y/a.md").key


@pytest.mark.parametrize(
    ("head", "key"),
    [
        ("# Claude Conversation Log\n\nSession ID: 5C0375B4-57a5-4f26-b12d-d022ee4e51b7\nDate: 2026-01-01\n\n---\n\n## 👤 User\n\nx\n", "claude-code:5c0375b4-57a5-4f26-b12d-d022ee4e51b7"),
        ("# Claude Conversation Log\n\nSession ID: agent-0f12ab\nDate: 2026-01-01\n\n---\n\n## 👤 User\n\nx\n", "markdown:agent-0f12ab"),
        ("<!-- Codex CLI Session 019fc978-674c-7ac3-9acf-ac7fc462c5f1 (2026-08-03 21:15:02Z) -->\n\n_**User (2026-08-03 21:15:02Z)**_\n\nx\n", "codex:019fc978-674c-7ac3-9acf-ac7fc462c5f1"),
        ("<!-- Gemini CLI Session abc-123-def (2026-08-03 21:15:02Z) -->\n\n_**User**_\n\nx\n", "gemini-cli:abc-123-def"),
        ("**Link:** https://claude.ai/chat/0f3c1d2e-1111-4222-8333-444455556666\n\n## Prompt:\n\nx\n\n## Response:\n\ny\n", "claude.ai:0f3c1d2e-1111-4222-8333-444455556666"),
        ("---\nurl: https://chatgpt.com/c/68aa1111-2222-3333-4444-555566667777\n---\n#### You:\n\nx\n\n#### ChatGPT:\n\ny\n", "chatgpt:68aa1111-2222-3333-4444-555566667777"),
        ("---\nid: my-own-id-1\n---\ntext\n", "markdown:my-own-id-1"),
    ],
)  # fmt: skip
def test_the_talks_own_id_is_its_key(head: str, key: str) -> None:
    assert _talk(head).key == key


def test_one_id_is_one_key_whatever_the_file_is_called() -> None:
    """Whether they are copies or different notes is settled by the importer, which sees all of them."""
    text = b"---\nid: same-id-123\n---\nbody\n"
    files = (MemoryFile("a/1.md", text), MemoryFile("a/3.md", text.replace(b"body", b"other")))
    found = [one for group in markdown.groups(files, format_cases.NoMemo()) for one in markdown.read(group)]
    assert [type(one) for one in found] == [Conversation, Conversation]
    assert len({one.key for one in found if isinstance(one, Conversation)}) == 1


# -- what is in a talk


def test_tools_of_the_detailed_mode() -> None:
    talk = _talk(
        "# Claude Conversation Log\n\nSession ID: x\nDate: 2026-01-01\n\n---\n\n## 👤 User\n\nrun\n\n---\n\n## 🤖 Claude\n\nI run\n\n🔧 Using tool: Bash\n"
        'Input: {\n  "command": "ls",\n  "nested": {\n    "a": 1\n  }\n}\n\n\n---\n\n### 📤 Tool Result\n\n📤 Result:\na\nb\n\n---\n\n### ℹ️ System\n\nℹ️ System: hook\n\n---\n'
    )
    blocks = talk.turns[1].blocks
    assert [type(block) for block in blocks] == [Text, ToolCall, ToolResult, Aside]
    assert isinstance(blocks[1], ToolCall)
    assert (blocks[1].name, blocks[1].input, blocks[1].language) == ("Bash", "ls", "bash")
    assert isinstance(blocks[2], ToolResult)
    assert blocks[2].text == "a\nb"


def test_nothing_private_of_an_export_header_remains() -> None:
    mail = "jane" + "@" + "example.org"
    talk = _talk(
        f"# T\n\n**User:** Jane Doe ({mail})  \n**Created:** 2026-01-02  \n\n## Prompt:\n\nq\n\n## Response:\n\na\n"
    )
    assert "Jane" not in "\n".join(format_cases.show(talk))
    assert mail not in "\n".join(format_cases.show(_talk(f"---\nowner: {mail}\nemail: x\nuser: Jane\n---\nx\n")))


@pytest.mark.parametrize(
    "name",
    [
        "publish",
        "cssclasses",
        "cssclass",
        "Kanban-Plugin",
        "excalidraw-plugin",
        "excalidraw-open-md",
        "permalink",
        "sr-due",
        "banner",
        "dg-publish",
        "obsidianUIMode",
        "share_link",
        "tasks-plugin",
    ],
)
def test_dangerous_properties_are_not_carried_over(name: str) -> None:
    assert carried({name: "x", "rating": 3}).properties == {"rating": 3}


def test_text_before_the_first_message_is_kept_apart() -> None:
    talk = _talk("# T\n\nThis is an introduction.\n\n**You:** hi\n\n**Claude:** yo\n")
    assert [aside.text for aside in talk.asides] == ["This is an introduction."]


# -- never raises, loses no word

_PIECES = ["## 👤 User", "## 🤖 Claude", "### 📤 Tool Result", "_**User (2026-01-01 00:00Z)**_", "_**Agent - sidechain (m 2026-01-01 00:00:00Z)**_", "_****_", '<tool-use data-tool-type="shell" data-tool-name="Bash"><details>', "</details></tool-use>", "<think><details><summary>Thought Process</summary>", "</details></think>", "```", "```text", "~~~", "---", "", "**You:** a", "## Prompt:", "### Response", "## chat-1", "> q", "🔧 Using tool: X", "Input: {", "}", "3/4/2026, 1:00:00 PM", "word", "`1:00`", "**`2026-01-01`** `10:00:00`", "<command-name>/x</command-name>", "<system-reminder>", "\x1b[1m", "title: [", "# T (2026-01-01 10:00)", "\ud83d", "\0"]  # fmt: skip
_HEADS = [
    "",
    "---\n",
    "---\ntitle: x\n---\n",
    "# Claude Conversation Log\n\nSession ID: x\n",
    "<!-- Generated by SpecStory -->\n",
    "<!-- Generated by claude-code-log v1 -->\n",
    "# Claude Code Session Export\n### User\n",
    "_Exported on 3/4/2025 at 1:00:00 from Cursor (1)_\n",
]


@given(st.sampled_from(_HEADS), st.lists(st.sampled_from(_PIECES), max_size=40))
def test_never_raises(head: str, lines: list[str]) -> None:
    file = MemoryFile("x/a.md", (head + "\n".join(lines)).encode("utf-8", "surrogatepass"), mtime=None)
    markdown.claims(file)
    for found in markdown.read(Group(markdown.NAME, (file,))):
        list(format_cases.show(found))


@given(st.binary(max_size=3000))
def test_never_raises_on_bytes(raw: bytes) -> None:
    for data in (raw, b"---\n" + raw, b"# Claude Conversation Log\nSession ID: x\n## \xf0\x9f\x91\xa4 User\n" + raw):
        file = MemoryFile("x/a.md", data)
        markdown.claims(file)
        for found in markdown.read(Group(markdown.NAME, (file,))):
            list(format_cases.show(found))


@given(st.lists(st.from_regex(r"[a-z]{4,9}", fullmatch=True), min_size=2, max_size=12, unique=True), st.sampled_from([("## Human:", "## Claude:"), ("#### You:", "#### ChatGPT:"), ("## Prompt:", "## Response:"), ("**User**", "**Cursor**"), ("_**User**_", "_**Agent**_"), ("## User", "## Assistant")]))  # fmt: skip
def test_every_word_of_every_message_is_somewhere(words: list[str], marks: tuple[str, str]) -> None:
    text = "".join(f"{marks[index % 2]}\n\n{word}\n\n" for index, word in enumerate(words))
    talk = _talk(text)
    assert [turn.text for turn in talk.turns] == words


def test_real_specstory_histories(samples: Path) -> None:
    found = format_cases.read(samples / "specstory")
    talks = [one for one in found if isinstance(one, Conversation)]
    skips = [one for one in found if isinstance(one, Skip)]
    assert (len(talks), len(skips)) == (7, 1)
    assert len({one.key for one in talks}) == 6
    assert sorted(len(talk.turns) for talk in talks) == [1, 2, 2, 2, 8, 8, 16]
    assert {talk.key.partition(":")[0] for talk in talks} == {"claude-code", "codex", "cursor"}
    assert all(talk.created and talk.created.tzinfo for talk in talks)


def test_binary_junk_is_no_markdown_and_a_stray_nul_is() -> None:
    import random

    junk = random.Random(1).randbytes(5000)
    assert not markdown.claims(MemoryFile("x/a.md", junk))
    found = list(markdown.read(Group(markdown.NAME, (MemoryFile("x/a.md", b"a\0b " * 3 + b"words " * 200),))))
    assert [type(one).__name__ for one in found] == ["Problem", "Conversation"]
    assert markdown.claims(MemoryFile("x/a.md", "# Grüße\n".encode("utf-16")))
    assert _talk_of("# Grüße\n".encode("utf-16")).title == "Grüße"


def _talk_of(raw: bytes) -> Conversation:
    found = markdown.read(Group(markdown.NAME, (MemoryFile("x/a.md", raw),)))
    return next(one for one in found if isinstance(one, Conversation))
