"""Sub-agents: each stands, folded, behind the call that started it."""

from __future__ import annotations

from collections.abc import Mapping

from obsidian_import.formats import _claude_text as words
from obsidian_import.formats._claude_build import Builder, Call
from obsidian_import.formats._claude_title import flat, headline
from obsidian_import.model import Aside, Turn

_DEEP = 8
"""So many sub-agents stand inside each other at most."""


def place(main: Builder, agents: dict[str, Builder], about: Mapping[str, Mapping[str, str]]) -> list[Aside]:
    """Put each sub-agent behind the call that started it; give back those without one."""
    order = [name for name in agents if not words.helper(agents[name].first_text)]
    homes = _homes(main, {name: agents[name] for name in order}, about)
    loose: list[Aside] = []
    for name in sorted(order, key=lambda n: -_depth(n, homes)):  # the innermost first: they go into the outer ones
        builder = agents[name]
        turns, beside = builder.turns()
        if not turns:
            continue
        extra = tuple(b for b in beside if isinstance(b, Aside))
        if extra:
            first = turns[0]
            turns = (Turn(first.id, first.role, (*extra, *first.blocks), first.at, first.speaker), *turns[1:])
        home = homes.get(name)
        known = about.get(name, {})
        title = known.get("description") or (home.title if home else "") or headline(builder.first_text)
        aside = Aside("agent", flat(title or known.get("agentType") or name), turns)
        if home is None:
            loose.append(aside)
        else:
            home.builder.results.setdefault(home.id, []).insert(0, aside)
    return loose


def _homes(main: Builder, agents: Mapping[str, Builder], about: Mapping[str, Mapping[str, str]]) -> dict[str, Call]:
    """The call that started each sub-agent: by the ids it left, else by the prompt it was given."""
    by_id: dict[str, Call] = {}
    by_agent: dict[str, Call] = {}
    by_prompt: dict[str, list[Call]] = {}
    for builder in (main, *agents.values()):
        for start in builder.starts:
            if not start.id:
                continue
            by_id.setdefault(start.id, start)
            if agent := builder.agents.get(start.id):
                by_agent.setdefault(agent, start)
            elif start.prompt:
                by_prompt.setdefault(start.prompt, []).append(start)
    homes: dict[str, Call] = {}
    taken: set[str] = set()

    def settle(name: str, home: Call | None) -> None:
        if home is not None and home.id not in taken and _fits(home, name, homes):
            homes[name] = home
            taken.add(home.id)

    for name in agents:
        settle(name, by_agent.get(name) or by_id.get(about.get(name, {}).get("toolUseId", "")))
    for name, builder in agents.items():
        if name not in homes:
            same = by_prompt.get(" ".join(builder.first_text.split()), [])
            while same and name not in homes:
                settle(name, same.pop(0))
    return homes


def _fits(home: Call, name: str, homes: Mapping[str, Call]) -> bool:
    """Whether putting the agent there puts it neither inside itself nor too deep."""
    at = home.builder.agent
    for _ in range(_DEEP):
        if at == name:
            return False
        up = homes.get(at)
        if up is None:
            return True
        at = up.builder.agent
    return False


def _depth(name: str, homes: Mapping[str, Call]) -> int:
    depth = 0
    while (home := homes.get(name)) is not None and depth <= len(homes):
        depth, name = depth + 1, home.builder.agent
    return depth
