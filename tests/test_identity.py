"""One talk, one note: under two paths, resumed, forked, exported by another tool, or claimed by the wrong file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_import import sameness
from tests.vaults import Desk, Session, session

LONG = (
    "Please explain why the login test fails whenever the Redis container is stopped before the suite starts.",
    "The session store has no fallback, so every request that touches the session raises a connection error.",
    "Then write a fallback that keeps sessions in memory and warns once in the log when it is used.",
    "Done: the memory store implements the same three methods, and the warning is written at most once an hour.",
)


def talk(number: int = 1, words: tuple[str, ...] = LONG) -> Session:
    made = session(number)
    for n, text in enumerate(words):
        (made.you if n % 2 == 0 else made.claude)(text)
    return made


def exported(folder: Path, words: tuple[str, ...] = LONG, name: str = "an export.md") -> Path:
    """As a browser extension writes it: no id anywhere."""
    parts = ["# Login test\n"]
    for n, text in enumerate(words):
        parts.append(f"## {'User' if n % 2 == 0 else 'Claude'}\n\n{text}\n")
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


# ------------------------------------------------------------------ must stay apart


def test_talks_that_begin_with_the_same_prompt_stay_two(desk: Desk) -> None:
    """One long prompt in common says nothing."""
    talk(1, (LONG[0], LONG[1], "ok", LONG[3])).save(desk.sources)
    exported(desk.sources, (LONG[0], LONG[2], "thanks", "An answer that nobody has given anywhere else in this vault."))
    assert desk.json("import", desk.sources)["totals"]["create"] == 2


def test_an_unrelated_note_in_the_place_of_ours_is_not_ours(desk: Desk) -> None:
    """Ours was deleted and a person's note put in its place: not one byte of it changes when the talk grows."""
    one = talk()
    one.save(desk.sources)
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    desk.write(path, "# My own words\n")
    one.you("More").claude("Yes").save(desk.sources)
    assert desk.json("import", desk.sources)["notes"][0]["action"] == "keep"
    assert desk.read(path) == "# My own words\n"
    assert desk.json("undo", code=None)
    assert desk.read(path) == "# My own words\n"


def test_a_note_renamed_to_the_name_of_a_deleted_one_keeps_its_own_talk(desk: Desk) -> None:
    """A is deleted, B takes its name: B is B."""
    one, two = session(1).you("First talk here").claude("A"), session(2).you("Second talk here").claude("B")
    one.save(desk.sources)
    two.save(desk.sources)
    paths = {n["key"]: n["path"] for n in desk.json("import", desk.sources)["notes"]}
    (desk.vault / paths[two.key]).rename(desk.vault / paths[one.key])
    one.you("only in the first").claude("1").save(desk.sources)
    two.you("only in the second").claude("2").save(desk.sources)
    desk.run("import", desk.sources)
    text = desk.read(paths[one.key])
    assert "only in the second" in text
    assert "only in the first" not in text


def test_a_note_without_its_frontmatter_is_still_ours_where_it_was_left(desk: Desk) -> None:
    """A person took the whole block out: the talk grows all the same, the block stays out."""
    one = talk()
    one.save(desk.sources)
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    desk.write(path, desk.read(path).split("---\n", 2)[2].lstrip())
    one.you("More words").claude("Yes").save(desk.sources)
    assert desk.json("import", desk.sources)["notes"][0]["action"] == "update"
    assert "More words" in desk.read(path)
    assert not desk.read(path).startswith("---")


def test_a_note_that_is_a_link_does_not_end_the_run(desk: Desk, tmp_path: Path) -> None:
    """A person keeps ours elsewhere and left a symbolic link: said, exit 4, the others are imported."""
    one = talk()
    one.save(desk.sources)
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    shutil.move(desk.vault / path, tmp_path / "elsewhere.md")
    (desk.vault / path).symlink_to(tmp_path / "elsewhere.md")
    before = (tmp_path / "elsewhere.md").read_bytes()
    one.you("More words").claude("Yes").save(desk.sources)
    session(2).you("Another talk").claude("Yes").save(desk.sources)
    notes = desk.json("import", desk.sources, code=None)["notes"]
    assert "create" in [n["action"] for n in notes]
    desk.run("undo", desk.json("log")["runs"][0]["run"], code=None)
    assert (tmp_path / "elsewhere.md").read_bytes() == before
    assert (desk.vault / path).is_symlink()


# ------------------------------------------------------------------ are the same


def test_the_same_session_under_two_paths_is_one_note(desk: Desk) -> None:
    """A copied project folder: one note, and the second file is said to be the same."""
    path = talk().save(desk.sources)
    shutil.copytree(path.parent, desk.sources / "-srv-copy-of-my-app")
    assert desk.json("import", desk.sources)["totals"]["create"] == 1


def test_a_resumed_file_repeats_nothing(desk: Desk) -> None:
    """File B has A's messages, uuids and all, and goes on: one lineage, one note, each message once."""
    one = talk()
    one.save(desk.sources)
    desk.run("import", desk.sources)
    two = session(2)
    two.lines += [line.replace(one.id, two.id) for line in one.lines]
    two.you("And what about the second database?").claude("The same holds there.")
    two.save(desk.sources)
    desk.run("import", desk.sources)
    notes = list(desk.vault.rglob("*.md"))
    text = "".join(p.read_text(encoding="utf-8") for p in notes)
    assert len(notes) == 1
    assert text.count(LONG[1]) == 1
    assert text.count("The same holds there.") == 1


@pytest.mark.parametrize("together", [True, False])
def test_an_export_without_any_id_is_known_by_its_words(desk: Desk, together: bool) -> None:
    """In the same run or later, as extractor Markdown: not imported twice, and said which talk it is."""
    talk().save(desk.sources)
    if not together:
        desk.run("import", desk.sources)
    exported(desk.sources)
    result = desk.json("import", desk.sources)
    (skipped,) = [n for n in result["notes"] if n["action"] == "skip"]
    assert "by its words" in skipped["why"]
    assert len(list((desk.vault / "chats").rglob("*.md"))) == 1
    before = desk.tree(times=True, sidecar=True)
    desk.run("import", desk.sources)
    assert desk.tree(times=True, sidecar=True) == before


def test_a_transcript_that_comes_after_its_export_is_reported(desk: Desk) -> None:
    """The richer talk is imported, and the plan says where the poorer copy lies."""
    exported(desk.sources)
    old = desk.json("import", desk.sources)["notes"][0]["path"]
    talk().save(desk.sources)
    (made,) = [n for n in desk.json("import", desk.sources)["notes"] if n["action"] == "create"]
    assert old in made["why"]


# ------------------------------------------------------------------ the laws of sameness

paragraphs = st.lists(st.text("abcdefghij ", min_size=60, max_size=90), min_size=3, max_size=12, unique=True)


@given(paragraphs)
def test_a_talk_is_itself_however_it_is_cut(texts: list[str]) -> None:
    """Messages joined, wrapped, emphasised: the same fingerprint."""
    one = sameness.fingerprint(texts)
    assert one == sameness.fingerprint(["\n\n".join(texts)])
    assert one == sameness.fingerprint(["> **" + "\n> ".join(t.split()) + "**" for t in texts])


@given(paragraphs, paragraphs)
def test_the_beginning_of_a_talk_is_that_talk(texts: list[str], more: list[str]) -> None:
    """And strangers are strangers, both ways round."""
    one, grown = sameness.fingerprint(texts), sameness.fingerprint(texts + more)
    assert not one or len(one) < sameness.ENOUGH or sameness.same(one, grown)
    stranger = sameness.fingerprint(f"stranger {n} " + "xyz" * 20 for n in range(5))
    assert not sameness.same(one, stranger)
    assert not sameness.same(stranger, one)


def test_the_nearest_of_several_talks_is_named() -> None:
    """By most paragraphs in common; a talk with too little to tell it by is none."""
    known = sameness.Known()
    known.add("first", sameness.fingerprint(LONG[:3]))
    known.add("whole", sameness.fingerprint(LONG))
    known.add("short", sameness.fingerprint(LONG[:1]))
    assert known.match(sameness.fingerprint(LONG)) == "whole"
    assert known.match(sameness.fingerprint(LONG[:1])) is None
    assert known.match(sameness.fingerprint([])) is None
