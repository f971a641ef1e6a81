"""Markdown by extractors and browser extensions → talks; any other Markdown → one note with its own body.

Identity, in this order: the talk's own id where the file has it (a session id, a chat's address: then the key is that
of the transcript or the account export); for a talk without id a digest of its beginning, which stays when the talk
grows or is exported under another name; for a plain file its own `id`, else its folder and name, which stay when it is
edited.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from obsidian_import.formats import claude_export, dates, frontmatter, textfile
from obsidian_import.formats.dialects import cut, sniff
from obsidian_import.formats.marked import CHAT_URL, Dates, Talk, named_day, url_key
from obsidian_import.formats.naming import digest, first_heading, one_line, stem
from obsidian_import.model import (
    Conversation,
    File,
    Found,
    Group,
    Memo,
    Problem,
    Skip,
)

NAME: Final = "markdown"
_ENDINGS: Final = (".md", ".markdown", ".mdown")


def claims(file: File) -> bool:
    """A Markdown name and text inside, or another name and the marks of a tool we know. May raise OSError."""
    named = file.name.lower().endswith(_ENDINGS)
    if not named and not file.name.lower().endswith((".txt", ".text")) and "." in file.name.rpartition("/")[2]:
        return False
    head = file.head()
    if not head.strip() or textfile.is_binary(head):
        return False
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:2] in {b'{"', b"[{"}:
        return False
    text = textfile.decode(head)[0]
    if claude_export.is_export(text):
        return False
    if named:
        return True
    dialect = sniff(_body_lines(text))
    return dialect is not None and dialect.name != "plain"


def groups(files: Sequence[File], memo: Memo) -> Iterator[Group]:  # noqa: ARG001 -- the common signature
    """Each file by itself: one that changes costs only itself. Copies under two names have one key; the importer sees."""
    for file in files:
        yield Group(NAME, (file,))


def read(group: Group) -> Iterator[Found]:
    """A talk or a note for each file."""
    for file in group.files:
        yield from _file(file)


def _file(file: File) -> Iterator[Found]:
    text, problems = textfile.load(file)
    yield from problems
    if text is not None:
        yield from read_text(text, file)


def read_text(text: str, file: File) -> Iterator[Found]:
    """The talk or note of one file's text. Never raises."""
    front = frontmatter.split(text)
    if front.trouble:
        yield Problem(file.where, front.trouble, "The block is kept as text in the note.", line=1)
    if "import_id" in front.data and "chat-import" in frontmatter.strings(front.data.get("tags")):
        yield Skip(file.where, "a note that obsidian-import wrote", key=str(front.data["import_id"]))
        return
    lines = front.body.split("\n")
    if not front.body.strip() and not front.data:
        yield Skip(file.where, "nothing in it")
        return
    dialect = sniff(_skip_blank(lines))
    if dialect is not None:
        before, messages = cut(lines, dialect)
        if len(messages) > textfile.MAX_MESSAGES:
            yield textfile.too_many(file, len(messages))
            return
        if messages:
            yield from Talk(file, front, dialect, before, messages).found()
            return
    yield from _plain_note(file, front)


# ------------------------------------------------------------------ any Markdown


def _plain_note(file: File, front: frontmatter.Front) -> Iterator[Found]:
    carried = frontmatter.carried(front.data)
    body = front.body.strip("\n")
    title = carried.title or first_heading(body.split("\n")) or stem(file.name)
    key_id = frontmatter.own_id(front.data)
    url = CHAT_URL.search(" ".join(str(front.data.get(name, "")) for name in frontmatter.URL_KEYS))
    when = Dates(file)
    created = when.first(carried.created, named_day(file.name), carried.updated, dates.from_mtime(file.mtime))
    yield from when.problems()
    key, session = url_key(url) if url else (f"{NAME}:{key_id or digest(*_place(file.name))}", key_id)
    yield Conversation(
        key=key,
        source=key.partition(":")[0] if url else NAME,
        session_id=session,
        title=one_line(title),
        turns=(),
        origin="web" if url else None,
        created=created,
        updated=when.read(carried.updated) or None,
        tags=carried.tags,
        aliases=carried.aliases,
        properties=carried.properties,
        body=body,
        files=(file.where,),
    )


def _place(name: str) -> tuple[str, ...]:
    """Folder and file name, folded: the same whether the file was named itself or found by walking."""
    return tuple(unicodedata.normalize("NFC", part).casefold() for part in name.split("/")[-2:])


def _body_lines(text: str) -> list[str]:
    return _skip_blank(frontmatter.split(text).body.split("\n"))


def _skip_blank(lines: list[str]) -> list[str]:
    start = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    return lines[start:]
