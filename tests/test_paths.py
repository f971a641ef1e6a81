"""Names that every system and every link takes."""

from __future__ import annotations

import re
import unicodedata
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_import import paths

DAY = date(2026, 3, 1)
NASTY = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            list('[]#^|\\/:*?"<>.- ~%\x00\x1f\u200b\u202e\u200d\ufeff\u0301\ufe0f\U000e0041 CONconauxé研🇩🇪👨👩')
        ),
    ),
    max_size=150,
)


@pytest.mark.parametrize(
    "title",
    [
        "Fix the flaky auth test",
        "研究ノート",
        "Привет, мир",
        "📹 storytelling",
        "é à ü",
        "a (b) & c, d; e = f",
        "किताब",
        "👨‍👩‍👧 family",
        "می‌خواهم",
    ],
)
def test_good_titles_stay(title: str) -> None:
    assert paths.safe_name(title) == title


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("A: B / C?", "A - B - C"),
        ('say "hi": now', "say 'hi' - now"),
        ("a/b\\c|d", "a-b-c-d"),
        ("My note #2 [x] ^y", "My note 2 x y"),
        ("../../etc/passwd", "etc-passwd"),
        (".NET", "NET"),
        ("- dash", "dash"),
        ("~$lock", "$lock"),
        ("ends with dot.", "ends with dot"),
        ("two\nlines\ttab", "two lines tab"),
        ("a\u202eb\u200bc\ufeffd", "abcd"),
        ("e\u0301", "é"),
        ("CON", "CON_"),
        ("nul.txt", "nul_.txt"),
        ("com¹", "com¹_"),
        ("CONTEXT", "CONTEXT"),
        ("<% tp %>", "% tp %"),
        ("a%%b", "a%b"),
        ("README.md", "README md"),
        ("", "untitled"),
        (" . ", "untitled"),
        ("\ud800", "untitled"),
        ("\u3164\u2800", "untitled"),
        ("???", "untitled"),
    ],
)
def test_bad_titles_become_good(title: str, name: str) -> None:
    assert paths.safe_name(title) == name


ILLEGAL = re.compile(r'[\[\]#^|\\/:*?"<>\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]')


@given(NASTY)
def test_a_name_is_legal_everywhere(title: str) -> None:
    name = paths.safe_name(title)
    assert name
    assert not ILLEGAL.search(name)
    assert "%%" not in name
    assert name == unicodedata.normalize("NFC", name)
    assert name[0] not in ". -~"
    assert name[-1] not in " ."
    assert name.split(".")[0].rstrip().upper() not in {"CON", "PRN", "AUX", "NUL", "COM1", "LPT9", "COM¹"}
    name.encode()
    assert paths.safe_name(name) == name


@given(NASTY)
def test_everything_that_can_be_appended_fits(title: str) -> None:
    base = paths.stem(DAY, title)
    assert base.startswith("2026-03-01 ")
    assert len(base) > 11
    for part in (1, 2, 12, 130):
        name = paths.part_stem(base, part)
        taken = {paths.fold(f"chats/{name}.md")}
        for path in (f"chats/{name}.md", paths.unique("chats", name, "k", taken)):
            assert len(path.removeprefix("chats/").encode()) <= paths.MAX_BYTES
            assert not ILLEGAL.search(path.removeprefix("chats/"))


@pytest.mark.parametrize(
    "title",
    ["x" * 300, "漢字" * 150, "😀" * 120, "👨‍👩‍👧‍👦" * 40, "🇩🇪" * 60, "e\u0301\u0302" * 90, "word " * 80, "👍🏽" * 60],
)
def test_long_titles_are_cut_between_graphemes(title: str) -> None:
    name = paths.stem(DAY, title)
    assert 60 <= len(name.encode()) <= paths.STEM_BYTES
    rest = unicodedata.normalize("NFC", title)[len(name) - 11 :].lstrip()
    assert not rest or unicodedata.category(rest[0])[0] != "M"
    assert not rest.startswith(("\u200d", "🏽"))
    assert not name.endswith("\u200d")
    if "🇩🇪" in title:
        assert name.removeprefix("2026-03-01 ").count("🇩") == name.count("🇪")


def test_a_cut_prefers_the_end_of_a_word() -> None:
    assert paths.cut("the quick brown fox jumps", 21) == "the quick brown fox"


def test_a_grapheme_longer_than_the_room_is_cut_all_the_same() -> None:
    assert paths.cut("a" + "\u0301" * 300, 50)


@given(st.lists(st.tuples(NASTY, st.text(max_size=8)), max_size=12, unique_by=lambda pair: pair[1]))
def test_never_two_notes_in_one_place(talks: list[tuple[str, str]]) -> None:
    taken: set[str] = set()
    for title, key in talks:
        path = paths.unique("c", paths.stem(DAY, title), key, taken)
        assert paths.fold(path) not in taken
        taken.add(paths.fold(path))


def test_names_that_some_system_holds_for_one_clash() -> None:
    for one, other in (("Same", "same"), ("Straße", "STRASSE"), ("\u212a", "k"), ("é", "e\u0301"), ("ﬁ", "FI")):
        taken = {paths.fold(f"c/{one}.md")}
        assert paths.unique("c", other, "key", taken) != f"c/{other}.md"


def test_a_clash_gets_more_of_the_id_when_that_clashes_too() -> None:
    taken: set[str] = set()
    seen = []
    for _ in range(12):
        path = paths.unique("c", "Same", "key", taken)
        taken.add(paths.fold(path))
        seen.append(path)
    assert len(set(seen)) == 12
    assert seen[0] == "c/Same.md"
    assert seen[1].startswith("c/Same ")
    assert len(seen[2]) > len(seen[1])


def test_two_keys_with_one_beginning_get_two_names() -> None:
    taken = {paths.fold("c/Same.md")}
    first = paths.unique("c", "Same", "12345678-1", taken)
    assert first != paths.unique("c", "Same", "12345678-2", taken)


def test_folders() -> None:
    assert paths.chat_folder("chats", "code", "my-app") == "chats/code/my-app"
    assert paths.chat_folder("chats/", "web", "") == "chats/web"
    assert paths.chat_folder("chats", "code", "../x") == "chats/code/x"
    assert paths.chat_folder("chats", "code", ".obsidian") == "chats/code/obsidian"
    assert len(paths.folder_name("漢" * 300).encode()) <= paths.MAX_BYTES


@pytest.mark.parametrize(
    ("kind", "name", "ext"),
    [
        ("image/png", "", "png"),
        ("image/jpeg", "x.html", "jpg"),
        ("application/pdf", "x", "pdf"),
        ("text/html", "x.html", "txt"),
        ("text/markdown", "x.md", "txt"),
        ("application/x-sh", "x.sh", "bin"),
        ("", "x.png", "png"),
        ("", "x.md", "bin"),
        ("", "", "bin"),
        ("application/vnd.ant.code", "", "txt"),
    ],
)
def test_a_saved_file_does_nothing_by_itself(kind: str, name: str, ext: str) -> None:
    assert paths.extension(kind, name) == ext


def test_one_content_one_file() -> None:
    assert paths.asset_path("chats", b"x", "png") == paths.asset_path("chats/", b"x", "png")
    assert paths.asset_path("chats", b"x", "png") != paths.asset_path("chats", b"y", "png")
