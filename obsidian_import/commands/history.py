"""`status`, `log`, `diff`, `undo`, `prune`: what was done here, and how to take it back."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from obsidian_import import reversal
from obsidian_import.cache import Cache, cache_path
from obsidian_import.commands import common
from obsidian_import.config import SIDECAR
from obsidian_import.errors import EXIT_LOOK, UserError
from obsidian_import.manifest import Entry, Manifest, Run
from obsidian_import.plan import Plan
from obsidian_import.sidecar import Texts, load_manifest
from obsidian_import.standing import Standing, standing
from obsidian_import.world import World, see


@click.command()
@common.vault_option
@common.json_option
def status(*, vault_named: str | None, as_json: bool) -> int:
    """What is in the vault by us, and what a person did to it since.

    \b
    Example:
      obsidian-import status
    """
    vault = common.vault_of(vault_named)
    world = see(vault)
    notes = [standing(world, state) for state in sorted(world.states(), key=lambda s: s.path)]
    count: dict[str, int] = {}
    for note in notes:
        count[note.state] = count.get(note.state, 0) + 1
    unsettled = sum(1 for _ in world.manifest.unsettled())
    result: dict[str, Any] = {
        "vault": str(vault),
        "notes": len(notes),
        "states": count,
        "runs": len(world.manifest.runs),
        "unsettled": unsettled,
        "edited": [n.path for n in notes if n.state == "edited"],
        "moved": [{"from": n.was, "to": n.path} for n in notes if n.moved],
        "deleted": [{"path": n.path, "key": n.key} for n in notes if n.state == "deleted"],
        "conflicts": [{"path": n.path, "key": n.key, "why": n.why} for n in notes if n.state == "conflict"],
        "copies": sorted(world.snapshot.conflict_copies),
        "sessions": _sessions(world),
    }
    if as_json:
        common.print_json(result)
    else:
        _say_status(result, notes)
    return EXIT_LOOK if result["conflicts"] else 0


def _sessions(world: World) -> dict[str, Any]:
    from obsidian_import.retention import outlook  # noqa: PLC0415 (reads the client's settings)

    return outlook(world)


def _say_status(result: dict[str, Any], notes: list[Standing]) -> None:
    common.say(
        f"{common.counted(result['notes'], 'note')} by obsidian-import in {result['vault']}, {common.counted(result['runs'], 'run')}"
    )
    for state, word in (
        ("edited", "edited by you"),
        ("deleted", "deleted by you (they stay deleted)"),
        ("conflict", "in conflict"),
        ("unknown", "not downloaded yet"),
    ):
        hits = [n for n in notes if n.state == state]
        if hits:
            common.say(f"{len(hits)} {word}:")
            for note in hits[: common.SHOWN]:
                common.say(f"  {note.path}" + (f" — {note.why}" if note.why else ""))
    for move in result["moved"][: common.SHOWN]:
        common.say(f"  moved: {move['from']} → {move['to']}")
    if result["copies"]:
        common.say(
            f"{len(result['copies'])} copies left by a sync service (never touched): {', '.join(result['copies'][:3])}"
        )
    if result["unsettled"]:
        common.say(
            f"{result['unsettled']} files of a killed run are not settled yet; the next import, undo or relink does it"
        )
    for line in result["sessions"].get("lines", []):
        common.say(line)


@click.command()
@click.argument("what", required=False, metavar="[RUN|NOTE]")
@click.option("--size", is_flag=True, help="What the sidecar weighs.")
@common.vault_option
@common.json_option
def log(*, what: str | None, size: bool, vault_named: str | None, as_json: bool) -> int:
    """What ran: all runs, one run in full, or everything that happened to one note.

    \b
    Example:
      obsidian-import log
      obsidian-import log "chats/code/my-app/2026-03-01 Fix the flaky auth test.md"
    """
    vault = common.vault_of(vault_named)
    manifest = load_manifest(vault)
    if size:
        return _size(vault, as_json=as_json)
    if what is None:
        runs = [_run_json(manifest, run) for run in manifest.runs]
        if as_json:
            common.print_json({"vault": str(vault), "runs": runs})
        elif not runs:
            common.say("Nothing has run in this vault yet.")
        for run in runs if not as_json else []:
            counts = ", ".join(f"{n} {name}" for name, n in run["counts"].items() if name != "read")
            mark = "" if run["stands"] else " (taken back)" if not run["undoes"] else ""
            undoes = f" of {run['undoes']}" if run["undoes"] else ""
            common.say(f"{run['run']}  {run['time'][:16]}  {run['command']}{undoes}: {counts or 'no notes'}{mark}")
        return 0
    run_found = manifest.run(what)
    entries = _of_run(run_found) if run_found else _of_note(manifest, what)
    if not entries:
        raise UserError(f"neither a run nor a note of ours: {what}", "`obsidian-import log` lists the runs")
    if as_json:
        common.print_json({"vault": str(vault), "entries": [_entry_json(e) for e in entries]})
    else:
        for entry in entries:
            _say_entry(entry)
    return 0


def _of_run(run: Run) -> list[Entry]:
    return [*run.carried_out()]


def _of_note(manifest: Manifest, name: str) -> list[Entry]:
    name = name.removesuffix(".md")
    keys = {e.key for r in manifest.runs for e in r.entries if e.key and name in (e.path.removesuffix(".md"), e.key)}
    return [e for r in manifest.runs for e in r.carried_out() if e.key in keys]


def _verb(entry: Entry) -> str:
    if entry.moved:
        return "put back" if entry.moved.get("back") else "moved away"
    if entry.before == entry.after:
        return "noted"
    return "created" if entry.before is None else "removed" if entry.after is None else "updated"


def _run_json(manifest: Manifest, run: Run) -> dict[str, Any]:
    return {
        "run": run.id,
        "time": run.time,
        "machine": run.machine,
        "version": run.version,
        "command": run.command,
        "undoes": run.undoes,
        "stands": manifest.stands(run),
        "finished": run.finished,
        "files": len(run.applied),
        "failed": len(run.failed),
        "counts": {k: v for k, v in run.counts.items() if v},
    }


def _entry_json(entry: Entry) -> dict[str, Any]:
    from obsidian_import.manifest import intent_record  # noqa: PLC0415 (only here)

    record = intent_record(entry)
    del record["record"]
    return {"did": _verb(entry), **record}


def _say_entry(entry: Entry) -> None:
    path = entry.path or str((entry.moved or {}).get("from", ""))
    common.say(f"{entry.run}  {_verb(entry)}  {path}" + (f" — {entry.why}" if entry.why else ""))
    for edit in entry.edits:
        common.say(f"    link  line {edit['line']}: {edit['old']!r} → {edit['new']}  ({edit['why']})")
    if entry.tags:
        common.say("    tags  " + ", ".join(f"{t} (“{w}”)" for t, w in entry.tags.items()))
    if entry.redactions:
        common.say("    secrets taken out  " + ", ".join(f"{n} {kind}" for kind, n in entry.redactions.items()))


def _size(vault: Path, *, as_json: bool) -> int:
    weight = {"manifest": 0, "objects": 0}
    count = dict.fromkeys(weight, 0)
    for part in weight:
        for folder, _, names in os.walk(vault / SIDECAR / part):
            for name in names:
                weight[part] += os.lstat(os.path.join(folder, name)).st_size
                count[part] += 1
    notes = sum(s.size for s in see(vault).snapshot.notes.values() if s.ours)
    result = {"vault": str(vault), "bytes": weight, "files": count, "notes_bytes": notes}
    if as_json:
        common.print_json(result)
    else:
        common.say(
            f"manifest {weight['manifest'] / 1e6:.1f} MB in {count['manifest']} files, objects {weight['objects'] / 1e6:.1f} MB "
            f"in {count['objects']} files, for {notes / 1e6:.1f} MB of notes; `prune --keep DAYS` makes it smaller"
        )
    return 0


@click.command()
@click.argument("what", required=False, metavar="[RUN|NOTE]")
@common.vault_option
@common.json_option
def diff(*, what: str | None, vault_named: str | None, as_json: bool) -> int:
    """What a run changed, line by line (the newest one; or a named run; or the last change of a note).

    \b
    Example:
      obsidian-import diff
    """
    vault = common.vault_of(vault_named)
    manifest = load_manifest(vault)
    texts = Texts(vault)
    if what is None:
        run = manifest.newest_standing()
        entries = _of_run(run) if run else []
    else:
        run = manifest.run(what)
        entries = _of_run(run) if run else _of_note(manifest, what)[-1:]
        if not entries and run is None:
            raise UserError(f"neither a run nor a note of ours: {what}", "`obsidian-import log` lists the runs")
    if as_json:
        diffs = [{"path": e.path, "run": e.run, "diff": "\n".join(_lines(texts, e))} for e in entries if e.path]
        common.print_json({"vault": str(vault), "diffs": diffs})
        return 0
    for entry in entries:
        for line in _lines(texts, entry):
            common.say(line)
    return 0


def _lines(texts: Texts, entry: Entry) -> Iterator[str]:
    if not entry.key or entry.before == entry.after:
        return
    before, after = texts.text(entry.before), texts.text(entry.after)
    for digest, text in ((entry.before, before), (entry.after, after)):
        if digest and text is None:
            yield f"{entry.path}: the stored text {digest[:12]} is gone (pruned)"
            return
    old, new = (before or "").split("\n"), (after or "").split("\n")
    yield from (
        line.rstrip("\n")
        for line in difflib.unified_diff(
            old if before is not None else [],
            new if after is not None else [],
            f"a/{entry.path}" if before is not None else "/dev/null",
            f"b/{entry.path}" if after is not None else "/dev/null",
            lineterm="",
        )
    )


@click.command()
@click.argument("run_named", required=False, metavar="[RUN]")
@click.option("--note", metavar="NOTE", help="Only this note (its path in the vault, or its key).")
@common.dry_run_option
@common.vault_option
@common.json_option
def undo(*, run_named: str | None, note: str | None, dry_run: bool, vault_named: str | None, as_json: bool) -> int:
    """Take a run back: the newest that still stands, or the named one. What you edited since stays and is listed.

    \b
    Example:
      obsidian-import undo --dry-run
      obsidian-import undo
    """
    vault = common.vault_of(vault_named)
    with common.settled(vault, dry_run=dry_run):
        world = see(vault)
        run = reversal.pick(world, run_named)
        if run is None:
            if as_json:
                common.print_json(Plan("undo").as_json(None, str(vault), dry_run=dry_run))
            else:
                common.say("Nothing to undo.")
            return 0
        plan = reversal.undo(world, run, note)
        receipt = None
        if not dry_run:
            plan, receipt = common.carry_out(plan, world)
            cache = Cache(cache_path())
            cache.forget(str(vault))
            cache.close()
    if as_json:
        common.print_json(plan.as_json(receipt.run if receipt else None, str(vault), dry_run=dry_run))
    else:
        common.show_plan(plan, dry_run=dry_run)
        totals = plan.totals()
        parts = (
            ("delete", "removed"),
            ("create", "brought back"),
            ("update", "set back"),
            ("conflict", "left as they are"),
        )
        moved = sum(1 for c in plan.changes if c.moved)
        common.say(
            f"Run {run.id} ({run.command}): {common.summary(totals, parts)}"
            + (f", {moved} originals" if moved else "")
            + "."
        )
        if receipt is not None:
            common.say(f"This undo is run {receipt.run}; `obsidian-import undo {receipt.run}` takes it back.")
    return common.finish(plan, receipt)


@click.command()
@click.option(
    "--keep",
    type=click.IntRange(0, 36_500),
    required=True,
    metavar="DAYS",
    help="Runs younger than this stay undoable.",
)
@common.dry_run_option
@common.vault_option
@common.json_option
def prune(*, keep: int, dry_run: bool, vault_named: str | None, as_json: bool) -> int:
    """Drop stored texts that only undos of runs older than DAYS need; never what a merge needs.

    \b
    Example:
      obsidian-import prune --keep 90 --dry-run
    """
    from obsidian_import.apply.journal import drop_objects  # noqa: PLC0415 (rarely used)
    from obsidian_import.pruning import unneeded  # noqa: PLC0415

    vault = common.vault_of(vault_named)
    with common.settled(vault, dry_run=dry_run):
        found = unneeded(vault, load_manifest(vault), datetime.now(UTC) - timedelta(days=keep))
        if not dry_run:
            drop_objects(vault, found)
    result = {"vault": str(vault), "dry_run": dry_run, "objects": len(found), "bytes": sum(found.values())}
    if as_json:
        common.print_json(result)
    else:
        went = "would go" if dry_run else "went"
        size = sum(found.values()) / 1e6
        common.say(f"{len(found)} stored texts ({size:.1f} MB) {went}; notes and merges are untouched.")
    return 0
