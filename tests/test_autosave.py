"""`autosave`: every odd transcript with its note or its reason for none; ends, sweeps, edits, resumed sessions."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest

from obsidian_import import autosave, spool
from obsidian_import.formats import claude_code
from tests.cases import Case, read_cases
from tests.vaults import Desk, session

ID = "5c0375b4-57a5-4f26-b12d-d022ee4e51b7"
TOKEN = "gh" + "p_" + "16C7e42F292c6912E7710c838347Ae178B4a"
CASES = Path(__file__).parent / "cases" / "sessions"


@pytest.fixture
def projects(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Claude Code's projects folder."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(desk.sources.parent / "claude"))
    folder = desk.sources.parent / "claude" / "projects"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autosave, "SETTLE", 0.3)


def end(session_id: str, path: Path | str = "", reason: str = "other", **more: str) -> None:
    event = {"session_id": session_id, "transcript_path": str(path), "hook_event_name": "SessionEnd", "reason": reason}
    spool.put(json.dumps({**event, **more}).encode())


def notes(desk: Desk) -> dict[str, str]:
    return {
        p.relative_to(desk.vault).as_posix(): p.read_text(encoding="utf-8") for p in sorted(desk.vault.rglob("*.md"))
    }


def log_of(desk: Desk) -> str:
    (text,) = notes(desk).values()
    return text


# ------------------------------------------------------------------ odd transcripts


def lay(case: Case, projects: Path) -> None:
    """The transcripts of a case, as they lie on disk."""
    name, lines = f"{ID}.jsonl", []
    found: dict[str, list[str]] = {}
    for line in case.input.removesuffix("\n").split("\n"):
        if line.startswith("=== "):
            name = line[4:]
            continue
        found.setdefault(name, lines if name == f"{ID}.jsonl" else []).append(line)
    for name, held in found.items():
        text = ("\r\n" if "crlf" in case.flags else "\n").join(held) + ("" if "no-newline" in case.flags else "\n")
        data = text.replace("@@TOKEN@@", TOKEN).encode("utf-8", "surrogateescape")
        path = projects / "-srv-my-app" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((b"\xef\xbb\xbf" if "bom" in case.flags else b"") + (data if data.strip() else b""))


@pytest.mark.parametrize("case", list(read_cases("sessions")), ids=lambda c: c.name)
def test_an_odd_transcript(case: Case, desk: Desk, projects: Path) -> None:
    """Its note, or the reason why there is none. `FILL=1 pytest` writes what comes out, to be read before it is kept."""
    lay(case, projects)
    end(ID, projects / "-srv-my-app" / f"{ID}.jsonl", "prompt_input_exit")
    held = desk.json("autosave", code=None)
    out = "\n".join(held["said"]) + "\n"
    assert TOKEN not in json.dumps(held)
    for path, text in notes(desk).items():
        assert TOKEN not in text
        out += f"=== {path}\n{text}"
    if os.environ.get("FILL"):
        path = CASES / f"{case.name}.md"
        given = path.read_bytes().decode("utf-8", "surrogateescape").partition("\n# output\n")[0].removesuffix("\n")
        path.write_bytes(f"{given}\n# output\n{out}".encode("utf-8", "surrogateescape"))
        return
    assert out == case.expected
    if case.name.startswith("none-"):
        assert not notes(desk)
    else:
        assert notes(desk)
        assert desk.run("check", code=None).code == 0
    desk.run("autosave")
    assert "".join(f"=== {p}\n{t}" for p, t in notes(desk).items()) in out, "twice is not once"


def test_there_are_forty_of_them() -> None:
    assert len(list(read_cases("sessions"))) >= 40


# ------------------------------------------------------------------ ends


@pytest.mark.parametrize(
    "reason",
    ["clear", "resume", "logout", "prompt_input_exit", "other", "bypass_permissions_disabled", "", "some future one"],
)
def test_every_reason(reason: str, desk: Desk, projects: Path) -> None:
    path = session().you("One").claude("a").you("Two").claude("b").save(projects)
    end(path.stem, path, reason)
    desk.run("autosave")
    text = log_of(desk)
    assert (
        (f"end_reason: {reason}" in text or f'end_reason: "{reason}"' in text) if reason else "end_reason" not in text
    )
    assert not list(spool.waiting())


def test_a_session_that_goes_on_has_one_log(desk: Desk, projects: Path) -> None:
    """Ended, resumed and ended again: the same note, brought up to date."""
    made = session().you("One").claude("a").you("Two").claude("b")
    path = made.save(projects)
    end(path.stem, path, "prompt_input_exit")
    desk.run("autosave")
    first = notes(desk)
    made.you("Three").claude("c")
    made.save(projects)
    end(path.stem, path, "clear")
    assert desk.json("autosave")["totals"]["update"] == 1
    second = notes(desk)
    assert list(first) == list(second)
    assert "3 messages of yours" in log_of(desk)
    assert "end_reason: clear" in log_of(desk)
    before = desk.tree(times=True, sidecar=True)
    end(path.stem, path, "clear")
    desk.run("autosave")
    assert desk.tree(times=True, sidecar=True) == before


def test_the_sweep_keeps_the_reason(desk: Desk, projects: Path) -> None:
    made = session().you("One").claude("a").you("Two").claude("b")
    path = made.save(projects)
    end(path.stem, path, "clear")
    desk.run("autosave")
    made.you("Three").save(projects)
    desk.run("autosave")
    assert "end_reason: clear" in log_of(desk)
    assert "3 messages of yours" in log_of(desk)


def test_killed_sessions_are_found_by_the_sweep(desk: Desk, projects: Path) -> None:
    for n in range(1, 4):
        session(n).you("One").claude("a").you("Two").claude("b").save(projects)
    assert desk.json("autosave", "--no-sweep")["totals"]["create"] == 0
    assert desk.json("autosave")["totals"]["create"] == 3
    assert desk.json("autosave")["totals"]["create"] == 0


def test_a_dry_run_writes_nothing_and_drops_no_event(desk: Desk, projects: Path) -> None:
    path = session().you("One").claude("a").you("Two").claude("b").save(projects)
    end(path.stem, path)
    before = desk.tree(sidecar=True)
    assert desk.json("autosave", "--dry-run")["totals"]["create"] == 1
    assert desk.tree(sidecar=True) == before
    assert len(list(spool.waiting())) == 1


def test_a_checkpoint_does_not_hide_a_reason(desk: Desk, projects: Path) -> None:
    path = session().you("One").claude("a").you("Two").claude("b").save(projects)
    end(path.stem, path, "logout")
    spool.put(json.dumps({"session_id": path.stem, "hook_event_name": "Stop"}).encode(), f"checkpoint-{path.stem}")
    desk.run("autosave")
    assert "end_reason: logout" in log_of(desk)


@pytest.mark.parametrize(
    "event",
    [b"", b"garbage", b"[]", b"{}", b"\xff\xfe", b'{"session_id": 7}', b'{"session_id": "../../x"}', b"[" * 5000],
)
def test_an_event_that_is_none_is_dropped_and_costs_no_other(event: bytes, desk: Desk, projects: Path) -> None:
    path = session().you("One").claude("a").you("Two").claude("b").save(projects)
    spool.put(event)
    end(path.stem, path)
    desk.run("autosave", "--no-sweep")
    assert len(notes(desk)) == 1
    assert not list(spool.waiting())


def test_one_session_that_meets_a_bug_costs_no_other(
    desk: Desk, projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in (1, 2):
        session(n).you(f"One {n}").claude("a").you("Two").claude("b").save(projects)
    real = claude_code.read

    def read(group: object) -> object:
        if "00000001" in group.files[0].name:  # type: ignore[attr-defined]
            raise KeyError("a bug")
        return real(group)  # type: ignore[arg-type]

    monkeypatch.setattr(claude_code, "read", read)
    held = desk.json("autosave", code=4)
    assert len(notes(desk)) == 1
    assert "a bug of ours: KeyError" in held["problems"][0]["what"]
    monkeypatch.undo()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(projects.parent))
    monkeypatch.setenv("OBSIDIAN_IMPORT_DATA", str(desk.sources.parent / "data"))


# ------------------------------------------------------------------ transcripts still being written


def test_it_waits_for_a_transcript_to_settle(desk: Desk, projects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A half line at the end: wait, two seconds at most, then take what is whole; the sweep takes the rest later."""
    made = session().you("One").claude("a").you("Two").claude("b").you("Three")
    path = made.save(projects)
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    naps: list[float] = []
    monkeypatch.setattr(autosave.time, "sleep", naps.append)

    def late(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 2:
            path.write_bytes(whole)

    monkeypatch.setattr(autosave.time, "sleep", late)
    end(path.stem, path)
    desk.run("autosave")
    assert "3 messages of yours" in log_of(desk)
    assert len(naps) >= 2


def test_settling_takes_two_seconds_at_most() -> None:
    """The figure that the promise is made of (the fixture above shortens it for the other tests)."""
    source = Path(autosave.__file__).read_text(encoding="utf-8")
    assert re.search(r"^SETTLE = 2\.0\b", source, re.MULTILINE)


def test_a_transcript_that_never_settles_is_not_waited_for(desk: Desk, projects: Path) -> None:
    path = session().you("One").claude("a").you("Two").claude("b").save(projects)
    path.write_bytes(path.read_bytes() + b'{"half')
    end(path.stem, path)
    start = time.monotonic()
    desk.run("autosave")
    assert time.monotonic() - start < 15
    assert "2 messages of yours" in log_of(desk)


# ------------------------------------------------------------------ places


@pytest.mark.skipif(os.name == "nt", reason="links as POSIX has them")
def test_nothing_outside_the_root_or_behind_a_link_is_read(desk: Desk, projects: Path, tmp_path: Path) -> None:
    outside = session(1).you("Outside one").claude("a").you("Two").claude("b").save(tmp_path / "elsewhere")
    end(outside.stem, outside)
    linked = projects / "-srv-my-app" / f"{session(2).id}.jsonl"
    linked.parent.mkdir(parents=True)
    linked.symlink_to(outside)
    end(linked.stem, linked)
    (projects / "linked-folder").symlink_to(outside.parent)
    end(outside.stem, projects / "linked-folder" / outside.name)
    end(outside.stem, projects / ".." / ".." / "elsewhere" / outside.parent.name / outside.name)
    held = desk.json("autosave")
    assert not notes(desk)
    assert any("no transcript of it below" in line for line in held["said"])


@pytest.mark.skipif(os.name == "nt", reason="links as POSIX has them")
def test_the_root_itself_may_be_a_link(desk: Desk, projects: Path, tmp_path: Path) -> None:
    projects.rmdir()
    (tmp_path / "real").mkdir()
    projects.symlink_to(tmp_path / "real")
    path = session().you("One").claude("a").you("Two").claude("b").save(projects)
    end(path.stem, path)
    desk.run("autosave")
    assert len(notes(desk)) == 1


def test_a_stale_path_is_found_by_its_id(desk: Desk, projects: Path) -> None:
    """A session that moved to a worktree's folder since the event was written."""
    path = session().you("One").claude("a").you("Two").claude("b").save(projects)
    end(path.stem, projects / "-srv-gone" / path.name, "clear")
    desk.run("autosave", "--no-sweep")
    assert "end_reason: clear" in log_of(desk)


def test_logs_go_to_the_projects_folder_where_there_is_one(desk: Desk, projects: Path) -> None:
    session(1).you("One").claude("a").you("Two").claude("b").save(projects)
    (desk.vault / "my-app").mkdir()
    session(2, cwd="/srv/other").you("One").claude("a").you("Two").claude("b").save(projects)
    desk.run("autosave")
    assert sorted(p.rpartition("/")[0] for p in notes(desk)) == ["logs/auto", "my-app/logs/auto"]


# ------------------------------------------------------------------ a person's part


def test_a_persons_lines_survive_updates(desk: Desk, projects: Path) -> None:
    made = session().you("One").claude("a").you("Two").claude("b")
    made.save(projects)
    desk.run("autosave")
    (path,) = notes(desk)
    text = desk.read(path).replace("## First prompt", "My own remark.\n\n## First prompt") + "\n- [ ] my own task\n"
    desk.write(path, text.replace("status: imported", "status: read"))
    made.you("Decision: use a queue for it").claude("c").save(projects)
    desk.run("autosave")
    now = desk.read(path)
    assert "My own remark." in now
    assert "- [ ] my own task" in now
    assert "status: read" in now
    assert "use a queue for it" in now


def test_a_deleted_log_stays_deleted(desk: Desk, projects: Path) -> None:
    made = session().you("One").claude("a").you("Two").claude("b")
    path = made.save(projects)
    desk.run("autosave")
    (note,) = notes(desk)
    (desk.vault / note).unlink()
    made.you("Three").save(projects)
    end(path.stem, path)
    desk.run("autosave")
    assert not notes(desk)


def test_a_log_of_save_stops_the_auto_log(desk: Desk, projects: Path) -> None:
    path = session().you("One").claude("a").you("Two").claude("b").save(projects)
    rich = desk.write("my-app/logs/2026-03-01-rich.md", f"---\ntype: log\nsession_id: {path.stem}\n---\n## Done\n")
    before = desk.tree(times=True)
    end(path.stem, path)
    held = desk.json("autosave")
    assert desk.tree(times=True) == before
    assert rich.is_file()
    assert any("tells it already" in line for line in held["said"])


def test_a_log_of_save_stops_later_updates_too(desk: Desk, projects: Path) -> None:
    made = session().you("One").claude("a").you("Two").claude("b")
    path = made.save(projects)
    desk.run("autosave")
    desk.write("logs/2026-03-01-rich.md", f"---\ntype: log\nsession_id: {path.stem}\n---\n")
    before = desk.tree(times=True)
    made.you("Three").save(projects)
    desk.run("autosave")
    assert desk.tree(times=True) == before


def test_an_imported_chat_does_not_stop_the_auto_log_and_is_linked(desk: Desk, projects: Path) -> None:
    made = session().you("One about it").claude("a").you("Two").claude("b")
    path = made.save(projects)
    desk.run("import", path)
    desk.run("autosave")
    log = next(t for p, t in notes(desk).items() if "/auto/" in p)
    assert "|the whole talk]]" in log


def test_undo_takes_a_log_back(desk: Desk, projects: Path) -> None:
    session().you("One").claude("a").you("Two").claude("b").save(projects)
    before = desk.tree()
    desk.run("autosave")
    assert desk.tree() != before
    desk.run("undo")
    assert desk.tree() == before


def test_notes_it_names_are_linked(desk: Desk, projects: Path) -> None:
    desk.write("Kubernetes Runbook.md", "# Kubernetes Runbook\n")
    desk.write("Grafana Dashboard.md", "# Grafana Dashboard\n")
    made = (
        session().you("See the Kubernetes Runbook for this").claude("And the Grafana Dashboard.").you("Two").claude("b")
    )
    made.save(projects)
    desk.run("autosave")
    log = next(t for p, t in notes(desk).items() if "/auto/" in p)
    assert "> See the [[Kubernetes Runbook]] for this" in log
    assert log.partition("## Links")[2].strip() == "- [[Grafana Dashboard]]"


# ------------------------------------------------------------------ `import` without a source


def test_import_sweeps_only_where_the_hook_is_installed(desk: Desk, projects: Path) -> None:
    session().you("One").claude("a").you("Two").claude("b").save(projects)
    desk.run("import")
    assert not [p for p in notes(desk) if "/auto/" in p], "who never asked for logs gets none"
    desk.run("setup", "--no-skills", "--no-claude-md")
    desk.run("import", "--dry-run")
    assert not [p for p in notes(desk) if "/auto/" in p]
    held = desk.json("import")
    assert [n["source"] for n in held["notes"]] == ["claude-code"]
    (log,) = [t for p, t in notes(desk).items() if "/auto/" in p]
    assert "|the whole talk]]" in log
