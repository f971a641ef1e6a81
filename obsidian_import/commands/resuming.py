"""`resume` and `decide`: where a project stands, and what was decided."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import click

from obsidian_import import checkpoint, decisions, inert, paths, projects, properties, spool
from obsidian_import import config as configuration
from obsidian_import import resume as picturing
from obsidian_import.cache import Cache, cache_path
from obsidian_import.commands import common
from obsidian_import.config import Config
from obsidian_import.decisions import Decision
from obsidian_import.errors import EXIT_DONE, UserError
from obsidian_import.files import digest, read_regular
from obsidian_import.landing import rules
from obsidian_import.manifest import Change
from obsidian_import.plan import Plan, Row
from obsidian_import.redact import Redactor
from obsidian_import.resume import Picture, Speaker, gather
from obsidian_import.retention import config_dir
from obsidian_import.session_log import tag_of
from obsidian_import.world import World, see

GIT_TIME = 3.0  # seconds for each call
COMMITS = 30
SOURCE = "decision"


@click.command()
@click.option("--project", metavar="NAME", help="Another project than the one of this folder.")
@click.option("--session", metavar="ID", help="Instead: what a session was about, from its transcript.")
@click.option("--event", is_flag=True, help="As a SessionStart hook: the event on stdin, a brief of its session out.")
@common.vault_option
@common.json_option
def resume(*, project: str | None, session: str | None, event: bool, vault_named: str | None, as_json: bool) -> int:
    """Where this project stands: newest logs, open items, decisions that hold, sessions and commits since.

    \b
    Example:
      obsidian-import resume
      obsidian-import resume --project my-app --json
    """
    if event:
        return _of_event(vault_named)
    vault = common.vault_of(vault_named)
    if session:
        text = _brief(configuration.load(vault), session)
        if not text:
            raise UserError(f"no transcript of session {session}", f"it should lie below {config_dir() / 'projects'}")
        if as_json:
            common.print_json({"vault": str(vault), "session_id": session, "brief": text})
        else:
            common.say(text.rstrip("\n"))
        return EXIT_DONE
    world = see(vault)
    picture = _picture(world, project)
    speak = Speaker(Redactor(rules(world.config)).redact)
    _ask_git(picture, world)
    if as_json:
        day = picturing.today(world, datetime.now(UTC))
        common.print_json(picturing.as_json(picture, speak, str(vault), day))
    else:
        common.say(picturing.digest(picture, speak).rstrip("\n"))
    return EXIT_DONE


def _picture(world: World, project: str | None) -> Picture:
    session = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    if project is not None:
        return gather(world, picturing.named_home(world, project), by_name=True, session_id=session)
    try:
        here = os.getcwd()
    except OSError as error:
        raise UserError("the folder you are in is gone", "cd to the project, or name it with --project NAME") from error
    return gather(world, projects.home_of(here), session_id=session)


def _of_event(vault_named: str | None) -> int:
    """The hook after a compaction. Whatever goes wrong, nothing is printed and the session goes on."""
    try:
        told = spool.essence(spool.read_event(0))
        text = _brief(configuration.load(common.vault_of(vault_named)), told.get("session_id", ""))
    except Exception:  # noqa: BLE001 (a person's session must not begin with an error of ours)
        return EXIT_DONE
    if text:
        common.say(text.rstrip("\n"))
    return EXIT_DONE


def _brief(config: Config, session_id: str) -> str:
    path = checkpoint.transcript(config_dir() / "projects", session_id)
    if path is None:
        return ""
    cache = Cache(cache_path())
    try:
        talk = checkpoint.talk(path, cache)
    finally:
        cache.close()
    return checkpoint.brief(talk, Speaker(Redactor(rules(config)).redact)) if talk else ""


# ------------------------------------------------------------------ git


def _ask_git(picture: Picture, world: World) -> None:
    """Commits since the newest log, and how much is not committed. A repository without git, or slow: left out."""
    since = picture.since
    root = picture.home.root
    if not since or not root or not Path(root).is_dir():
        picture.git = "nothing to compare with"
        return
    try:
        moment = datetime.fromisoformat(since).replace(tzinfo=world.config.zone).isoformat()
    except ValueError:  # a person's property: there is no 31st of February
        picture.git = "the newest log has no date to compare with"
        return
    here = Path.cwd() if Path.cwd().is_relative_to(root) else Path(root)  # a worktree has its own branch
    log = _git(here, "log", f"--since={moment}", f"-n{COMMITS}", "--date=short", "--format=%h %ad %s")
    if log is None:
        picture.git = "no git repository, or git did not answer"
        return
    picture.commits = [line for line in log.split("\n") if line.strip()]
    status = _git(here, "status", "--porcelain")
    picture.uncommitted = len([line for line in (status or "").split("\n") if line.strip()])


def _git(folder: Path, *words: str) -> str | None:
    """What git says; None where there is no git, no repository, no answer in time. Runs nothing of the repository's."""
    safe = ("-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-c", "core.hooksPath=/dev/null")
    env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *safe, *words],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=GIT_TIME,
            env=env,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


# ------------------------------------------------------------------ decide


@click.command()
@click.argument("text")
@click.option("--supersedes", multiple=True, metavar="ID", help="The decision that this one replaces (d-3f2a).")
@click.option("--project", metavar="NAME", help="Another project than the one of this folder.")
@click.option("--note", metavar="LOG", help="The log to write to (its path in the vault) instead of today's.")
@common.dry_run_option
@common.vault_option
@common.json_option
def decide(
    *,
    text: str,
    supersedes: tuple[str, ...],
    project: str | None,
    note: str | None,
    dry_run: bool,
    vault_named: str | None,
    as_json: bool,
) -> int:
    """Add a decision to the project's log of today; mark the one it replaces, both ends linked.

    \b
    Example:
      obsidian-import decide "Use Postgres for the queue: one thing less to run"
      obsidian-import decide "Use Redis after all" --supersedes d-3f2a
    """
    vault = common.vault_of(vault_named)
    with common.settled(vault, dry_run=dry_run):
        world = see(vault)
        plan, named = _decision(world, text, supersedes, project, note)
        receipt = None
        if not dry_run:
            plan, receipt = common.carry_out(plan, world)
    if as_json:
        result = plan.as_json(receipt.run if receipt else None, str(vault), dry_run=dry_run)
        common.print_json({**result, "id": named})
    else:
        common.show_plan(plan, dry_run=dry_run)
        common.say(f"Decision {named}" + (f"; `obsidian-import undo {receipt.run}` takes it back." if receipt else "."))
    return common.finish(plan, receipt)


def _decision(
    world: World, said: str, supersedes: tuple[str, ...], project: str | None, note: str | None
) -> tuple[Plan, str]:
    picture = _picture(world, project)
    day = picturing.today(world, datetime.now(UTC))
    redactor = Redactor(rules(world.config))
    kept = inert.Options(tasks=True, tags=True, wikilinks=False, fields=True)  # a person's own links are meant as links
    words = " ".join(said.split()).lstrip("-*+ ").strip()
    if not words:
        raise UserError("a decision needs words", 'obsidian-import decide "what was decided, and why"')
    words = " ".join(inert.prose(redactor.redact(words), kept).text.split())
    older = [_meant(picture, one) for one in supersedes]
    path = _log_of(world, picture, note, day)
    there = read_regular(world.vault / path)
    named = decisions.fresh_id(words, day, {d.id for d in picture.every})
    line = decisions.line_of(day, words, named, [f"{_link(world, d.path)}#^{d.id}" for d in older])
    texts: dict[str, str] = {}
    for old in sorted(older, key=lambda d: -d.line):
        held = texts.get(old.path) or _read(world, old.path)
        texts[old.path] = decisions.with_mark(held, old.line, f"{_link(world, path)}#^{named}")
    held = texts.get(path) or ("" if there is None else _read(world, path)) or _new_log(picture, day)
    texts[path] = decisions.with_line(held, line)
    rows, changes = [], []
    for place in sorted(texts, key=lambda p: p != path):
        data = texts[place].encode("utf-8", "surrogateescape")
        before = world.keep(place) if place != path or there is not None else None
        why = "the decision" if place == path else "the decision it replaces is marked"
        after = world.texts.put(data)
        assert after == digest(data)
        changes.append(Change(path=place, before=before, after=after, base=after, source=SOURCE, why=why))
        counts = dict(redactor.counts) if place == path else {}
        action = "create" if before is None else "update"
        rows.append(
            Row(action, "", place, source=SOURCE, project=picture.name, redactions=counts, why=why)  # type: ignore[arg-type]  # one of two actions
        )
    return Plan("decide", tuple(rows), tuple(changes), read=1), named


def _meant(picture: Picture, wanted: str) -> Decision:
    hits = decisions.find(picture.every, wanted)
    if len(hits) == 1:
        return hits[0]
    if hits:
        places = ", ".join(f"{d.path.removesuffix('.md').rpartition('/')[2]}#^{d.id}" for d in hits)
        raise UserError(f"{wanted} is the id of {len(hits)} decisions", f"name the log too: {places}")
    known = ", ".join(d.id for d in picture.holding[:8] if d.id) or "none has an id yet"
    raise UserError(f"no decision {wanted} in the logs of {picture.name}", f"that hold: {known}")


def _log_of(world: World, picture: Picture, note: str | None, day: str) -> str:
    if note is not None:
        path = note.replace("\\", "/")
        vault = str(world.vault).replace("\\", "/")
        path = path.removeprefix(f"{vault}/").removesuffix(".md") + ".md"
        if path not in world.snapshot.notes:
            raise UserError(
                f"no note {path} in the vault", "name its path in the vault: my-app/logs/2026-03-01-queue.md"
            )
        if world.snapshot.notes[path].facts.get("import_id"):
            raise UserError(
                f"{path} is generated, and its next update would not know of your decision", "leave --note out"
            )
        return path
    if picture.session_log:
        return picture.session_log
    for log in picture.rich:
        today = log.created.startswith(day) or log.path.rpartition("/")[2].startswith(day)
        if today and not world.snapshot.notes[log.path].facts.get("import_id"):
            return log.path
    return paths.unique(
        picture.logs_folder, f"{day}-decisions", f"{picture.home.identity} {day}", world.snapshot.folded
    )


def _new_log(picture: Picture, day: str) -> str:

    tag = tag_of(picture.name)
    head: dict[str, object] = {
        "title": f"Decisions of {day}",
        "type": "log",
        "project": inert.line(picture.name).text,
        "created": day,
        "tags": ["session-log", *([tag] if tag else [])],
    }
    if picture.home.identity and not picture.home.identity.startswith(("/", "\\")) and ":" not in picture.home.identity:
        head["repository"] = picture.home.identity
    return f"{properties.emit(head)}\n"


def _link(world: World, path: str) -> str:
    """How a link names this note: by its name where no other note has it, else by its path."""
    stem = path.removesuffix(".md").rpartition("/")[2]
    same = sum(
        1 for p in world.snapshot.notes if p.removesuffix(".md").rpartition("/")[2].casefold() == stem.casefold()
    )
    return stem if same <= (path in world.snapshot.notes) else path.removesuffix(".md")


def _read(world: World, path: str) -> str:
    data = read_regular(world.vault / path)
    return (data or b"").decode("utf-8", "surrogateescape")
