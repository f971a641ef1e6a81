"""claude.ai's account export (one JSON, a zip, several archives), and single talks as its web API or extensions save them.

Talks are read one at a time. Of a tree of messages the path to the newest leaf is the talk, the other tries are folded
where they go off. Projects and memories become notes of their own; `users.json` is nobody's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from obsidian_import.formats import _branches, _exports, dates, naming
from obsidian_import.formats._claude_ai_blocks import Maker, role
from obsidian_import.formats._claude_ai_notes import memory, project
from obsidian_import.formats._exports import Known, digest, first, items, line, moment, record, text
from obsidian_import.formats._jsonstream import keys
from obsidian_import.formats._versions import Versions, settle
from obsidian_import.model import Aside, Conversation, File, Found, Group, Media, Memo, Problem, Skip, Turn

NAME: Final = "claude.ai"

_INDEX: Final = "claude.ai-index-1"
_MEMORY: Final = frozenset({"conversations_memory", "project_memories", "memory_files"})
_PROJECT: Final = frozenset({"prompt_template", "docs", "is_starter_project"})
_MARKS: Final = (
    b'"chat_messages"',
    b'"prompt_template"',
    b'"docs"',
    b'"is_starter_project"',
    b"_memor",
    b'"memory_files"',
)
_PLAIN_NAME: Final = re.compile(r"\.(?:jsonl|md|markdown|html?|zip|ipynb)\Z", re.IGNORECASE)


def claims(file: File) -> bool:
    """By the keys of the first objects: talks with `chat_messages`, projects, memories. May raise OSError."""
    if _PLAIN_NAME.search(file.name):
        return False
    head = file.head()
    if not any(mark in head for mark in _MARKS):
        return False
    found = keys(head)
    if "chat_messages" in found or found & {"conversations_memory", "project_memories"}:
        return True
    if "memory_files" in found and "account_uuid" in found:
        return True
    return {"uuid", "name"} <= found and len(found & _PROJECT) >= 2


def _is_chat(one: dict[str, Any]) -> bool:
    return isinstance(one.get("chat_messages"), list)


def _is_project(one: dict[str, Any]) -> bool:
    return "chat_messages" not in one and len(_PROJECT & one.keys()) >= 1 and "uuid" in one


def _accept(one: dict[str, Any]) -> bool:
    return _is_chat(one) or (_is_project(one) and "name" in one and len(_PROJECT & one.keys()) >= 2)


def _id(chat: dict[str, Any]) -> str:
    """The talk's own id; where there is none, one made of its beginning."""
    own = first((text(chat.get("uuid")).strip(), text(chat.get("id")).strip()))
    if own:
        return own
    begin = next((record(one) for one in items(chat.get("chat_messages")) if isinstance(one, dict)), {})
    return digest(text(begin.get("uuid")), text(chat.get("created_at")), text(begin.get("text")), _title(chat))


def _title(chat: dict[str, Any]) -> str:
    return first(line(chat.get(key), 10_000) for key in ("name", "snapshot_name", "title"))


def _known(one: dict[str, Any]) -> Known:
    changed = _exports.stamp(moment(one.get("updated_at")) or moment(one.get("created_at")))
    if _is_chat(one):
        return Known(f"chat {_id(one)}", changed)
    if _is_project(one):
        return Known(f"project {text(one.get('uuid'))}", changed, line(one.get("name")))
    if _MEMORY & one.keys():
        return Known(f"memory {text(one.get('account_uuid'))}", changed)
    return Known("", 0.0)


def groups(files: Sequence[File], memo: Memo) -> Iterator[Group]:
    """Files of one archive, or with a talk in common, are one export; `hint` has the names of all projects."""
    indexes = [_exports.index(file, memo, _INDEX, _accept, _known) for file in files]
    names = {
        one.key.removeprefix("project "): one.name for known in indexes for one in known if one.key[:8] == "project "
    }
    yield from _exports.units(NAME, files, indexes, hint={"projects": names})


def read(group: Group) -> Iterator[Found]:
    """The talks, projects and memories of one export, in its own order."""
    names = record(group.hint.get("projects"))
    for number, file in enumerate(group.files):
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
            if _is_chat(one):
                yield _chat(one, file, names)
            elif _is_project(one):
                yield project(one, file)
            elif _MEMORY & one.keys():
                yield memory(one, file, names)
            else:
                strange += 1
        if strange:
            yield Problem(file.where, f"{strange:,} × something that is no talk, project or memory: left out")


# ------------------------------------------------------------------ one talk


def _chat(chat: dict[str, Any], file: File, names: dict[str, Any]) -> Conversation | Skip | Problem:
    own = _id(chat)
    key = f"{NAME}:{own}"
    title = _title(chat)
    given = [one for one in items(chat.get("chat_messages")) if one and isinstance(one, dict)]
    if len(given) > _exports.MAX_MESSAGES:
        return _exports.too_many(file, title, len(given))
    turns, asides = _turns(chat, _distinct(given))
    if not turns and not asides:
        return Skip(file.where, "a talk in which nothing was said", key=key, title=title)
    times = [turn.at for turn in turns if turn.at]
    created = moment(chat.get("created_at")) or min(times, key=_exports.stamp, default=None)
    return Conversation(
        key=key,
        source=NAME,
        session_id=own,
        title=naming.one_line(title or naming.prompt_title(turns) or _first_words(turns) or "Untitled talk"),
        turns=turns,
        assistant="Claude",
        origin="web",
        project=_project_name(chat, names),
        created=created or dates.from_mtime(file.mtime),
        updated=moment(chat.get("updated_at")) or max(times, key=_exports.stamp, default=None),
        asides=asides,
        files=(file.where,),
    )


def _first_words(turns: Sequence[Turn]) -> str:
    """What else a talk can be called by: words of the answer, the name of an upload."""
    words = first(line(turn.text, 100) for turn in turns)
    return words or first(one.name for turn in turns for one in turn.blocks if isinstance(one, Media))


def _project_name(chat: dict[str, Any], names: dict[str, Any]) -> str:
    given = record(chat.get("project"))
    uuid = first((text(given.get("uuid")), text(chat.get("project_uuid"))))
    return first((line(given.get("name")), line(names.get(uuid)), line(chat.get("project_name"))))


def _distinct(messages: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """The messages with their ids; the very same one twice is one, another one under the same id gets its own."""
    seen: dict[str, dict[str, Any]] = {}
    out = []
    for number, one in enumerate(messages):
        own = first((text(one.get("uuid")), text(one.get("id")))) or f"message {number + 1}"
        if own in seen:
            if seen[own] == one:
                continue
            own = f"{own} {number + 1}"
        seen[own] = one
        out.append((own, one))
    return out


def _turns(
    chat: dict[str, Any], messages: Sequence[tuple[str, dict[str, Any]]]
) -> tuple[tuple[Turn, ...], tuple[Aside, ...]]:
    """The path that was followed as turns with the branches folded into them, and the branches without a fork."""
    numbers = {own: number for number, (own, _) in enumerate(messages)}
    at = [moment(one.get("created_at")) or moment(one.get("updated_at")) for _, one in messages]
    current = numbers.get(text(chat.get("current_leaf_message_uuid")), _branches.NONE)
    parts = _branches.segments(_parents(messages, numbers), [_exports.stamp(one) for one in at], current)
    forks = {part.fork for part in parts}
    kept: dict[int, Versions] = {}
    made: list[tuple[Turn, ...]] = []
    for part in parts:
        maker = Maker(kept[part.fork].copy() if part.fork in kept else Versions())
        drafts = []
        for node in part.nodes:
            own, message = messages[node]
            drafts.append(maker.blocks(message, own))
            if node in forks:
                kept[node] = maker.versions.copy()
        turns = []
        for node, blocks in zip(part.nodes, settle(drafts, maker.versions), strict=True):
            who, speaker = role(messages[node][1])
            turns.append(Turn(messages[node][0], who, blocks, at[node], speaker))
        made.append(tuple(turns))
    place = {node: index for index, node in enumerate(parts[0].nodes)} if parts else {}
    return _branches.fold(parts, made, place)


def _parents(messages: Sequence[tuple[str, dict[str, Any]]], numbers: dict[str, int]) -> list[int]:
    """Each message's parent. Exports without that field are in order; a parent that is missing is the message before."""
    if not any("parent_message_uuid" in one for _, one in messages):
        return list(range(-1, len(messages) - 1))
    uuids = {text(one.get("parent_message_uuid")) for _, one in messages}
    unknown = {uuid for uuid in uuids if uuid and uuid not in numbers and not uuid.startswith("00000000-")}
    parents = []
    for number, (_, one) in enumerate(messages):
        parent = text(one.get("parent_message_uuid"))
        if parent in numbers:
            parents.append(numbers[parent])
        elif parent in unknown or "parent_message_uuid" not in one:
            parents.append(number - 1)
        else:
            parents.append(_branches.NONE)
    return parents
