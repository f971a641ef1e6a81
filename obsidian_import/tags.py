"""TAG: what people and the assistant said → tags, each with the keyword that gave it.

One pass over the text, whatever the number of keys. One mention is enough: a tag says "this was spoken of", not "this
is what it was about". A key matches at the start of a word, a short or everyday one as a whole word only; letters of
scripts without spaces between words (Chinese, Japanese, …) are no part of a Latin word they touch.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, cast

import ahocorasick_rs

from obsidian_import import keywords

_ILLEGAL = re.compile("[\\s\u2000-\u206f\u2e00-\u2e7f!\"#$%&'()*+,.:;<=>?@\\[\\\\\\]^`{|}~]+")


_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co"})


class _Automaton(Protocol):
    def find_matches_as_indexes(self, haystack: bytes, *, overlapping: bool = False) -> list[tuple[int, int, int]]: ...


@dataclass(frozen=True, slots=True)
class _Key:
    word: str
    tag: str
    whole: bool
    exact: bytes
    """The only spelling that counts; empty where case does not matter."""
    never: tuple[bytes, ...]
    """Beginnings that are something else."""


@dataclass(frozen=True, slots=True)
class Keymap:
    """A compiled map. Made once per run by `keymap`; `keys` is what a person may read."""

    keys: Mapping[str, str]
    """Keyword → tag."""
    short: frozenset[str]
    """Keywords that match as whole words only."""
    _forms: tuple[_Key, ...]
    """By number of pattern in the automaton."""
    _names: tuple[str, ...]
    """Their tags."""
    _opens: bytes
    """1 where the pattern begins with an ASCII letter, digit or `_`."""
    _automaton: _Automaton
    _tags: int


def legal(tag: str) -> str:
    """`tag` as Obsidian accepts it, or empty: no sign, no space, not digits alone."""
    text = "".join(c for c in tag if c == "\u200d" or c.isspace() or unicodedata.category(c) not in _UNSEEN)
    text = _ILLEGAL.sub("-", unicodedata.normalize("NFC", text).strip().lstrip("#"))
    text = re.sub(r"/{2,}", "/", re.sub(r"-{2,}", "-", text)).strip("-/")
    return "" if not text or all(c.isdigit() or c in "-/_" for c in text) else text


@lru_cache(maxsize=1)
def _built_in() -> tuple[dict[str, str], frozenset[str], dict[str, tuple[str, ...]]]:
    keys: dict[str, str] = {}
    for line in keywords.TAGS.strip().split("\n"):
        tag, _, words = line.partition(":")
        for word in words.split("|"):
            keys.setdefault(word.strip(), tag.strip())
    never = {
        key.strip(): tuple(word.strip() for word in words.split("|"))
        for key, _, words in (line.partition(":") for line in keywords.NOT.strip().split("\n"))
    }
    return keys, frozenset(keywords.SHORT.split()), never


def keymap(config_keywords: Mapping[str, str | None] | None = None, short: Iterable[str] = ()) -> Keymap:
    """The built-in map as changed by a person: a key adds or overrides, `None` removes, `short` keys are whole words.

    A person's own key of up to three characters is a whole word without being in `short`. A tag that Obsidian would
    not take is made legal (`my tag` → `my-tag`); a key without a letter or digit, or whose tag has none, is left out.
    """
    built_in, built_in_short, never = _built_in()
    keys = dict(built_in)
    whole = set(built_in_short) | {_key(word) for word in short}
    mine: set[str] = set()
    for raw, tag in (config_keywords or {}).items():
        word = _key(str(raw))
        if tag is None:
            keys.pop(word, None)
            continue
        name = legal(str(tag))
        if not name or not any(c.isalnum() for c in word):
            continue
        keys[word] = name
        mine.add(word)
        if len(word) <= 3 and word.isascii():
            whole.add(word)
    forms = {
        form: _Key(
            word,
            tag,
            word in whole,
            b"" if word in mine else keywords.CASED.get(word, "").encode(),
            () if word in mine else tuple(other.encode() for other in never.get(word, ())),
        )
        for word, tag in keys.items()
        for form in _forms(word)
    }
    automaton = ahocorasick_rs.BytesAhoCorasick(
        list(forms), matchkind=ahocorasick_rs.MatchKind.Standard, implementation=ahocorasick_rs.Implementation.DFA
    )
    return Keymap(
        keys=keys,
        short=frozenset(whole & set(keys)),
        _forms=tuple(forms.values()),
        _names=tuple(key.tag for key in forms.values()),
        _opens=bytes(_LATIN[form[0]] for form in forms),
        _automaton=cast("_Automaton", automaton),
        _tags=len(set(keys.values())),
    )


def _key(word: str) -> str:
    return " ".join(unicodedata.normalize("NFC", word).lower().encode("utf-8", "replace").decode().split())


def _forms(word: str) -> set[bytes]:
    """How a key may stand in a text of which only the ASCII letters were lowered."""
    if word.isascii():
        return {word.encode()}
    written = {word, word.upper(), word.title(), word.capitalize()}
    return {unicodedata.normalize(form, one).encode().lower() for one in written for form in ("NFC", "NFD")}


def tag(texts: Iterable[str], keymap: Keymap) -> dict[str, str]:
    """Each tag with the keyword that gave it first, in order of first appearance. Stops when every tag was found."""
    found: dict[str, str] = {}
    keys = keymap._forms  # noqa: SLF001 - the two halves of one module
    names, opens = keymap._names, keymap._opens  # noqa: SLF001
    search = keymap._automaton.find_matches_as_indexes  # noqa: SLF001
    for text in _batches(texts):
        written = text.encode("utf-8", "replace")
        data = written.lower()
        for number, start, end in search(data, overlapping=True):
            if names[number] not in found:
                # most matches stand inside a longer word: the tables settle those without a call
                if start and opens[number] and _LATIN[data[start - 1]]:
                    continue
                key = keys[number]
                if _stands(key, data, start, end) and (not key.exact or _cased(key.exact, written, start)):
                    found[key.tag] = key.word
        if len(found) == keymap._tags:  # noqa: SLF001
            break
    return found


_LATIN = bytes(byte < 0x80 and (chr(byte).isalnum() or byte == 0x5F) for byte in range(256))
"""1 for the bytes of ASCII letters, digits and `_`."""


def _batches(texts: Iterable[str]) -> Iterator[str]:
    """Many small texts as few larger ones: a pass has a price of its own."""
    batch: list[str] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size >= 65536:
            yield "\n".join(batch)
            batch, size = [], 0
    if batch:
        yield "\n".join(batch)


def _stands(key: _Key, data: bytes, start: int, end: int) -> bool:
    """Whether the key stands at a word's start (and end), and is not the beginning of what it must not be taken for."""
    if start and _joined(data[start - 1], data[max(0, start - 4) : start], data[start : start + 4], before=True):
        return False
    after = end < len(data) and key.whole
    if after and _joined(data[end], data[end : end + 4], data[max(0, end - 4) : end], before=False):
        return False
    return not (key.never and data.startswith(key.never, start))


def _joined(byte: int, outside: bytes, inside: bytes, *, before: bool) -> bool:
    """Whether a character belongs to the same word as the key's character beside it (each in up to four bytes)."""
    if byte < 0x80 and inside[0 if before else -1] < 0x80:
        return bool(_LATIN[byte] and _LATIN[inside[0 if before else -1]])
    outer = outside.decode("utf-8", "ignore")[-1 if before else 0]
    inner = inside.decode("utf-8", "ignore")[0 if before else -1]
    if unicodedata.category(outer)[0] == "M":
        return True
    if _spaceless(outer) or _spaceless(inner):
        return False
    return (outer.isalnum() or outer == "_") and (inner.isalnum() or inner == "_")


def _spaceless(char: str) -> bool:
    """Scripts that put no space between words, or none before a particle: they end no Latin word and start none."""
    code = ord(char)
    return (
        0x2E80 <= code <= 0x9FFF
        or 0xAC00 <= code <= 0xD7AF
        or 0xF900 <= code <= 0xFAFF
        or 0x0E00 <= code <= 0x0EFF
        or 0x1000 <= code <= 0x109F
        or 0x1780 <= code <= 0x17FF
        or 0xFF00 <= code <= 0xFFEF
        or 0x20000 <= code <= 0x3FFFF
    )


_STARTS = b".!?:;\n*_#>-\"'(|"


def _cased(exact: bytes, written: bytes, start: int) -> bool:
    """`REST` anywhere; `Go` not as the first word of a sentence, a line or a quote, where every word has a capital."""
    if written[start : start + len(exact)] != exact:
        return False
    if exact.isupper():
        return True
    before = written[max(0, start - 40) : start].rstrip(b" \t")
    return bool(before) and before[-1] not in _STARTS and before[-1] < 0x80
