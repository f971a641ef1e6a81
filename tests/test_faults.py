"""Every effect of a run fails once: killed there, disk full, I/O error, permission denied. Nothing torn, nothing lost.

The fault is put into each single call that changes the disk, one after the other, until a run goes through. Afterwards
every note is exactly its old or its new version, the next command settles the rest, and the same import comes to the
same tree as one that nothing disturbed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import acts, crowd
from tests.vaults import Session, session, tree

ROOM = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
MINE = "My own remark."
KINDS = ("kill", "ENOSPC", "EIO", "EACCES")


class Stage:
    """A vault before the act, and the act that is disturbed."""

    def __init__(self, room: Path) -> None:
        self.room = room
        self.vault, self.data, self.sources = room / "vault", room / "data", room / "sessions"

    def call(self, *args: str | Path) -> tuple[int, Any]:
        return acts.call(self.vault, self.data, *args)

    def talks(self) -> list[Session]:
        return [
            session(n, cwd=f"/srv/app{n % 2}").you(f"Question {n} on Zephyrhold").claude(f"Answer {n}")
            for n in (1, 2, 3)
        ]

    def begin(self) -> None:
        (self.vault / ".obsidian").mkdir(parents=True)
        (self.vault / "Zephyrhold.md").write_bytes(b"# Zephyrhold\r\nmine")
        self.sources.mkdir()
        for talk in self.talks():
            talk.save(self.sources)

    def picture(self) -> None:
        """A talk with an attachment."""
        import base64
        import json

        talk = session(4).you("Look at this")
        record = json.loads(talk.lines[0])
        data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(200)).decode()
        record["message"]["content"] = [
            {"type": "text", "text": "Look at this"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
        ]
        talk.lines[0] = json.dumps(record)
        talk.claude("I see.").save(self.sources)

    def grow(self) -> None:
        for talk in self.talks():
            talk.you("One more").claude("Here it is").save(self.sources)
        path = next(p for p in sorted(acts.ours(self.vault)) if "Question 1" in p)
        file = self.vault / path
        file.write_text(
            file.read_text(encoding="utf-8").replace("Answer 1\n", f"Answer 1\n\n{MINE}\n"), encoding="utf-8"
        )


Scene = Callable[[Stage], "list[str | Path]"]


def fresh(stage: Stage) -> list[str | Path]:
    stage.begin()
    stage.picture()
    return ["import", stage.sources]


def update(stage: Stage) -> list[str | Path]:
    stage.begin()
    assert stage.call("import", stage.sources)[0] == 0
    stage.grow()
    return ["import", stage.sources]


def undo(stage: Stage) -> list[str | Path]:
    args = fresh(stage)
    return ["undo", stage.call(*args)[1]["run"]]


def undo_of_an_update(stage: Stage) -> list[str | Path]:
    args = update(stage)
    return ["undo", stage.call(*args)[1]["run"]]


def move(stage: Stage) -> list[str | Path]:
    stage.begin()
    return ["import", stage.sources, "--move"]


def move_back(stage: Stage) -> list[str | Path]:
    return ["undo", stage.call(*move(stage))[1]["run"]]


SCENES: tuple[Scene, ...] = (fresh, update, undo, undo_of_an_update, move, move_back)


def fault(kind: str) -> Callable[[str], BaseException]:
    if kind == "kill":
        return acts.Killed
    number = getattr(errno, kind)
    return lambda _name: OSError(number, os.strerror(number))


def everything(stage: Stage) -> dict[str, bytes]:
    """Path → bytes of all notes, attachments and originals, wherever an original is now."""
    lying = {Path(p).name for p in acts.leftovers(stage.vault)}
    found = {p: f[1] for p, f in tree(stage.vault).items() if len(f) > 1 and p.rpartition("/")[2] not in lying}
    for folder in (stage.sources, stage.data / "originals"):
        for path in folder.rglob("*.jsonl"):
            found[f"original {path.name[-42:]}"] = path.read_bytes()  # without the number of a kept one
    return found


def ended(stage: Stage) -> dict[str, Any]:
    return {**tree(stage.vault), **{f"sources/{p}": f for p, f in tree(stage.sources).items()}}


@pytest.fixture(scope="module")
def prepared() -> Iterator[Callable[[Scene], Any]]:
    """For a scene: the folder to copy, the act, everything before it, the undisturbed end, the number of effects."""
    room = Path(tempfile.mkdtemp(dir=ROOM, prefix="faults-"))
    made: dict[str, Any] = {}

    def prepare(scene: Scene) -> Any:
        if scene.__name__ not in made:
            at = room / scene.__name__
            stage = Stage(at / "stage")
            args = scene(stage)
            before = everything(stage)
            shutil.copytree(at / "stage", at / "kept")
            with acts.failing(0, acts.Killed, for_good=False, under=stage.room) as done:
                assert stage.call(*args)[0] == 0
            made[scene.__name__] = (at, args, before, (everything(stage), ended(stage)), len(done))
            shutil.rmtree(at / "stage")
        return made[scene.__name__]

    yield prepare
    shutil.rmtree(room, ignore_errors=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scene", SCENES, ids=lambda s: s.__name__)
def test_a_fault_at_every_effect(scene: Scene, kind: str, prepared: Any) -> None:
    """Old or new, nothing else; then healed; then as if nothing had been. The kinds take turns; `make soak` has all."""
    effects = prepared(scene)[4]
    assert effects > 20
    assert faults(scene, kind, prepared, range(1 + KINDS.index(kind), effects + 1, len(KINDS))) > 5


def faults(scene: Scene, kind: str, prepared: Any, turns: range) -> int:
    """A fault of this kind at each of these effects; how many."""
    at, args, before, (after, end), _ = prepared(scene)
    stage = Stage(at / "stage")  # the same place each time: paths stand in the manifest and in the caches
    for n in turns:
        shutil.rmtree(stage.room, ignore_errors=True)
        shutil.copytree(at / "kept", stage.room)
        code = -9
        failing = acts.failing(n, fault(kind), for_good=kind == "kill", under=stage.room)
        with failing as done, contextlib.suppress(acts.Killed):
            code, _ = stage.call(*args)
        assert len(done) >= n
        where = f"{kind} at effect {n} ({done[n - 1]}), exit {code}"
        assert code in (-9, 0, 1, 4), where
        untorn(stage, before, after, where)
        # The next command settles it, and the same act again comes to the same end.
        stage.call("undo", "no-such-run")
        assert not acts.leftovers(stage.vault), where
        assert not acts.leftovers(stage.sources), where
        untorn(stage, before, after, where)
        if args[0] == "undo" or list(stage.sources.rglob("*.jsonl")):  # `--move` may have taken all of them
            assert stage.call(*args)[0] == 0, where
        if done[n - 1] == "rmdir":  # an empty folder may stay where the system would not let it go
            assert {p: f for p, f in ended(stage).items() if f[1:]} == {p: f for p, f in end.items() if f[1:]}, where
        else:
            assert ended(stage) == end, where
        assert stage.call("check")[0] == 0, where
    return len(turns)


def untorn(stage: Stage, before: dict[str, bytes], after: dict[str, bytes], where: str) -> None:
    """Every file is exactly its old or its new version; what is in both stays; a person's line is there."""
    now = everything(stage)
    for path, data in now.items():
        assert data in (before.get(path), after.get(path)), f"{where}: {path} is torn"
    for path in set(before) & set(after):
        assert path in now, f"{where}: {path} is gone"
    if any(MINE.encode() in data for data in before.values()):
        assert any(MINE.encode() in data for data in now.values()), where


def test_there_are_enough_points(prepared: Any) -> None:
    """At least 200 faults in a run of this file: each effect of each scene meets one kind."""
    count = {scene.__name__: prepared(scene)[4] for scene in SCENES}
    print(sum(count.values()), count)
    assert sum(count.values()) >= 200


# ------------------------------------------------------------------ an editor saves at the very moment


@pytest.mark.parametrize("name", ["exchange", "sync_file", "write_temp"])
@pytest.mark.parametrize("scene", [update, undo_of_an_update, undo], ids=lambda s: s.__name__)
def test_an_editor_that_saves_meanwhile_wins(scene: Any, name: str, tmp_path: Path, monkeypatch: Any) -> None:
    """Right before our exchange, or anywhere earlier: their text stays, ours waits for the next run."""
    from obsidian_import import files

    stage = Stage(tmp_path)
    args = scene(stage)
    path = stage.vault / next(p for p in sorted(acts.ours(stage.vault)) if "Question 1" in p)
    saved = path.read_bytes() + b"\nsaved at the worst moment\n"
    name = "replace" if scene is undo else name
    real = getattr(files, name)

    def race(*given: Any, **more: Any) -> Any:
        at_work = any(str(stage.vault / "chats") in str(one) for one in given)
        if at_work and path.exists() and path.read_bytes() != saved:
            path.write_bytes(saved)
        return real(*given, **more)

    monkeypatch.setattr(files, name, race)
    code, said = stage.call(*args)
    assert path.read_bytes() == saved
    assert code == 4
    assert any("while we worked" in row["why"] for row in said["notes"]), said["notes"]
    monkeypatch.undo()
    assert not acts.leftovers(stage.vault)
    stage.call("import", stage.sources)
    assert b"saved at the worst moment" in path.read_bytes()


def test_a_text_set_aside_by_a_killed_run_comes_back(tmp_path: Path) -> None:
    """Killed between exchange and look, with a person's text in what came out: it is in its place again."""
    from obsidian_import import files
    from obsidian_import.apply.one import ASIDE

    stage = Stage(tmp_path)
    args = update(stage)
    path = stage.vault / next(p for p in sorted(acts.ours(stage.vault)) if "Question 1" in p)
    saved = path.read_bytes() + b"\nsaved at the worst moment\n"
    real = files.exchange

    def exchange(one: Any, other: Any) -> bool:
        if Path(other) == path:
            path.write_bytes(saved)
            real(one, other)
            raise acts.Killed
        return real(one, other)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "exchange", exchange)
        with pytest.raises(acts.Killed):
            stage.call(*args)
    assert ASIDE in "".join(acts.leftovers(stage.vault))
    stage.call("undo", "no-such-run")
    assert path.read_bytes() == saved
    assert not acts.leftovers(stage.vault)


# ------------------------------------------------------------------ real system calls

STRACE = shutil.which("strace")
CALLS = ("rename", "renameat2", "link", "unlink", "fsync", "mkdir", "openat")


def traced(stage: Stage, args: list[str | Path], *rules: str) -> int:
    """Exit code of the command under strace with these injections."""
    command = [str(STRACE), "-f", "-qq", "-o", os.devnull, "-e", f"trace={','.join(CALLS)},write,pwrite64"]
    for one in rules:
        command += ["-e", f"inject={one}"]
    program = [sys.executable, "-m", "obsidian_import", *map(str, args), "--vault", str(stage.vault)]
    env = {**os.environ, "OBSIDIAN_IMPORT_DATA": str(stage.data), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([*command, *program], env=env, capture_output=True, check=False, timeout=120).returncode


def can_trace() -> bool:
    if not STRACE:
        return False
    probe = [STRACE, "-f", "-qq", "-o", os.devnull, "-e", "inject=fsync:error=EIO:when=1", sys.executable, "-c", "0"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def system_faults(scene: Any, prepared: Any, rules: list[str]) -> int:
    at, args, before, (after, _), _ = prepared(scene)
    stage = Stage(at / "stage")
    for one in rules:
        shutil.rmtree(stage.room, ignore_errors=True)
        shutil.copytree(at / "kept", stage.room)
        code = traced(stage, args, one)
        assert code in (0, 1, 3, 4, 120, -signal.SIGKILL, 128 + signal.SIGKILL), f"{one}: exit {code}"
        untorn(stage, before, after, one)
        stage.call("undo", "no-such-run")
        assert not acts.leftovers(stage.vault), one
        untorn(stage, before, after, one)
    return len(rules)


@pytest.mark.skipif(not can_trace(), reason="strace cannot inject here")
def test_real_system_calls_that_kill(prepared: Any) -> None:
    """A few real kills at a rename and a link; `make soak` has all."""
    rules = [f"{call}:signal=KILL:when={n}" for call, n in (("renameat2", 1), ("rename", 3), ("link", 2))]
    assert system_faults(update, prepared, rules[:2]) + system_faults(fresh, prepared, rules[2:]) == 3


# ------------------------------------------------------------------ several processes at once


def test_four_processes_for_some_seconds(tmp_path: Path) -> None:
    """Import, undo, relink and autosave at once, killed at random, a person saving meanwhile; `make soak` has a minute of eight."""
    came = crowd.run(tmp_path, 5, 4, seed=7)
    crowd.settled(tmp_path, came)
    print(f"{came.started} processes, {came.killed} killed, {len(came.saved)} saves; exits {came.codes}")
    assert came.started > 3
