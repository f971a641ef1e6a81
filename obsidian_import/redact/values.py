"""Is what stands in a slot a secret, or a word, a variable, a number, a call? The judgement `redact` rests on.

A false positive costs a word, a miss costs a key: where grammar alone says "here stands the password" (`SLOT`) nearly
everything is taken; the looser the grammar, the more the value itself must look like a secret.
"""

from __future__ import annotations

import re
from enum import Enum
from itertools import pairwise
from typing import Final

from obsidian_import.redact.rules import STOP, placeholder


class Style(Enum):
    """How the text says that a secret stands here."""

    SLOT = 1
    """The grammar of a command or header leaves no other reading: `sshpass -p X`."""
    QUOTED = 2
    """`name = "X"`, `"name": "X"`."""
    ENV = 3
    """`NAME=X` without blanks, `--name X`, a query parameter."""
    LINE = 4
    """`name: X` where X is all the rest of the line (YAML)."""
    CODE = 5
    """`name = X`, `name: X` without quotes: mostly another name."""
    PROSE = 6
    """`the password is X`."""


_NUMBER: Final = re.compile(r"[-+]?[\d.,_]+[%kKmMgG]?")
_NO_SECRET: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ].*)?|v?\d+(?:\.\d+){1,3}(?:[-+]\w+)?|\d+(?:\.\d+)?[-_ ]?(?:ms|s|m|min|h|d|kb?|mb?|gb?|bytes?|chars?|bits?|tokens?|days?|hours?)"
    r"|(?:\.{0,2}|~)/[\w.@~-]*(?:/[\w.@-]*)*|[A-Za-z]:[\\/].*|[a-z][\w+.-]{1,20}://.*|\d+(?:[-–]\d+)+[A-Za-z-]*",
    re.IGNORECASE,
)
_WORDS: Final = re.compile(r"[A-Za-z]++(?:[-_./:' ][A-Za-z]++)*+[.:!?,]*+")
_NAME_NUMBER: Final = re.compile(r"[A-Za-z]++(?:[-_.][A-Za-z]++)*+[-_.]?\d{1,4}(?:[-_.]?[A-Za-z]++)*+")
_DOTTED: Final = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+")
_IDENTIFIER: Final = re.compile(r"[a-z_]++\d{0,3}(?:_[a-z0-9]++)*+|[a-z]++(?:[A-Z][a-z]++)++\d{0,2}")
_ALGORITHM: Final = re.compile(
    r"(?i)(?:.*[-_ ])?(?:sha|md|base|utf|oauth|http|argon|pbkdf|bcrypt|aes|rs|hs|es|ps|ed|x|ipv|python|cl|o|k|s|r|p|h|v|rc|ecdsa|rsa|level|step|phase|part|type|test|version)"
    r"[-_]?\d{1,5}(?:[-_].*)?"
)
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_FUNCTION_WORDS: Final = frozenset(
    "the and for are was with that this from have your you is a an of to in on it be must not please enter invalid required forgot "  # noqa: SIM905
    "reset new old current wrong incorrect confirm change or at by if can will should has does do no my our their we i".split()
)
_SPECIAL: Final = frozenset("!@#$%^&*?~+=")


def _flips(value: str) -> int:
    """Changes between upper and lower case: few in camelCase, many in random letters."""
    return sum(a.isupper() != b.isupper() for a, b in pairwise(value))


def random_letters(value: str) -> bool:
    """Letters in one run that no name is spelled with."""
    return len(value) >= 12 and value.isalpha() and _flips(value) * 5 >= len(value) * 2


def strong(value: str) -> bool:
    """Say whether the value by itself looks like a secret (any context may then take it)."""
    if len(value) < 6 or len(value) > 4096:
        return False
    if _NO_SECRET.fullmatch(value) or _DOTTED.fullmatch(value) or _ALGORITHM.fullmatch(value) or _UUID.fullmatch(value):
        return False
    letter = any(c.isalpha() for c in value)
    digit = any(c.isdigit() for c in value)
    if letter and digit:
        return True
    if letter and any(c in _SPECIAL for c in value[:-1]):
        return not (value.startswith(("@", "#", "!", "&", "=", "+", "?", "*")) or value.endswith("="))
    return random_letters(value)


def _phrase(value: str, *, passish: bool) -> bool:
    words = value.split()
    if any(word.lower().strip(".,:!?'\"") in _FUNCTION_WORDS for word in words):
        return False
    if passish and len(words) >= 4:
        return all(word.isalpha() and word.islower() for word in words)
    return len(words) <= 3 and any(strong(word) and not _NAME_NUMBER.fullmatch(word) for word in words)


def secret(value: str, style: Style, *, passish: bool, upper: bool = False) -> bool:
    """Say whether this value is a secret, standing where `style` says. `passish`: the name speaks of a password.

    `upper`: the name is an environment variable's. Works on the first 300 characters, in time linear in them.
    """
    low = value.lower()
    if placeholder(value):
        return False
    if style is Style.SLOT:
        return len(value) >= 3 and (
            low not in STOP or low in {"secret", "postgres", "guest", "root", "passw0rd", "abc123"}
        )
    if len(value) < 4 or low in STOP or not any(c.isalnum() for c in value):
        return False
    if _NUMBER.fullmatch(value):
        return passish and style in {Style.QUOTED, Style.ENV} and value.isdigit()
    if _NO_SECRET.fullmatch(value):
        return False
    if " " in value or "\t" in value:
        return style is Style.QUOTED and _phrase(value, passish=passish)
    if len(value) >= 200:
        return True
    if _UUID.fullmatch(value):
        return style in {Style.QUOTED, Style.ENV, Style.LINE} and (passish or upper)
    if _WORDS.fullmatch(value):
        if random_letters(value):
            return True
        plain = "_" not in value and "." not in value and ":" not in value and "/" not in value
        if not (passish and plain and len(value) >= 6) or _flips(value) > 2:
            return False
        return style in {Style.QUOTED, Style.ENV} or (style is Style.LINE and value.islower())
    if not any(c.isdigit() for c in value) and not value.isascii():
        return passish and style is Style.QUOTED and len(value) >= 6 and value.isalnum()
    if _NAME_NUMBER.fullmatch(value):
        if _ALGORITHM.fullmatch(value):
            return False
        if style is Style.CODE:
            return strong(value) and not _IDENTIFIER.fullmatch(value) and len(value) >= 8
        return passish or (len(value) >= 8 and style is not Style.PROSE and strong(value)) or len(value) >= 12
    if style is Style.CODE:
        return len(value) >= 8 and strong(value) and not _IDENTIFIER.fullmatch(value)
    if style is Style.PROSE:
        return strong(value)
    return passish or (len(value) >= 6 and not _IDENTIFIER.fullmatch(value) and not _DOTTED.fullmatch(value))


def filler(token: str) -> bool:
    """Say whether what has a token's shape is a filler (`ghp_xxxxxxxx…`, `sk-your-key-here`)."""
    return set(token[-16:]) <= set("xX*.0-_") or "xxxxx" in token.lower() or token.endswith(("...", "-here"))
