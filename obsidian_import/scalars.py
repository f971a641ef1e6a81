"""One property value as text: what may stand plain, what is quoted, what a person would call the same.

The other half of `properties`, which knows where values stand; here is what they look like.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime

__all__ = ["BOOL", "FLOAT", "INT", "NULL", "canonical", "name_text", "plain", "value_text"]

BOOL = re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")
NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")
INT = re.compile(r"(?:0|-?[1-9][0-9]{0,17})\Z")
FLOAT = re.compile(r"-?(?:0|[1-9][0-9]{0,9})\.[0-9]{0,5}[1-9]\Z")
"""Plain scalars that are anything but text: only what every version of YAML takes for it, and what reads back alike."""

_WORDS = frozenset({"title", "aliases"})
"""Keys that hold a person's words: always quoted, so the style does not depend on the words."""
_SAFE = re.compile(r"\w[\w/.-]*", re.UNICODE)
_NUMBERISH = re.compile(r"[-+.]?\d[\d_.,eExXoObB:+-]*|0[xX][0-9a-fA-F_]+|\.?(?:inf|nan)", re.IGNORECASE)
_LIES = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "~"])
_DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:T[0-2]\d:[0-5]\d(?::[0-5]\d)?)?")
_RAW = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def _quoted(text: str) -> str:
    """A JSON string that is YAML too: what YAML would fold, strip or refuse is escaped."""
    return _RAW.sub(lambda m: f"\\u{ord(m[0]):04x}", json.dumps(text, ensure_ascii=False))


def name_text(key: str) -> str:
    """A property's name as it stands before the colon."""
    return key if _is_safe(key) else _quoted(_SURROGATE.sub("\ufffd", key))


def _is_safe(text: str) -> bool:
    return bool(_SAFE.fullmatch(text)) and text.lower() not in _LIES and not _NUMBERISH.fullmatch(text)


def value_text(key: str, value: object, *, nested: bool = False) -> str:
    """A value on one line. Lists and mappings are in flow style; in a list (`nested`) a date is quoted."""
    value = plain(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value) if _is_number(value) else _quoted(repr(value))
    if isinstance(value, list):
        items = ", ".join(value_text(key, item, nested=True) for item in value)
        # `[[` is a link to Obsidian's eyes, in a property too.
        return f"[ {items} ]" if items.startswith("[") else f"[{items}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(k)}: {value_text(key, v, nested=True)}" for k, v in value.items()) + "}"
    text = str(value)
    if key not in _WORDS and (_is_safe(text) or (not nested and _DATE.fullmatch(text))):
        return text
    return _quoted(text)


def _is_number(value: float) -> bool:
    return bool(INT.fullmatch(repr(value)) or FLOAT.fullmatch(repr(value)))


def plain(value: object) -> object:
    """A value as `properties.read` would give it back after it was written (a datetime: its own wall clock)."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None, microsecond=0).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if _is_number(value) else repr(value)
    if isinstance(value, Mapping):
        return {_SURROGATE.sub("\ufffd", str(k)): plain(v) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return _SURROGATE.sub("\ufffd", str(value))


# ------------------------------------------------------------------ comparing values

_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ]+(\d\d:\d\d)(?::(\d\d))?(?:\.0+)?(?: ?(?:Z|[+-]00:?00))?)?",
)


def canonical(value: object) -> object:
    """One form for all the ways Obsidian's property editor writes the same value; only for comparing."""
    value = plain(value)
    if value is None or value in ("", []):
        return None
    if isinstance(value, list):
        items = [canonical(item) for item in value]
        return items[0] if len(items) == 1 else items
    if isinstance(value, dict):
        return {key: canonical(item) for key, item in value.items()}
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value).strip()
    time = _TIME.fullmatch(text)
    if time:
        day, minute, second = time.groups()
        return f"{day}T{minute}:{second or '00'}" if minute else day
    return text or None
