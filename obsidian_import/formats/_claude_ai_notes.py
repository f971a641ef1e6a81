"""Projects and memories of a claude.ai export: notes of their own, with one body each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from obsidian_import.formats import dates, naming
from obsidian_import.formats._exports import first, items, line, moment, record, text
from obsidian_import.model import Conversation, File, Skip

SOURCE: Final = "claude.ai"
_RUN: Final = re.compile(r"`{3,}")
_LANGUAGES: Final = frozenset(
    {"py", "js", "ts", "json", "yaml", "sql", "html", "css", "sh", "md", "csv", "toml", "xml"}
)


def project(one: dict[str, Any], file: File) -> Conversation | Skip:
    """A project: what it is for, its instructions, its documents. The example in every account is none."""
    uuid = text(one.get("uuid"))
    key = f"{SOURCE}:project:{uuid}"
    name = line(one.get("name"), 10_000)
    if one.get("is_starter_project") is True:
        return Skip(file.where, "the example project that every account has", key=key, title=name)
    parts = [words] if (words := text(one.get("description")).strip()) else []
    if template := text(one.get("prompt_template")).strip():
        parts.append(f"## Instructions\n\n{template}")
    documents = [document for document in map(_document, items(one.get("docs"))) if document]
    if documents:
        parts.append("## Documents\n\n" + "\n\n".join(documents))
    if not parts:
        return Skip(file.where, "a project without description, instructions or documents", key=key, title=name)
    created, updated = moment(one.get("created_at")), moment(one.get("updated_at"))
    return Conversation(
        key=key,
        source=SOURCE,
        session_id=uuid,
        title=naming.one_line(name or "Untitled project"),
        turns=(),
        origin="web",
        project=name,
        created=created or dates.from_mtime(file.mtime),
        updated=updated or created,
        body="\n\n".join(parts) + "\n",
        kind="project",
        files=(file.where,),
    )


def _document(raw: object) -> str:
    given = record(raw)
    words = text(given.get("content")).strip("\n")
    name = first((line(given.get("filename"), 300), line(given.get("file_name"), 300)))
    if not words.strip() and not name:
        return ""
    head = f"### {name or 'Document'}"
    return f"{head}\n\n{_fenced(words, name)}" if words.strip() else f"{head}\n\n(its text is not in the export)"


def _fenced(words: str, name: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in _RUN.findall(words)), default=0))
    ending = name.rpartition(".")[2].lower()
    return f"{fence}{ending if ending in _LANGUAGES else ''}\n{words}\n{fence}"


def memory(one: dict[str, Any], file: File, names: dict[str, Any]) -> Conversation | Skip:
    """What Claude remembers of an account: of all talks, of each project, and in files."""
    account = text(one.get("account_uuid"))
    key = f"{SOURCE}:memory:{account}" if account else f"{SOURCE}:memory"
    parts = [words] if (words := text(one.get("conversations_memory")).strip()) else []
    for uuid, words in sorted(record(one.get("project_memories")).items()):
        if said := text(words).strip():
            parts.append(f"## Project: {line(names.get(uuid)) or line(uuid)}\n\n{said}")
    parts += _files(one.get("memory_files"))
    if not parts:
        return Skip(file.where, "an empty memory", key=key, title="Claude's memory")
    times = [moment(one.get(name)) for name in ("created_at", "updated_at")]
    return Conversation(
        key=key,
        source=SOURCE,
        session_id=account,
        title="Claude's memory",
        turns=(),
        origin="web",
        created=times[0] or times[1] or dates.from_mtime(file.mtime),
        updated=times[1],
        body="\n\n".join(parts) + "\n",
        kind="memory",
        files=(file.where,),
    )


def _files(raw: object) -> Iterator[str]:
    """`memory_files` as a list of objects, of texts, or as name and text."""
    pairs = list(raw.items()) if isinstance(raw, dict) else [("", one) for one in items(raw)]
    for name, given in pairs:
        known = record(given)
        said = text(given) or first(text(known.get(field)) for field in ("content", "text", "body"))
        label = first((line(name), *(line(known.get(field)) for field in ("path", "name", "filename", "title"))))
        if said.strip():
            yield f"## {label or 'Memory file'}\n\n{said.strip()}"
