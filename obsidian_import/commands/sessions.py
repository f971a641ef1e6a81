"""`autosave`: the hook's child. Drains the spool, sweeps the projects folder, writes the auto-logs."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import click

from obsidian_import import files, spool
from obsidian_import.autosave import Saver
from obsidian_import.cache import Cache, cache_path
from obsidian_import.cli import printable
from obsidian_import.commands import common
from obsidian_import.config import data_dir
from obsidian_import.errors import EXIT_DONE, UserError
from obsidian_import.landing import Lander, Sure, rules
from obsidian_import.redact import Redactor
from obsidian_import.retention import config_dir
from obsidian_import.world import see

LOG_SIZE = 1 << 20  # bytes; then the log begins anew, the old one is kept once


@click.command()
@click.option("--no-sweep", is_flag=True, help="Only the sessions whose end was spooled.")
@click.option("--quiet", is_flag=True, help="Print nothing, exit 0: what happened is in the log (as the hook runs it).")
@common.dry_run_option
@common.vault_option
@common.json_option
def autosave(*, no_sweep: bool, quiet: bool, dry_run: bool, vault_named: str | None, as_json: bool) -> int:
    """Write the auto-log of every session that ended since: what was asked, edited, run, decided, left open.

    \b
    Example:
      obsidian-import autosave --dry-run
    """
    try:
        return _autosave(no_sweep=no_sweep, quiet=quiet, dry_run=dry_run, vault_named=vault_named, as_json=as_json)
    except UserError as error:
        if not quiet:
            raise
        note_down([f"error: {error.message}"])
        return EXIT_DONE


def _autosave(*, no_sweep: bool, quiet: bool, dry_run: bool, vault_named: str | None, as_json: bool) -> int:
    vault = common.vault_of(vault_named)
    with common.settled(vault, dry_run=dry_run):
        world = see(vault)
        cache = Cache(cache_path())
        try:
            saver = Saver(
                world,
                Lander(world, Sure(world)),
                rules(world.config),
                cache,
                config_dir() / "projects",
                sweep=not no_sweep,
            )
            plan, spooled = saver.plan()
            receipt = None
            if not dry_run:
                plan, receipt = common.carry_out(plan, world)
                if receipt is None or not (receipt.failed or receipt.stopped):
                    saver.learn()
                    for path in spooled:
                        spool.done(path)
        finally:
            cache.close()
    if not dry_run:
        note_down([Redactor(saver.rules).redact(line) for line in saver.said])
    if quiet:
        return EXIT_DONE
    if as_json:
        result = plan.as_json(receipt.run if receipt else None, str(vault), dry_run=dry_run)
        common.print_json({**result, "said": saver.said})
    else:
        for line in saver.said:
            common.say(line)
        common.show_plan(plan, dry_run=dry_run)
        totals = plan.totals()
        parts = (("create", "created"), ("update", "updated"), ("keep", "kept"), ("conflict", "in conflict"))
        common.say(f"Session logs: {common.summary(totals, parts)}.")
    return common.finish(plan, receipt)


def note_down(lines: list[str]) -> None:
    """Append to the log in the user's data folder (0600); it begins anew when it has grown to a megabyte."""
    if not lines:
        return
    folder = data_dir() / "log"
    try:
        files.private_dir(data_dir())
        files.private_dir(folder)
        path = folder / "autosave.log"
        if path.exists() and path.stat().st_size > LOG_SIZE:
            files.replace(path, folder / "autosave.old.log")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        text = "".join(f"{now} {printable(line)}\n" for line in lines)
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with open(fd, "a", encoding="utf-8", errors="replace") as stream:
            stream.write(text)
    except OSError:
        return  # a log that cannot be written must not end the work it tells of
