"""The frontmatter of an exported Markdown file, as data: what of it the imported note may carry, and what not.

Strict as Obsidian: `---` alone on the first line, `---` alone at the end. A property that would make the note something
else (published, a board, a drawing, a flash card) is not carried over, nor is one that we write ourselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final

from obsidian_import import properties
from obsidian_import.formats import dates
from obsidian_import.formats.dates import When

URL_KEYS: Final = ("url", "link", "chat_link", "chat_url", "conversation_url", "source", "source_url")
_ID_KEYS: Final = ("import_id", "conversation_id", "conversation-id", "session_id", "chat_id", "uuid", "id")
_TITLE_KEYS: Final = ("title",)
_CREATED_KEYS: Final = ("created", "created_at", "create_time", "creation_date", "date created", "date_created", "date")
_UPDATED_KEYS: Final = ("updated", "updated_at", "update_time", "modified", "date modified", "date_modified")
_OURS: Final = frozenset(
    ["title", "type", "status", "source", "origin", "project", "created", "updated", "tags", "tag", "session_id", "import_id", "messages",
     "aliases", "alias", "part", "parts", "previous", "next"]
)  # fmt: skip
_DANGEROUS: Final = re.compile(
    r"publish|cssclass(es)?|permalink|banner.*|obsidian.*mode|.*-plugin|excalidraw.*|kanban.*|dg-.*|share[-_].*|sr-.*|canvas.*|mindmap.*"
    r"|leaflet.*|bc-.*|tq_.*|tasks?[-_]query.*|draft|slug|enable-toc|cover|icon|position|dataview.*|database.*|longform.*|linter-.*|locale"
    r"|layout|redirect.*|exclude.*|search|robots|password|notetoolbar.*|metabind.*|meta-bind.*|quickadd.*|template.*|cards?-deck|deck|anki.*"
    r"|exporter|exporter_version|count|email|e-mail|user|username|account.*|organization.*|phone.*|full_name|creator",
    re.IGNORECASE,
)
_EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")


@dataclass(frozen=True, slots=True)
class Front:
    """A file's frontmatter as data, and the text after it."""

    data: Mapping[str, Any]
    body: str
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Carried:
    """What of a frontmatter block goes into the note."""

    title: str = ""
    created: When | None = None
    updated: When | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    properties: Mapping[str, object] = field(default_factory=dict)


def split(text: str) -> Front:
    """Frontmatter and body. A block that is no mapping of names stays in the body, as code. Never raises."""
    block = properties.split(text)
    if block is None:
        return Front({}, text)
    inside, body = text[block.inner : block.close], text[block.end :]
    if not inside.strip():
        return Front({}, body)
    trouble = properties.problem(text)
    data = properties.read(text)
    if data and not trouble:
        return Front(data, body)
    if not re.search(r"^[\w\"' -]{1,60}:", inside, re.MULTILINE):
        return Front({}, text)  # two rules with prose between them
    kept = f"```yaml\n{inside.rstrip()}\n```\n\n{body}"
    return Front({}, kept, f"its frontmatter cannot be read: {trouble or 'no properties in it'}")


def strings(value: object) -> tuple[str, ...]:
    """A list property as texts: a list, or one text with commas (or blanks)."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, list):
        return tuple(
            str(one).strip()
            for one in value
            if isinstance(one, str | int | float) and not isinstance(one, bool) and str(one).strip()
        )
    return (str(value),) if isinstance(value, int | float) and not isinstance(value, bool) else ()


def own_id(data: Mapping[str, Any]) -> str:
    """An id that is long enough to be one (8 characters), from the first property that has it."""
    for key in _ID_KEYS:
        value = data.get(key)
        if (
            isinstance(value, str | int)
            and not isinstance(value, bool)
            and re.fullmatch(r"[\w.:@-]{8,120}", str(value))
        ):
            return str(value)
    return ""


def carried(data: Mapping[str, Any]) -> Carried:
    """What the note may carry: title, dates, tags, aliases, and the harmless rest (texts, numbers, dates, flat lists)."""
    lower = {str(key).strip().lower(): value for key, value in data.items()}
    title = next((str(lower[key]).strip() for key in _TITLE_KEYS if isinstance(lower.get(key), str | int | float)), "")
    tags = [tag for name in ("tags", "tag") for tag in _tags(lower.get(name))]
    aliases = [one for name in ("aliases", "alias") for one in strings(lower.get(name))]
    kept: dict[str, object] = {}
    for key, value in data.items():
        name = str(key).strip()
        folded = name.lower()
        if not name or len(name) > 80 or folded in _OURS or folded in _CREATED_KEYS or folded in _UPDATED_KEYS:
            continue
        if _DANGEROUS.fullmatch(folded) or not re.fullmatch(r"[\w][\w .-]*", name):
            continue
        harmless = _harmless(value)
        if harmless is not None:
            kept[name] = harmless
    return Carried(
        title=title,
        created=_first(lower, _CREATED_KEYS),
        updated=_first(lower, _UPDATED_KEYS),
        tags=tuple(dict.fromkeys(tag.lstrip("#") for tag in tags if tag.strip("#"))),
        aliases=tuple(dict.fromkeys(aliases)),
        properties=kept,
    )


def _tags(value: object) -> tuple[str, ...]:
    """One text holds several tags, parted by blanks or commas; an item of a list is one."""
    if isinstance(value, str):
        return tuple(value.replace(",", " ").split())
    return tuple("-".join(one.split()) for one in strings(value))


def _first(lower: Mapping[str, Any], keys: tuple[str, ...]) -> When | None:
    for key in keys:
        when = dates.value(lower.get(key))
        if when is not None:
            return when
    return None


def _harmless(value: object) -> object | None:
    if isinstance(value, str):
        return None if len(value) > 4000 or _EMAIL.search(value) else value
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None  # noqa: PLR0124 -- NaN
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, list) and len(value) <= 200 and not any(isinstance(one, list | dict) for one in value):
        flat = [one for item in value if (one := _harmless(item)) is not None]
        return flat or None
    return None
