"""Undo: one more plan, by the same rule. Base is what the run left, wanted is what was there before. Reads only."""

from __future__ import annotations

from obsidian_import.errors import UserError
from obsidian_import.manifest import Change, Entry, Run
from obsidian_import.merge import Merged, merge
from obsidian_import.plan import Clash, Keep, Plan, Row, Set, reconcile
from obsidian_import.world import World


def pick(world: World, wanted: str | None) -> Run | None:
    """The run to take back: the named one, else the newest that still stands; None when there is nothing to undo."""
    if wanted is None:
        return world.manifest.newest_standing()
    run = world.manifest.run(wanted)
    if run is None:
        raise UserError(f"no run {wanted!r} in this vault", "`obsidian-import log` lists the runs")
    return run


def undo(world: World, run: Run, note: str | None = None) -> Plan:
    """The plan that takes a run back, or one note of it (a path or a key). Conflicts stay as they are."""
    entries = [e for e in run.carried_out() if (run.id, e.n) not in world.manifest.reversed]
    if note is not None:
        entries = [e for e in entries if note in (e.path, e.path.removesuffix(".md"), e.key)]
        if not entries:
            raise UserError(
                f"run {run.id} changed no note {note!r} (or it has been taken back already)",
                f"`obsidian-import log {run.id}` lists what it changed",
            )
        wanted = {a for e in entries for a in e.assets}
        entries += [e for e in run.carried_out() if not e.key and e.path in wanted]
    rows: list[Row] = []
    changes: list[Change] = []
    refused: list[tuple[str, int]] = []
    needed = _assets_of_others(world, entries)
    for entry in sorted(entries, key=lambda e: (bool(e.moved), -e.n)):
        if entry.moved:
            moved = {**entry.moved, "back": not entry.moved.get("back")}
            changes.append(Change(path="", before=None, after=None, moved=moved, reverses=(run.id, entry.n)))
            continue
        if not entry.key and entry.path in needed:
            continue  # another note shows this attachment
        _one(world, run, entry, rows, changes, refused)
    return Plan("undo", tuple(rows), tuple(changes), undoes=run.id, refused=tuple(refused))


def _one(
    world: World, run: Run, entry: Entry, rows: list[Row], changes: list[Change], refused: list[tuple[str, int]]
) -> None:
    path = entry.path
    if entry.key:  # wherever a person put it; one that we took away may have come again, elsewhere
        path = world.find(entry.key, entry.part, entry.path) or entry.path
    row = Row("keep", entry.key, path, title=entry.title, source=entry.source, part=entry.part)
    why = ""
    actual: str | None = None
    try:
        actual = world.actual(path)
    except OSError as error:
        why = f"cannot be read: {error.strerror or error}"
    if actual is None and path in world.snapshot.undownloaded:
        why = "not downloaded from the cloud yet, so neither there nor deleted"
    if why:
        refused.append((run.id, entry.n))
        rows.append(_with(row, "conflict", why))
        return
    state = world.state(entry.key, entry.part) if entry.key else None
    newest = state is not None and (state.entry.run, state.entry.n) == (run.id, entry.n)
    outcome: Keep | Set | Clash
    if entry.after is None and actual is None and state is not None and state.base is not None and not newest:
        outcome = Keep("you deleted it")  # it had come again after this run took it away
    elif entry.before == entry.after:  # the run only learned what a person had done; the file is theirs
        outcome = Set(actual, "")
    else:
        outcome = reconcile(entry.after, entry.before, actual, lambda: _merged(world, entry, path))
    before = world.earlier(entry)
    if isinstance(outcome, Clash):
        refused.append((run.id, entry.n))
        rows.append(_with(row, "conflict", outcome.why))
        return
    after = actual
    if isinstance(outcome, Set):
        after = outcome.after
        if outcome.merged is not None:
            after = world.texts.put(outcome.merged.encode("utf-8", "surrogateescape"))
        if actual is not None and actual != after:
            world.keep(path)  # so that the undo can be undone
    # Under a newer run the note keeps that run's base: what was taken back then counts as a person's wish.
    base = (before.base if before else None) if newest or state is None else state.base
    if after is None and actual is not None:
        base = None  # taken away by us: import may bring it again, whatever runs still stand
    elif actual is None and after is None and entry.after is not None and state is not None:
        base = state.base  # deleted by a person before: it stays deleted
    # The recorded links are those of the base, whichever it is.
    source = state.entry if state is not None and base == state.base else before or entry
    changes.append(
        Change(
            path=path,
            before=actual,
            after=after,
            base=base,
            key=entry.key,
            part=entry.part,
            edits=source.edits if base is not None else (),
            tags=source.tags if base is not None else {},
            title=entry.title,
            source=entry.source,
            assets=source.assets if base is not None else (),
            project=entry.project,
            reverses=(run.id, entry.n),
        )
    )
    if entry.key or "/attachments/" not in path:  # attachments come and go with their notes
        action = "keep" if after == actual else "create" if actual is None else "delete" if after is None else "update"
        rows.append(_with(row, action, outcome.why))


def _with(row: Row, action: str, why: str) -> Row:
    return Row(
        action,  # type: ignore[arg-type]  # one of the actions by construction
        row.key,
        row.path,
        title=row.title,
        source=row.source,
        part=row.part,
        why=why,
    )


def _merged(world: World, entry: Entry, path: str) -> Merged | None:
    texts = world.texts
    base, wanted = texts.text(entry.after), texts.text(entry.before)
    world.keep(path)
    actual = texts.text(world.actual(path))
    if base is None or wanted is None or actual is None or not (entry.key or path.endswith(".md")):
        return None
    return merge(base, wanted, actual)


def _assets_of_others(world: World, entries: list[Entry]) -> set[str]:
    ours = {(e.key, e.part) for e in entries if e.key}
    return {a for s in world.states() if (s.key, s.part) not in ours and s.landed for a in s.entry.assets}
