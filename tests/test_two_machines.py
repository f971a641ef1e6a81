"""One vault, several computers: what they write unites, whatever order and copies a sync brings it in."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from obsidian_import import apply, pruning
from obsidian_import.manifest import Entry, Manifest, Run, decode, done_record, encode, fold, intent_record, run_record
from obsidian_import.sidecar import load_manifest
from tests.vaults import Desk, Session, session, tree


def talk() -> Session:
    return session(1).you("First question").claude("First answer").you("Second question").claude("Second answer")


class Two:
    """Two computers that share the folder of sessions; each has its own vault, or both have the same."""

    def __init__(self, desk: Desk, patch: pytest.MonkeyPatch, *, shared: bool) -> None:
        self.patch, self.room, self.desk = patch, desk.sources.parent, desk
        self.a = desk
        self.b = desk if shared else Desk(self.room / "vault-b", desk.sources, desk.capsys)
        if not shared:
            (self.b.vault / ".obsidian").mkdir(parents=True)

    def at(self, name: str) -> Desk:
        self.patch.setenv("OBSIDIAN_IMPORT_DATA", str(self.room / f"data-{name}"))
        return self.a if name == "a" else self.b

    def sync(self) -> None:
        """Each gets the files it does not have; no file may differ."""
        for one, other in ((self.a.vault, self.b.vault), (self.b.vault, self.a.vault)):
            for path in one.rglob("*"):
                target = other / path.relative_to(one)
                if path.is_file() and not target.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(path, target)
                elif path.is_file():
                    assert path.read_bytes() == target.read_bytes(), path


@pytest.fixture
def shared(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Two:
    return Two(desk, monkeypatch, shared=True)


@pytest.fixture
def apart(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Two:
    return Two(desk, monkeypatch, shared=False)


# ------------------------------------------------------------------ both import


def test_the_second_machine_has_nothing_to_do(shared: Two) -> None:
    """The note is known by its key and the other's manifest: no byte, no time changes, the sidecar's neither."""
    talk().save(shared.desk.sources)
    shared.at("a").run("import", shared.desk.sources)
    before = shared.desk.tree(times=True, sidecar=True)
    assert shared.at("b").json("import", shared.desk.sources)["totals"]["keep"] == 1
    assert shared.desk.tree(times=True, sidecar=True) == before


def test_both_import_before_they_sync(apart: Two) -> None:
    """The same bytes in the same place, two manifests that unite; then neither has anything to do, `check` is clean."""
    talk().save(apart.desk.sources)
    apart.at("a").run("import", apart.desk.sources)
    apart.at("b").run("import", apart.desk.sources)
    apart.sync()
    for name in "ab":
        desk = apart.at(name)
        before = desk.tree(times=True, sidecar=True)
        assert desk.json("import", desk.sources)["totals"]["keep"] == 1
        assert desk.tree(times=True, sidecar=True) == before
        assert len(desk.json("log")["runs"]) == 2
        assert desk.json("check")["clean"]
    assert len(list(apart.a.vault.rglob("*.md"))) == 1


def test_undo_of_the_other_machines_run(apart: Two) -> None:
    """It works like one's own; the note may be imported again; the other machine sees the same."""
    talk().save(apart.desk.sources)
    apart.at("a").run("import", apart.desk.sources)
    apart.sync()
    empty = {".obsidian"}
    b = apart.at("b")
    run = b.json("log")["runs"][0]["run"]
    assert b.json("undo", run)["notes"][0]["action"] == "delete"
    assert set(b.tree()) == empty
    assert b.json("import", b.sources)["totals"]["create"] == 1


@pytest.mark.parametrize("bare", [True, False])
def test_undo_of_one_of_two_equal_imports_takes_the_note_for_now(apart: Two, bare: bool) -> None:
    """Taken away by us, whoever's run still stands: a further import brings it again."""
    talk().save(apart.desk.sources)
    apart.at("a").run("import", apart.desk.sources)
    apart.at("b").run("import", apart.desk.sources)
    apart.sync()
    b = apart.at("b")
    b.run("undo", *([] if bare else [b.json("log")["runs"][0]["run"]]))
    assert not list(b.vault.rglob("*.md"))
    assert b.json("import", b.sources)["totals"]["create"] == 1


def test_git_unites_what_both_did(apart: Two) -> None:
    """Two clones, both import and commit, a plain merge: no conflict, no doubled note, `check` clean."""
    if not shutil.which("git"):
        pytest.skip("no git here")

    def git(at: Path, *args: str) -> str:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *identity, *args], cwd=at, capture_output=True, text=True, check=True)
        return done.stdout

    a, b = apart.a.vault, apart.b.vault
    git(a, "init", "-q", "-b", "main")
    (a / "Mine.md").write_text("mine\n", encoding="utf-8")
    git(a, "add", "-A")
    git(a, "commit", "-qm", "start")
    shutil.rmtree(b)
    git(apart.room, "clone", "-q", str(a), str(b))
    (b / ".obsidian").mkdir(exist_ok=True)
    talk().save(apart.desk.sources)
    apart.at("a").run("import", apart.desk.sources)
    session(2).you("Only seen by the second").claude("Yes").save(apart.desk.sources)
    apart.at("b").run("import", apart.desk.sources)
    for vault in (a, b):
        git(vault, "add", "-A")
        git(vault, "commit", "-qm", "import")
    git(b, "pull", "-q", "--no-rebase", "--no-edit")
    desk = apart.at("b")
    assert desk.json("import", desk.sources)["totals"]["keep"] == 2
    assert desk.json("check")["clean"]
    assert len(list((b / "chats").rglob("*.md"))) == 2


# ------------------------------------------------------------------ records in any order


def some_run(name: str, machine: str = "m1", time: str = "2026-03-01T10:00:00.000+00:00") -> Run:
    entries = (
        Entry(path="a.md", before=None, after="1" * 64, base="1" * 64, key="k", run=name, n=0),
        Entry(path="b.md", before=None, after="2" * 64, base="2" * 64, key="l", run=name, n=1),
    )
    return Run(name, machine, time, "0", "import", entries=entries)


def records(run: Run) -> bytes:
    return b"".join(encode(r) for r in (run_record(run), *(intent_record(e) for e in run.entries)))


def done(run: Run, *applied: int) -> bytes:
    return encode(done_record(run.id, applied, {}, run.time))


def test_a_run_healed_by_a_machine_whose_file_is_read_first() -> None:
    """`done` before `run`: settled, and no damaged record."""
    run = some_run("r1")
    found = decode([("aaaa.jsonl", done(run, 0, 1)), ("zzzz.jsonl", records(run))])
    assert not list(found.unsettled())
    assert not found.damaged
    assert set(found.notes) == {("k", 1), ("l", 1)}


def test_a_sync_services_copy_of_a_manifest_counts_once() -> None:
    """The copy lacks the end, or has more: the union, each record once, whatever the order."""
    run, later = some_run("r1"), some_run("r2", time="2026-03-02T10:00:00.000+00:00")
    whole = records(run) + done(run, 0, 1)
    for files in (
        [("m1.jsonl", whole + records(later) + done(later, 0)), ("m1.sync-conflict-1.jsonl", records(run))],
        [("m1 (conflicted copy).jsonl", whole), ("m1.jsonl", records(run) + records(later) + done(later, 0))],
    ):
        for order in (files, files[::-1]):
            found = decode(order)
            assert [len(r.entries) for r in found.runs] == [2, 2]
            assert [sorted(r.applied) for r in found.runs] == [[0, 1], [0]]
            assert found == decode(files)


def test_clocks_that_disagree_do_not_change_the_order(apart: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    """B's clock is a year behind, B undoes A's import: the note counts as taken away, import brings it again."""
    talk().save(apart.desk.sources)
    apart.at("a").run("import", apart.desk.sources)
    apart.sync()
    b = apart.at("b")
    monkeypatch.setattr(apply, "moment", lambda: datetime.now(UTC) - timedelta(days=365))
    b.run("undo", b.json("log")["runs"][0]["run"])
    assert [r["command"] for r in b.json("log")["runs"]] == ["import", "undo"]
    assert b.json("import", b.sources)["totals"]["create"] == 1


def test_a_text_that_has_not_been_synced_yet_is_no_guess(apart: Two) -> None:
    """A person's edit, a grown talk, and the base still on its way: a conflict that says so; later it merges."""
    one = talk()
    one.save(apart.desk.sources)
    path = apart.at("a").json("import", apart.desk.sources)["notes"][0]["path"]
    apart.sync()
    b = apart.at("b")
    objects = b.vault / ".obsidian-import" / "objects"
    shutil.move(objects, apart.room / "on-its-way")
    b.write(path, b.read(path).replace("First answer\n", "First answer\n\nMine.\n"))
    one.you("More").claude("Yes").save(apart.desk.sources)
    mine = b.read(path)
    (row,) = b.json("import", b.sources, code=4)["notes"]
    assert "lost" in row["why"]
    assert b.read(path) == mine
    shutil.copytree(apart.room / "on-its-way", objects, dirs_exist_ok=True)
    b.run("import", b.sources)
    assert "Mine." in b.read(path)
    assert "More" in b.read(path)


# ------------------------------------------------------------------ the cloud


def stub(desk: Desk, path: str) -> Path:
    """What iCloud leaves of a note it has not downloaded."""
    file = desk.vault / path
    there = file.with_name(f".{file.name}.icloud")
    there.write_bytes(b"bplist00 a stub")
    file.unlink()
    return there


def test_a_note_that_is_not_downloaded_is_unknown(desk: Desk) -> None:
    """Neither deleted nor made again; undo says why not and leaves the stub; back on disk it takes the update."""
    one = talk()
    one.save(desk.sources)
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    data = (desk.vault / path).read_bytes()
    there = stub(desk, path)
    assert desk.json("status")["states"] == {"unknown": 1}
    one.you("More").claude("Yes").save(desk.sources)
    (row,) = desk.json("import", desk.sources)["notes"]
    assert (row["action"], "not downloaded" in row["why"]) == ("keep", True)
    (row,) = desk.json("undo", code=4)["notes"]
    assert (row["action"], "not downloaded" in row["why"]) == ("conflict", True)
    assert there.exists()
    there.unlink()
    (desk.vault / path).write_bytes(data)
    assert desk.json("import", desk.sources)["notes"][0]["action"] == "update"
    assert "More" in desk.read(path)


# ------------------------------------------------------------------ prune among several machines


def test_prune_leaves_what_another_machine_may_speak_of_later(desk: Desk) -> None:
    """A stored text without a record is fresh: its manifest is on its way. After a month nobody will ask for it."""
    talk().save(desk.sources)
    desk.run("import", desk.sources)
    name = "ab" + "0" * 62
    orphan = desk.write(f".obsidian-import/objects/ab/{name}", "packed by another machine")
    desk.run("prune", "--keep", "0")
    assert orphan.exists()
    os.utime(orphan, (time.time() - 40 * 86400,) * 2)
    desk.run("prune", "--keep", "0")
    assert not orphan.exists()


def test_prune_keeps_the_base_that_an_undo_would_go_back_to() -> None:
    """An old run made the note, a young one changed it: undone, merges start from the old base again."""
    old = some_run("r1", time="2026-01-01T00:00:00.000+00:00")
    young = some_run("r2", time="2026-03-01T00:00:00.000+00:00")
    young = replace(
        young, entries=tuple(replace(e, before="3" * 64, after="4" * 64, base="5" * 64) for e in young.entries)
    )
    runs = [replace(r, applied=frozenset({0, 1}), finished=True) for r in (old, young)]
    manifest: Manifest = fold(runs)
    keep = pruning.needed(manifest, datetime(2026, 2, 1, tzinfo=UTC))
    assert {"1" * 64, "2" * 64, "3" * 64, "4" * 64, "5" * 64} <= keep


# ------------------------------------------------------------------ --move, and folders


def test_a_second_original_of_one_name_never_takes_the_place_of_the_first(desk: Desk) -> None:
    """The client writes the same file again after `--move`: both originals are kept, both come back."""
    path = talk().save(desk.sources)
    first = path.read_bytes()
    one = desk.json("import", desk.sources, "--move")["run"]
    talk().you("More").claude("Yes").save(desk.sources)
    second = path.read_bytes()
    two = desk.json("import", desk.sources, "--move")["run"]
    kept = sorted(p.read_bytes() for p in (desk.sources.parent / "data" / "originals").rglob("*.jsonl"))
    assert kept == sorted((first, second))
    desk.run("undo", two)
    assert path.read_bytes() == second
    path.unlink()
    desk.run("undo", one)
    assert path.read_bytes() == first


def test_folders_go_with_their_last_note_in_any_order_of_undos(desk: Desk) -> None:
    """The older run made the folder, is undone first, and the folder goes with the younger run's note."""
    before = desk.tree()
    talk().save(desk.sources)
    one = desk.json("import", desk.sources)["run"]
    session(2).you("Another one").claude("Yes").save(desk.sources)
    two = desk.json("import", desk.sources)["run"]
    desk.run("undo", one)
    desk.run("undo", two)
    assert desk.tree() == before


def test_a_note_that_came_again_elsewhere_is_not_doubled_by_an_undo_of_the_undo(desk: Desk) -> None:
    """Import, undo, import, moved by a person, the undo undone: one note, where the person put it."""
    talk().save(desk.sources)
    desk.run("import", desk.sources)
    undone = desk.json("undo")["run"]
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    (desk.vault / path).rename(desk.vault / "Elsewhere.md")
    desk.run("undo", undone, code=None)
    assert [p.name for p in desk.vault.rglob("*.md")] == ["Elsewhere.md"]


def test_a_note_deleted_by_a_person_stays_away_after_undos(desk: Desk) -> None:
    """Deleted, then the run that made it is undone, then that undo: it does not come back by itself."""
    one = talk()
    one.save(desk.sources)
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    (desk.vault / path).unlink()
    undone = desk.json("undo")["run"]
    assert desk.json("import", desk.sources)["totals"]["create"] == 0
    desk.run("undo", undone, code=None)
    assert desk.json("import", desk.sources)["totals"]["create"] == 0
    assert not list(desk.vault.rglob("*.md"))


def test_manifests_of_real_runs_unite_in_any_order(apart: Two) -> None:
    """The union of what two machines wrote does not depend on the names of their files."""
    talk().save(apart.desk.sources)
    apart.at("a").run("import", apart.desk.sources)
    apart.at("b").run("import", apart.desk.sources)
    apart.at("b").run("undo")
    files = [
        (f.name, f.read_bytes()) for d in (apart.a, apart.b) for f in (d.vault / ".obsidian-import/manifest").iterdir()
    ]
    assert decode(files) == decode(files[::-1])
    assert load_manifest(apart.a.vault).runs[0] in decode(files).runs
    assert tree(apart.a.vault) != tree(apart.b.vault)
