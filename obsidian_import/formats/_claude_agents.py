"""Sub-agents: each stands, folded, behind the call that started it."""

from __future__ import annotations

from collections.abc import Mapping

from obsidian_import.formats import _claude_text as words
from obsidian_import.formats._claude_build import Builder, Call
from obsidian_import.formats._claude_title import flat, headline
from obsidian_import.model import Aside, Turn


def place(main: Builder, agents: dict[str, Builder], about: Mapping[str, Mapping[str, str]]) -> list[Aside]:
    """Put each sub-agent behind the call that started it; give back those without one."""
    order = [name for name in agents if not words.helper(agents[name].first_text)]
    starts = [*main.starts, *(start for name in order for start in agents[name].starts)]
    taken: set[int] = set()
    homes: dict[str, Call] = {}
    for name in order:
        home = _home(name, agents[name], about.get(name, {}), starts, taken)
        if home is not None and not _inside(home, name, homes):
            homes[name] = home
            taken.add(id(home))
    loose: list[Aside] = []
    for name in reversed(order):  # a nested agent stands after the one that started it: inner ones first
        builder = agents[name]
        turns, beside = builder.turns()
        if not turns:
            continue
        home = homes.get(name)
        extra = tuple(b for b in beside if isinstance(b, Aside))
        if extra:
            turns = (
                Turn(turns[0].id, turns[0].role, (*extra, *turns[0].blocks), turns[0].at, turns[0].speaker),
                *turns[1:],
            )
        title = about.get(name, {}).get("description") or (home and _call_title(home)) or headline(builder.first_text)
        aside = Aside("agent", flat(title or about.get(name, {}).get("agentType") or name), turns)
        if home is None:
            loose.insert(0, aside)
            continue
        blocks = home.draft.blocks
        spot = next(i for i, b in enumerate(blocks) if getattr(b, "id", None) == home.id)
        blocks.insert(spot + 1, aside)
    return loose


def _home(name: str, builder: Builder, about: Mapping[str, str], starts: list[Call], taken: set[int]) -> Call | None:
    """The call that started a sub-agent: by the ids it left, else by the prompt it was given."""
    free = [s for s in starts if id(s) not in taken and s.builder is not builder]
    prompt = " ".join(builder.first_text.split())
    for start in free:
        if start.agent == name or (about.get("toolUseId") and start.id == about["toolUseId"]):
            return start
    for start in free:
        if prompt and not start.agent and start.prompt == prompt:
            return start
    for start in free:
        if (
            len(prompt) > 40
            and not start.agent
            and (prompt.startswith(start.prompt[:200]) if len(start.prompt) > 40 else False)
        ):
            return start
    return None


def _inside(home: Call, name: str, homes: dict[str, Call]) -> bool:
    """Whether putting the agent there would put it inside itself."""
    at: str = home.builder.agent
    steps = 0
    while at and steps <= len(homes) + 1:
        if at == name:
            return True
        up = homes.get(at)
        at = up.builder.agent if up else ""
        steps += 1
    return False


def _call_title(home: Call) -> str:
    return next((b.title for b in home.draft.blocks if getattr(b, "id", None) == home.id and hasattr(b, "title")), "")
