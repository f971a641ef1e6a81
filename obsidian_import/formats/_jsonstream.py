"""The conversations of one huge JSON, one at a time: memory is that of the largest conversation, not of the file.

The objects of a top-level list (or of the list under a wrapper's key, or one object alone) come as they stand in the
file. Python's C scanner finds where each ends, so nothing is scanned twice and nothing is guessed; it also takes NaN,
control characters and integers of any length. A piece that is no JSON is left out and said (`Broken`): reading goes on
with the next object that is a conversation.
"""

from __future__ import annotations

import codecs
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

Record = dict[str, Any]

CHUNK: Final = 1 << 20
"""Bytes read at once."""
LIMIT: Final = 128 << 20
"""Bytes of memory that the text of one object may take before more is read (it is doubled each time)."""
WRAPPERS: Final = frozenset({"conversations", "chats", "data", "items"})
"""Keys of a top-level object under which exports keep their list."""

_DENSE_FROM: Final = 4 << 20
_DENSE_SHARE: Final = 6
_TRIES: Final = 100_000
"""Starts of objects that may lead nowhere inside one broken piece."""
_TRIM: Final = 1 << 14
_OTHERS: Final = 1000
"""Members of a list that are no objects: after so many, what follows is no export."""
_NEAR: Final = 64
"""An error this near to the end of what was read may only mean that more must be read."""

_SPACE: Final = re.compile(r"[\s\ufeff\0]*")
_BETWEEN: Final = re.compile(r"[\s,\ufeff\0]*")
_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)', re.DOTALL)
_KEY: Final = re.compile(r'"((?:[^"\\]|\\.){0,200})"\s*:\s*')
_START: Final = re.compile(r'\{\s*"')
_LABEL: Final = re.compile(r'"(?:name|title)"\s*:\s*"((?:[^"\\]|\\.){1,200})"')
_SURROGATE: Final = re.compile(
    r"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|[c-fC-F][0-9a-fA-F]{2}(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u.{4}))"
)
_ESCAPE: Final = re.compile(
    r"\\(?:(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Broken:
    """A piece of the file that is no conversation, and what is wrong with it."""

    what: str
    label: str = ""
    """The title found in it, if any."""


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < 400 else float("inf")


_DECODE: Final = json.JSONDecoder(strict=False, parse_int=_integer).raw_decode


class _DamageError(Exception):
    """No JSON value stands here; `at` is the place from which it is worth looking for the next one."""

    def __init__(self, what: str, at: int) -> None:
        super().__init__(what)
        self.what, self.at = what, at


class _Reader:
    """A window of decoded text over a byte stream."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._rest = b""
        self._first = True
        self.text = ""
        self.at = 0
        self.ended = False
        self.replaced = False
        """Whether bytes that are no UTF-8 were met."""

    def more(self) -> bool:
        """Read on; False at the end of the file. What lies before `at` is let go. Raises OSError."""
        if self.ended:
            return False
        kept = self.text[self.at :]
        raw = self._stream.read(max(CHUNK, len(kept)))
        if not raw:
            self.ended = True
        data = self._rest + raw
        if self._first:
            data, self._first = data.removeprefix(codecs.BOM_UTF8), False
        try:
            new, used = codecs.utf_8_decode(data, "strict", self.ended)
        except UnicodeDecodeError:
            new, used = codecs.utf_8_decode(data, "replace", self.ended)
            self.replaced = True
        self._rest = data[used:]
        if "\0" in new:
            new = new.replace("\0", "")
        self.text, self.at = kept + new, 0
        return not self.ended or bool(new)

    def peek(self, skip: re.Pattern[str]) -> str:
        """The next character behind what `skip` matches; empty at the end of the file."""
        while True:
            found = skip.match(self.text, self.at)
            self.at = found.end() if found else self.at
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def drain(self) -> None:
        """Pass over the rest of the file."""
        self.at = len(self.text)
        while self.more():
            self.at = len(self.text)

    def trim(self) -> None:
        """Let go of what is passed: the decoder's errors count the lines before them."""
        if self.at > _TRIM:
            self.text, self.at = self.text[self.at :], 0

    def key(self) -> str | None:
        """The key of an object's next member, passed over with its colon; None where there is none."""
        while True:
            found = _KEY.match(self.text, self.at)
            if found and found.end() < len(self.text):
                self.at = found.end()
                return found[1]
            if len(self.text) - self.at > 4 * CHUNK or not self.more():
                return None

    def value(self) -> Any:
        """The JSON value that begins at `at`, passed over. Raises _DamageError with `at` unmoved."""
        while True:
            try:
                value, end = _DECODE(self.text, self.at)
            except json.JSONDecodeError as error:
                open_string = error.msg.startswith("Unterminated string")
                if not self.ended and (open_string or error.pos >= len(self.text) - _NEAR):
                    self._room()
                    self.more()
                    continue
                if open_string or error.pos >= len(self.text.rstrip()):
                    raise _DamageError("cut off", self.at + 1) from None
                at = max(self.at + 1, error.pos)
                raise _DamageError(f"no JSON ({error.msg[:1].lower()}{error.msg[1:]})", at) from None
            except RecursionError:
                # Each level takes a character at least: so far there is nothing but openings.
                raise _DamageError("nested too deep to be a conversation", self.at + 500) from None
            if len(self.text) - end < _NEAR and not self.ended and not isinstance(value, str | dict | list):
                self.more()  # a number may go on
                continue
            escaped = self.text.find("\\u", self.at, end)
            if escaped >= 0 and _SURROGATE.search(self.text, escaped, end):
                value, _ = _DECODE(_ESCAPE.sub(_whole, self.text[self.at : end]))
            self.at = end
            return value

    def _room(self) -> None:
        if sys.getsizeof(self.text) - self.at > LIMIT:
            raise _DamageError(f"more than {LIMIT >> 20} MB in one piece", len(self.text))
        size = len(self.text) - self.at
        if size > _DENSE_FROM and self._dense(self.at, size) and self._dense(self.at, size, exact=True):
            raise _DamageError("more values than any conversation has", len(self.text))

    def _dense(self, start: int, size: int, *, exact: bool = False) -> bool:
        """Whether it is nearly all structure, as of values made to fill the memory; a table in a text is not (`exact`)."""
        text = _STRING.sub("", self.text[start:]) if exact else self.text
        return sum(text.count(c, 0 if exact else start) for c in ",[{") > size // _DENSE_SHARE


def _whole(found: re.Match[str]) -> str:
    return "\\ufffd" if found[2] else found[0]


@dataclass(slots=True)
class Stream:
    """The objects of one file; `replaced` is known when all were read."""

    stream: BinaryIO
    accept: Callable[[Record], bool]
    """Whether an object is one of those we look for (asked where the structure around it is broken)."""
    replaced: bool = False

    def __iter__(self) -> Iterator[Record | Broken]:
        """Every object of the list, accepted or not, and what is broken. Raises OSError only."""
        reader = _Reader(self.stream)
        try:
            while char := reader.peek(_SPACE):
                if char == "[":
                    reader.at += 1
                    yield from self._list(reader)
                elif char == "{":
                    yield from self._object(reader)
                else:
                    yield from self._resync(reader, _DamageError("text outside of the JSON", reader.at + 1))
                    yield from self._list(reader, loose=True)
        finally:
            self.replaced = reader.replaced

    def _list(self, reader: _Reader, *, loose: bool = False) -> Iterator[Record | Broken]:
        """The members of a list behind its opening bracket; `loose`: where there may be no list at all."""
        others = 0
        while True:
            char = reader.peek(_BETWEEN)
            if char == "]":
                reader.at += 1
                return
            if not char:
                if not loose:
                    yield Broken("the file is cut off: its list does not end")
                return
            try:
                value = reader.value()
            except _DamageError as damage:
                yield from self._resync(reader, damage)
                loose = loose or reader.ended  # one break is said once
                continue
            if isinstance(value, dict):
                yield value
                continue
            others += 1
            yield Broken(f"no conversation but {_kind(value)}")
            if others > _OTHERS:
                yield Broken("a list of other things: the rest of the file was not read")
                reader.drain()
                return

    def _object(self, reader: _Reader) -> Iterator[Record | Broken]:
        """A top-level object: member by member, so that a wrapper around a list is not held as a whole."""
        members: Record = {}
        reader.at += 1
        listed = False
        while True:
            char = reader.peek(_BETWEEN)
            if char == "}":
                reader.at += 1
                break
            key = reader.key() if char == '"' else None
            if key is None:
                yield from self._resync(reader, _DamageError("no JSON" if char else "cut off", reader.at + 1), members)
                yield from self._list(reader, loose=True)
                listed = True
                break
            if key in WRAPPERS and reader.peek(_SPACE) == "[":
                reader.at += 1
                yield from self._list(reader)
                listed = True
                continue
            try:
                members[key] = reader.value()
            except _DamageError as damage:
                yield from self._resync(reader, damage, members)
                yield from self._list(reader, loose=True)
                listed = True
                break
        if self.accept(members) or not listed:
            yield members

    def _resync(self, reader: _Reader, damage: _DamageError, known: Record | None = None) -> Iterator[Record | Broken]:
        """Say what is broken, then pass over it: up to behind the next object that is accepted, or the end."""
        label = next((v for k in ("name", "title") if isinstance(v := (known or {}).get(k), str)), "")
        if not label and (found := _LABEL.search(reader.text, reader.at, reader.at + 4000)):
            label = _ESCAPE.sub("", found[1])
        yield Broken(damage.what, " ".join(label.split())[:80])
        reader.at = min(damage.at, len(reader.text))
        tries, cost = 0, 0
        while tries < _TRIES and cost < LIMIT:
            found = _START.search(reader.text, reader.at)
            if not found:
                reader.at = max(reader.at, len(reader.text) - _NEAR)
                if not reader.more():
                    reader.at = len(reader.text)
                    return
                continue
            reader.at = found.start()
            reader.trim()
            try:
                value = reader.value()
            except _DamageError as again:
                at = min(max(again.at, reader.at + 1), len(reader.text))
                cost += at - reader.at if again.what != "cut off" else len(reader.text) - reader.at
                reader.at = at
                tries += 1
                continue
            if isinstance(value, dict) and self.accept(value):
                yield value
                return
        yield Broken("too much is broken here: the rest of the file was not read")
        reader.drain()


def _kind(value: object) -> str:
    kinds = {str: "a string", list: "a list", int: "a number", float: "a number", bool: "true or false"}
    return kinds.get(type(value), "null")


_TOKEN: Final = re.compile(rb'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\]]', re.DOTALL)


def keys(head: bytes) -> frozenset[str]:
    """The keys of the first objects in a JSON's first bytes: of the top-level object, of a list's or a wrapper's items.

    Only these: a key inside a message's text or deeper in the tree says nothing about the format.
    """
    out: set[str] = set()
    path: list[bytes] = []
    waiting = b""
    start = head.lstrip(b"\xef\xbb\xbf\0 \t\r\n")
    if start[:1] not in (b"[", b"{"):
        return frozenset()
    for found in _TOKEN.finditer(start):
        token = found[0]
        if token in (b"{", b"["):
            path.append(waiting or token)
            waiting = b""
        elif token in (b"}", b"]"):
            if path:
                path.pop()
            waiting = b""
        elif found[2]:
            waiting = found[1]
            wrapped = len(path) == 3 and path[0] == b"{" and path[1].decode("utf-8", "replace") in WRAPPERS
            if path in ([b"{"], [b"[", b"{"]) or (wrapped and path[2] == b"{"):
                out.add(found[1].decode("utf-8", "replace"))
        else:
            waiting = b""
    return frozenset(out)
