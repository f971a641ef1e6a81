"""Our hooks in Claude Code's `settings.json`: which handlers, and text in, text out. Pure.

A handler is ours by what it calls, never by where it stands: the file is a person's, its order and its other
entries stay. On Windows a handler has the exec form (`args`), which no shell touches; elsewhere the shell form,
which every version of the client knows.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from obsidian_import.errors import UserError
from obsidian_import.wiring import jsontext
from obsidian_import.wiring.jsontext import Node

Role = Literal["end", "sweep", "checkpoint", "brief"]

TIMEOUT = 10
"""Seconds. One in a settings file raises the 1.5 s that all SessionEnd hooks share; the client allows 60."""
SCRIPT = "session_autosave.py"
PLACES: tuple[tuple[str, Role, str | None], ...] = (
    ("SessionEnd", "end", None),
    ("SessionStart", "sweep", "startup|resume"),
    ("SessionStart", "brief", "compact"),
    ("PreCompact", "checkpoint", None),
    ("Stop", "checkpoint", None),
)
"""(event, role, matcher). The second sweep of a /clear or /resume is the SessionEnd handler's own."""
ALWAYS: frozenset[Role] = frozenset({"end", "sweep"})


@dataclass(frozen=True, slots=True)
class Caller:
    """What the handlers call."""

    python: str
    """The interpreter that has obsidian-import, by absolute path."""
    script: str
    """`session_autosave.py`, by absolute path."""
    vault: str
    windows: bool = False

    def handler(self, role: Role) -> dict[str, Any]:
        """One handler, as `settings.json` has it."""
        hook = ["-I", "-S", self.script]
        tail = {
            "end": hook,
            "sweep": [*hook, "--sweep"],
            "checkpoint": [*hook, "--checkpoint"],
            "brief": ["-P", "-m", "obsidian_import", "resume", "--event"],
        }[role]
        args = [*tail, "--vault", self.vault]
        if self.windows:
            return {"type": "command", "command": self.python, "args": args, "timeout": TIMEOUT}
        return {"type": "command", "command": shlex.join([self.python, *args]), "timeout": TIMEOUT}


def role_of(handler: Any) -> Role | None:
    """What one of our handlers is for; None for everybody else's."""
    if not isinstance(handler, Mapping) or handler.get("type", "command") != "command":
        return None
    args = handler.get("args")
    words = " ".join([str(handler.get("command", "")), *(map(str, args) if isinstance(args, list) else [])])
    if SCRIPT in words:
        return "sweep" if "--sweep" in words else "checkpoint" if "--checkpoint" in words else "end"
    return "brief" if "obsidian_import resume --event" in words else None


def installed(settings: Any) -> frozenset[Role]:
    """The roles that have a handler of ours in these settings."""
    hooks = settings.get("hooks") if isinstance(settings, Mapping) else None
    found: set[Role] = set()
    for groups in hooks.values() if isinstance(hooks, Mapping) else ():
        for group in groups if isinstance(groups, list) else ():
            for handler in group.get("hooks") or () if isinstance(group, Mapping) else ():
                role = role_of(handler)
                if role:
                    found.add(role)
    return frozenset(found)


def with_handlers(text: str, where: str, caller: Caller, *, checkpoint: bool | None) -> str:
    """The settings with exactly our handlers in them; the very same text where they are there already.

    `checkpoint` None: checkpoints stay as they are, in or out. UserError where the file is no settings.
    """
    value = _checked(text, where)
    if not text.strip():
        text = "{}\n"
    roles = set(ALWAYS)
    if checkpoint or (checkpoint is None and "checkpoint" in installed(value)):
        roles |= {"checkpoint", "brief"}
    for event in dict.fromkeys(e for e, _, _ in PLACES):
        wanted = [_group(caller, role, matcher) for e, role, matcher in PLACES if e == event and role in roles]
        if _ours(jsontext.read(text, where), event) == wanted:
            continue
        text = _without(text, where, event)
        for group in wanted:
            text = _with(text, event, group)
    return text


def without_handlers(text: str, where: str) -> str:
    """The settings without any handler of ours, and without what only held them."""
    if not text.strip():
        return text
    value = _checked(text, where)
    for event in list(value.get("hooks", {})):
        text = _without(text, where, event)
    return text


def _group(caller: Caller, role: Role, matcher: str | None) -> dict[str, Any]:
    group: dict[str, Any] = {"matcher": matcher} if matcher else {}
    return {**group, "hooks": [caller.handler(role)]}


def _ours(settings: Any, event: str) -> list[Any]:
    """The groups that hold our handlers, without what else stands in them."""
    found = []
    for group in settings.get("hooks", {}).get(event, []):
        mine = [h for h in group.get("hooks", []) if role_of(h)]
        found += [{**{k: v for k, v in group.items() if k != "hooks"}, "hooks": [h]} for h in mine]
    return found


def _checked(text: str, where: str) -> dict[str, Any]:
    """The settings, known to have the shape that we edit."""
    if not text.strip():
        return {}
    value = jsontext.read(text, where)
    hint = "nothing was changed; mend the file (Claude Code ignores it as it is), then run setup again"
    if not isinstance(value, dict):
        raise UserError(f"{where} should hold an object {{…}}", hint)
    hooks = value.get("hooks", {})
    if not isinstance(hooks, dict):
        raise UserError(f"{where}: `hooks` should be an object of events", hint)
    for event, groups in hooks.items():
        good = isinstance(groups, list) and all(
            isinstance(g, dict) and isinstance(g.get("hooks", []), list) for g in groups
        )
        if not good:
            raise UserError(f"{where}: `hooks.{event}` should be a list of objects with `hooks` lists", hint)
    return value


def _with(text: str, event: str, group: Any) -> str:
    root = jsontext.parse(text)
    hooks = root.get("hooks")
    if hooks is None:
        return jsontext.with_item(text, root, {event: [group]}, "hooks")
    groups = hooks.get(event)
    if groups is None:
        return jsontext.with_item(text, hooks, [group], event)
    return jsontext.with_item(text, groups, group)


def _without(text: str, where: str, event: str) -> str:
    while True:
        value = jsontext.read(text, where)
        place = _place(value, event)
        if place is None:
            return text
        at_group, at_handler = place
        root = jsontext.parse(text)
        hooks = _known(root.get("hooks"))
        groups = _known(hooks.get(event))
        group = groups.items[at_group]
        inner = _known(group.get("hooks"))
        if len(inner.items) > 1:
            text = jsontext.without_item(text, inner, at_handler)
        elif len(groups.items) > 1:
            text = jsontext.without_item(text, groups, at_group)
        elif len(hooks.items) > 1:
            text = jsontext.without_item(text, hooks, hooks.items.index(groups))
        else:
            text = jsontext.without_item(text, root, root.items.index(hooks))


def _place(settings: Any, event: str) -> tuple[int, int] | None:
    for at_group, group in enumerate(settings.get("hooks", {}).get(event, [])):
        for at_handler, handler in enumerate(group.get("hooks", [])):
            if role_of(handler):
                return at_group, at_handler
    return None


def _known(node: Node | None) -> Node:
    assert node is not None  # json.loads has just found it there
    return node
