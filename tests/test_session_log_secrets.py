"""The hook's worker and its logs hold no secret, wherever a text is cut."""

from __future__ import annotations

import json

import pytest

from tests import planted
from tests.planted import Garden
from tests.redact_corpus import contexts, tokens
from tests.test_no_secret_anywhere import data_of, found, garden, nothing  # noqa: F401 (garden is a fixture)
from tests.vaults import Desk


def test_nothing_of_any_secret_in_the_logs_of_sessions(garden: Garden, desk: Desk) -> None:
    """The hook's worker: notes, log file, cache, what it says."""
    said: list[str] = []
    inbox = data_of(desk) / "spool"
    inbox.mkdir(parents=True, mode=0o700)
    data_of(desk).chmod(0o700)
    for path in sorted((desk.sources / "projects").rglob("*.jsonl")):
        event = {
            "session_id": path.stem,
            "transcript_path": str(path),
            "cwd": "/srv/x",
            "reason": f"because {garden.token('end reason')}",
        }
        (inbox / f"{path.stem[:8]}.json").write_text(json.dumps(event))
    for args in (
        ["autosave", "--dry-run"],
        ["autosave", "--json"],
        ["autosave"],
        ["log", "--json"],
        ["diff"],
        ["check"],
        ["status"],
        ["undo"],
    ):
        outcome = desk.run(*args, code=None)
        said += [outcome.out, outcome.err]
    assert (data_of(desk) / "log" / "autosave.log").is_file()
    nothing(found(garden, desk, said))


def test_a_log_cuts_nothing_before_it_is_redacted(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """First prompt (300), commands, decisions and open items (240): half a token, or one without its context."""

    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(desk.sources))
    garden = Garden(desk.sources)
    plants = [p for p in (*tokens(81_000), *contexts(81_000)) if "\n" not in p.text and p.name != "seed"]
    for number, plant in enumerate(plants):
        text = garden.plant(plant, "log")
        end = text.index(plant.value) + len(plant.value)
        inside = min(len(plant.value) // 2, 60) if number % 2 else 0
        lead = {size: ("so then I ran this " * 20)[: max(0, size - end + inside - 1)] for size in (240, 300)}
        talk = planted.Talk(3000 + number).you(f"{lead[300]} {text} and so on and on").claude("ok")
        talk.tool("Bash", {"command": f"{lead[240]} {text} and so on and on"}, "ok")
        talk.you(f"Decision: {lead[240]} {text} and so on").claude(f"TODO: {lead[240]} {text} and so on")
        garden.write(f"projects/-srv-my-app/{talk.sid}.jsonl", talk.text())
    outcome = desk.run("autosave", "--json", code=None)
    assert outcome.json["totals"]["create"] >= 150
    nothing(found(garden, desk, [outcome.out, outcome.err]))
