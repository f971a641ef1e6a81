"""`check`: what is not as it should be, and `--repair`, a plan like any other."""

from __future__ import annotations

import click

from obsidian_import.commands import common
from obsidian_import.errors import EXIT_DONE, EXIT_LOOK
from obsidian_import.health import Finding, mended
from obsidian_import.health import check as look
from obsidian_import.landing import rules
from obsidian_import.world import see


@click.command()
@click.option("--repair", is_flag=True, help="Mend what is ours (as a run: undo takes it back).")
@common.dry_run_option
@common.vault_option
@common.json_option
def check(*, repair: bool, dry_run: bool, vault_named: str | None, as_json: bool) -> int:
    """Manifest against vault, links, secrets, active content, sizes, and plugin settings that make imports dangerous.

    Exit 0: clean (warnings may be listed). Exit 4: something needs a look.

    \b
    Example:
      obsidian-import check
      obsidian-import check --repair --dry-run
    """
    vault = common.vault_of(vault_named)
    with common.settled(vault, dry_run=dry_run or not repair):
        world = see(vault)
        here = rules(world.config)
        findings = look(world, here)
        plan = receipt = None
        if repair:
            plan = mended(world, here, findings)
            if not dry_run:
                plan, receipt = common.carry_out(plan, world)
                world = see(vault)
                findings = look(world, here)
    errors = [f for f in findings if f.level == "error"]
    if as_json:
        result = {"vault": str(vault), "clean": not errors, "findings": [f.as_json() for f in findings]}
        if plan is not None:
            result["repair"] = plan.as_json(receipt.run if receipt else None, str(vault), dry_run=dry_run)
        common.print_json(result)
    else:
        if plan is not None:
            common.show_plan(plan, dry_run=dry_run)
        for finding in findings:
            common.say(_line(finding))
        rest = (
            f"{len(errors)} to look at, {common.counted(len(findings) - len(errors), 'warning')}"
            if findings
            else "clean"
        )
        common.say(f"{common.counted(len(list(world.states())), 'note')} checked: {rest}.")
        if errors and not repair and any(f.ours for f in errors):
            common.say("`obsidian-import check --repair --dry-run` shows what can be mended.")
    if receipt is not None and receipt.stopped:
        return common.finish(plan, receipt) if plan else EXIT_LOOK
    return EXIT_LOOK if errors else EXIT_DONE


def _line(finding: Finding) -> str:
    where = finding.path + (f", line {finding.line}" if finding.line else "")
    sign = "!" if finding.level == "error" else "?"
    whose = "" if finding.ours or finding.kind == "setting" else " (not ours: left alone)"
    return f"{sign} {where}: {finding.what}{whose}" + (f"\n    {finding.hint}" if finding.hint else "")
