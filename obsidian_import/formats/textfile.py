"""A text file as a whole: bytes → text with LF line ends, and what was wrong with it."""

from __future__ import annotations

from typing import Final

from obsidian_import.model import File, Problem

MAX_SIZE: Final = 32 * 1024 * 1024
"""Bytes. Such files are read whole; no person has a larger one."""

_NOT_IN_TEXTS: Final = bytes(code for code in range(32) if code not in b"\t\n\r\x0c\x1b\x08") + b"\x7f"

MAX_MESSAGES: Final = 100_000
"""In one file; no talk has more, and a file of nothing but marks would cost minutes."""


def is_binary(head: bytes) -> bool:
    """Whether these bytes are no text: more than one in fifty is a control character that texts do not hold."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    return len(head.translate(None, _NOT_IN_TEXTS)) < len(head) * 0.98


def too_many(file: File, count: int) -> Problem:
    """What is said of a file with more messages than that."""
    return Problem(file.where, f"{count:,} messages, more than {MAX_MESSAGES:,}", "Split it.", fatal=True)


def load(file: File) -> tuple[str | None, tuple[Problem, ...]]:
    """The text of a file (None where there is nothing to read) and the Problems met. Never raises."""
    if file.size > MAX_SIZE:
        what = f"a text of {file.size:,} bytes, more than {MAX_SIZE:,}"
        return None, (Problem(file.where, what, "Split it.", fatal=True),)
    try:
        with file.open() as stream:
            raw = stream.read(MAX_SIZE + 1)
    except OSError as error:
        return None, (Problem(file.where, f"could not be read: {error.strerror or error}", fatal=True),)
    text, damage = decode(raw)
    if damage:
        return text, (Problem(file.where, damage, "Save the file as UTF-8 to have every character."),)
    return text, ()


def decode(raw: bytes) -> tuple[str, str]:
    """Text with LF line ends and without NULs, and what is wrong with it (empty: nothing)."""
    damage = ""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = raw.decode("utf-16", "replace")
    else:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            text = raw.decode("utf-8-sig", "replace")
            damage = f"not valid UTF-8 from byte {error.start:,} on: replaced by �"
    if "\0" in text:
        text, damage = text.replace("\0", ""), damage or "holds NUL characters: left out"
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, damage
