"""How a note is addressed by a link, and what a link addresses: the vault's index of files, both ways round.

`Index.resolve` is our own reading of Obsidian's resolution; `Index.address` writes the link text that resolves
to exactly one file, or says why there is none. `render_link` is the only function that spells a link.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from obsidian_import.names.surfaces import fold, nfc

LinkFormat = Literal["shortest", "relative", "absolute"]

_UNLINKABLE: Final = re.compile(r"[\[\]#^|\\\n\r\t]|%%|::")
_DISPLAY_NEVER: Final = re.compile(r"[\[\]|\n\r]")
_PERCENT: Final = re.compile(r"[\x00-\x20%()<>\[\]\"\\^`{|}]")
_ESCAPED: Final = re.compile(r"%([0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class AppSettings:
    """What `.obsidian` says about links and folders; every field at the app's own default."""

    link_format: LinkFormat = "shortest"
    markdown_links: bool = False
    ignore: tuple[str, ...] = ()
    """`userIgnoreFilters`: path prefixes, or `/…/` for a regular expression."""
    attachments: str = ""
    """`attachmentFolderPath`; empty where attachments lie anywhere."""
    templates: tuple[str, ...] = ()
    """Folders of the core Templates plug-in and of Templater."""
    problems: tuple[str, ...] = ()
    """What could not be understood, in words for a person."""


def fold_path(path: str) -> str:
    """A path as case-insensitive, normalising file systems and Obsidian compare it."""
    return fold(nfc(path))


def stem(path: str) -> str:
    """`a/b/Note.md` → `Note`; other files keep their extension, as links to them do."""
    name = path[path.rfind("/") + 1 :]
    return name[:-3] if name[-3:].lower() == ".md" else name


def bare(path: str) -> str:
    """`a/b/Note.md` → `a/b/Note`."""
    return path[:-3] if path[-3:].lower() == ".md" else path


def linkable(name: str) -> bool:
    """Whether `[[name]]` can mean this name at all: `[ ] # ^ |` and some pairs end or change a link."""
    return not _UNLINKABLE.search(name) and name == name.strip() and not name.startswith((".", "/"))


@dataclass(frozen=True, slots=True)
class Address:
    """Link text (`Note`, `folder/Note`) that reaches exactly one file, or `problem` saying why there is none."""

    text: str = ""
    problem: str = ""


@dataclass(slots=True)
class Index:
    """All files of a vault by folded name and by folded path."""

    settings: AppSettings = field(default_factory=AppSettings)
    by_name: dict[str, list[str]] = field(default_factory=dict)
    by_path: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, paths: Iterable[str], settings: AppSettings | None = None) -> Index:
        """`paths` are all files of the vault (notes, attachments, excluded ones too), relative, with `/`."""
        index = cls(settings or AppSettings())
        by_name, by_path = index.by_name, index.by_path
        for path in sorted(paths):
            low = fold_path(path)
            low = low.removesuffix(".md")
            by_path.setdefault(low, path)
            name = low[low.rfind("/") + 1 :]
            held = by_name.get(name)
            if held is None:
                by_name[name] = [path]
            else:
                held.append(path)
        return index

    def unique(self, path: str) -> bool:
        """Whether the file's bare name belongs to it alone."""
        return len(self.by_name.get(fold_path(stem(path)), ())) == 1

    def resolve(self, link: str, source: str = "") -> str | None:
        """The file that a link text means, seen from the note `source`; None for no file and for several."""
        found = self.candidates(link, source)
        return found[0] if len(found) == 1 else None

    def exact(self, text: str) -> str | None:
        """The file whose whole path without `.md` is spelled exactly `text`, where a folder is part of it."""
        if "/" not in text:
            return None
        found = self.by_path.get(fold_path(text))
        return found if found is not None and bare(found) == text else None

    def candidates(self, link: str, source: str = "") -> list[str]:
        """All files a link text can mean. `[[#Heading]]` is the note itself. Aliases are no link targets."""
        text = link.split("|", 1)[0].rstrip("\\").split("#", 1)[0].strip()
        if not text:
            return [source] if link.lstrip().startswith("#") and source else []
        low = fold_path(text.replace("\\", "/"))
        low = low.removesuffix(".md")
        folder = posixpath.dirname(fold_path(source))
        if low.startswith(("./", "../")):
            found = self.by_path.get(posixpath.normpath(posixpath.join(folder, low)))
            return [found] if found else []
        low = low.lstrip("/")
        exact = self.by_path.get(low)
        if exact is not None and ("/" in low or self.unique(exact)):
            return [exact]
        named = self.by_name.get(low[low.rfind("/") + 1 :], [])
        if "/" in low:
            tail = "/" + low
            named = [path for path in named if ("/" + fold_path(bare(path))).endswith(tail)]
        if len(named) > 1:
            if exact is not None:
                return [exact]
            beside = [path for path in named if posixpath.dirname(fold_path(path)) == folder]
            if len(beside) == 1:
                return beside
        return list(named)

    def address(self, path: str, source: str = "") -> Address:
        """How a link in `source` must name `path`, by the vault's own link format."""
        name = stem(path)
        if not linkable(name):
            return Address(problem="its name cannot stand in a link")
        full = bare(path)
        alone = self.unique(path)
        form = self.settings.link_format
        if form == "shortest" and alone:
            return Address(name)
        if not linkable(full):
            return Address(problem="a folder of its path cannot stand in a link")
        if form == "relative" and alone:
            return Address(posixpath.relpath(full, posixpath.dirname(source) or "."))
        if "/" not in full and not alone:
            return Address(problem="another file has the same name")
        return Address(full)


def render_link(address: str, text: str, *, table: bool = False, markdown: bool = False) -> str | None:
    """The link that shows `text` and leads to `address`; None where the text cannot stand in a link."""
    if _DISPLAY_NEVER.search(text) or not text:
        return None
    if markdown:
        return f"[{text}]({_PERCENT.sub(_percent, address + '.md')})" if "\\" not in text else None
    if address == text:
        return f"[[{address}]]"
    if text.endswith("\\"):
        return None
    return f"[[{address}\\|{text}]]" if table else f"[[{address}|{text}]]"


def _percent(found: re.Match[str]) -> str:
    return f"%{ord(found[0]):02X}"


def parse_link(written: str) -> tuple[str, str] | None:
    r"""`[[A|b]]`, `[[A\\|b]]`, `[b](A.md)` → (target, display text); None for anything else (embeds, URLs)."""
    if written.startswith("[[") and written.endswith("]]"):
        inner = written[2:-2]
        cut = inner.find("|")
        if cut < 0:
            return inner.strip(), inner.strip()
        return inner[:cut].rstrip("\\").strip(), inner[cut + 1 :]
    if written.startswith("[") and written.endswith(")"):
        cut = written.rfind("](")
        if cut > 0:
            goal = written[cut + 2 : -1].strip()
            goal = goal[1 : goal.index(">")] if goal.startswith("<") and ">" in goal else goal.split(" ", 1)[0]
            if "://" in goal or not fold(goal.split("#", 1)[0]).endswith(".md"):
                return None
            return unquote(goal), written[1:cut]
    return None


def unquote(text: str) -> str:
    """Percent-decoding of UTF-8; what is no UTF-8 stays as it is written."""
    if "%" not in text:
        return text
    raw = bytearray()
    at = 0
    for found in _ESCAPED.finditer(text):
        raw += text[at : found.start()].encode("utf-8", "surrogatepass")
        raw.append(int(found[1], 16))
        at = found.end()
    raw += text[at:].encode("utf-8", "surrogatepass")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return text


def excluded(path: str, prefixes: Iterable[str], patterns: Iterable[re.Pattern[str]]) -> bool:
    """Whether a path lies under one of the folded prefixes (`folder/`, or a whole path) or fits a pattern."""
    low = fold_path(path)
    return any(low.startswith(prefix) or low == prefix.rstrip("/") for prefix in prefixes) or any(
        pattern.search(path) for pattern in patterns
    )


def filters(entries: Iterable[object], *, folders: bool = False) -> tuple[list[str], list[re.Pattern[str]]]:
    """Ignore entries as (folded prefixes, patterns). `/…/` is a regular expression; a broken one is left out.

    With `folders` an entry names a whole folder: `Arch` does not exclude `Archive/`.
    """
    prefixes: list[str] = []
    patterns: list[re.Pattern[str]] = []
    for entry in entries:
        if not isinstance(entry, str) or not entry.strip():
            continue
        text = entry.strip()
        if len(text) > 2 and text.startswith("/") and text.endswith("/"):
            try:
                patterns.append(re.compile(text[1:-1]))
            except re.error:
                continue
        elif "*" in text:
            patterns.append(re.compile("^" + ".*".join(map(re.escape, text.lstrip("/").split("*"))), re.IGNORECASE))
        else:
            low = fold_path(text.strip("/" if folders else "").lstrip("/"))
            low = low.removeprefix("./")
            if low:
                prefixes.append(low + "/" if folders else low)
    return prefixes, patterns
