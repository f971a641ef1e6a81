"""JSON lines as they are found on disk: cut off, glued together, full of NULs. Nothing is lost in silence.

`read` gives every record that can be had and a `Damage` for every line that is not what it should be. Bytes are
split on LF only (U+2028 and U+0085 are legal inside strings), one line at a time: a file is never held as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import orjson

Record = dict[str, Any]

LINE_LIMIT = 256 << 20
"""Bytes. The longest line that is decoded; whole Claude Code files of 154 MB in one line have been seen."""
_DENSE_FROM = 16 << 20
_DENSE_SHARE = 6
_SALVAGE_TRIES = 200
_SALVAGE_BYTES = 256 << 20

_ESCAPE = re.compile(
    r"\\(?:(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong with one physical line, and whether anything of it was saved."""

    what: str
    hint: str = ""


CUT = Damage("the last line is cut off", "The session may still be running: import again later.")
NO_JSON = Damage("a damaged line: no JSON", "Left out; the other lines are not affected.")


_OPENING = re.compile(rb'\{\s*"')


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < 400 else float("inf")


_DECODER = json.JSONDecoder(strict=False, parse_int=_integer)


def _whole(match: re.Match[str]) -> str:
    return "\\ufffd" if match[2] else match[0]


def _text(raw: bytes) -> tuple[str, bool]:
    """The text of `raw`, lone surrogates made U+FFFD; True where bytes that are no UTF-8 had to be replaced."""
    try:
        text, broken = raw.decode("utf-8"), False
    except UnicodeDecodeError:
        text, broken = raw.decode("utf-8", "replace"), True
    if "\\u" in text:
        text = _ESCAPE.sub(_whole, text)
    return text, broken


def _too_dense(raw: bytes) -> bool:
    """A huge line that is nearly all separators would become objects of many times its size."""
    size = len(raw)
    return size > _DENSE_FROM and raw.count(b",") + raw.count(b"[") + raw.count(b"{") > size // _DENSE_SHARE


def decode(raw: bytes) -> Any:
    """One JSON value, leniently: BOM, control characters, lone surrogates, NaN and integers of any length pass.

    Raises ValueError for everything that is no single JSON value, or is nested too deep to be data.
    """
    if _too_dense(raw):
        raise ValueError("too many values")
    try:
        return orjson.loads(raw)
    except ValueError:
        pass
    try:
        return _DECODER.decode(_text(raw.removeprefix(b"\xef\xbb\xbf").replace(b"\0", b""))[0].strip())
    except RecursionError:
        raise ValueError("nested too deep") from None


def _salvage(text: str, accept: Callable[[Record], bool]) -> list[Record]:
    """Whole records inside a line that is none: `}{` without a line end, or a record glued to the stump of another."""
    saved: list[Record] = []
    at, tries, cost = text.find("{"), 0, 0
    while at >= 0 and tries < _SALVAGE_TRIES and cost < _SALVAGE_BYTES:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            tries, cost = tries + 1, cost + max(error.pos - at, 1)
            end = at + 1
        except RecursionError:
            tries, end = tries + 1, at + 1
        else:
            if isinstance(value, dict) and accept(value):
                saved.append(value)
        at = text.find('{"', end)
    return saved


def _repair(raw: bytes, accept: Callable[[Record], bool], *, last: bool) -> tuple[list[Record], Damage | None]:
    """What a line that orjson refuses still holds."""
    nul = b"\0" in raw
    if nul:
        raw = raw.replace(b"\0", b"")
        if not raw.strip():
            return [], Damage("only NUL bytes, as a crash or a power cut leaves them")
    if _too_dense(raw):
        return [], Damage("a line of more values than any record has")
    if not _OPENING.search(raw):
        return [], CUT if last and raw.startswith(b"{") else NO_JSON  # junk has many such lines
    text, broken = _text(raw)
    text = text.strip().removeprefix("\ufeff")
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        return [], Damage("JSON nested too deep to be a record")
    except ValueError:
        saved = _salvage(text, accept)
        if last and not saved:
            return [], CUT
        if saved:
            count = "one whole record was" if len(saved) == 1 else f"{len(saved)} whole records were"
            return saved, Damage(f"a damaged line: {count} saved from it", "the rest of the line is lost in the source")
        return [], NO_JSON
    if not isinstance(value, dict):
        return [], Damage(_no_object(value))
    if nul:
        return [value], Damage("NUL bytes in the line were dropped; its record was kept")
    if broken:
        return [value], Damage("bytes that are no UTF-8 were replaced; the record was kept")
    return [value], None


def _no_object(value: object) -> str:
    kinds = {str: "a string", list: "a list", int: "a number", float: "a number", bool: "true or false"}
    return f"no record but {kinds.get(type(value), 'null')}: left out"


def read(stream: BinaryIO, accept: Callable[[Record], bool]) -> Iterator[tuple[int, bytes, Record | Damage]]:
    """(line from 1, its bytes, record or damage) for every line that is not blank; a line may give several.

    `accept` says whether an object found inside a damaged line is a record of its own (and not a part of the stump).
    """
    number = 0
    held: tuple[int, bytes] | None = None
    loads = orjson.loads
    readline = stream.readline
    while raw := readline(LINE_LIMIT):
        number += 1
        if held is not None and not raw.isspace():
            yield *held, NO_JSON
            held = None
        if len(raw) == LINE_LIMIT and not raw.endswith(b"\n"):
            while (more := readline(1 << 20)) and not more.endswith(b"\n"):
                pass
            yield number, b"", Damage(f"a line of more than {LINE_LIMIT >> 20} MB", "left out")
            continue
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        if len(raw) > _DENSE_FROM and _too_dense(raw):
            yield number, raw, Damage("a line of more values than any record has", "left out")
            continue
        try:
            value = loads(raw)
        except ValueError:
            if raw.isspace():
                continue
            saved, damage = _repair(raw, accept, last=not raw.endswith(b"\n"))
            for record in saved:
                yield number, raw, record
            if damage is NO_JSON:
                held = (number, raw)  # the last line of all is only cut off
            elif damage:
                yield number, raw, damage
            continue
        if type(value) is dict:
            yield number, raw, value
        else:
            yield number, raw, Damage(_no_object(value))
    if held is not None:
        yield *held, CUT if held[1].lstrip(b"\0 \t").startswith(b"{") else NO_JSON
