"""The main job, as a person does it: dry run, import, import again, undo."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.vaults import Desk, Session, session, tree


def talk() -> Session:
    return (
        session(1)
        .you("Why does the login test fail when Redis is down?")
        .claude("Because the session store has no fallback. I'll look at the Gravity module.")
        .tool("pytest -q tests/test_login.py", "1 failed")
        .you("Fix it please")
        .claude("Done: the fallback is in memory now.")
    )


# ------------------------------------------------------------------ must stay as it is


def test_a_dry_run_touches_nothing(desk: Desk) -> None:
    """Neither the vault nor its sidecar, which does not even come into being."""
    desk.write("Gravity.md", "# Gravity\n")
    talk().save(desk.sources)
    before = desk.tree(times=True, sidecar=True)
    desk.run("import", desk.sources, "--dry-run")
    assert desk.tree(times=True, sidecar=True) == before


def test_the_same_import_again_changes_no_byte_and_no_time(desk: Desk) -> None:
    """Notes, folders and the sidecar: all of it."""
    desk.write("Gravity.md", "# Gravity\n")
    talk().save(desk.sources)
    desk.run("import", desk.sources)
    before = desk.tree(times=True, sidecar=True)
    again = desk.json("import", desk.sources)
    assert desk.tree(times=True, sidecar=True) == before
    assert [n["action"] for n in again["notes"]] == ["keep"]
    assert again["run"] is None


def test_the_same_import_without_its_cache_changes_nothing_either(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache only saves time: with another data folder the talk is read anew, with the same outcome."""
    talk().save(desk.sources)
    desk.run("import", desk.sources)
    before = desk.tree(times=True, sidecar=True)
    monkeypatch.setenv("OBSIDIAN_IMPORT_DATA", str(desk.sources.parent / "other"))
    assert desk.json("import", desk.sources)["totals"]["keep"] == 1
    assert desk.tree(times=True, sidecar=True) == before


def test_other_notes_are_never_touched(desk: Desk) -> None:
    """Whatever is imported, a person's own notes keep bytes, mode and time."""
    desk.write("Gravity.md", "# Gravity\r\nno newline at the end")
    desk.write("a/b/Redis.md", "---\naliases: [redis server]\n---\n")
    before = desk.tree(times=True)
    talk().save(desk.sources)
    desk.run("import", desk.sources)
    after = desk.tree(times=True)
    assert {p: after[p] for p in before} == before


# ------------------------------------------------------------------ must change


def test_the_real_run_makes_exactly_the_plan(desk: Desk) -> None:
    """What `--dry-run --json` says is what the real run says and what lies on disk."""
    desk.write("Gravity.md", "# Gravity\n")
    talk().save(desk.sources)
    dry = desk.json("import", desk.sources, "--dry-run")
    real = desk.json("import", desk.sources)
    assert dry["notes"] == real["notes"]
    assert dry["totals"] == real["totals"]
    assert (dry["dry_run"], real["dry_run"]) == (True, False)
    assert dry["run"] is None
    assert real["run"]
    (note,) = real["notes"]
    assert note["path"] == "chats/code/my-app/2026-03-01 Why does the login test fail when Redis is down.md"
    text = desk.read(note["path"])
    assert "[[Gravity]]" in text
    assert note["links"][0]["target"] == "Gravity.md"
    assert text.split("\n")[note["links"][0]["line"] - 1].count("[[Gravity]]") == 1


def test_undo_gives_the_tree_back(desk: Desk) -> None:
    """Byte for byte, folders too; then there is nothing left to undo."""
    desk.write("Gravity.md", "# Gravity\n")
    before = desk.tree()
    talk().save(desk.sources)
    session(2).you("Another one").claude("Yes.").save(desk.sources)
    desk.run("import", desk.sources)
    assert desk.tree() != before
    desk.run("undo")
    assert desk.tree() == before
    assert "Nothing to undo" in desk.run("undo").out


def test_undo_can_be_undone(desk: Desk) -> None:
    """An undo is a run: taking it back brings the notes again, and a further import has nothing to do."""
    talk().save(desk.sources)
    desk.run("import", desk.sources)
    after = desk.tree()
    undo = desk.json("undo")["run"]
    desk.run("undo", undo)
    assert desk.tree() == after
    before = desk.tree(times=True, sidecar=True)
    desk.run("import", desk.sources)
    assert desk.tree(times=True, sidecar=True) == before


def test_a_note_that_undo_took_away_comes_again(desk: Desk) -> None:
    """It was not deleted by a person."""
    talk().save(desk.sources)
    desk.run("import", desk.sources)
    after = desk.tree()
    desk.run("undo")
    assert desk.json("import", desk.sources)["totals"]["create"] == 1
    assert desk.tree() == after


def test_move_takes_the_original_away_and_undo_puts_it_back(desk: Desk) -> None:
    """With its bytes, mode and time; meanwhile it lies in the private folder, 0600."""
    path = talk().save(desk.sources)
    path.chmod(0o640)
    os.utime(path, ns=(10**18, 10**18))
    before = tree(desk.sources, times=True)
    desk.run("import", desk.sources, "--move")
    assert not path.exists()
    kept = [p for p in (desk.sources.parent / "data" / "originals").rglob("*") if p.is_file()]
    assert [p.stat().st_mode & 0o777 for p in kept] == [0o600]
    desk.run("undo")
    assert tree(desk.sources, times=True) == before
    assert not list((desk.sources.parent / "data" / "originals").rglob("*.jsonl"))


def test_two_talks_of_one_title_are_two_notes(desk: Desk) -> None:
    """The second gets part of its id; nothing is overwritten."""
    for number in (1, 2):
        session(number).you("Same title").claude(f"answer {number}").save(desk.sources)
    notes = desk.json("import", desk.sources)["notes"]
    assert len({n["path"].casefold() for n in notes}) == 2
    assert sorted("answer 1" in desk.read(n["path"]) for n in notes) == [False, True]


def test_manifest_holds_every_edit(desk: Desk) -> None:
    """`log NOTE`: created, each link with old, new and reason, each tag with its word."""
    desk.write("Gravity.md", "# Gravity\n")
    talk().save(desk.sources)
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    (entry,) = desk.json("log", path)["entries"]
    assert entry["did"] == "created"
    assert entry["edits"][0]["old"] == "Gravity"
    assert entry["edits"][0]["new"] == "[[Gravity]]"
    assert entry["edits"][0]["why"]
    assert entry["tags"]["testing"]
    assert "Gravity" in desk.run("log", path).out
    assert "+## You" in desk.run("diff").out


# ------------------------------------------------------------------ bad input, and what it gets


@pytest.mark.parametrize("make", [False, True])
def test_no_vault_is_a_clear_error(desk: Desk, make: bool) -> None:
    """No such folder, or a folder Obsidian has never opened: exit 1, and what to do."""
    if make:
        (desk.vault / ".obsidian").rmdir()
    else:
        desk.vault = desk.vault / "nowhere"
    outcome = desk.run("import", desk.sources, code=1)
    assert "--vault" in outcome.err
    assert "Traceback" not in outcome.err


def test_a_missing_source_is_a_clear_error(desk: Desk) -> None:
    """Exit 1, its path, nothing done."""
    outcome = desk.run("import", desk.sources / "nowhere.jsonl", code=1)
    assert "nowhere.jsonl" in outcome.err
    assert not (desk.vault / ".obsidian-import").exists()


def test_wrong_flags_are_usage_errors(desk: Desk) -> None:
    """Exit 2."""
    desk.run("import", "--origin", "moon", code=2)
    desk.run("import", "--since", "yesterday", code=2)
    desk.run("import", "--nope", code=2)


def test_junk_does_not_end_the_run(desk: Desk) -> None:
    """Binary junk, an empty file, a folder named like a note: the real talk is imported all the same."""
    talk().save(desk.sources)
    (desk.sources / "junk.jsonl").write_bytes(bytes(range(256)) * 50)
    (desk.sources / "empty.jsonl").write_bytes(b"")
    (desk.sources / "dir.md").mkdir()
    outcome = desk.run("import", desk.sources, "--json", code=None)
    assert outcome.code in (0, 4)
    assert outcome.json["totals"]["create"] == 1


def test_a_file_in_the_way_is_not_overwritten(desk: Desk) -> None:
    """A person's note that stands exactly where ours would go keeps its bytes."""
    talk().save(desk.sources)
    wanted = desk.json("import", desk.sources, "--dry-run")["notes"][0]["path"]
    desk.write(wanted, "mine\n")
    note = desk.json("import", desk.sources)["notes"][0]
    assert note["path"] != wanted
    assert desk.read(wanted) == "mine\n"


@pytest.mark.skipif(os.name == "nt", reason="symlinks need a privilege there")
def test_nothing_is_written_through_a_link(desk: Desk, tmp_path: Path) -> None:
    """A `chats` folder that is a symbolic link leads outside: refused, said, exit 4."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (desk.vault / "chats").symlink_to(outside)
    talk().save(desk.sources)
    outcome = desk.run("import", desk.sources, code=4)
    assert "link" in outcome.out
    assert not list(outside.iterdir())


def test_a_broken_config_names_the_key(desk: Desk) -> None:
    """Exit 1 and the nearest known key."""
    desk.write(".obsidian-import/config.yaml", "chatz: x\n")
    outcome = desk.run("import", desk.sources, code=1)
    assert "chatz" in outcome.err
    assert "chats" in outcome.err


def test_all_samples_come_in_and_go_out_again(desk: Desk, samples: Path) -> None:
    """Every real sample: no crash, the second import keeps all, undo gives the empty vault back."""
    before = desk.tree()
    first = desk.json("import", samples, code=None)
    assert first["totals"]["create"] >= 15
    for note in first["notes"]:
        if note["action"] == "create":
            assert (desk.vault / note["path"]).is_file()
    again = desk.json("import", samples, code=None)
    assert again["totals"]["create"] == again["totals"]["update"] == 0
    desk.run("undo")
    assert desk.tree() == before


def test_copies_are_one_and_different_notes_of_one_id_are_two(desk: Desk) -> None:
    """Three Markdown files claim one id: two are copies, the third says something else. Also at the next import."""
    for name, body in (("1", "body"), ("2", "body"), ("3", "other")):
        (desk.sources / f"{name}.md").write_text(f"---\nid: same-id-123\n---\n# T{name}\n\n{body}\n", encoding="utf-8")
    (desk.sources / "2.md").write_bytes((desk.sources / "1.md").read_bytes())
    first = desk.json("import", desk.sources)
    assert sorted(n["action"] for n in first["notes"]) == ["create", "create", "skip"]
    before = desk.tree(times=True, sidecar=True)
    again = desk.json("import", desk.sources)
    assert sorted(n["action"] for n in again["notes"]) == ["keep", "keep", "skip"]
    (desk.sources / "3.md").write_bytes((desk.sources / "3.md").read_bytes() + b"\nmore\n")
    assert desk.tree(times=True, sidecar=True) == before
    assert sorted(n["action"] for n in desk.json("import", desk.sources)["notes"]) == ["keep", "skip", "update"]


def test_move_takes_an_export_with_an_empty_talk_but_not_what_was_not_imported(desk: Desk) -> None:
    """One empty talk is no reason to keep an export; a filter or a damaged line is."""
    talk = {"uuid": "u1", "name": "A talk", "created_at": "2026-03-01T10:00:00Z", "updated_at": "2026-03-01T10:00:00Z"}
    said = [{"uuid": "m1", "sender": "human", "text": "hello there", "created_at": "2026-03-01T10:00:00Z"}]
    empty = {**talk, "uuid": "u2", "name": "", "chat_messages": []}
    export = desk.sources / "conversations.json"
    export.write_text(json.dumps([{**talk, "chat_messages": said}, empty]), encoding="utf-8")
    broken = session(1).you("one").claude("two")
    broken.lines.insert(1, '{"type": "user", "mess')
    damaged = broken.save(desk.sources)
    desk.run("import", desk.sources, "--move", "--since", "2026-01-01", code=None)
    assert export.exists()
    result = desk.json("import", desk.sources, "--move", code=None)
    assert not export.exists()
    assert damaged.exists()
    assert sorted(n["action"] for n in result["notes"]) == ["keep", "keep", "skip"]
