"""ChatGPT exports: golden cases; shapes, shards, marks, canvas, pictures and laws stand in the tests after them."""

from __future__ import annotations

import copy
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_import.formats import _chatgpt_assets, chatgpt, formats
from obsidian_import.formats._chatgpt_canvas import _apply
from obsidian_import.formats._chatgpt_marks import resolve
from obsidian_import.model import Aside, Conversation, Found, Media, Problem, Skip, Text, Turn
from tests import format_cases, web_cases
from tests.format_cases import MemoryFile, NoMemo

CASES = format_cases.cases("chatgpt")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_golden(case: Path) -> None:
    web_cases.check(case)


def _node(own: str, parent: str | None, role: str, text: object, at: float | None = 1.0) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]} if isinstance(text, str) else text
    when = None if at is None else 1_772_359_200 + at
    return {"id": own, "parent": parent, "children": [], "message": {"author": {"role": role}, "create_time": when, "content": content}}  # fmt: skip


def _chat(own: str, *nodes: dict[str, Any], current: str | None = None, **more: object) -> dict[str, Any]:
    mapping = {node["id"]: node for node in nodes}
    return {"id": own, "title": own, "create_time": 1_772_359_200.5, "mapping": mapping, "current_node": current or (nodes[-1]["id"] if nodes else None), **more}  # fmt: skip


def _read(*raws: bytes) -> list[Found]:
    files = [MemoryFile(f"x/conversations-{number:03d}.json", raw) for number, raw in enumerate(raws)]
    return [found for group in chatgpt.groups(files, NoMemo()) for found in chatgpt.read(group)]


def _talks(*raws: bytes) -> list[Conversation]:
    return [one for one in _read(*raws) if isinstance(one, Conversation)]


def _one(*nodes: dict[str, Any], **more: Any) -> Conversation:
    return _talks(json.dumps([_chat("c", *nodes, **more)]).encode())[0]


# ------------------------------------------------------------------ what is whose


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"{}",
        b'[{"id": "s", "conversation_id": "c", "title": "shared"}]',
        b'{"mapping": {}, "other": 1}',
        b'[{"uuid": "u", "name": "n", "chat_messages": [{"mapping": {}, "title": "", "id": ""}]}]',
        b'{"type": "user", "text": "\\"mapping\\": {}, \\"title\\": 1"}',
        b'<html><script>var jsonData = [{"title": "x", "mapping": {}, "id": "i"}]</script>',
    ],
)
def test_not_claimed(raw: bytes) -> None:
    assert not chatgpt.claims(MemoryFile("x/conversations.json", raw))


@pytest.mark.parametrize("shape", [lambda one: [one], lambda one: one, lambda one: {"v": 1, "conversations": [one]}])
def test_every_shape_is_claimed_by_one_format_whatever_its_name(shape: Any) -> None:
    raw = json.dumps(shape(_chat("c", _node("u", None, "user", "hi")))).encode()
    for name in ("conversations.json", "ChatGPT-export (2).json", "export"):
        file = MemoryFile(f"x/{name}", raw)
        assert [form.NAME for form in formats() if form.claims(file)] == [chatgpt.NAME]
        assert [one.key for one in _talks(raw)] == ["chatgpt:c"]


def test_a_zip_with_shards_and_pictures_inside_another_zip(tmp_path: Path) -> None:
    picture = {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_a1"}]}  # fmt: skip
    inner = tmp_path / "part1of1.zip"
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("conversations-000.json", json.dumps([_chat("a", _node("u", None, "user", picture))]))
        made.writestr("conversations-001.json", json.dumps([_chat("b", _node("u", None, "user", "hi"))]))
        made.writestr("file_a1-0000.dat", b"\xff\xd8\xffpicture")
        made.writestr("user-x/file_b2.wav", b"RIFF....WAVE")
        made.writestr("names.json", json.dumps({"file_a1-0000.dat": "holiday.jpg"}))
        made.writestr("chat.html", "<html>")
        made.writestr("shared_conversations.json", json.dumps([{"id": "s", "conversation_id": "a", "title": "t"}]))
        made.writestr("user.json", json.dumps({"id": "u", "email": "x"}))
    outer = tmp_path / "outer.zip"
    with zipfile.ZipFile(outer, "w") as made:
        made.write(inner, inner.name)
    found = format_cases.read(outer)
    assert [type(one) for one in found] == [Conversation, Conversation]
    assert [b for one in found if isinstance(one, Conversation) for t in one.turns for b in t.blocks if isinstance(b, Media)] == [
        Media("holiday.jpg", "image/jpeg", data=b"\xff\xd8\xffpicture")
    ]  # fmt: skip


def test_a_zip_of_pictures_alone_is_not_up_to_date(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
        made.writestr("file-a.png", b"x")
        made.writestr("chat.html", "<html>")
    assert [type(one) for one in format_cases.read(tmp_path / "a.zip")] == [Problem]


def test_a_stray_merged_file_doubles_nothing() -> None:
    one, two = _chat("a", _node("u", None, "user", "1")), _chat("b", _node("u", None, "user", "2"))
    found = _read(json.dumps([one]).encode(), json.dumps([two]).encode(), json.dumps([one, two]).encode())
    assert sorted(talk.key for talk in found if isinstance(talk, Conversation)) == ["chatgpt:a", "chatgpt:b"]
    newer = json.dumps([{**one, "update_time": 1_772_999_999, "title": "later"}]).encode()
    for raws in ((newer, json.dumps([one]).encode()), (json.dumps([one]).encode(), newer)):
        assert [talk.title for talk in _talks(*raws)] == ["later"]


# ------------------------------------------------------------------ the tree


@st.composite
def _trees(draw: st.DrawFn) -> list[dict[str, Any]]:
    size = draw(st.integers(1, 12))
    nodes = []
    for number in range(size):
        parent = draw(st.none() | st.sampled_from(["lost", *(f"n{one}" for one in range(size))]))
        role = draw(st.sampled_from(["user", "assistant", "tool", "system"]))
        nodes.append(_node(f"n{number}", parent, role, f"text {number}", draw(st.none() | st.floats(0, 9))))
    return nodes


def _everything(turns: tuple[Turn, ...]) -> list[str]:
    out = []
    for turn in turns:
        for block in turn.blocks:
            if isinstance(block, Aside):
                out += _everything(block.turns)
            elif not isinstance(block, Media):
                out.append(getattr(block, "text", ""))
    return out


@given(_trees(), st.none() | st.integers(0, 11))
def test_of_any_tree_everything_seen_is_shown_exactly_once(nodes: list[dict[str, Any]], leaf: int | None) -> None:
    raw = json.dumps([_chat("c", *nodes, current=f"n{leaf}")]).encode()
    shown = [text for one in _talks(raw) for text in (*_everything(one.turns), *(t for a in one.asides for t in _everything(a.turns)))]  # fmt: skip
    seen = [n for n, node in enumerate(nodes) if node["message"]["author"]["role"] != "system"]
    assert sorted(shown) == sorted(f"text {number}" for number in seen)
    assert bool(_talks(raw)) == bool(seen)
    if leaf in seen:
        talk = _talks(raw)[0]
        assert f"text {leaf}" in [text for turn in talk.turns for text in _everything((turn,))]


def test_a_talk_of_twenty_thousand_messages_is_read_without_recursion() -> None:
    nodes = [_node("n0", None, "user", "0")]
    nodes += [_node(f"n{n}", f"n{n - 1}", ("user", "assistant")[n % 2], str(n)) for n in range(1, 20_000)]
    assert len(_one(*nodes).turns) == 20_000


def test_ids_stay_when_the_talk_grows() -> None:
    nodes = [_node("a", None, "user", "1"), _node("b", "a", "assistant", "2"), _node("c", "b", "user", "3")]
    assert [turn.id for turn in _one(*nodes).turns][:2] == [turn.id for turn in _one(*nodes[:2]).turns]


# ------------------------------------------------------------------ marks


@pytest.mark.parametrize(
    "words",
    ["plain", "【重要】 and 【1】", "a [link](https://e.org) and $5", "x  y\n\n```\ncode\n```", "†"],
)
def test_words_without_marks_stay_as_they_are(words: str) -> None:
    assert resolve(words, {"content_references": [{"matched_text": " ", "alt": "X"}], "citations": [{"start_ix": 0, "end_ix": 1}]}) == words  # fmt: skip


@given(st.text("ab \n\ue200\ue201\ue202\ue203\ue204cite【】†1", max_size=60), st.text("x\ue200\ue201", max_size=9))
def test_no_mark_is_ever_left(words: str, alt: str) -> None:
    out = resolve(words, {"content_references": [{"matched_text": words, "alt": alt}, {"matched_text": words[1:], "items": [{"url": "https://e.org/" + words, "title": words}]}]})  # fmt: skip
    assert not any("\ue200" <= char <= "\ue206" for char in out)


def test_a_title_cannot_break_its_link() -> None:
    mark = "\ue200cite\ue202turn0search0\ue201"
    refs = [{"matched_text": mark, "items": [{"title": "a](b) [[c]] \\", "url": "https://e.org/x)y(z"}]}]
    assert resolve(mark, {"content_references": refs}) == " ([a)(b) ((c)) ](https://e.org/x%29y%28z))"
    refs[0]["items"] = [{"title": "t", "url": "javascript:alert(1)"}]
    assert resolve(mark, {"content_references": refs}) == ""


# ------------------------------------------------------------------ canvas


@pytest.mark.parametrize(
    ("words", "pattern", "every", "expected"),
    [
        ("one two one", "one", False, "X two one"),
        ("one two one", "one", True, "X two X"),
        ("a.b acb", r"a\.b", True, "X acb"),
        ("a(b)", "a(b)", False, "X"),  # not escaped: a model's slip
        ("x start 1 end 2 end y", "start.*end", False, "x X y"),
        ("x start 1 end 2 end y", "start.*?end", False, "x X 2 end y"),
        ("line\nline 2", r"line\nline", False, "X 2"),
        ("anything\nat all", ".*", False, "X"),
        ("head tail", "^head", False, "X tail"),
        ("head tail", "tail$", False, "head X"),
        ("head tail", " tail.*", False, "headX"),
        ("a1", r"\d", False, None),
        ("aaa", "(a|b)+", False, None),
        ("aaa", "", False, None),
        ("aaa", "b", False, None),
    ],
)
def test_canvas_patterns(words: str, pattern: str, every: bool, expected: str | None) -> None:
    assert _apply(words, [{"pattern": pattern, "multiple": every, "replacement": "X"}]) == expected


@given(st.text("ab.*?(\\", max_size=12), st.text("ab", max_size=30), st.booleans())
def test_canvas_patterns_never_raise_and_keep_the_rest(pattern: str, words: str, every: bool) -> None:
    out = _apply(words, [{"pattern": pattern, "multiple": every, "replacement": "X"}])
    assert out is None or "X" in out


def test_a_pattern_made_to_hang_does_not() -> None:
    words = "a" * 100_000
    assert _apply(words, [{"pattern": "(a+)+$b", "replacement": "x"}]) is None
    assert _apply(words, [{"pattern": "a.*a.*a.*a.*b", "replacement": "x", "multiple": True}]) is None
    assert _apply(words, [{"pattern": "a", "replacement": "x" * 1000, "multiple": True}]) is None


# ------------------------------------------------------------------ pictures


def test_pictures_too_large_or_unreadable_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_chatgpt_assets, "MAX_FILE", 10)
    monkeypatch.setattr(_chatgpt_assets, "MAX_TALK", 15)

    class Broken(MemoryFile):
        def open(self) -> Any:
            raise OSError(5, "Input/output error")

    assets = _chatgpt_assets.Assets(
        [
            MemoryFile("x/file-a.png", b"1" * 10),
            MemoryFile("x/file-b.png", b"1" * 11),
            MemoryFile("x/file-c.png", b"1" * 9),
            Broken("x/file-d.png", b""),
        ]
    )
    shelf = _chatgpt_assets.Shelf(assets)
    made = [shelf.media(f"file-service://file-{one}") for one in "abcde"]
    assert [one.data is not None for one in made] == [True, False, False, False, False]
    assert [one.why.partition(":")[0] for one in made] == ["", "too large to be copied (0 MB)", "too large to be copied (0 MB)", "could not be read", "not in the export"]  # fmt: skip


def test_each_of_two_names_that_begin_alike_is_its_own_picture() -> None:
    assets = _chatgpt_assets.Assets([MemoryFile("x/file-ab2-y.png", b"2"), MemoryFile("x/file-ab-y.png", b"1")])
    assert _chatgpt_assets.Shelf(assets).media("file-service://file-ab").data == b"1"


# ------------------------------------------------------------------ nothing raises


def _places(value: Any) -> list[tuple[Any, Any]]:
    out: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        for key in list(one) if isinstance(one, dict) else range(len(one)):
            out.append((one, key))
            if isinstance(one[key], dict | list):
                waiting.append(one[key])
    return out


SAMPLES = [json.loads(p.read_bytes()) for p in CASES if p.suffix == ".json" and p.name != "damaged.json"]
SAMPLES.append(json.loads((format_cases.CASES / "chatgpt" / "pictures" / "conversations.json").read_bytes()))
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 1.5, "", "x", "\ud800", [], {}, [None], [[]], {"a": 1}, [{"type": 5}], 10**400]
)


@given(st.integers(0, len(SAMPLES) - 1), st.lists(st.tuples(st.integers(0, 10_000), ODD), min_size=1, max_size=6))
@settings(max_examples=150)
def test_wrong_types_everywhere_never_raise(which: int, changes: list[tuple[int, Any]]) -> None:
    sample = copy.deepcopy(SAMPLES[which])
    for place, value in changes:
        if places := _places(sample):
            box, key = places[place % len(places)]
            box[key] = copy.deepcopy(value)
    raw = json.dumps(sample).encode()
    chatgpt.claims(MemoryFile("x.json", raw))
    for found in _read(raw):
        "\n".join(web_cases.show(found)).encode()  # no lone surrogate is left, either


@given(st.integers(0, len(SAMPLES) - 1), st.data())
def test_cut_and_damaged_files_never_raise_and_are_said(which: int, data: st.DataObject) -> None:
    raw = json.dumps(SAMPLES[which]).encode()
    at = data.draw(st.integers(1, len(raw) - 1))
    damaged = raw[:at] + data.draw(st.binary(max_size=6)) + raw[at + data.draw(st.integers(0, 10)) :]
    for some in (damaged, raw[:at]):
        for found in _read(some):
            "\n".join(web_cases.show(found))
    if chatgpt.claims(MemoryFile("x.json", raw[:at])) and at < len(raw) - 1:
        assert any(isinstance(one, Problem) for one in _read(raw[:at]))


@given(st.binary(max_size=300))
def test_any_bytes(raw: bytes) -> None:
    chatgpt.claims(MemoryFile("x.json", raw))
    _read(raw)


def test_nobody_speaks_in_a_skip_and_hidden_words_never_show() -> None:
    hidden = _node("h", None, "user", {"content_type": "user_editable_context", "user_profile": "secret words"})
    found = _read(json.dumps([_chat("c", hidden)]).encode())
    assert [type(one) for one in found] == [Skip]
    talk = _one(hidden, _node("u", "h", "user", "hi"))
    assert [b for t in talk.turns for b in t.blocks] == [Text("hi")]
