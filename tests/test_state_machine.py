"""Vaults that live: every act of a person, an editor, a sync service and a crash, in any order, between any commands.

The model is a plain dict of every line a person wrote. After every step: none of them is lost, unless the person
took it away; a deleted note has not come back; no note is there twice; nothing but ours was touched.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests import acts
from tests.vaults import Session, session, tree

SHM = Path("/dev/shm")
ROOM = str(SHM) if os.access(SHM, os.W_OK) else None
TARGETS = ("Zephyrhold", "Quantum Forge", "Lattice")
SAID = (
    "Where is Zephyrhold?",
    "The Quantum Forge is broken",
    "plain words",
    "```\ncode that stays\n```",
    "- a list\n- of things\n\nand Lattice after it",
    "a, b\n\nc, d\n\ne",
)

numbers = st.integers(0, 10_000)
places = st.floats(0, 1, allow_nan=False)


class Machine:
    """One data folder: a computer. `dirty`: it was killed and has not been at work since."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.dirty = False


class Living(RuleBasedStateMachine):
    """One vault, two data folders, three talks."""

    def __init__(self) -> None:
        super().__init__()
        self.room = Path(tempfile.mkdtemp(dir=ROOM, prefix="living-"))
        self.sources = self.room / "sessions"
        self.sources.mkdir()
        self.vaults = [self.room / "vault"]
        self.machines = [Machine(self.room / "data-a"), Machine(self.room / "data-b")]
        self.talks: dict[str, Session] = {}
        self.lines: dict[str, list[str]] = {}
        """Key → what stands in the source, turn by turn."""
        self.written: dict[str, str] = {}
        """Marker → where a person wrote it (for people who read a failure)."""
        self.deleted: set[tuple[int, str]] = set()
        """(vault, key) of the notes a person deleted."""
        self.copies: dict[str, int] = {}
        """Key → copies that people made."""
        self.foreign: dict[tuple[int, str], bytes] = {}
        self.going: set[str] = set()
        """Markers that a person took away somewhere; they may still stand in a copy, and go with it."""
        self.count = 0

    def teardown(self) -> None:
        shutil.rmtree(self.room, ignore_errors=True)

    # ------------------------------------------------------------ help

    def vault_of(self, who: int) -> int:
        return who % len(self.vaults)

    def machine_of(self, who: int) -> Machine:
        return self.machines[who % len(self.machines)]

    def command(self, who: int, *args: str | Path) -> tuple[int, Any]:
        at, machine = self.vault_of(who), self.machine_of(who)
        code, said = acts.call(self.vaults[at], machine.data, *args)
        note(f"machine {who % 2}: {' '.join(map(str, args))} -> {code}")
        machine.dirty = False
        assert code in (0, 4) or (code == 1 and args[0] == "undo"), said
        return code, said

    def marker(self, where: str) -> str:
        self.count += 1
        name = f"PERSON{self.count:04d}"
        self.written[name] = where
        return name

    def pick(self, who: int, which: int) -> tuple[Path, str, str] | None:
        """(file, path, key) of one of our notes."""
        found = sorted(acts.ours(self.vaults[self.vault_of(who)]).items())
        if not found:
            return None
        path, key = found[which % len(found)]
        return self.vaults[self.vault_of(who)] / path, path, key

    def may_go(self, text: str) -> None:
        """A person took this text away: its lines need not be anywhere any more."""
        self.going |= {m for m in self.written if m in text}

    def swept(self) -> None:
        everything = "\n".join(text for vault in self.vaults for text in acts.notes(vault).values())
        self.written = {m: w for m, w in self.written.items() if m not in self.going or m in everything}
        self.going &= set(self.written)

    def change(self, who: int, which: int, how: Any) -> None:
        picked = self.pick(who, which)
        if picked is None:
            return
        file, path, _ = picked
        text = file.read_bytes().decode("utf-8", "surrogateescape")
        file.write_bytes(how(text, path).encode("utf-8", "surrogateescape"))

    def save(self, key: str) -> None:
        talk = self.talks[key]
        talk.lines.clear()
        for n, words in enumerate(self.lines[key]):
            (talk.you if n % 2 == 0 else talk.claude)(words)
        talk.save(self.sources)

    # ------------------------------------------------------------ the world begins

    @initialize(known=st.sets(st.sampled_from(TARGETS)), many=st.integers(1, 3))
    def begin(self, known: set[str], many: int) -> None:
        for vault in self.vaults:
            (vault / ".obsidian").mkdir(parents=True)
        for number in range(1, many + 1):
            talk = session(number, cwd="/srv/app")
            self.talks[talk.key] = talk
            self.lines[talk.key] = [f"Question {number}", SAID[number % len(SAID)], "Next question", "An answer"]
            self.save(talk.key)
        for name in sorted(known):
            self.put_foreign(name)
        self.command(0, "import", self.sources)

    def put_foreign(self, name: str) -> None:
        for at, vault in enumerate(self.vaults):
            path = f"{name}.md"
            self.foreign[at, path] = f"# {name}\r\nmine, no newline at the end".encode()
            (vault / path).write_bytes(self.foreign[at, path])

    # ------------------------------------------------------------ the source

    @rule(which=numbers, words=st.sampled_from(SAID), more=st.sampled_from(SAID))
    def grows(self, which: int, words: str, more: str) -> None:
        key = sorted(self.talks)[which % len(self.talks)]
        self.lines[key] += [words, more]
        self.save(key)

    @rule(which=numbers, turn=numbers, words=st.sampled_from(SAID))
    def is_rewritten(self, which: int, turn: int, words: str) -> None:
        key = sorted(self.talks)[which % len(self.talks)]
        self.lines[key][turn % len(self.lines[key])] = words
        self.save(key)

    @rule(which=numbers)
    def shrinks(self, which: int) -> None:
        key = sorted(self.talks)[which % len(self.talks)]
        if len(self.lines[key]) > 2:
            self.lines[key] = self.lines[key][:-2]
            self.save(key)

    @rule(which=numbers)
    def vanishes(self, which: int) -> None:
        talk = self.talks[sorted(self.talks)[which % len(self.talks)]]
        if len(list(self.sources.rglob("*.jsonl"))) > 1:
            talk.save(self.sources).unlink()

    # ------------------------------------------------------------ the person

    @rule(who=numbers, which=numbers, place=places, blank=st.booleans())
    def adds_a_line(self, who: int, which: int, place: float, blank: bool) -> None:
        self.change(who, which, lambda text, path: acts.add_line(text, self.marker(path), place, blank=blank))

    @rule(who=numbers, which=numbers, place=places)
    def extends_a_line(self, who: int, which: int, place: float) -> None:
        self.change(who, which, lambda text, path: acts.extend_line(text, self.marker(path), place))

    @rule(who=numbers, which=numbers, place=places)
    def drops_a_line_of_ours(self, who: int, which: int, place: float) -> None:
        self.change(who, which, lambda text, path: acts.drop_line(text, place))

    @rule(who=numbers, which=numbers)
    def adds_a_property(self, who: int, which: int) -> None:
        self.change(who, which, lambda text, path: acts.add_property(text, self.marker(path)))

    @rule(who=numbers, which=numbers, name=st.sampled_from(("mine", "todo/later")))
    def adds_a_tag(self, who: int, which: int, name: str) -> None:
        self.change(who, which, lambda text, path: text.replace("tags: [", f"tags: [{name}, ", 1))

    @rule(who=numbers, which=numbers)
    def takes_a_link_out(self, who: int, which: int) -> None:
        def unlinked(text: str, path: str) -> str:
            for name in TARGETS:
                text = text.replace(f"[[{name}]]", name)
            return text

        self.change(who, which, unlinked)

    @rule(who=numbers, which=numbers)
    def turns_it_into_crlf(self, who: int, which: int) -> None:
        self.change(who, which, lambda text, path: text.replace("\r\n", "\n").replace("\n", "\r\n"))

    @rule(who=numbers, which=numbers)
    def edits_in_the_properties_panel(self, who: int, which: int) -> None:
        self.change(who, which, lambda text, path: acts.reformat(text))

    @rule(who=numbers, which=numbers, folder=st.sampled_from(("", "Archive", "a/b", "chats")), name=numbers)
    def moves_it(self, who: int, which: int, folder: str, name: int) -> None:
        picked = self.pick(who, which)
        if picked is None:
            return
        file, path, _ = picked
        target = self.vaults[self.vault_of(who)] / folder / f"Note number {name}x.md"
        if not target.exists():
            note(f"moves {path} to {target.relative_to(self.vaults[self.vault_of(who)])}")
            target.parent.mkdir(parents=True, exist_ok=True)
            file.rename(target)

    @rule(who=numbers, which=numbers)
    def deletes_it(self, who: int, which: int) -> None:
        picked = self.pick(who, which)
        if picked is None:
            return
        file, path, key = picked
        note(f"deletes {path}")
        text = file.read_bytes().decode("utf-8", "surrogateescape")
        file.unlink()
        self.may_go(text)
        self.swept()
        # Where people made copies, undo may have taken the note itself before: then import rightly brings it again.
        if not self.copies.get(key) and key not in acts.ours(self.vaults[self.vault_of(who)]).values():
            self.deleted.add((self.vault_of(who), key))

    @rule(who=numbers, which=numbers)
    def duplicates_it(self, who: int, which: int) -> None:
        picked = self.pick(who, which)
        if picked is None:
            return
        file, _, key = picked
        copy = file.with_name(f"{file.stem} duplicated{self.count}.md")
        self.count += 1
        shutil.copy(file, copy)
        self.copies[key] = self.copies.get(key, 0) + 1

    @rule(who=numbers, which=numbers)
    def sync_leaves_a_copy(self, who: int, which: int) -> None:
        picked = self.pick(who, which)
        if picked is None:
            return
        file = picked[0]
        copy = file.with_name(f"{file.stem}.sync-conflict-20260301-1011{self.count % 100:02d}-ABCDEFG.md")
        self.count += 1
        if not copy.exists():
            data = file.read_bytes() + b"\nother machine\n"
            copy.write_bytes(data)
            self.foreign[self.vault_of(who), copy.relative_to(self.vaults[self.vault_of(who)]).as_posix()] = data

    @rule(name=st.sampled_from(TARGETS), there=st.booleans())
    def a_target_comes_or_goes(self, name: str, there: bool) -> None:
        if there:
            self.put_foreign(name)
            return
        for at, vault in enumerate(self.vaults):
            if self.foreign.pop((at, f"{name}.md"), None) is not None:
                (vault / f"{name}.md").unlink()

    # ------------------------------------------------------------ the commands

    @rule(who=numbers)
    def imports(self, who: int) -> None:
        self.command(who, "import", self.sources)

    @rule(who=numbers)
    def imports_twice(self, who: int) -> None:
        self.command(who, "import", self.sources)
        before = tree(self.vaults[self.vault_of(who)], times=True, sidecar=True)
        self.command(who, "import", self.sources)
        assert tree(self.vaults[self.vault_of(who)], times=True, sidecar=True) == before

    @rule(who=numbers)
    def looks_first(self, who: int) -> None:
        vault = self.vaults[self.vault_of(who)]
        before = tree(vault, times=True, sidecar=True)
        self.command(who, "import", self.sources, "--dry-run")
        assert tree(vault, times=True, sidecar=True) == before
        self.machine_of(who).dirty = True  # a dry run heals nothing

    @rule(who=numbers)
    def imports_and_takes_back(self, who: int) -> None:
        vault = self.vaults[self.vault_of(who)]
        self.command(who, "relink", "--dry-run")
        self.command(who, "undo", "no-such-run")  # heals
        before = tree(vault)
        _, said = self.command(who, "import", self.sources)
        if said["run"] is None:
            assert tree(vault) == before
            return
        after = tree(vault)
        code, undone = self.command(who, "undo", said["run"])
        assert code == 0
        assert tree(vault) == before
        self.command(who, "undo", undone["run"])
        assert tree(vault) == after

    @rule(who=numbers)
    def relinks(self, who: int) -> None:
        self.command(who, "relink")
        before = tree(self.vaults[self.vault_of(who)], times=True, sidecar=True)
        self.command(who, "relink")
        assert tree(self.vaults[self.vault_of(who)], times=True, sidecar=True) == before

    @rule(who=numbers)
    def undoes(self, who: int) -> None:
        self.command(who, "undo")

    @rule(who=numbers, which=numbers)
    def undoes_any_run(self, who: int, which: int) -> None:
        runs = self.runs(who)
        if runs:
            self.command(who, "undo", runs[which % len(runs)])

    @rule(who=numbers, which=numbers, one=numbers)
    def undoes_one_note(self, who: int, which: int, one: int) -> None:
        runs, picked = self.runs(who), self.pick(who, one)
        if runs and picked:
            self.command(who, "undo", runs[which % len(runs)], "--note", picked[2])

    def runs(self, who: int) -> list[str]:
        _, said = acts.call(self.vaults[self.vault_of(who)], self.machine_of(who).data, "log")
        return [run["run"] for run in said["runs"]]

    @rule(who=numbers, which=numbers, side=st.sampled_from(("ours", "theirs")))
    def settles(self, who: int, which: int, side: str) -> None:
        key = sorted(self.talks)[which % len(self.talks)]
        vault = self.vaults[self.vault_of(who)]
        before = acts.notes(vault)
        held = {path for path, its in acts.ours(vault).items() if its == key}
        self.command(who, "import", self.sources, "--take", side, key)
        if side == "ours":  # the person said that their lines there may go
            self.going |= {m for p, t in before.items() if p in held for m in self.written if m in t}
            self.swept()
        else:
            mine = {p: t for p, t in before.items() if p in held}
            assert {p: t for p, t in acts.notes(vault).items() if p in mine} == mine

    @rule(who=numbers, which=numbers)
    def restores(self, who: int, which: int) -> None:
        key = sorted(self.talks)[which % len(self.talks)]
        self.deleted.discard((self.vault_of(who), key))
        self.command(who, "import", self.sources, "--restore", key)

    @rule(who=numbers)
    def prunes(self, who: int) -> None:
        self.command(who, "prune", "--keep", "0")

    @rule(who=numbers)
    def checks(self, who: int) -> None:
        self.command(who, "undo", "no-such-run")  # heals
        _, said = acts.call(self.vaults[self.vault_of(who)], self.machine_of(who).data, "check")
        if not any(machine.dirty for machine in self.machines):
            assert [f for f in said["findings"] if f["kind"] in ("manifest", "file", "active", "secret")] == []

    # ------------------------------------------------------------ the crash

    @rule(who=numbers, at=st.integers(1, 40), what=st.sampled_from(("import", "undo", "relink")), mess=st.booleans())
    def dies(self, who: int, at: int, what: str, mess: bool) -> None:
        vault, machine = self.vaults[self.vault_of(who)], self.machine_of(who)
        args: list[str | Path] = [what, self.sources] if what == "import" else [what]
        with acts.killed(at, vault) as done:
            acts.call(vault, machine.data, *args)
        note(f"machine {who % 2} dies at {at} ({done[at - 1 :][:1]}) in {what}")
        if len(done) < at:
            machine.dirty = False
            return
        machine.dirty = True
        if mess:  # a person writes before anything is healed
            self.adds_a_line(who, at, 0.5, True)

    # ------------------------------------------------------------ what must hold

    @invariant()
    def no_line_of_a_person_is_lost(self) -> None:
        everything = "\n".join(text for vault in self.vaults for text in acts.notes(vault).values())
        everything += "\n".join(
            Path(p).read_text(encoding="utf-8", errors="replace")
            for at, vault in enumerate(self.vaults)
            if any(m.dirty for m in self.machines)  # set aside at the moment of the kill: the next command puts it back
            for p in acts.leftovers(vault)
            if p.endswith(".aside")
        )
        for name, where in self.written.items():
            if name in self.going:
                continue
            assert name in everything, f"{name}, written in {where}, is lost"

    @invariant()
    def a_deleted_note_stays_away(self) -> None:
        for at, key in self.deleted:
            assert key not in acts.ours(self.vaults[at]).values(), f"{key} came back"

    @invariant()
    def no_note_is_there_twice(self) -> None:
        for vault in self.vaults:
            keys = list(acts.ours(vault).values())
            for key in set(keys):
                assert keys.count(key) <= 1 + self.copies.get(key, 0), f"{key}: {sorted(acts.ours(vault))}"

    @invariant()
    def what_is_not_ours_is_not_touched(self) -> None:
        for (at, path), data in self.foreign.items():
            assert (self.vaults[at] / path).read_bytes() == data

    @invariant()
    def nothing_is_left_lying_about(self) -> None:
        if not any(machine.dirty for machine in self.machines):
            for vault in self.vaults:
                assert not acts.leftovers(vault)


class TwoVaults(Living):
    """Two computers, each with its own copy of the vault, and a file sync between them that knows nothing of us."""

    def __init__(self) -> None:
        super().__init__()
        self.vaults = [self.room / "vault-a", self.room / "vault-b"]
        self.synced: dict[str, bytes] = {}

    @precondition(lambda self: not any(m.dirty for m in self.machines))
    @rule()
    def syncs(self) -> None:
        """What changed on one side goes to the other; changed on both: one of them is left as a copy; a change beats a deletion."""
        a, b = (files_below(v) for v in self.vaults)
        for path in sorted(set(a) | set(b) | set(self.synced)):
            one, two, was = a.get(path), b.get(path), self.synced.get(path)
            if one == two:
                wins = one
            elif two == was or one is None:
                wins = one if two == was else two
            elif one == was or two is None:
                wins = two if one == was else one
            else:
                assert not path.startswith(".obsidian-import/"), f"two machines wrote {path}"
                wins = one
                stem = path.removesuffix(".md")
                copy = f"{stem}.sync-conflict-20260301-1011{self.count % 100:02d}-ABCDEFG.md"
                self.count += 1
                for vault in self.vaults:
                    write(vault / copy, two)
            if wins is None:  # the deletion travels, with the lines that stood there
                gone = (one or two or b"").decode("utf-8", "replace")
                self.may_go(gone)
            for vault in self.vaults:
                write(vault / path, wins)
            for at in (0, 1):
                if (at, path) in self.foreign:
                    self.foreign[at, path] = wins or b""
        self.swept()
        self.synced = files_below(self.vaults[0])
        note("syncs")
        # A deletion has travelled, or a change on the other side has beaten it.
        keys = set(acts.ours(self.vaults[0]).values())
        self.deleted = {(at, key) for at in (0, 1) for _, key in self.deleted if key not in keys}
        for key in keys:  # moved here and changed there: the sync itself doubles it
            self.copies[key] = max(self.copies.get(key, 0), list(acts.ours(self.vaults[0]).values()).count(key) - 1)


def files_below(vault: Path) -> dict[str, bytes]:
    """All files of a vault but the app's own settings."""
    return {
        path.relative_to(vault).as_posix(): path.read_bytes()
        for path in vault.rglob("*")
        if path.is_file() and ".obsidian/" not in path.as_posix()
    }


def write(path: Path, data: bytes | None) -> None:
    """What a sync client does: nothing where it is so already."""
    if data is None:
        path.unlink(missing_ok=True)
    elif not path.is_file() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def case(machine: type[Living], name: str, examples: int, steps: int = 16, *, same: bool = True) -> Any:
    """A test class of its own, so that the workers of a parallel run share them; another name is another seed."""
    made = type(name, (machine,), {}).TestCase  # type: ignore[attr-defined]  # hypothesis makes it
    made.settings = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        derandomize=same,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
        report_multiple_bugs=False,
        phases=(Phase.explicit, Phase.generate) if os.environ.get("NO_SHRINK") else tuple(Phase),
    )
    return made


TestLivingOne = case(Living, "LivingOne", 90)
TestLivingTwo = case(Living, "LivingTwo", 90)
TestTwoVaultsOne = case(TwoVaults, "TwoVaultsOne", 60)
TestTwoVaultsTwo = case(TwoVaults, "TwoVaultsTwo", 60)
