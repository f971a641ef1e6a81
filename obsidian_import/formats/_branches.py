"""The messages of a web chat are a tree: an edited prompt or another try is a sibling. One path was the talk.

`segments` takes the tree apart: first the path that was followed to its end, then each abandoned branch with the
message it goes off from. Cycles and missing parents are cut, nothing is dropped, nothing recurses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from obsidian_import.model import Aside, Turn

NONE = -1
"""No such node."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A path downwards. `fork` is the node it goes off from (in another segment), `NONE` where there is none."""

    nodes: tuple[int, ...]
    fork: int


def segments(parents: Sequence[int], times: Sequence[float], current: int = NONE) -> list[Segment]:
    """The followed path, then the branches, each after the segment it goes off from.

    `times` are seconds, 0 for unknown (then the parent's counts). `current` is the node where the talk stands, if the
    source says so; otherwise it stands at the newest leaf (of equal ones at the last).
    """
    up = _without_cycles(parents)
    children: list[list[int]] = [[] for _ in up]
    roots: list[int] = []
    for node, parent in enumerate(up):
        (roots if parent == NONE else children[parent]).append(node)
    order = list(roots)
    for node in order:
        order.extend(children[node])
    at = list(times)
    for node in order:
        if not at[node] and up[node] != NONE:
            at[node] = at[up[node]]
    leaf = list(range(len(up)))
    for node in reversed(order):
        if children[node]:
            leaf[node] = max((leaf[child] for child in children[node]), key=lambda one: (at[one], one))
    if not order:
        return []

    if current == NONE:
        current = max((leaf[root] for root in roots), key=lambda one: (at[one], one))
    followed = [leaf[current]]
    while (parent := up[followed[-1]]) != NONE:
        followed.append(parent)
    followed.reverse()

    out: list[Segment] = []
    waiting = [(tuple(followed), NONE)]
    waiting += [(_down(up, root, leaf[root]), NONE) for root in roots if root != followed[0]]
    for nodes, fork in waiting:  # grows on the way
        out.append(Segment(nodes, fork))
        on_path = set(nodes)
        for node in nodes:
            waiting += [(_down(up, child, leaf[child]), node) for child in children[node] if child not in on_path]
    return out


def _down(up: Sequence[int], top: int, leaf: int) -> tuple[int, ...]:
    path = [leaf]
    while path[-1] != top:
        path.append(up[path[-1]])
    return tuple(reversed(path))


def _without_cycles(parents: Sequence[int]) -> list[int]:
    up = [parent if 0 <= parent < len(parents) else NONE for parent in parents]
    done = [False] * len(up)
    for start in range(len(up)):
        path: list[int] = []
        here: set[int] = set()
        node = start
        while node != NONE and not done[node]:
            if node in here:
                up[node] = NONE
                break
            here.add(node)
            path.append(node)
            node = up[node]
        for one in path:
            done[one] = True
    return up


def fold(
    parts: Sequence[Segment], made: Sequence[tuple[Turn, ...]], place: Mapping[int, int]
) -> tuple[tuple[Turn, ...], tuple[Aside, ...]]:
    """The first path's turns with the other paths as folded branches behind the turn they go off from.

    `made` has the turns of each segment; `place` says which turn of the first one each of its nodes went into (-1: none
    yet). A branch of a branch stands behind that branch, not in it: deep trees stay readable. Second come the branches
    that go off before the first turn, or from nowhere.
    """
    home = dict(place)
    inside: dict[int, list[Aside]] = {}
    loose: list[Aside] = []
    for part, turns in zip(parts[1:], made[1:], strict=True):
        where = home.get(part.fork, -1)
        home.update(dict.fromkeys(part.nodes, where))
        said = tuple(turn for turn in turns if turn.blocks)
        if not said:
            continue
        if said[0].role == "assistant":
            what = "another answer"
        else:
            what = "another wording of what was asked" if where >= 0 else "another beginning"
        if part.fork not in place and part.fork != NONE:
            what = f"{what}, in a branch"
        count = f"{len(said)} message{'s' if len(said) > 1 else ''}"
        (inside.setdefault(where, []) if where >= 0 else loose).append(Aside("branch", f"{what} ({count})", turns=said))
    talk = [
        replace(turn, blocks=(*turn.blocks, *inside.get(index, ())))
        for index, turn in enumerate(made[0] if made else ())
    ]
    return tuple(turn for turn in talk if turn.blocks), tuple(loose)
