"""A vault that people live in: every act between two imports, and what the next import may do."""

from __future__ import annotations

import pytest

from obsidian_import import inert
from tests.vaults import Desk, Session, session


def grown(talk: Session) -> Session:
    return talk.you("And one more thing").claude("Here it is.")


@pytest.fixture
def imported(desk: Desk) -> tuple[Desk, Session, str]:
    """A talk that is in the vault: the desk, the session, the note's path."""
    talk = session(1).you("First question").claude("First answer").you("Second question").claude("Second answer")
    talk.save(desk.sources)
    return desk, talk, desk.json("import", desk.sources)["notes"][0]["path"]


def test_an_edited_body_survives_and_new_messages_come(imported: tuple[Desk, Session, str]) -> None:
    """The person's line stays where it is, the two new messages are appended."""
    desk, talk, path = imported
    desk.write(path, desk.read(path).replace("First answer\n", "First answer\n\nMy own remark.\n"))
    grown(talk).save(desk.sources)
    assert desk.json("import", desk.sources)["notes"][0]["action"] == "update"
    text = desk.read(path)
    assert "My own remark." in text
    assert text.index("My own remark.") < text.index("Second question") < text.index("And one more thing")


def test_an_edit_alone_changes_nothing(imported: tuple[Desk, Session, str]) -> None:
    """The source is as it was: the file keeps bytes and time."""
    desk, _, path = imported
    desk.write(path, desk.read(path).replace("First answer", "First answer (mine)"))
    before = desk.tree(times=True, sidecar=True)
    assert desk.json("import", desk.sources)["notes"][0]["action"] == "keep"
    assert desk.tree(times=True, sidecar=True) == before


def test_own_properties_and_tags_stay(imported: tuple[Desk, Session, str]) -> None:
    """A property, a tag and a changed status survive an update of our keys."""
    desk, talk, path = imported
    text = desk.read(path).replace("status: imported", "status: read  # done\nrating: 5")
    text = text.replace("tags: [chat-import", "tags: [mine, chat-import")
    desk.write(path, text)
    grown(talk).save(desk.sources)
    desk.run("import", desk.sources)
    text = desk.read(path)
    assert "status: read  # done\nrating: 5\n" in text
    assert "tags: [mine, chat-import" in text
    assert "messages: 6" in text


def test_a_renamed_and_moved_note_is_updated_where_it_lies(imported: tuple[Desk, Session, str]) -> None:
    """Identity beats path."""
    desk, talk, path = imported
    (desk.vault / "Archive").mkdir()
    (desk.vault / path).rename(desk.vault / "Archive" / "Renamed.md")
    grown(talk).save(desk.sources)
    (note,) = desk.json("import", desk.sources)["notes"]
    assert (note["action"], note["path"]) == ("update", "Archive/Renamed.md")
    assert not (desk.vault / path).exists()
    assert "And one more thing" in desk.read("Archive/Renamed.md")
    assert desk.json("status")["states"] == {"as left": 1}


def test_a_deleted_note_stays_deleted_until_it_is_asked_for(imported: tuple[Desk, Session, str]) -> None:
    """Also when the source grows; `--restore` brings it back, whole."""
    desk, talk, path = imported
    (desk.vault / path).unlink()
    assert desk.json("import", desk.sources)["notes"][0]["action"] == "keep"
    grown(talk).save(desk.sources)
    assert desk.json("import", desk.sources)["notes"][0]["action"] == "keep"
    assert not (desk.vault / path).exists()
    assert desk.json("status")["deleted"] == [{"path": path, "key": talk.key}]
    assert desk.json("import", desk.sources, "--restore", talk.key)["notes"][0]["action"] == "create"
    assert "And one more thing" in desk.read(path)


def test_a_link_taken_out_stays_out(desk: Desk) -> None:
    """A person removed our link; neither a further import nor a relink brings it back."""
    desk.write("Gravity.md", "# Gravity\n")
    talk = session(1).you("What is Gravity?").claude("A module.")
    talk.save(desk.sources)
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    assert "[[Gravity]]" in desk.read(path)
    desk.write(path, desk.read(path).replace("[[Gravity]]", "Gravity"))
    grown(talk).save(desk.sources)
    desk.run("import", desk.sources)
    assert "[[Gravity]]" not in desk.read(path)
    desk.run("relink")
    assert "[[Gravity]]" not in desk.read(path)
    assert "And one more thing" in desk.read(path)


def test_a_conflict_stays_until_it_is_settled(imported: tuple[Desk, Session, str]) -> None:
    """Both changed the same line: the file stays, exit 4 at each run, status lists it; `--take` settles it."""
    desk, talk, path = imported
    desk.write(path, desk.read(path).replace("First answer", "First answer, said better"))
    talk.lines[1] = talk.lines[1].replace("First answer", "First answer, rewritten upstream")
    talk.save(desk.sources)
    mine = desk.read(path)
    for _ in range(2):
        assert desk.json("import", desk.sources, code=4)["totals"]["conflict"] == 1
        assert desk.read(path) == mine
        assert desk.json("status", code=4)["conflicts"][0]["path"] == path
    desk.run("import", desk.sources, "--take", "theirs", talk.key)
    assert desk.read(path) == mine
    assert desk.json("status")["conflicts"] == []
    assert desk.json("import", desk.sources)["totals"]["conflict"] == 0


def test_take_ours_writes_the_source_and_can_be_undone(imported: tuple[Desk, Session, str]) -> None:
    """The person's text goes only because they said so, and undo brings it back to the byte."""
    desk, talk, path = imported
    desk.write(path, desk.read(path).replace("First answer", "First answer, said better"))
    talk.lines[1] = talk.lines[1].replace("First answer", "First answer, rewritten upstream")
    talk.save(desk.sources)
    mine = desk.read(path)
    desk.run("import", desk.sources, "--take", "ours", talk.key)
    assert "rewritten upstream" in desk.read(path)
    desk.run("undo")
    assert desk.read(path) == mine


def test_undo_leaves_an_edited_note_and_says_so(imported: tuple[Desk, Session, str]) -> None:
    """Exit 4; the note keeps the person's bytes."""
    desk, _, path = imported
    mine = desk.read(path) + "\nMine.\n"
    desk.write(path, mine)
    assert desk.json("undo", code=4)["notes"][0]["action"] == "conflict"
    assert desk.read(path) == mine


def test_undo_of_an_update_keeps_later_lines_of_a_person(imported: tuple[Desk, Session, str]) -> None:
    """The new messages go, the remark stays."""
    desk, talk, path = imported
    grown(talk).save(desk.sources)
    desk.run("import", desk.sources)
    desk.write(path, desk.read(path).replace("First answer\n", "First answer\n\nMy own remark.\n"))
    desk.run("undo")
    text = desk.read(path)
    assert "My own remark." in text
    assert "And one more thing" not in text


def test_undo_finds_a_note_that_was_moved(imported: tuple[Desk, Session, str]) -> None:
    """Moved and otherwise untouched: it is taken away where it lies."""
    desk, _, path = imported
    (desk.vault / path).rename(desk.vault / "elsewhere.md")
    desk.run("undo")
    assert not (desk.vault / "elsewhere.md").exists()


def test_an_older_run_under_a_newer_one(imported: tuple[Desk, Session, str]) -> None:
    """The creation cannot be taken back alone: a conflict, the note stays; the newer run can."""
    desk, talk, path = imported
    first = desk.json("log")["runs"][0]["run"]
    grown(talk).save(desk.sources)
    desk.run("import", desk.sources)
    text = desk.read(path)
    assert desk.json("undo", first, code=4)["notes"][0]["action"] == "conflict"
    assert desk.read(path) == text


def test_runs_are_walked_back_one_by_one(imported: tuple[Desk, Session, str]) -> None:
    """Bare undo twice: the update, then the creation."""
    desk, talk, path = imported
    before = desk.read(path)
    grown(talk).save(desk.sources)
    desk.run("import", desk.sources)
    desk.run("undo")
    assert desk.read(path) == before
    desk.run("undo")
    assert not (desk.vault / path).exists()
    assert "Nothing to undo" in desk.run("undo").out


def test_crlf_is_kept(imported: tuple[Desk, Session, str]) -> None:
    """A note that an editor turned into CRLF stays CRLF and takes the update."""
    desk, talk, path = imported
    desk.write(path, desk.read(path).replace("\n", "\r\n"))
    grown(talk).save(desk.sources)
    assert desk.json("import", desk.sources)["notes"][0]["action"] == "update"
    text = desk.read(path)
    assert "And one more thing" in text
    assert text.count("\n") == text.count("\r\n")


def test_copies_of_a_sync_service_are_left_alone(imported: tuple[Desk, Session, str]) -> None:
    """Never imported into, never indexed, and the person is told."""
    desk, talk, path = imported
    copy = path.removesuffix(".md") + ".sync-conflict-20260301-101112-ABCDEFG.md"
    desk.write(copy, desk.read(path) + "other machine\n")
    mine = desk.read(copy)
    grown(talk).save(desk.sources)
    result = desk.json("import", desk.sources)
    assert result["notes"][0]["path"] == path
    assert desk.read(copy) == mine
    assert any("sync" in n for n in result["notices"])
    assert desk.json("status")["copies"] == [copy]


def test_a_shrunk_or_vanished_source_takes_nothing_away(imported: tuple[Desk, Session, str]) -> None:
    """The client deleted the transcript: the note stays as it is."""
    desk, _, path = imported
    before = desk.read(path)
    for file in desk.sources.rglob("*.jsonl"):
        file.unlink()
    session(2).you("hello there").claude("hi").save(desk.sources)
    desk.run("import", desk.sources)
    assert desk.read(path) == before


def test_prune_never_takes_what_merges_need(imported: tuple[Desk, Session, str]) -> None:
    """After a prune of everything old, a person's edit still merges with a grown talk."""
    desk, talk, path = imported
    grown(talk).save(desk.sources)
    desk.run("import", desk.sources)
    assert desk.json("prune", "--keep", "0")["objects"] >= 1
    desk.write(path, desk.read(path).replace("First answer\n", "First answer\n\nMy own remark.\n"))
    talk.you("Third question").claude("Third answer").save(desk.sources)
    desk.run("import", desk.sources)
    assert "My own remark." in desk.read(path)
    assert "Third answer" in desk.read(path)


def test_a_new_note_links_old_chats_at_the_next_import(desk: Desk) -> None:
    """Also those whose transcript is gone; a run that finds nothing new writes nothing."""
    one = session(1).you("Where is Zephyrhold?").claude("In the north.")
    gone = one.save(desk.sources)
    two = session(2).you("And Zephyrhold again?").claude("Yes.")
    two.save(desk.sources)
    desk.run("import", desk.sources)
    gone.unlink()
    desk.write("Zephyrhold.md", "# Zephyrhold\n")
    notes = desk.json("import", desk.sources)["notes"]
    assert sorted((n["key"], n["action"]) for n in notes) == [(one.key, "update"), (two.key, "update")]
    assert all("[[Zephyrhold]]" in desk.read(n["path"]) for n in notes)
    before = desk.tree(times=True, sidecar=True)
    desk.run("import", desk.sources)
    desk.run("relink")
    assert desk.tree(times=True, sidecar=True) == before


def test_the_links_do_not_depend_on_the_order(desk: Desk) -> None:
    """Notes first or chats first: the same bytes."""
    session(1).you("Where is Zephyrhold?").claude("In the north.").save(desk.sources)
    desk.write("Zephyrhold.md", "# Zephyrhold\n")
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    first = desk.read(path)
    desk.run("undo")
    (desk.vault / "Zephyrhold.md").unlink()
    desk.run("import", desk.sources)
    assert desk.read(path) != first
    desk.write("Zephyrhold.md", "# Zephyrhold\n")
    desk.run("relink")
    assert desk.read(path) == first


def test_unlink_takes_the_links_out_for_good(desk: Desk) -> None:
    """Everywhere, byte-exact, remembered; undo brings both the links and the configuration back."""
    desk.write("Zephyrhold.md", "# Zephyrhold\n")
    talk = session(1).you("Where is Zephyrhold?").claude("In the north.")
    talk.save(desk.sources)
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    linked = desk.read(path)
    assert desk.json("unlink", "Zephyrhold")["notes"][0]["action"] == "update"
    assert desk.read(path) == linked.replace("[[Zephyrhold]]", "Zephyrhold")
    grown(talk).save(desk.sources)
    desk.run("import", desk.sources)
    desk.run("relink")
    assert "[[Zephyrhold]]" not in desk.read(path)
    desk.run("undo")
    desk.run("undo")
    assert desk.read(path) == linked
    assert not (desk.vault / ".obsidian-import" / "config.yaml").exists()


def test_explain_says_why(desk: Desk) -> None:
    """Accepted and rejected, each with text, target and reason."""
    desk.write("Zephyrhold.md", "# Zephyrhold\n")
    desk.write("Meeting.md", "# Meeting\n")
    session(1).you("Where is Zephyrhold? The meeting said nothing.").claude("In the north.").save(desk.sources)
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    said = desk.json("explain", path)
    assert [(a["text"], a["target"]) for a in said["accepted"]] == [("Zephyrhold", "Zephyrhold.md")]
    (miss,) = [r for r in said["rejected"] if r["target"] == "Meeting.md"]
    assert miss["text"] == "meeting"
    assert miss["reason"]


def test_a_renamed_target_keeps_its_link(desk: Desk) -> None:
    """The note got a better name: our stale link is mended as a plan, also when the talk grows, and again and again."""
    desk.write("Orchestration layer.md", "# Orchestration layer\n")
    talk = session(1).you("What is the orchestration layer?").claude("The part that starts the others.")
    talk.save(desk.sources)
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    assert "[[Orchestration layer|orchestration layer]]" in desk.read(path)
    (desk.vault / "Orchestration layer.md").rename(desk.vault / "Orchestration layers.md")
    (note,) = desk.json("relink")["notes"]
    assert note["action"] == "update"
    assert "called Orchestration layers now" in note["links"][0]["why"]
    assert "[[Orchestration layers|orchestration layer]]" in desk.read(path)
    before = desk.tree(times=True, sidecar=True)
    desk.run("relink")
    assert desk.tree(times=True, sidecar=True) == before
    grown(talk).save(desk.sources)
    desk.run("import", desk.sources)
    assert "[[Orchestration layers|orchestration layer]]" in desk.read(path)
    assert "And one more thing" in desk.read(path)
    (desk.vault / "Orchestration layers.md").unlink()
    desk.run("relink")
    assert "[[" not in desk.read(path)


def test_suggestions_are_remembered(desk: Desk) -> None:
    """Inflected words are only suggested; accepted they are linked, rejected they never come back."""
    desk.write("Zephyr module.md", "# Zephyr module\n")
    desk.write("Gearbox plan.md", "# Gearbox plan\n")
    session(1).you("We have three zephyr modules and two gearbox plans.").claude("I see.").save(desk.sources)
    path = desk.json("import", desk.sources, "--report", desk.sources.parent / "page.html")["notes"][0]["path"]
    found = {(s["text"], s["target"]) for s in desk.json("suggest")["suggestions"]}
    assert found == {("zephyr modules", "Zephyr module.md"), ("gearbox plans", "Gearbox plan.md")}
    assert "suggest --accept &#x27;zephyr modules&#x27;" in (desk.sources.parent / "page.html").read_text(
        encoding="utf-8"
    )
    desk.run(
        "suggest", "--accept", "zephyr modules", "Zephyr module.md", "--reject", "gearbox plans", "Gearbox plan.md"
    )
    assert "[[Zephyr module|zephyr modules]]" in desk.read(path)
    assert desk.json("suggest")["suggestions"] == []
    assert "gearbox plans" in desk.read(path)
    desk.run("undo")
    assert "[[" not in desk.read(path)


def test_instructions_for_agents_are_no_targets(desk: Desk) -> None:
    """A vault with a CLAUDE.md: nobody who says "Claude" means that file."""
    desk.write("CLAUDE.md", "# CLAUDE\n")
    session(1).you("Does CLAUDE know? Ask Claude.").claude("I do.").save(desk.sources)
    assert desk.json("import", desk.sources)["totals"]["links"] == 0


def test_no_link_inside_what_was_made_inert(desk: Desk) -> None:
    """HTML, comments and tags of the chat can be had back as they were; the name in plain words is linked."""
    desk.write("Zephyrhold.md", "# Zephyrhold\n")
    said = '<a href="Zephyrhold">x</a> and <!-- Zephyrhold --> and #Zephyrhold'
    session(1).you(said).claude("So Zephyrhold it is.").save(desk.sources)
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    text = desk.read(path)
    assert text.count("[[Zephyrhold]]") == 1
    assert "So [[Zephyrhold]] it is." in text
    assert said in inert.restore(text)
