"""Titles and identities of talks that have no id of their own."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from obsidian_import.formats.dialects import fenced
from obsidian_import.model import Turn

_LONGEST_HEAD: Final = 1000


def beginning(turns: Sequence[Turn]) -> str:
    """A digest of how a talk begins: its first prompt and the start of the first answer, letters and digits only.

    It stays when the talk grows, is wrapped at another width or exported by another tool; and two talks that both
    begin with "hi" differ in the answer.
    """
    asked = next((turn.text for turn in turns if turn.role == "user" and turn.text.strip()), "")
    answer = next((turn.text for turn in turns if turn.role == "assistant" and turn.text.strip()), "")
    return digest(_letters(asked, 2000), _letters(answer, 160))


def _letters(text: str, limit: int) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text[: limit * 4]).casefold() if c.isalnum())[:limit]


def digest(*parts: str) -> str:
    """24 hex digits that stand for these texts."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:24]


def prompt_title(turns: Sequence[Turn]) -> str:
    """The first line that a person wrote, shortened; empty where there is none."""
    for turn in turns:
        if turn.role == "user":
            for line in turn.text.split("\n"):
                bare = re.sub(r"^(?:#{1,6} |> |[-*] )+", "", line.strip()).strip("*_` ")
                if bare and not re.fullmatch(r"[`~<>\-=_*#|\s]*", bare):
                    return _short(bare)
    return ""


def _short(text: str, limit: int = 100) -> str:
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    cut_at = text.rfind(" ", limit // 2, limit)
    return text[: cut_at if cut_at > 0 else limit].rstrip(" ,;:.-") + "…"


def first_heading(lines: Sequence[str]) -> str:
    """The first heading of a file, outside fences, if nothing but blank lines and comments stand before it."""
    mask = fenced(lines[:200], lambda _: False)
    for line, inside in zip(lines[:200], mask, strict=True):
        found = None if inside or len(line) > _LONGEST_HEAD else re.fullmatch(r"# +(.+?)(?:\s+#+)?\s*", line)
        if found:
            return re.sub(r"[*_`]+|\[\[|\]\]", "", found[1]).strip()
        if line.strip() and not line.startswith(("<!--", "![", "%%")):
            return ""
    return ""


def stem(name: str) -> str:
    """A file's name without folders and the ending of a text."""
    last = name.rpartition("/")[2]
    return re.sub(r"\.(?:md|markdown|mdown|txt|text)$", "", last, flags=re.IGNORECASE) or "Untitled"


def name_title(name: str) -> str:
    """A title from a file name, without the date in front."""
    bare = stem(name)
    without = re.sub(r"^\d{4}-\d\d-\d\d(?:[_T -]\d\d[-:]?\d\d(?:[-:]?\d\d)?Z?)?[-_ ]*", "", bare)
    return without or bare


def one_line(text: str) -> str:
    """One line without control characters; never empty."""
    flat = "".join(" " if unicodedata.category(c) in {"Cc", "Zl", "Zp", "Cs"} else c for c in text)
    return " ".join(flat.split()) or "Untitled"
