"""No secret anywhere: everything a run writes or says is searched, byte by byte, for eight characters of any planted value."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests import planted
from tests.planted import Garden
from tests.vaults import Desk

ENV = "OBSIDIAN_TEST_DEPLOY_TOKEN"


@pytest.fixture
def garden(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Garden:
    """A history with secrets in every place that a source has; the projects folder is the client's own."""
    garden = Garden(desk.sources)
    planted.sessions(garden)
    planted.markdown(garden)
    planted.exports(garden)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(desk.sources))
    value = "value of a variable: " + "".join(reversed("93xkQ7vLm2TzpR8w"))
    monkeypatch.setenv(ENV, value.partition(": ")[2])
    garden.values.append(("environment variable", value.partition(": ")[2]))
    talk = planted.Talk(90).you(f"I said {value.partition(': ')[2]} to him").claude("Why?").you("Because").claude("Oh.")
    garden.write(f"projects/-srv-x/{talk.sid}.jsonl", talk.text())
    return garden


def data_of(desk: Desk) -> Path:
    return desk.sources.parent / "data"


def found(garden: Garden, desk: Desk, said: list[str]) -> list[str]:
    """What is left of the secrets anywhere, but for the originals that `--move` keeps and the hook's raw events."""
    for kept in ("originals", "spool"):
        shutil.rmtree(data_of(desk) / kept, ignore_errors=True)
    out = desk.sources.parent / "out"
    return garden.leaks(desk.vault, data_of(desk), out, said=said)


def nothing(leaks: list[str]) -> None:
    assert not leaks, "\n".join(["leaks:", *leaks])


def test_the_garden_is_as_wide_as_it_says(garden: Garden) -> None:
    kinds = {where.rpartition(": ")[2] for where, _ in garden.values}
    places = {where.partition(": ")[0] for where, _ in garden.values}
    assert len(garden.values) >= 400
    assert len(kinds) >= 120
    assert len(places) >= 90


def test_the_search_finds_what_is_there(garden: Garden, desk: Desk) -> None:
    """A search that cannot fail proves nothing: the sources themselves are full of hits."""
    hits = {hit.split("  in  ")[0] for hit in garden.leaks(desk.sources)}
    missed = [
        where
        for where, _ in garden.values
        if where not in hits and "document text" not in where and where != "environment variable"
    ]
    assert len(missed) <= len(garden.values) // 20, missed  # values that JSON writes with escapes


@pytest.mark.parametrize("detail", ["tools", "full"])
def test_nothing_of_any_secret_after_a_whole_life(garden: Garden, desk: Desk, detail: str) -> None:
    """Import with a report, look at everything there is to look at, relink, mend, undo, import again, move."""
    said: list[str] = []
    out = desk.sources.parent / "out"
    out.mkdir()

    def run(*args: str | Path) -> str:
        outcome = desk.run(*args, code=None)
        assert outcome.code in (0, 1, 4), outcome
        said.extend((outcome.out, outcome.err))
        return outcome.out

    desk.write("Redis.md", "# Redis\n")
    run("import", desk.sources, "--detail", detail, "--dry-run", "--json")
    run("import", desk.sources, "--detail", detail, "--dry-run", "--report", out / "dry.html")
    plan = json.loads(run("import", desk.sources, "--detail", detail, "--report", out / "plan.html", "--json"))
    assert plan["totals"]["create"] >= 15
    assert plan["totals"]["redactions"] >= 300
    for args in (
        ["log"],
        ["log", "--json"],
        ["diff"],
        ["diff", "--json"],
        ["status"],
        ["status", "--json"],
        ["check"],
        ["check", "--json"],
        ["suggest", "--json"],
    ):
        run(*args)
    for note in plan["notes"]:
        if note["action"] == "create":
            run("explain", note["path"], "--json")
            run("log", note["path"])
            run("diff", note["path"])
    run("import", desk.sources, "--detail", detail)
    desk.write("Tokens and keys.md", "# x\n")
    run("relink")
    run("check", "--repair")
    run("undo")
    run("import", desk.sources / "md", "--move", "--detail", detail)
    run("log", "--json")
    run("status")
    run("undo", "--json")
    nothing(found(garden, desk, said))


def test_nothing_of_any_secret_in_a_crash_log(garden: Garden, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug of ours whose message quotes what it choked on: the log to send is clean, and so is the terminal."""
    secret, known = garden.token("message of an exception"), os.environ[ENV]

    def boom(*_: object, **__: object) -> None:
        raise KeyError(f"cannot digest {secret} or {known}")

    monkeypatch.setattr("obsidian_import.commands.history.standing", boom)
    (desk.sources / "x").mkdir()
    desk.run("import", desk.sources / "md", code=None)
    with pytest.raises(AssertionError) as told:
        desk.run("status", code=3)
    monkeypatch.undo()
    log = str(told.value)
    assert "KeyError" in log
    nothing(found(garden, desk, [log]))


def test_a_cut_leaves_no_half_of_a_secret(desk: Desk) -> None:
    """Titles and one-line fields are cut by readers, before anything is redacted: half a token, or one without its context."""
    garden = Garden(desk.sources)
    planted.titles(garden)
    planted.descriptions(garden)
    outcome = desk.run("import", desk.sources, "--detail", "full", "--json", code=None)
    assert outcome.json["totals"]["create"] >= 300
    nothing(found(garden, desk, [outcome.out, outcome.err]))


@pytest.mark.parametrize("form", ["claude.ai", "markdown", "claude-export", "codex"])
def test_a_cut_title_of_any_format(desk: Desk, form: str) -> None:
    """Also of a talk that is skipped: its title stands in the plan and in the cache."""
    garden = Garden(desk.sources)
    planted.first_words(garden, form)
    outcome = desk.run("import", desk.sources, "--detail", "full", "--json", code=None)
    assert outcome.json["totals"]["create"] + outcome.json["totals"]["skip"] >= 150
    nothing(found(garden, desk, [outcome.out, outcome.err]))
