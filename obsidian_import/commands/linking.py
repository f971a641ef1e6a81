"""`relink`, `explain`, `suggest`, `unlink`: the links of the chat notes, and why each is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from obsidian_import import config as configuration
from obsidian_import.commands import common
from obsidian_import.errors import UserError
from obsidian_import.files import digest
from obsidian_import.judgement import decision
from obsidian_import.landing import Lander, Sure, linker
from obsidian_import.links import Linker
from obsidian_import.manifest import Change, NoteState
from obsidian_import.model import Link, NearMiss
from obsidian_import.plan import Plan
from obsidian_import.records import recorded, unlinked, words
from obsidian_import.relinking import chosen, suggestions
from obsidian_import.relinking import relink as plan_relink
from obsidian_import.world import World, see


@click.command()
@click.argument("notes", nargs=-1, metavar="[NOTE]...")
@common.dry_run_option
@common.vault_option
@common.json_option
def relink(*, notes: tuple[str, ...], dry_run: bool, vault_named: str | None, as_json: bool) -> int:
    """Bring the links of all chat notes (or of these) to what today's vault says; your own text is not touched.

    \b
    Example:
      obsidian-import relink --dry-run
    """
    vault = common.vault_of(vault_named)
    with common.settled(vault, dry_run=dry_run):
        world = see(vault)
        _known(world, notes)
        plan = plan_relink(world, Lander(world, Sure(world)), notes or None)
        return _end(plan, world, dry_run=dry_run, as_json=as_json)


def _known(world: World, notes: tuple[str, ...]) -> None:
    for note in notes:
        if not chosen(world, [note]):
            raise UserError(
                f"{note} is no note of ours", "name it by its path in the vault, as `status` and `log` show it"
            )


def _end(plan: Plan, world: World, *, dry_run: bool, as_json: bool) -> int:
    receipt = None
    if not dry_run:
        plan, receipt = common.carry_out(plan, world)
    if as_json:
        common.print_json(plan.as_json(receipt.run if receipt else None, str(world.vault), dry_run=dry_run))
    else:
        common.show_plan(plan, dry_run=dry_run)
        totals = plan.totals()
        parts = (("update", "to change" if dry_run else "changed"), ("keep", "unchanged"), ("conflict", "in conflict"))
        common.say(f"{common.summary(totals, parts)}; {totals['links']:,} links.")
        if receipt is not None:
            common.say(f"Run {receipt.run}; `obsidian-import undo` takes it back.")
    return common.finish(plan, receipt)


@click.command()
@click.argument("note")
@common.vault_option
@common.json_option
def explain(*, note: str, vault_named: str | None, as_json: bool) -> int:
    """Every link we made in a note, and every place where one was thought of and declined, with the reason.

    \b
    Example:
      obsidian-import explain "chats/code/my-app/2026-03-01 Fix the flaky auth test.md"
    """
    vault = common.vault_of(vault_named)
    world = see(vault)
    states = chosen(world, [note])
    if not states:
        raise UserError(f"{note} is no note of ours", "name it by its path in the vault, as `status` and `log` show it")
    result: dict[str, Any] = {"note": note, "accepted": [], "suggested": [], "rejected": []}
    judge = linker(world)
    for state in states:
        path = world.find(state.key, state.part, state.path) or state.path
        result["note"] = path
        for link in recorded(state):
            result["accepted"].append(_accepted(link))
        text = unlinked(world.texts, state)
        if text is None:
            raise UserError(f"the text we generated for {path} is lost from the sidecar", "import the talk again")
        for miss in judge.find(text, path, suggest=True).misses:
            result["suggested" if miss.suggested else "rejected"].append(_missed(miss))
    if as_json:
        common.print_json(result)
        return 0
    common.say(result["note"])
    for title, name in (("Links", "accepted"), ("Worth a look (`suggest`)", "suggested"), ("Declined", "rejected")):
        common.say(f"{title}: {len(result[name])}")
        for item in result[name]:
            common.say(f"  line {item['line']}: “{item['text']}” → {item['target'] or '?'} — {item['reason']}")
    return 0


def _accepted(link: Link) -> dict[str, Any]:
    return {
        "text": words(link),
        "target": link.target,
        "reason": link.edit.why,
        "tier": link.tier,
        "score": round(link.score, 2),
        "terms": dict(link.terms),
        "line": link.line,
    }


def _missed(miss: NearMiss) -> dict[str, Any]:
    return {
        "text": miss.text,
        "target": miss.target,
        "reason": miss.reason,
        "tier": miss.tier,
        "score": round(miss.score, 2),
        "line": miss.line,
    }


@click.command()
@click.option(
    "--accept", nargs=2, multiple=True, metavar="TEXT TARGET", help="Link this text to that note from now on."
)
@click.option("--reject", nargs=2, multiple=True, metavar="TEXT TARGET", help="Never suggest this pair again.")
@common.dry_run_option
@common.vault_option
@common.json_option
def suggest(
    *,
    accept: tuple[tuple[str, str], ...],
    reject: tuple[tuple[str, str], ...],
    dry_run: bool,
    vault_named: str | None,
    as_json: bool,
) -> int:
    """Links that are likely but not sure (inflected, misspelt), over all chats, most useful first.

    \b
    Example:
      obsidian-import suggest
      obsidian-import suggest --accept "neural networks" "Neural network.md"
    """
    vault = common.vault_of(vault_named)
    with common.settled(vault, dry_run=dry_run or not (accept or reject)):
        world = see(vault)
        if accept or reject:
            for _, target in (*accept, *reject):
                if target not in world.snapshot.notes:
                    raise UserError(
                        f"no note {target} in this vault", "name the target by its path, as `suggest` shows it"
                    )
            changed, settings = _decided(world, accept, reject)
            judge = Linker(world.lexicon, settings)
            texts = {t.casefold() for t, _ in (*accept, *reject)}
            notes = [
                s.key for s in world.states() if any(t in (unlinked(world.texts, s) or "").casefold() for t in texts)
            ]
            plan = plan_relink(world, Lander(world, Sure(world, judge)), notes)
            plan = Plan("suggest", plan.rows, (*changed, *plan.changes), read=plan.read)
            return _end(plan, world, dry_run=dry_run, as_json=as_json)
    found = suggestions(world)
    if as_json:
        common.print_json({"vault": str(vault), "suggestions": found})
        return 0
    if not found:
        common.say("Nothing to suggest.")
    for item in found[: common.SHOWN]:
        common.say(f"“{item['text']}” → {item['target']}  in {item['notes']} notes — {item['reason']}")
    if len(found) > common.SHOWN:
        common.say(f"… and {len(found) - common.SHOWN} more (--json)")
    return 0


def _decided(
    world: World, accept: tuple[tuple[str, str], ...], reject: tuple[tuple[str, str], ...]
) -> tuple[list[Change], configuration.Links]:
    text = config_text(world)
    if accept:
        text = configuration.with_added(text, "links", "accepted", [decision(t, n) for t, n in accept])
    if reject:
        text = configuration.with_added(text, "links", "rejected", [decision(t, n) for t, n in reject])
    return [config_change(world, text)], configuration.parse(text).links


@click.command()
@click.argument("name")
@common.dry_run_option
@common.vault_option
@common.json_option
def unlink(*, name: str, dry_run: bool, vault_named: str | None, as_json: bool) -> int:
    """Take our links to a note (or from a word) out of every chat note, and never make them again.

    \b
    Example:
      obsidian-import unlink Meeting
    """
    vault = common.vault_of(vault_named)
    name = name.strip().removeprefix("[[").removesuffix("]]").strip()
    if not name:
        raise UserError("unlink what?", "name a note or a word: obsidian-import unlink Meeting")
    with common.settled(vault, dry_run=dry_run):
        world = see(vault)
        keep: dict[str, list[Link]] = {}
        hit: list[NoteState] = []
        for state in world.states():
            links = recorded(state)
            stay = [link for link in links if not _names(link, name)]
            if len(stay) < len(links):
                hit.append(state)
                keep[f"{state.key}\n{state.part}"] = stay
        changes: list[Change] = []
        text = configuration.with_added(config_text(world), "links", "ignore", [name])
        if text != config_text(world):
            changes.append(config_change(world, text))
        plan = Plan("unlink", (), tuple(changes))
        for state in hit:
            stay = keep[f"{state.key}\n{state.part}"]
            one = plan_relink(world, Lander(world, lambda _text, _path, stay=stay: stay), [state.key])
            rows = tuple(r for r in one.rows if r.part == state.part)
            mine = tuple(c for c in one.changes if c.part == state.part)
            plan = Plan("unlink", (*plan.rows, *rows), (*plan.changes, *mine), read=plan.read + 1)
        return _end(plan, world, dry_run=dry_run, as_json=as_json)


def _names(link: Link, name: str) -> bool:
    folded = name.casefold().removesuffix(".md")
    target = link.target.casefold().removesuffix(".md")
    return folded in (target, target.rpartition("/")[2], link.text.casefold())


def config_text(world: World) -> str:
    """The vault's configuration file as it is; empty where there is none."""
    path = world.vault / configuration.SIDECAR / "config.yaml"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def config_change(world: World, text: str) -> Change:
    """The change that makes the configuration file read so: part of the plan, so that undo takes it back."""
    path = f"{configuration.SIDECAR}/config.yaml"
    before = world.keep(path) if Path(world.vault / path).is_file() else None
    after = world.texts.put(text.encode("utf-8"))
    assert after == digest(text.encode("utf-8"))
    return Change(path=path, before=before, after=after, base=after, why="remembered")
