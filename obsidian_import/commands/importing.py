"""`obsidian-import import`: the main job."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from obsidian_import.cache import Cache, cache_path
from obsidian_import.commands import common
from obsidian_import.config import DETAILS
from obsidian_import.errors import UserError
from obsidian_import.importer import Importer, Request
from obsidian_import.landing import Lander, Sure, no_links, rules
from obsidian_import.plan import Plan
from obsidian_import.world import see

if TYPE_CHECKING:
    from obsidian_import.render import Detail
    from obsidian_import.talks import Talks


class Day(click.ParamType[date]):
    """A calendar day, YYYY-MM-DD."""

    name = "YYYY-MM-DD"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """Text → date; a usage error otherwise."""
        if isinstance(value, date):
            return value
        try:
            return datetime.strptime(value, "%Y-%m-%d").date()  # noqa: DTZ007 (a day, not a moment)
        except ValueError:
            self.fail(f"{value!r} is no day; write it as 2026-03-01", param, ctx)


class Source(click.Path):
    """A file or folder; an empty name is none (a script's unset variable must not mean the folder it runs in)."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Text → Path."""
        if value == "":
            raise UserError("a source without a name", "name a file, a folder or a zip")
        return super().convert(value, param, ctx)


def projects_folder() -> Path:
    """Where Claude Code keeps its sessions: `$CLAUDE_CONFIG_DIR/projects`, else `~/.claude/projects`."""
    named = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(named) if named else Path.home() / ".claude") / "projects"


@click.command("import")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...", type=Source(path_type=Path))
@click.option("--origin", type=click.Choice(["auto", "code", "web"]), default="auto", help="Where the talks are from.")
@click.option("--move", is_flag=True, help="Take each original away once its notes are safe (undo puts it back).")
@click.option("--no-wikilinks", is_flag=True, help="Make no links.")
@click.option("--detail", type=click.Choice(DETAILS), help="How much of a talk (default: the vault's config).")
@click.option("--since", type=Day(), help="Only talks that went on on or after this day.")
@click.option("--until", type=Day(), help="Only talks that began on or before this day.")
@click.option("--project", help="Only talks of exactly this project.")
@click.option("--restore", multiple=True, metavar="KEY", help="Bring back a note that you deleted ('all': every one).")
@click.option(
    "--take",
    multiple=True,
    nargs=2,
    metavar="ours|theirs KEY",
    help="Settle a conflict: 'ours' = the source's text, 'theirs' = the note as you left it.",
)
@click.option(
    "--report", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.html", help="Write the plan as a page."
)
@common.dry_run_option
@common.vault_option
@common.json_option
def import_(
    *,
    sources: tuple[Path, ...],
    origin: str,
    move: bool,
    no_wikilinks: bool,
    detail: str | None,
    since: date | None,
    until: date | None,
    project: str | None,
    restore: tuple[str, ...],
    take: tuple[tuple[str, str], ...],
    report: Path | None,
    dry_run: bool,
    vault_named: str | None,
    as_json: bool,
) -> int:
    """Bring chats into the vault as notes.

    SOURCE is a file, a folder or a zip: Claude Code sessions (.jsonl), claude.ai and ChatGPT exports, /export texts,
    Markdown by any exporter. None means Claude Code's own projects folder.

    \b
    Example:
      obsidian-import import --dry-run
      obsidian-import import ~/Downloads/claude-export.zip --report plan.html
    """
    for choice, _ in take:
        if choice not in ("ours", "theirs"):
            raise click.UsageError(f"--take wants 'ours' or 'theirs', not {choice!r}")
    vault = common.vault_of(vault_named)
    wanted = sources or (projects_folder(),)
    for source in wanted:
        if not source.exists() and not source.is_symlink():
            hint = "name a file, a folder or a zip" if sources else "name your chats: obsidian-import import FILE…"
            raise UserError(f"no such file or folder: {source}", hint)
    with common.settled(vault, dry_run=dry_run):
        world = see(vault)
        cache = Cache(cache_path())
        try:
            lander = Lander(
                world,
                no_links if no_wikilinks else Sure(world),
                restore=frozenset(restore),
                take={key: choice for choice, key in take},
                sentences=report is not None,
            )
            request = Request(
                sources=wanted,
                origin=origin,
                move=move,
                detail=cast("Detail", detail or world.config.detail),
                since=since,
                until=until,
                project=project,
            )

            def start() -> Talks:
                from obsidian_import.tags import keymap  # noqa: PLC0415 (loaded for the first talk that is read)
                from obsidian_import.talks import Talks  # noqa: PLC0415

                words = keymap(world.config.keywords, world.config.short_keywords)
                return Talks(lander, words, rules(world.config), request.origin, request.detail)

            with progress(quiet=as_json) as step:
                importer = Importer(
                    world, request, lander, start, cache, protected=(projects_folder().resolve(),), progress=step
                )
                plan = importer.plan()
            _nothing_recognised(plan)
            receipt = None
            if not dry_run:
                plan, receipt = common.carry_out(plan, world)
                if receipt is None or not (receipt.failed or receipt.stopped):
                    importer.learn(vault)
                settled = {(r.key, r.part) for r in plan.rows if r.action != "skip"}
                open_still = {k: why for k, why in world.clashes.items() if k not in settled}
                open_still |= {(r.key, r.part): r.why for r in plan.rows if r.action == "conflict" and r.key}
                cache.set_clashes(str(vault), open_still)
        finally:
            cache.close()
    if not sources or projects_folder().resolve() in {s.resolve() for s in sources}:
        from obsidian_import.retention import outlook  # noqa: PLC0415 (only where Claude Code's own folder is meant)

        after = see(vault) if receipt is not None else world
        plan = replace(plan, notices=(*plan.notices, *outlook(after)["lines"]))
    if report is not None:
        from obsidian_import.relinking import suggestions  # noqa: PLC0415 (only when asked for)
        from obsidian_import.report import page  # noqa: PLC0415

        likely = suggestions(world if receipt is None else see(vault))
        try:
            report.write_text(page(plan, vault=vault.name, dry_run=dry_run, suggested=likely), encoding="utf-8")
        except OSError as error:
            raise UserError(f"cannot write {report}: {error.strerror}", "the import itself is done") from error
    if as_json:
        common.print_json(plan.as_json(receipt.run if receipt else None, str(vault), dry_run=dry_run))
    else:
        common.show_plan(plan, dry_run=dry_run)
        _closing(plan, receipt, vault, dry_run=dry_run)
    if not sources and not dry_run:
        _logs_too(vault)
    return common.finish(plan, receipt)


def _logs_too(vault: Path) -> None:
    """Logs of sessions whose end no hook saw, where a person has installed our hook: others never asked for logs."""
    from obsidian_import.commands.sessions import autosave  # noqa: PLC0415 (rarely needed)
    from obsidian_import.wiring import hook_installed  # noqa: PLC0415

    if hook_installed() and autosave.callback is not None:
        autosave.callback(no_sweep=False, quiet=True, dry_run=False, vault_named=str(vault), as_json=False)


@contextmanager
def progress(*, quiet: bool) -> Iterator[Any]:
    """A bar on stderr, only on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console  # noqa: PLC0415 (only on a terminal)
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

    with Progress(
        TextColumn("reading"), BarColumn(), MofNCompleteColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _nothing_recognised(plan: Plan) -> None:
    """Zero talks from sources that hold something is never "up to date"."""
    if plan.read or plan.rows:
        return
    fatal = [p for p in plan.problems if p.fatal] or list(plan.problems)
    if fatal:
        raise UserError("; ".join(f"{p.source}: {p.what}" for p in fatal[:3]), fatal[0].hint)


def _closing(plan: Plan, receipt: Any, vault: Path, *, dry_run: bool) -> None:
    totals = plan.totals()
    words = common.summary(
        totals,
        (
            ("create", "to create" if dry_run else "created"),
            ("update", "to update" if dry_run else "updated"),
            ("keep", "kept"),
            ("skip", "skipped"),
            ("conflict", "in conflict"),
        ),
    )
    common.say(
        f"{common.counted(totals['read'], 'talk')} read: {words}; {common.counted(totals['links'], 'link')}, "
        f"{common.counted(totals['redactions'], 'secret')} taken out."
    )
    if receipt is not None:
        expected, there = common.audit(receipt, vault)
        common.say(
            f"On disk: {there:,} of {expected:,} files as they should be. Run {receipt.run}; `obsidian-import undo` takes it back."
        )
