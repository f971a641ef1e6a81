"""`setup`: hooks, skills, CLAUDE.md blocks and configuration files, in and out again."""

from __future__ import annotations

from pathlib import Path

import click

from obsidian_import import wiring
from obsidian_import.commands import common
from obsidian_import.errors import EXIT_DONE, EXIT_LOOK, UserError
from obsidian_import.wiring.wired import Wiring, carry_out

_SIGNS = {"create": "+", "update": "~", "delete": "-", "keep": "=", "leave": "!"}


@click.command()
@click.option(
    "--project", metavar="DIR", type=click.Path(path_type=Path), help="Also a block in this project's CLAUDE.md."
)
@click.option("--no-hook", is_flag=True, help="Leave Claude Code's settings.json alone.")
@click.option("--no-skills", is_flag=True, help="Install no skills (/save, /pickup).")
@click.option("--no-claude-md", is_flag=True, help="Write no CLAUDE.md block.")
@click.option(
    "--checkpoint/--no-checkpoint",
    default=None,
    help="Also keep the log of a running session up to date, and hand it back after a compaction (default: as it is).",
)
@click.option("--remove", is_flag=True, help="Take everything out again; every file as it was.")
@common.dry_run_option
@common.vault_option
@common.json_option
def setup(
    *,
    project: Path | None,
    no_hook: bool,
    no_skills: bool,
    no_claude_md: bool,
    checkpoint: bool | None,
    remove: bool,
    dry_run: bool,
    vault_named: str | None,
    as_json: bool,
) -> int:
    """Wire obsidian-import into Claude Code: hooks, skills, CLAUDE.md block, configuration; run twice = no change.

    \b
    Example:
      obsidian-import setup --vault ~/Notes --dry-run
      obsidian-import setup --remove
    """
    if remove:
        vault = None
        plan = wiring.remove()
    else:
        vault = common.vault_of(vault_named)
        if project is not None and not project.is_dir():
            raise UserError(f"no such folder: {project}", "name the top folder of the project")
        wish = wiring.Wish(
            vault,
            project=project.resolve() if project else None,
            hook=not no_hook,
            skills=not no_skills,
            claude_md=not no_claude_md,
            checkpoint=checkpoint,
        )
        plan = wiring.setup(wish)
    if not dry_run:
        carry_out(plan, vault)
    if as_json:
        common.print_json(
            {
                "vault": str(vault) if vault else None,
                "dry_run": dry_run,
                "remove": remove,
                "files": [p.as_json() for p in plan.pieces],
                "notices": plan.notices,
            }
        )
    else:
        _show(plan, dry_run=dry_run)
    return EXIT_LOOK if any(p.left for p in plan.pieces) else EXIT_DONE


def _show(plan: Wiring, *, dry_run: bool) -> None:
    for piece in plan.pieces:
        words = f"{_SIGNS[piece.action]} {piece.path}: {piece.what}"
        common.say(words + (f" — {piece.why}" if piece.why else ""))
    for notice in plan.notices:
        common.say(f"note: {notice}")
    if dry_run:
        common.say("Nothing was written (dry run).")
    elif not plan.changes:
        common.say("Nothing to take out." if plan.remove else "All of it is there already.")
    elif plan.remove:
        common.say("Taken out. Logs and chats in the vault stay; the data folder keeps its caches.")
    else:
        common.say("Done. New sessions have the hooks; `obsidian-import setup --remove` takes it all out again.")
