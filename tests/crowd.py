"""Several processes at once on one vault, some of them killed, and a person who writes meanwhile."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests import acts
from tests.vaults import session

ACTS = (["import", "SOURCES"], ["import", "SOURCES"], ["undo"], ["relink"], ["autosave"])


@dataclass
class Crowd:
    """What it came to."""

    started: int = 0
    killed: int = 0
    saved: list[str] = field(default_factory=list)
    codes: dict[int, int] = field(default_factory=dict)


def run(room: Path, seconds: float, processes: int, seed: int) -> Crowd:
    """Let them at it; then the vault is as the last survivor left it, not healed."""
    vault, sources, data = room / "vault", room / "sessions", room / "data"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "Zephyrhold.md").write_text("# Zephyrhold\n", encoding="utf-8")
    sources.mkdir()
    talks = [session(n).you(f"Question {n} on Zephyrhold").claude(f"Answer {n}") for n in range(1, 9)]
    for talk in talks:
        talk.save(sources)
    chance, came = random.Random(seed), Crowd()
    env = {**os.environ, "OBSIDIAN_IMPORT_DATA": str(data), "CLAUDE_CONFIG_DIR": str(room / "claude")}
    at_work: list[subprocess.Popen[bytes]] = []
    doomed: dict[int, float] = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        while len(at_work) < processes:
            words = [str(sources) if w == "SOURCES" else w for w in chance.choice(ACTS)]
            command = [sys.executable, "-m", "obsidian_import", *words, "--vault", str(vault)]
            at_work.append(subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
            came.started += 1
            if chance.random() < 0.4:
                doomed[at_work[-1].pid] = time.monotonic() + chance.uniform(0.2, 2.5)
        time.sleep(chance.uniform(0.02, 0.15))
        for one in at_work:
            if time.monotonic() > doomed.get(one.pid, end) and one.poll() is None:
                one.send_signal(signal.SIGKILL)
                came.killed += 1
        if chance.random() < 0.3:
            talk = chance.choice(talks)
            talk.you(f"More {came.started}").claude("Yes").save(sources)
        if chance.random() < 0.3:
            _save(vault, came, chance)
        for one in list(at_work):
            if one.poll() is not None:
                _, said = one.communicate()
                came.codes[one.returncode] = came.codes.get(one.returncode, 0) + 1
                assert one.returncode != 3, said.decode()
                at_work.remove(one)
    for one in at_work:
        one.kill()
        one.communicate()
    return came


def _save(vault: Path, came: Crowd, chance: random.Random) -> None:
    """As an editor saves: read a while ago, a new file, renamed over the old one."""
    found = sorted(p for p in vault.joinpath("chats").rglob("*.md")) if (vault / "chats").is_dir() else []
    if not found:
        return
    path = chance.choice(found)
    name = f"PERSON{len(came.saved):04d}"
    try:
        text = path.read_text(encoding="utf-8") + f"\n{name}\n"
        temp = path.with_name(".editor.swp")
        temp.write_text(text, encoding="utf-8")
        temp.replace(path)
    except OSError:  # undone, folder and all, at this moment: the person saves elsewhere
        return
    came.saved.append(name)


def settled(room: Path, came: Crowd) -> None:
    """One more import heals; every saved line is there, nothing is left lying, `check` is clean, a repeat changes nothing."""
    vault, data, sources = room / "vault", room / "data", room / "sessions"
    code, said = acts.call(vault, data, "import", sources)
    assert code in (0, 4), said
    everything = "\n".join(acts.notes(vault).values())
    missing = [name for name in came.saved if name not in everything]
    assert not missing, f"{len(missing)} of {len(came.saved)} saved lines are lost"
    assert not acts.leftovers(vault)
    _, found = acts.call(vault, data, "check")
    assert [f for f in found["findings"] if f["level"] == "error"] == []
    before = acts.notes(vault)
    acts.call(vault, data, "import", sources)
    assert acts.notes(vault) == before
    keys = list(acts.ours(vault).values())
    assert len(keys) == len(set(keys)) == 8
