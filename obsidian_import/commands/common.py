"""What every command shares: --vault, --json, how a plan is shown and how a run ends."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click
import orjson

from obsidian_import.apply import Receipt, apply
from obsidian_import.apply.healing import heal
from obsidian_import.cli import complain, printable
from obsidian_import.config import find_vault
from obsidian_import.errors import EXIT_CANNOT, EXIT_DONE, EXIT_LOOK
from obsidian_import.files import digest, read_regular
from obsidian_import.plan import Plan, Row
from obsidian_import.world import World

F = TypeVar("F", bound=Callable[..., Any])

SHOWN = 40  # rows of one kind in a text plan before the rest is counted


def vault_option(function: F) -> F:
    """`--vault DIR`."""
    return click.option(
        "--vault", "vault_named", metavar="DIR", help="The vault (else $OBSIDIAN_VAULT, your config, or the nearest)."
    )(function)


def json_option(function: F) -> F:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")(function)


def dry_run_option(function: F) -> F:
    """`--dry-run`."""
    return click.option("--dry-run", is_flag=True, help="Show the plan; write nothing below the vault.")(function)


def vault_of(named: str | None) -> Path:
    """The vault meant, or a UserError that says how to name one."""
    return find_vault(named)


def say(text: str = "") -> None:
    """A line for people."""
    click.echo(printable(text))


def print_json(value: Mapping[str, Any]) -> None:
    """One object, UTF-8, indented. Lone surrogates (odd file names) are escaped."""
    try:
        out = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        out = (json.dumps(value, indent=2) + "\n").encode()
    sys.stdout.flush()
    sys.stdout.buffer.write(out)
    sys.stdout.buffer.flush()


@contextmanager
def settled(vault: Path, *, dry_run: bool) -> Any:
    """The lock on a vault, with what a killed run left settled first (a dry run leaves it as it is)."""
    from obsidian_import.apply import locked  # noqa: PLC0415 (filelock is loaded with it)

    with locked(vault):
        if not dry_run:
            for line in heal(vault):
                complain(line)
        yield


def carry_out(plan: Plan, world: World, step: Callable[[], object] = lambda: None) -> tuple[Plan, Receipt | None]:
    """Apply a plan; what could not be done becomes a conflict in its row. No changes: no run at all."""
    if not plan.changes and not plan.refused:
        return plan, None
    receipt = apply(plan, world.texts, world.vault, step)
    done = {e.n for e in receipt.applied}
    why = {
        (c.key, c.part, c.path): receipt.failed.get(n) or receipt.stopped or "not done"
        for n, c in enumerate(plan.changes)
        if n not in done
    }
    if why:
        rows = tuple(
            replace(r, action="conflict", why=why[r.key, r.part, r.path]) if (r.key, r.part, r.path) in why else r
            for r in plan.rows
        )
        extra = tuple(
            Row("conflict", "", str(c.moved["from"]) if c.moved else c.path, why=why[c.key, c.part, c.path])
            for n, c in enumerate(plan.changes)
            if n not in done and not c.key
        )
        plan = replace(plan, rows=rows + extra)
    return plan, receipt


def audit(receipt: Receipt, vault: Path) -> tuple[int, int]:
    """(files that should be as we left them, files that are): the disk is read again."""
    wanted = [e for e in receipt.applied if e.path and e.before != e.after]
    good = 0
    for entry in wanted:
        try:
            data = read_regular(vault / entry.path)
        except OSError:
            continue
        good += (None if data is None else digest(data)) == entry.after
    return len(wanted), good


def finish(plan: Plan, receipt: Receipt | None) -> int:
    """The exit code of a run."""
    if receipt is not None and receipt.stopped:
        complain(
            f"error: stopped early: {receipt.stopped}",
            "each note is whole, old or new; mend that and run the command again",
        )
        return EXIT_CANNOT
    return EXIT_LOOK if plan.needs_a_look or (receipt is not None and receipt.failed) else EXIT_DONE


# ------------------------------------------------------------------ a plan in words

_SIGNS = {"create": "+", "update": "~", "delete": "-", "keep": "=", "conflict": "!", "skip": "."}


def show_plan(plan: Plan, *, dry_run: bool) -> None:
    """The plan as a person reads it: what needs a look last, right above the summary."""
    order = ("skip", "create", "update", "delete", "conflict")
    for action in order:
        rows = [r for r in plan.rows if r.action == action]
        for row in rows[:SHOWN]:
            say(_line(row))
        if len(rows) > SHOWN:
            say(f"  … and {len(rows) - SHOWN} more to {action} (all with --json or --report FILE.html)")
    for row in [r for r in plan.rows if r.action == "keep" and r.why]:
        say(_line(row))
    for problem in plan.problems:
        where = problem.source + (f", line {problem.line}" if problem.line else "")
        say(
            f"{'!' if problem.fatal else '?'} {where}: {problem.what}"
            + (f"\n    {problem.hint}" if problem.hint else "")
        )
    for notice in plan.notices:
        say(f"note: {notice}")
    if dry_run:
        say("Nothing was written (dry run).")


def _line(row: Row) -> str:
    facts = []
    if row.links and row.action in ("create", "update"):
        facts.append(f"{len(row.links)} link{'s' if len(row.links) != 1 else ''}")
    if row.redactions:
        facts.append("redacted " + ", ".join(f"{n} {kind}" for kind, n in row.redactions.items()))
    if row.inert:
        facts.append("made inert " + ", ".join(f"{n} {kind}" for kind, n in row.inert.items()))
    words = f"{_SIGNS.get(row.action, ' ')} {row.path or row.key}"
    if row.why:
        words += f" — {row.why}"
    return words + (f"  ({'; '.join(facts)})" if facts else "")


def counted(number: int, word: str) -> str:
    """`1 talk`, `2,000 talks`."""
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def summary(totals: Mapping[str, int], parts: Iterable[tuple[str, str]]) -> str:
    """`12 created, 1 updated`: only what there is."""
    said = [f"{totals[name]:,} {word}" for name, word in parts if totals.get(name)]
    return ", ".join(said) or "nothing to do"
