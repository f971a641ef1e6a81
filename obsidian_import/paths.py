"""Names of notes and folders: one function for all, by the strictest common rules of every system a vault lives on.

A name made here is legal on Windows, macOS, Linux and Android, can be linked in Obsidian, holds at most 120 bytes of
UTF-8 with everything a later step may append, and is in NFC. Letters of all scripts and emoji stay. A name is never an
identity: two talks that would share one get a part of their id, compared after NFC and case folding on every system.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Container
from datetime import date

MAX_BYTES = 120
"""Of a file name with its extension, in UTF-8."""
_PART_ROOM = len(" (part 12)")
_ID_ROOM = len(" 0123abcd")
STEM_BYTES = MAX_BYTES - _PART_ROOM - _ID_ROOM - len(".md")
"""What date and title may take: part number, id and extension always fit behind them."""

_SEPARATORS = re.compile(r"\s*[/\\|:]+\s*")
_ILLEGAL = re.compile(r"[\[\]#^*?<>]")
_NOTHING = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc\ufdd0-\ufdef\ufffe\uffff\U000e0100-\U000e01ef]"
)
"""Letters and marks that show nothing, and noncharacters."""
_JOINERS = frozenset("\u200c\u200d")
_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9¹²³])(?=\s*(?:\.|$))")
_EDGE = " .-~"
_UNTITLED = "untitled"

_EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/jpg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/bmp": "bmp",
    "image/avif": "avif",
    "image/svg+xml": "svg",
    "application/pdf": "pdf",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/mp4": "m4a",
    "audio/ogg": "ogg",
    "audio/webm": "webm",
    "video/mp4": "mp4",
    "video/webm": "webm",
    "application/zip": "zip",
    "application/json": "json",
    "text/csv": "csv",
    "text/plain": "txt",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
}


def fold(path: str) -> str:
    """The form in which two paths are compared: NFC and case folded, so that no file system sees one where we see two."""
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _kept(text: str) -> str:
    """`text` without what nobody sees or no disk takes; a joiner stays where it joins two letters or emoji."""
    out: list[str] = []
    for at, char in enumerate(text):
        if char in _JOINERS:
            before, after = text[at - 1 : at], text[at + 1 : at + 2]
            if _joinable(before) and _joinable(after):
                out.append(char)
            continue
        kind = unicodedata.category(char)
        if kind[0] == "Z" or char in "\t\n\r\v\f":
            out.append(" ")
        elif kind not in {"Cc", "Cf", "Cs", "Co"} and not _NOTHING.match(char):
            out.append(char)
    return "".join(out)


def _joinable(char: str) -> bool:
    return bool(char) and ord(char) > 0x2FF and unicodedata.category(char)[0] in "LMS"


def safe_name(title: str) -> str:
    """A title as a name without extension, of any length: never empty, never hidden, never a device of Windows."""
    text = unicodedata.normalize("NFC", title)
    if not text.isascii() or not text.isprintable():
        text = _kept(text)
    text = text.replace('"', "'")
    text = _SEPARATORS.sub(lambda m: " - " if m[0] != m[0].strip() else "-", text)
    text = _ILLEGAL.sub(" ", text)
    while "%%" in text:  # a comment mark inside a link hides the rest of the line
        text = text.replace("%%", "%")
    text = _trimmed(unicodedata.normalize("NFC", text))
    if text[-3:].lower() == ".md":  # `[[x.md]]` would name another note than `x.md.md`
        text = _trimmed(text[:-3] + " md")
    text = _RESERVED.sub(lambda m: m[1] + "_", text)
    return text or _UNTITLED


def _trimmed(text: str) -> str:
    return " ".join(text.split()).lstrip(_EDGE + "'").rstrip(" .-")


def cut(text: str, size: int) -> str:
    """The longest beginning of `text` within `size` bytes of UTF-8 that ends between two graphemes, best after a word."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= size:
        return text
    short = data[: max(size, 0)].decode("utf-8", "ignore")
    end = len(short)
    while end and not _boundary(text, end):
        end -= 1
    if not end:  # one grapheme longer than all the room: a code point boundary has to do
        end = len(short)
    word = text.rfind(" ", 0, end + 1)
    if word > 0 and len(text[word:end].encode("utf-8", "surrogatepass")) <= size // 4:
        end = word
    return text[:end].rstrip(" .,;:-")


def _boundary(text: str, at: int) -> bool:
    """False where a cut before `text[at]` would tear a letter from its accent or an emoji from its parts."""
    if at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if after in "\u200c\u200d\ufe0e\ufe0f" or before == "\u200d" or unicodedata.category(after)[0] == "M":
        return False
    if 0x1F3FB <= ord(after) <= 0x1F3FF:  # skin tones
        return False
    if 0x1F1E6 <= ord(after) <= 0x1F1FF:  # two letters make a flag
        run = at
        while run and 0x1F1E6 <= ord(text[run - 1]) <= 0x1F1FF:
            run -= 1
        return (at - run) % 2 == 0
    return True


def stem(day: date | None, title: str) -> str:
    """`YYYY-MM-DD Title`, with room left for part, id and extension; the title alone where no day is known."""
    name = safe_name(title.rstrip("… "))  # the mark of a cut title says nothing in a name
    if day is None:
        return safe_name(cut(name, STEM_BYTES - 1))
    return f"{day.year:04d}-{day.month:02d}-{day.day:02d} {cut(name, STEM_BYTES - 11) or _UNTITLED}"


def part_stem(base: str, part: int) -> str:
    """The stem of the n-th part of a talk: the first part has none of its number in its name."""
    if part <= 1:
        return base
    mark = f" (part {part})"
    return cut(base, MAX_BYTES - _ID_ROOM - len(".md") - len(mark)) + mark


def folder_name(project: str) -> str:
    """A project's name as the name of a folder; empty where the project is unknown."""
    if not project.strip():
        return ""
    return safe_name(cut(safe_name(project), MAX_BYTES - 1))


def chat_folder(chats: str, origin: str, project: str) -> str:
    """`<chats>/<origin>/<project if known>`, relative to the vault, with `/`."""
    return "/".join(part for part in (chats.strip("/"), origin, folder_name(project)) if part)


def unique(folder: str, base: str, key: str, taken: Container[str]) -> str:
    """`<folder>/<base>.md`, or with as much of the key's digest as it takes to be no path of `taken` (folded paths)."""
    head = f"{folder}/" if folder else ""
    path = f"{head}{base}.md"
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    for size in (6, 8, 12, 16, 24, 32, 64):
        if fold(path) not in taken:
            return path
        path = f"{head}{cut(base, MAX_BYTES - size - 4)} {digest[:size]}.md"
    number = 2
    while fold(path) in taken:
        path = f"{head}{cut(base, MAX_BYTES - 32)} {digest[:16]} {number}.md"
        number += 1
    return path


def extension(media_type: str, name: str = "") -> str:
    """The extension, without a dot, under which a saved file does nothing by itself: `bin` where nothing is known.

    Never `md` (it would be a note) and never a type that runs when it is opened (`html`, scripts of a shell): text is `txt`.
    """
    kind = media_type.partition(";")[0].strip().lower()
    if kind in _EXTENSIONS:
        return _EXTENSIONS[kind]
    if kind.startswith(("text/", "application/vnd.ant.")):
        return "txt"
    if kind in {"", "application/octet-stream"}:
        last = name.rpartition(".")[2].lower()
        if last in set(_EXTENSIONS.values()) and "." in name:
            return last
    return "bin"


def asset_path(chats: str, data: bytes, suffix: str) -> str:
    """Where a file beside the chats lies: by content, so that the same picture is there once."""
    return f"{chats.strip('/')}/attachments/{hashlib.sha256(data).hexdigest()[:16]}.{suffix}".lstrip("/")
