"""The pictures and uploads of a ChatGPT export: which file a pointer means, what it is, and its bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from obsidian_import import jsonl
from obsidian_import.formats._exports import line, media_type, text
from obsidian_import.model import File, Media

MISSING: Final = "not in the export"
MAX_FILE: Final = 20 << 20
"""Bytes of one picture or upload that is kept."""
MAX_TALK: Final = 128 << 20
"""Bytes of all those of one talk: they are in memory together."""

_MAX_INDEX: Final = 16 << 20
_ID: Final = re.compile(r"file[-_][0-9A-Za-z]+")
_NOT_AN_INDEX: Final = re.compile(
    r"(?:^|/)(?:user|user_settings|message_feedback|shared_conversations|group_chats|shopping|sora|export_manifest)\.json\Z"
)
_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"BM", "image/bmp"),
    (b"PK\x03\x04", "application/zip"),
)


class Assets:
    """The files beside the talks of one export, found by the id at the beginning of their names."""

    def __init__(self, files: Sequence[File]) -> None:
        self._files = files
        self._by_id: dict[str, File] | None = None
        self._names: dict[str, str] | None = None

    def find(self, pointer: str) -> File | None:
        """The file that `sediment://file_…`, `file-service://file-…` or a bare id means."""
        if self._by_id is None:
            self._by_id = {}
            for file in self._files:
                if found := _ID.match(_base(file)):
                    self._by_id.setdefault(found[0], file)
        return next((self._by_id[one] for one in _ID.findall(pointer[:400]) if one in self._by_id), None)

    def named(self, file: File) -> str:
        """What the export's index calls a file that lies there as `file-….dat`."""
        if self._names is None:
            self._names = {}
            for one in self._files:
                if one.name.lower().endswith(".json") and one.size <= _MAX_INDEX and not _NOT_AN_INDEX.search(one.name):
                    self._names.update(_index(one))
        return self._names.get(_base(file), "")


class Shelf:
    """The pictures of one talk, as many as it may hold."""

    def __init__(self, assets: Assets) -> None:
        self._assets = assets
        self._left = MAX_TALK

    def media(self, pointer: str, name: str = "", kind: str = "") -> Media:
        """The picture or upload that a pointer means, with its bytes; or why there are none."""
        file = self._assets.find(pointer)
        if file is None:
            only = f"only a link in the export: {line(pointer, 400)}" if pointer.startswith("https://") else MISSING
            return Media(name, kind or media_type(name), why=only)
        name = name or line(self._assets.named(file), 300) or _base(file)
        if file.size > min(MAX_FILE, self._left):
            return Media(
                name, kind or media_type(name), why=f"too large to be copied ({file.size >> 20} MB): {_base(file)}"
            )
        try:
            with file.open() as stream:
                data = stream.read(MAX_FILE + 1)
        except OSError as error:
            return Media(name, kind or media_type(name), why=f"could not be read: {line(error.strerror or str(error))}")
        self._left -= len(data)
        return Media(name, _sniff(data) or (kind if "*" not in kind else "") or media_type(name) or kind, data=data)


def ident(pointer: str) -> str:
    """The id in a pointer, to compare pointers by."""
    found = _ID.search(pointer.rpartition("://")[2])
    return found[0] if found else pointer


def _base(file: File) -> str:
    return file.name.rpartition("/")[2]


def _index(file: File) -> dict[str, str]:
    """A JSON object of file names; anything else is no index."""
    try:
        if not file.head(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return {}
        with file.open() as stream:
            value = jsonl.decode(stream.read(_MAX_INDEX))
    except (OSError, ValueError):
        return {}
    if not isinstance(value, dict):
        return {}
    return {
        key.rpartition("/")[2]: text(name)
        for key, name in value.items()
        if isinstance(name, str) and _ID.match(key.rpartition("/")[2])
    }


def _sniff(data: bytes) -> str:
    head = data[:16]
    if head[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(head[8:12], "")
    if head[4:8] == b"ftyp":
        return (
            "image/heic" if head[8:11] in (b"hei", b"mif") else "image/avif" if head[8:12] == b"avif" else "video/mp4"
        )
    found = next((kind for magic, kind in _MAGIC if head.startswith(magic)), "")
    return "" if found == "application/zip" else found  # .docx and the like: the name knows better
