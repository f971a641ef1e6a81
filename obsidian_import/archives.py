"""Zips, read and never unpacked: members are streamed, their names are only labels, hostile archives are refused.

`members()` gives the readable members of an archive, of archives inside it too, as `ZipMember`s (a `model.File`).
Nothing is ever written, so a name such as `../../evil.md` can do no harm; what can harm is size, so there are caps.
They bound ratios and counts, not sizes: an honest export of 2 GB is streamed like a small one.
"""

from __future__ import annotations

import calendar
import io
import re
import stat
import threading
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

from obsidian_import.model import File, Problem

MAX_MEMBERS: Final = 50_000
MAX_RATIO: Final = 200
RATIO_FROM: Final = 10 * 1024 * 1024
"""Bytes from which on the ratio counts: a small file of blanks is no bomb."""
MAX_NAME_DEPTH: Final = 10
MAX_ZIP_DEPTH: Final = 3
MAX_INNER: Final = 256 * 1024 * 1024
"""A compressed zip inside a zip is held in memory (a stored one is not): up to this many bytes."""
OPEN_ARCHIVES: Final = 8

_ENCRYPTED: Final = 0x1
_LOCAL_HEADER: Final = 30
_TEXTS: Final = frozenset({"json", "jsonl", "md", "markdown", "txt", "html", "htm", "csv", "xml", "yaml", "yml"})
_MEDIA: Final = frozenset(
    [
        "png",
        "jpg",
        "jpeg",
        "gif",
        "webp",
        "svg",
        "bmp",
        "heic",
        "avif",
        "pdf",
        "wav",
        "mp3",
        "m4a",
        "ogg",
        "webm",
        "mp4",
        "dat",
        "py",
        "js",
        "ts",
        "tsx",
        "jsx",
        "css",
        "sh",
        "sql",
        "docx",
        "xlsx",
        "pptx",
    ],
)
_CHATGPT_ASSET: Final = re.compile(r"(?:^|/)file[-_][^/]*$")

BAD_ZIP: Final = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    OSError,
    MemoryError,
)
"""What zipfile raises on damaged, encrypted or exotic archives."""


class DamagedMemberError(OSError):
    """A member cannot be read to its end: wrong checksum, cut off, encrypted. Readers catch OSError."""


class _Window(io.RawIOBase):
    """A stored (uncompressed) member as a seekable file of its own: an archive inside an archive costs no memory."""

    def __init__(self, base: BinaryIO, start: int, size: int) -> None:
        super().__init__()
        self._base, self._start, self._size, self._at = base, start, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, origin + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer))
        wanted = max(0, min(len(view), self._size - self._at))
        self._base.seek(self._start + self._at)
        data = self._base.read(wanted)
        view[: len(data)] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._base.close()
        super().close()


class _Checked(io.RawIOBase):
    """A member's stream whose troubles are all OSErrors, so that readers need to know only one kind."""

    def __init__(self, inner: BinaryIO, where: str) -> None:
        super().__init__()
        self._inner, self._where = inner, where

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer))
        try:
            data = self._inner.read(len(view))
        except BAD_ZIP as error:
            raise DamagedMemberError(f"{self._where}: {_reason(error)}") from error
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()


_open: OrderedDict[tuple[str, tuple[int, ...]], zipfile.ZipFile] = OrderedDict()
_lock = threading.RLock()


def release() -> None:
    """Close every archive that is held open (before one of them is moved away; Windows needs that)."""
    with _lock:
        while _open:
            _open.popitem()[1].close()


@dataclass(frozen=True, slots=True)
class Archive:
    """A zip on disk, or one inside it: `chain` has the position of each inner zip in its outer one's directory."""

    path: Path
    chain: tuple[int, ...] = ()

    def zip(self) -> zipfile.ZipFile:
        """The opened archive, kept open for the next member. Raises one of `BAD_ZIP`."""
        key = (str(self.path), self.chain)
        with _lock:
            found = _open.get(key)
            if found is not None:
                _open.move_to_end(key)
                return found
            opened = zipfile.ZipFile(self._stream())
            _open[key] = opened
            while len(_open) > OPEN_ARCHIVES:
                _open.popitem(last=False)[1].close()
            return opened

    def _stream(self) -> BinaryIO:
        if not self.chain:
            return self.path.open("rb")
        outer = Archive(self.path, self.chain[:-1])
        info = outer.zip().infolist()[self.chain[-1]]
        if info.compress_type == zipfile.ZIP_STORED:
            base = outer._stream()
            base.seek(info.header_offset)
            header = base.read(_LOCAL_HEADER)
            if len(header) < _LOCAL_HEADER or header[:4] != b"PK\x03\x04":
                raise zipfile.BadZipFile("no local header")
            skip = _LOCAL_HEADER + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
            return cast("BinaryIO", io.BufferedReader(_Window(base, info.header_offset + skip, info.file_size)))
        if info.file_size > MAX_INNER:
            raise zipfile.BadZipFile(f"a zip of {info.file_size:,} bytes inside a zip: unpack the outer one first")
        with outer.zip().open(info) as stream:
            return io.BytesIO(stream.read(MAX_INNER))


@dataclass(slots=True, unsafe_hash=True)
class ZipMember:
    """One member of an archive, streamed at each `open()`."""

    name: str
    where: str
    size: int
    mtime: float | None
    boxes: tuple[str, ...]
    """`where` of the named source and of the outermost archive: each must give something, or it is reported."""
    archive: Archive
    position: int

    def open(self) -> BinaryIO:
        """A fresh stream at byte 0. Raises OSError where the archive is damaged or gone."""
        try:
            opened = self.archive.zip()
            inner = opened.open(opened.infolist()[self.position])
        except BAD_ZIP as error:
            raise DamagedMemberError(f"{self.where}: {_reason(error)}") from error
        return cast("BinaryIO", io.BufferedReader(_Checked(cast("BinaryIO", inner), self.where), 65536))

    def head(self, size: int = 65536) -> bytes:
        """The first `size` bytes. Raises OSError as `open` does."""
        with self.open() as stream:
            return stream.read(size)


def looks_like_zip(head: bytes) -> bool:
    """Whether these first bytes begin a zip (an empty one, too)."""
    return head[:4] in {b"PK\x03\x04", b"PK\x05\x06"}


def members(path: Path, where: str, name: str, boxes: tuple[str, ...]) -> Iterator[File | Problem]:
    """The readable members of the zip at `path`, sorted by name; what cannot be read as Problems.

    Members that no reader could use (programs, system files) are not given. Never raises.
    """
    yield from _members(Archive(path), where, name, boxes)


def _members(archive: Archive, where: str, name: str, boxes: tuple[str, ...]) -> Iterator[File | Problem]:
    try:
        opened = archive.zip()
        infos = opened.infolist()
        trouble = _whole_archive(opened, infos, archive)
    except BAD_ZIP as error:
        hint = "Download or copy it again; a zip must be complete."
        if "unpack the outer" in str(error):
            hint = "Unpack the outer zip and name the folder."
        yield Problem(where, f"not a readable zip: {_reason(error)}", hint, fatal=True)
        return
    if trouble:
        yield Problem(
            where, trouble, "Refused for safety; unpack it yourself if you trust it, and name the folder.", fatal=True
        )
        return
    # Of two members with one name the later one counts, as everywhere with zips.
    latest = {_label(info.filename): position for position, info in enumerate(infos)}
    for label, position in sorted(latest.items()):
        info = infos[position]
        if not _wanted(info, label):
            continue
        inner_where, inner_name = f"{where}!{label}", f"{name}/{label}"
        refused = _one_member(info, label)
        if refused:
            yield Problem(inner_where, refused, "Left out for safety; the rest of the archive was read.")
            continue
        if label.lower().endswith(".zip"):
            if len(archive.chain) + 1 >= MAX_ZIP_DEPTH:
                yield Problem(
                    inner_where, f"zips inside zips more than {MAX_ZIP_DEPTH} deep", "Unpack it and name the folder."
                )
                continue
            yield from _members(Archive(archive.path, (*archive.chain, position)), inner_where, inner_name, boxes)
            continue
        yield ZipMember(inner_name, inner_where, info.file_size, _mtime(info), boxes, archive, position)


def _reason(error: BaseException) -> str:
    text = str(error)
    return text or type(error).__name__


def _whole_archive(opened: zipfile.ZipFile, infos: list[zipfile.ZipInfo], archive: Archive) -> str:
    if len(infos) > MAX_MEMBERS:
        return f"{len(infos):,} members, more than {MAX_MEMBERS:,}"
    # A bomb of overlapping entries: each claims the same compressed bytes. Python 3.11.7 does not check.
    end = 0
    for info in sorted(infos, key=lambda one: one.header_offset):
        if info.header_offset < end:
            return "overlapping entries, as in a zip bomb"
        end = info.header_offset + _LOCAL_HEADER + info.compress_size
    directory: int | None = getattr(opened, "start_dir", None)
    if directory is not None and end > directory + _LOCAL_HEADER:
        return "entries overlap the directory, as in a zip bomb"
    total, packed = sum(i.file_size for i in infos), sum(i.compress_size for i in infos)
    if total > RATIO_FROM * (1 + len(archive.chain)) and total > MAX_RATIO * max(1, packed):
        return f"unpacks to {total // max(1, packed)} times its size, as a zip bomb does"
    return ""


def _one_member(info: zipfile.ZipInfo, label: str) -> str:
    if info.flag_bits & _ENCRYPTED:
        return "encrypted member"
    if label.count("/") >= MAX_NAME_DEPTH:
        return f"a name more than {MAX_NAME_DEPTH} folders deep"
    if info.file_size > RATIO_FROM and info.file_size > MAX_RATIO * max(1, info.compress_size):
        return f"unpacks to {info.file_size // max(1, info.compress_size)} times its size"
    return ""


def _wanted(info: zipfile.ZipInfo, label: str) -> bool:
    if not label or info.is_dir() or info.filename.endswith(("/", "\\")):
        return False
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind and not stat.S_ISREG(info.external_attr >> 16):
        return False
    parts = label.split("/")
    if any(part == "__MACOSX" or (part.startswith(".") and part not in {".specstory", ".claude"}) for part in parts):
        return False
    suffix = parts[-1].rpartition(".")[2].lower() if "." in parts[-1] else ""
    return suffix == "zip" or suffix in _TEXTS or suffix in _MEDIA or _CHATGPT_ASSET.search(label) is not None


def _label(filename: str) -> str:
    r"""A member's name as a relative path: `..`, drives and leading slashes are gone, `\` is `/`."""
    parts = re.sub(r"[\x00-\x1f\x7f\ud800-\udfff]", "�", filename).replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in {"", ".", ".."} and not re.fullmatch(r"[A-Za-z]:", part))


def _mtime(info: zipfile.ZipInfo) -> float | None:
    # A zip knows local time without a zone, to two seconds; 1980-01-01 stands for "not known".
    if info.date_time[:3] == (1980, 1, 1):
        return None
    try:
        return float(calendar.timegm((*info.date_time, 0, 0, 0)))
    except (ValueError, OverflowError):
        return None
