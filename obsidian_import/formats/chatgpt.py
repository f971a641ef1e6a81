"""ChatGPT's account export (one JSON, shards, a zip with pictures), and talks as its list API or extensions save them.

Talks are read one at a time. The path to `current_node` is the talk, other tries are folded where they go off; what a
person never saw is left out. Pictures come from the files beside the JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from obsidian_import.formats import _branches, _exports, dates, naming
from obsidian_import.formats._chatgpt_assets import Assets, Shelf
from obsidian_import.formats._chatgpt_blocks import Maker, hidden, who
from obsidian_import.formats._exports import Known, digest, first, items, line, moment, record, text
from obsidian_import.formats._jsonstream import keys
from obsidian_import.formats._versions import Draft, Versions, settle
from obsidian_import.model import Aside, Conversation, File, Found, Group, Memo, Problem, Role, Skip, Turn

NAME: Final = "chatgpt"
WANTS_ASSETS: Final = True

_INDEX: Final = "chatgpt-index-1"
_BESIDE: Final = frozenset({"title", "create_time", "update_time", "current_node", "conversation_id", "id"})
_NO_JSON: Final = re.compile(
    r"\.(?:jsonl|md|markdown|html?|zip|ipynb|png|jpe?g|gif|webp|svg|bmp|heic|avif|pdf|wav|mp3|m4a|ogg|webm|mp4|dat"
    r"|py|js|tsx?|jsx|css|sh|sql|docx|xlsx|pptx|csv|txt)\Z",
    re.IGNORECASE,
)


def claims(file: File) -> bool:
    """By the keys of the first objects: `mapping` and what stands beside it. May raise OSError."""
    if _NO_JSON.search(file.name):
        return False
    head = file.head()
    if b'"mapping"' not in head:
        return False
    found = keys(head)
    return "mapping" in found and len(found & _BESIDE) >= 2


def _accept(one: dict[str, Any]) -> bool:
    return isinstance(one.get("mapping"), dict) and bool(_BESIDE & one.keys())


def _id(talk: dict[str, Any]) -> str:
    """The talk's own id; where there is none, one made of its beginning."""
    own = first((text(talk.get("conversation_id")).strip(), text(talk.get("id")).strip()))
    return own or digest(str(talk.get("create_time")), *sorted(map(str, record(talk.get("mapping"))))[:1])


def _known(one: dict[str, Any]) -> Known:
    if not isinstance(one.get("mapping"), dict):
        return Known("", 0.0)
    return Known(_id(one), _exports.stamp(moment(one.get("update_time")) or moment(one.get("create_time"))))


def groups(files: Sequence[File], memo: Memo) -> Iterator[Group]:
    """Shards and the files around them are one export; so are exports that share a talk."""
    talks: list[File] = []
    assets: list[File] = []
    for file in files:
        try:
            (talks if claims(file) else assets).append(file)
        except OSError:
            assets.append(file)
    indexes = [_exports.index(file, memo, _INDEX, _accept, _known) for file in talks]
    yield from _exports.units(NAME, talks, indexes, assets=assets)


def read(group: Group) -> Iterator[Found]:
    """The talks of one export, in its own order."""
    count = _exports.exports(group)
    assets = Assets(group.files[count:])
    for number, file in enumerate(group.files[:count]):
        lost, said = _exports.again(group, number)
        yield from said
        strange = 0
        for entry in _exports.records(file, _accept):
            if isinstance(entry, Problem):
                yield entry
                continue
            ordinal, one = entry
            if ordinal in lost:
                continue
            if isinstance(one.get("mapping"), dict):
                yield _talk(one, file, Shelf(assets))
            else:
                strange += 1
        if strange:
            yield Problem(file.where, f"{strange:,} × something without a `mapping`, no talk we know: left out")


# ------------------------------------------------------------------ one talk


def _talk(talk: dict[str, Any], file: File, shelf: Shelf) -> Conversation | Skip | Problem:
    own = _id(talk)
    key = f"{NAME}:{own}"
    title = line(talk.get("title"), 10_000)
    if (count := len(record(talk.get("mapping")))) > _exports.MAX_MESSAGES:
        return _exports.too_many(file, title, count)
    turns, asides = _turns(talk, shelf)
    if not turns and not asides:
        return Skip(file.where, "a talk in which nothing was said", key=key, title=title)
    times = [turn.at for turn in turns if turn.at]
    created = moment(talk.get("create_time")) or min(times, key=_exports.stamp, default=None)
    return Conversation(
        key=key,
        source=NAME,
        session_id=own,
        title=naming.one_line(
            title or naming.prompt_title(turns) or first(line(t.text, 100) for t in turns) or "Untitled talk"
        ),
        turns=turns,
        assistant="ChatGPT",
        origin="web",
        project=first((line(record(talk.get("project")).get("name")), line(talk.get("project_name")))),
        created=created or dates.from_mtime(file.mtime),
        updated=moment(talk.get("update_time")) or max(times, key=_exports.stamp, default=None),
        asides=asides,
        files=(file.where,),
    )


def _turns(talk: dict[str, Any], shelf: Shelf) -> tuple[tuple[Turn, ...], tuple[Aside, ...]]:
    """The path that was followed as turns with the branches folded into them, and the branches without a fork."""
    mapping = record(talk.get("mapping"))
    ids = list(mapping)
    numbers = {own: number for number, own in enumerate(ids)}
    nodes = [record(mapping[own]) for own in ids]
    messages = [record(node.get("message")) for node in nodes]
    at = [moment(message.get("create_time")) for message in messages]
    parents = _parents(nodes, numbers)
    seen = [bool(message) and not hidden(message) for message in messages]
    # What nobody saw never decides where the talk stands; what has no time still counts for more than that.
    times = [_exports.stamp(one) or 0.001 if shown else 0.0 for one, shown in zip(at, seen, strict=True)]
    current = talk.get("current_node")
    start = numbers.get(current, _branches.NONE) if isinstance(current, str) else _branches.NONE
    parts = _branches.segments(parents, times, start)
    if parts and not any(seen[node] for node in parts[0].nodes):
        parts = _branches.segments(parents, times)
    forks = {part.fork for part in parts}
    kept: dict[int, Versions] = {}
    made: list[tuple[Turn, ...]] = []
    place: dict[int, int] = {}
    for part in parts:
        maker = Maker(shelf, kept[part.fork].copy() if part.fork in kept else Versions())
        heads: list[tuple[int, Role]] = []
        drafts: list[Draft] = []
        for position, node in enumerate(part.nodes):
            blocks: Draft = []
            if seen[node]:
                following = next(
                    (messages[one] for one in part.nodes[position + 1 : position + 4] if messages[one]), {}
                )
                blocks = maker.blocks(messages[node], ids[node], following)
            role: Role = "user" if who(messages[node]) == "user" else "assistant"
            if blocks and (not heads or role == "user" or heads[-1][1] == "user"):
                heads.append((node, role))
                drafts.append([])
            if blocks:
                drafts[-1] += blocks
            if not made:
                place[node] = len(drafts) - 1
            if node in forks:
                kept[node] = maker.versions.copy()
        settled = settle(drafts, maker.versions)
        made.append(
            tuple(Turn(ids[node], role, blocks, at[node]) for (node, role), blocks in zip(heads, settled, strict=True))
        )
    return _branches.fold(parts, made, place)


def _parents(nodes: Sequence[dict[str, Any]], numbers: dict[str, int]) -> list[int]:
    """Each node's parent: as it says, else as another one's list of children says."""
    claimed: dict[int, int] = {}
    for number, node in enumerate(nodes):
        for child in items(node.get("children")):
            if isinstance(child, str) and child in numbers:
                claimed.setdefault(numbers[child], number)
    out = []
    for number, node in enumerate(nodes):
        parent = node.get("parent")
        known = numbers.get(parent) if isinstance(parent, str) else None
        out.append(claimed.get(number, _branches.NONE) if known is None else known)
    return out
