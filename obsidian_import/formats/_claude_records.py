"""The records of one Claude Code file, whichever way they are kept, and the fields every part reads alike."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any
from zlib import crc32

import orjson

from obsidian_import import jsonl
from obsidian_import.jsonl import Damage, Record
from obsidian_import.model import File

READ_ERRORS = (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError)
"""What opening or reading an input may raise (an archive's member included)."""

CHAIN = frozenset({"user", "assistant", "system", "attachment", "progress"})
STATE = frozenset(
    [
        "summary",
        "ai-title",
        "custom-title",
        "agent-name",
        "agent-color",
        "agent-setting",
        "tag",
        "task-summary",
        "last-prompt",
        "file-history-snapshot",
        "file-history-delta",
        "queue-operation",
        "pr-link",
        "mode",
        "permission-mode",
        "isolation-latch",
        "atis-latch",
        "frame-link",
        "cost-state",
        "ended",
        "relocated",
        "worktree-state",
        "bridge-session",
        "fork-context-ref",
        "rewind-pointer",
        "content-replacement",
        "attribution-snapshot",
        "speculation-accept",
        "marble-origami-commit",
        "marble-origami-snapshot",
        "artifact-comment-monitor",
        "artifact-autoreact-ledger",
        "auto-mode-denial",
        "permission-denial",
        "conversation_reset",
        "stream_event",
        "started",
        "result",
        "checkpoint",
        "x-error",
    ]
)
"""Record types that hold the client's state: known, and no talk."""
KNOWN = CHAIN | STATE

_PRIME = (1 << 61) - 1
_SESSION_FILE = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\.jsonl")
_SUBAGENTS = re.compile(r"(?:^|[/\\!])([^/\\]+)[/\\]subagents[/\\]")
_JSON_LIMIT = 512 << 20


def looks_like_record(value: Record) -> bool:
    """Whether an object found inside a damaged line is a record of its own and no part of another."""
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in KNOWN:
        return False
    return any(key in value for key in ("uuid", "sessionId", "leafUuid", "parentUuid", "messageId"))


def text(record: Record, key: str) -> str:
    """A field that should be text; empty for anything else."""
    value = record.get(key)
    return value if isinstance(value, str) else ""


def stem(file: File) -> str:
    """The file's name without folder and ending: the session id, as a rule."""
    name = re.split(r"[/\\!]", file.name or file.where)[-1]
    return name.rsplit(".", 1)[0] if "." in name else name


def folder_session(file: File) -> str:
    """The session whose `subagents` folder the file lies in, else empty."""
    found = _SUBAGENTS.search(file.where) or _SUBAGENTS.search(file.name)
    return found[1] if found else ""


def is_agent_file(file: File) -> bool:
    """Whether place or name say that this is a sub-agent's transcript."""
    return stem(file).startswith("agent-") or bool(folder_session(file))


def is_session_name(file: File) -> bool:
    """Whether the file is named as Claude Code names a session."""
    return bool(_SESSION_FILE.fullmatch(re.split(r"[/\\!]", file.name)[-1]))


def is_loglines(head: bytes) -> bool:
    """Whether the head is that of one JSON object with `loglines` (sessions of Claude Code on the web)."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and re.search(rb'"loglines"\s*:\s*\[', head) is not None


def entries(file: File) -> Iterator[tuple[int | None, bytes, Record | Damage]]:
    """Every record of `file` in order, with its line (None in the loglines variant). Raises READ_ERRORS."""
    with file.open() as stream:
        if stem(file) and file.name.endswith(".json") and is_loglines(file.head()):
            raw = stream.read(_JSON_LIMIT + 1)
            try:
                whole = jsonl.decode(raw) if len(raw) <= _JSON_LIMIT else None
            except ValueError:
                whole = None
            lines = whole.get("loglines") if isinstance(whole, dict) else None
            if not isinstance(lines, list):
                yield None, b"", Damage("no whole JSON object with loglines", "export the session again")
                return
            for number, value in enumerate(lines, 1):
                if isinstance(value, dict):
                    yield None, orjson_bytes(value), value
                else:
                    yield None, b"", Damage(f"entry {number} of loglines is no record: left out")
            return
        yield from jsonl.read(stream, looks_like_record)


def orjson_bytes(value: object) -> bytes:
    """Bytes that are equal for equal values; only for digests."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError):
        return b"?"


def session_of(record: Record, fallback: str) -> str:
    """The session a record belongs to (`session_id` is what `--output-format stream-json` calls it)."""
    sid = record.get("sessionId")
    if isinstance(sid, str) and 0 < len(sid) <= 200:
        return sid
    sid = record.get("session_id")
    return sid if isinstance(sid, str) and 0 < len(sid) <= 200 else fallback


def number(data: str | bytes) -> int:
    """A stable 62-bit number for an id."""
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
    return int.from_bytes(blake2b(raw, digest_size=8).digest(), "big") >> 2


def uuid_number(uuid: str) -> int | None:
    """A stable 61-bit number for a UUID; None for anything else."""
    bare = uuid.replace("-", "")
    if len(bare) != 32:
        return None
    try:
        return int(bare, 16) % _PRIME
    except ValueError:
        return None


def leaf_number(uuid: str) -> int:
    """The number `Identities` gives a UUID, for a mention of it elsewhere."""
    known = uuid_number(uuid) if len(uuid) == 36 else None
    return number(uuid) if known is None else known


def mark(record: Record) -> int:
    """32 bits of a record's time and first words: what a copy keeps, and a foreign record of the same id has not."""
    said: Any = record.get("message") or record.get("content")
    if isinstance(said, dict):
        said = said.get("content")
    if isinstance(said, list) and said:
        said = said[0]
    if isinstance(said, dict):
        said = said.get("text") or said.get("tool_use_id") or said.get("id") or said.get("thinking")
    stamp = record.get("timestamp")
    words = said[:100] if isinstance(said, str) else ""
    return crc32((stamp + words if isinstance(stamp, str) else words).encode("utf-8", "replace"))


class Identities:
    """The ids of one file's records; a copy of a record has the same, whatever file it stands in.

    A record without a uuid is known by its bytes and by how often they occurred before in its file.
    """

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def of(self, record: Record, raw: bytes) -> tuple[int, int, str]:
        """(number of the id, mark, id as text) of a chain record."""
        uuid = record.get("uuid")
        if isinstance(uuid, str) and uuid:
            return leaf_number(uuid), mark(record), uuid
        base = number(raw.strip())
        count = self._counts.get(base, 0)
        self._counts[base] = count + 1
        key = number(f"{base}:{count}")
        return key, 0, f"{key:016x}"


def parent(record: Record) -> int | None:
    """The number of the record this one follows, where it says so."""
    for field in ("parentUuid", "logicalParentUuid"):
        value = record.get(field)
        if isinstance(value, str) and value:
            return leaf_number(value)
    return None


def when(value: Any) -> datetime | None:
    """A record's timestamp as an aware UTC time: ISO text, or seconds or milliseconds since the epoch."""
    try:
        if isinstance(value, str):
            if not 10 <= len(value) <= 40:
                return None
            moment = datetime.fromisoformat(value)
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
