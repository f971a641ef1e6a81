"""What holds for every talk, however hostile its words."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_import import inert, properties
from obsidian_import.model import Aside, Conversation, Media, Text, Thinking, ToolCall, ToolResult, Turn
from obsidian_import.render import Rendered, Rendering, render, said
from obsidian_import.render.dialect import MESSAGE_HEADING

BERLIN = ZoneInfo("Europe/Berlin")
OPTIONS = inert.Options()


class Blind:
    """A redactor that finds nothing and remembers what it was shown."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.counts: dict[str, int] = {}

    def redact(self, text: str) -> str:
        self.seen.append(text)
        return text


class Strict(Blind):
    def redact(self, text: str) -> str:
        self.seen.append(text)
        return text.replace("hunter2", "[REDACTED:password:1]")


PIECES = st.sampled_from(
    [
        "# ", "## You · 2026-03-01 10:11 · 3f2a", "\n", "\n\n", "```", "~~~", "````", "`", "> ", "> [!tool]- x", "- [ ] ", "---", "===", "[[X]]", "![[y]]",
        "#tag", "key:: v", "<% tp %>", "<details>", "<!--", "%%", "$", "$$", "\\(", "\\)", "^id", "[^1]:", "word", "two words", "\x00", "\ud800", "\r", "\x1b[31m",
        "\u2028", "\u202e", "é", "研究", "    ", "\t", "|", "1. ", "x" * 300, "\\", ": ", '"', "'", "{{x}}", "](", "http://e.example/",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=8).map("".join), st.text(max_size=30))
LONG = st.one_of(
    TEXTS,
    st.tuples(
        st.sampled_from(["a", "-", "# ", "研", "ab ", "` ", "> ", "x.y ", "1. ", "\\"]), st.integers(3000, 12_000)
    ).map(lambda p: p[0] * p[1]),
)
TIMES = st.one_of(
    st.none(),
    st.datetimes(),
    st.datetimes(timezones=st.just(UTC)),
)
PLAIN = st.one_of(
    LONG.map(Text),
    TEXTS.map(Thinking),
    st.builds(ToolCall, id=st.sampled_from(["", "a", "b"]), name=TEXTS, input=LONG, title=TEXTS, language=TEXTS),
    st.builds(ToolResult, call=st.sampled_from(["", "a", "b"]), text=LONG, error=st.booleans()),
    st.builds(Media, name=TEXTS, media_type=st.sampled_from(["image/png", "application/pdf", "text/html", "", "x/y", "image/svg+xml"]),
              data=st.one_of(st.none(), st.binary(max_size=4)), text=st.one_of(st.none(), TEXTS), why=TEXTS),
)  # fmt: skip
KINDS = st.sampled_from(["agent", "compaction", "branch", "client", "command", "context"])
ROLES = st.sampled_from(["user", "assistant"])


def _turns(blocks: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(
        st.builds(
            Turn,
            id=st.sampled_from(["u1", "u2", "u3", "\ud800"]),
            role=ROLES,
            blocks=st.lists(blocks, max_size=4).map(tuple),
            at=TIMES,
            speaker=TEXTS,
        ),
        max_size=4,
    ).map(tuple)


ASIDES = st.builds(
    Aside,
    kind=KINDS,
    title=TEXTS,
    text=TEXTS,
    turns=_turns(st.one_of(PLAIN, st.builds(Aside, kind=KINDS, title=TEXTS, text=TEXTS, turns=_turns(PLAIN)))),
)
TALKS = st.builds(
    Conversation,
    key=TEXTS, source=st.sampled_from(["claude-code", "markdown"]), session_id=TEXTS, title=TEXTS, turns=_turns(st.one_of(PLAIN, ASIDES)), assistant=TEXTS,
    origin=st.sampled_from(["code", "web", None]), project=TEXTS, created=TIMES, updated=TIMES, asides=st.lists(ASIDES, max_size=2).map(tuple), parent=TEXTS,
    tags=st.lists(TEXTS, max_size=3).map(tuple), aliases=st.lists(TEXTS, max_size=3).map(tuple),
    properties=st.dictionaries(TEXTS, st.one_of(TEXTS, st.integers(), st.floats(), st.none(), st.lists(TEXTS, max_size=3), st.dictionaries(TEXTS, TEXTS, max_size=1)), max_size=3),
    body=st.one_of(st.none(), st.none(), LONG),
)  # fmt: skip
DETAILS = st.sampled_from(["prompts", "talk", "tools", "full"])
WORDS = re.compile(r"[^\W_]+")


def words(text: str) -> Counter[str]:
    return Counter(WORDS.findall(inert.restore(text)))


def made(talk: Conversation, **more: object) -> Rendered:
    return render(talk, {}, Rendering(**{"zone": BERLIN, **more}), Blind(), OPTIONS)  # type: ignore[arg-type]


@given(TALKS, DETAILS)
@settings(max_examples=60)
def test_any_talk_becomes_sound_notes(talk: Conversation, detail: str) -> None:
    result = made(talk, detail=detail)
    headings = 0
    for text in result.texts():
        text.encode()
        assert "\x00" not in text
        assert "\r" not in text
        assert text.endswith("\n")
        assert not text.endswith("\n\n\n")
        assert max(map(len, text.split("\n"))) <= 8000
        assert len(text.encode()) <= 1 << 20
        found = [hit[0] for hit in MESSAGE_HEADING.finditer(text)]
        assert len(found) == len(set(found))
        ids = [hit["id"] for hit in MESSAGE_HEADING.finditer(text)]
        assert len(ids) == len(set(ids))
        headings += len(found)
        block = properties.split(text)
        assert block is not None
        assert "[[" not in text[: text.index("\n---\n", 3)]
    assert headings == result.shown


@given(TALKS, DETAILS)
@settings(max_examples=40)
def test_properties_read_back_as_they_were_meant(talk: Conversation, detail: str) -> None:
    for note in made(talk, detail=detail).notes:
        text = note.text()
        loaded = yaml.safe_load(text[4 : text.index("\n---\n", 3)])
        assert list(loaded) == [key for key, value in note.properties.items() if value is not None]
        for key in ("title", "import_id", "tags", "status", "aliases"):
            assert loaded.get(key) == note.properties.get(key)
        assert loaded["tags"][0] == "chat-import"
        assert loaded["status"] == "imported"
        assert properties.read(text)["title"] == note.properties["title"]


@given(TALKS)
@settings(max_examples=25)
def test_the_same_talk_gives_the_same_bytes(talk: Conversation) -> None:
    assert made(talk, detail="full") == made(talk, detail="full")


@given(TALKS)
@settings(max_examples=50)
def test_nothing_said_is_lost(talk: Conversation) -> None:
    result = made(talk)
    body = "\n".join(note.body for note in result.notes).replace("⏎\n⏎", "").replace(" ⏎\n", " ")
    body = re.sub(r"(?<=\w)⏎\n(?:[ \t]*(?:>[ \t]?)+)?", "", body)
    missing = Counter[str]()
    for text in said(talk):
        missing += words(re.sub(r"\x1b\[31m|\x00", "", text).encode("utf-8", "replace").decode())
    # a word cut by a broken line or glued by an invisible sign is found letter by letter
    letters = Counter("".join(words(body).elements()))
    wanted = Counter("".join(missing.elements()))
    assert not wanted - letters


def _talk(*turns: Turn, **more: object) -> Conversation:
    base = Conversation(
        "claude-code:k",
        "claude-code",
        "k",
        "A talk",
        turns,
        created=datetime(2026, 3, 1, 9, 11, 12, tzinfo=UTC),
        origin="code",
    )
    return replace(base, **more)  # type: ignore[arg-type]


def _turn(number: int, *blocks: object) -> Turn:
    return Turn(
        f"t{number}",
        "user" if number % 2 else "assistant",
        blocks,
        datetime(2026, 3, 1, 9, 0, tzinfo=UTC) + timedelta(minutes=number),
    )  # type: ignore[arg-type]


@given(st.lists(TEXTS, min_size=1, max_size=4))
@settings(max_examples=60)
def test_tools_stay_in_their_callout(outputs: list[str]) -> None:
    blocks = [
        block
        for i, out in enumerate(outputs)
        for block in (ToolCall(str(i), "Bash", f"zqx {out} zqx"), ToolResult(str(i), f"zqx\n{out}\nzqx"))
    ]
    for line in made(_talk(_turn(1, Text("hi")), _turn(2, *blocks), _turn(3, Text("end")))).notes[0].body.split("\n"):
        assert "zqx" not in line or line.startswith("> ")


@given(st.lists(st.integers(0, 4000), min_size=2, max_size=14), st.integers(0, 4000))
@settings(max_examples=60)
def test_growth_changes_only_the_last_parts(sizes: list[int], more: int) -> None:
    turns = [_turn(i, Text(f"w{i} " + "word " * (size // 5))) for i, size in enumerate(sizes)]
    before = made(_talk(*turns), part_bytes=40_000 // 5)
    after = made(_talk(*turns, _turn(99, Text("word " * more))), part_bytes=40_000 // 5)
    assert len(after.notes) >= len(before.notes)
    for old, new in zip(before.notes[:-1], after.notes, strict=False):
        assert (old.body, old.stem) == (new.body, new.stem)
    assert after.notes[len(before.notes) - 1].body.startswith(before.notes[-1].body.rstrip("\n"))
    for old, new in zip(before.notes[1:-1], after.notes[1:], strict=False):
        assert old.text() == new.text()


@pytest.mark.parametrize("kind", ["text", "tool", "agent"])
def test_a_message_longer_than_a_note_is_cut_and_whole_in_sum(kind: str) -> None:
    lines = [f"line {i} of many" if i % 7 else "" for i in range(9000)]
    long = "\n".join(lines)
    fenced = f"before\n\n```py\n{long}\n```\n\nafter"
    block = {
        "text": Text(fenced),
        "tool": ToolCall("a", "Bash", fenced),
        "agent": Aside("agent", "deep", (Turn("x", "assistant", (Text(fenced), ToolCall("b", "Read", long))),)),
    }[kind]
    result = made(
        _talk(_turn(1, Text("first")), _turn(2, block), _turn(3, Text("last"))), part_bytes=60_000, detail="full"
    )
    assert len(result.notes) > 2
    joined = "".join(note.body for note in result.notes)
    numbers = [int(n) for n in re.findall(r"line (\d+) of many", joined)]
    assert numbers == [i for i in range(9000) if i % 7] * (2 if kind == "agent" else 1)
    for note in result.notes:
        assert len(note.text().encode()) <= 70_000
        ids = [hit["id"] for hit in MESSAGE_HEADING.finditer(note.text())]
        assert len(ids) == len(set(ids)) >= 1
        opened = re.findall(rf"^((?:> )*)(`{{{4 if kind == 'tool' else 3}}})(?:py)?$", note.body, re.MULTILINE)
        assert len(opened) % 2 == 0
        if kind != "text":
            assert all(line.startswith((">", "##", "first", "last")) or not line for line in note.body.split("\n"))


def test_parts_know_their_neighbours() -> None:
    turns = [_turn(i, Text("word " * 3000)) for i in range(6)]
    result = made(_talk(*turns), part_bytes=40_000)
    assert [note.part for note in result.notes] == [1, 2, 3]
    assert [note.stem for note in result.notes] == [
        "2026-03-01 A talk",
        "2026-03-01 A talk (part 2)",
        "2026-03-01 A talk (part 3)",
    ]
    texts = result.texts(["moved/One.md", "b/Two.md", "c/Three.md"])
    assert texts[0].count("> [!part]- Part 1 of this talk · after: [[b/Two|Part 2]]") == 2
    assert (
        texts[1].count("> [!part]- Part 2 of this talk · before: [[moved/One|Part 1]] · after: [[c/Three|Part 3]]") == 2
    )
    assert "[[chats/code/2026-03-01 A talk (part 2)|Part 2]]" in result.texts()[0]
    heads = [properties.read(text) for text in texts]
    assert [head.get("messages") for head in heads] == [6, None, None]
    assert [head["part"] for head in heads] == [1, 2, 3]
    assert {head["import_id"] for head in heads} == {"claude-code:k"}
    assert {head["session_id"] for head in heads} == {"k"}


@given(st.lists(st.sampled_from(["one", "two", "three"]), max_size=5))
def test_ids_are_stable_as_a_talk_grows(texts: list[str]) -> None:
    turns = [_turn(i, Text(text)) for i, text in enumerate(texts)]
    found = [
        [hit["id"] for hit in MESSAGE_HEADING.finditer(made(_talk(*turns[:n])).texts()[0])]
        for n in range(len(turns) + 1)
    ]
    for shorter, longer in pairwise(found):
        assert longer[: len(shorter)] == shorter


def test_every_text_passes_the_redactor_title_first_then_turns_in_order() -> None:
    secret = "hunter2"
    talk = _talk(
        _turn(1, Text(f"a {secret}"), Media(f"{secret}.png", "image/png")),
        _turn(2, ToolCall("x", f"N{secret}", f"b {secret}", f"t {secret}"), ToolResult("x", f"c {secret}"), Thinking(f"d {secret}"), Media("n", "text/html", text=secret)),
        _turn(3, Aside("agent", f"e {secret}", (_turn(4, Text(f"f {secret}")),)), Aside("client", f"g {secret}", text=f"h {secret}")),
        title=f"T {secret}", project=secret, aliases=(secret,), tags=(secret,), properties={"k": secret}, assistant=secret, asides=(Aside("branch", secret, text=secret),),
    )  # fmt: skip
    spy = Strict()
    result = render(talk, {}, Rendering(detail="full"), spy, OPTIONS)
    for note, text in zip(result.notes, result.texts(), strict=True):
        assert secret not in text
        assert secret not in f"{note.folder}{note.stem}{note.title}"
    assert all(secret.encode() not in asset.data and secret not in asset.name for asset in result.assets)
    assert spy.seen[0] == f"T {secret}"
    places = [spy.seen.index(f"{letter} {secret}") for letter in "abcdefgh" if letter != "e"]
    assert places == sorted(places)


def test_a_secret_in_terminal_colours_is_whole_before_the_redactor_sees_it() -> None:
    spy = Strict()
    render(_talk(_turn(1, ToolCall("x", "Bash", "hun\x1b[1mter2"))), {}, Rendering(), spy, OPTIONS)
    assert "hunter2" in spy.seen


@pytest.mark.parametrize(
    "line",
    [
        "a" * 30_000,
        "word " * 8_000,
        "#" * 20_000,
        "- " * 9_000,
        "研究" * 9_000,
        "> " + "word " * 5_000,
        "`" + "x" * 20_000 + "`",
        "\\" * 20_001,
    ],
)
def test_an_over_long_line_keeps_all_its_text(line: str) -> None:
    body = made(_talk(_turn(1, Text(line)), _turn(2, ToolCall("a", "Bash", line)))).notes[0].body
    assert "⏎" in body
    assert max(map(len, body.split("\n"))) <= 8000
    letters = Counter(inert.restore(body))
    for char in set(line) - set(" \\>`#-"):
        assert letters[char] >= 2 * line.count(char)
    assert body.count("\n## ") == 1


@pytest.mark.parametrize("depth", [3, 12, 100])
def test_deep_nesting_ends(depth: int) -> None:
    aside = Aside("agent", "deepest", text="word")
    for i in range(depth):
        aside = Aside("agent", f"level {i}", (Turn(f"n{i}", "assistant", (Text(f"at {i}"), aside)),))
    text = made(_talk(_turn(1, aside)), detail="full").texts()[0]
    assert "level 0" in text
    assert "word" in text
    assert max(map(len, text.split("\n"))) < 8000
