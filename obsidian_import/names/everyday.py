"""How everyday a word is, which language a text is in, and what the stem of a word is.

Commonness is the Zipf scale: log10 of the occurrences per billion words (`the` 7.7, `meeting` 5.2, `gravity`
4.2, `redis` 2.0). The lists are those of wordfreq, read when the first name occurs: importing wordfreq itself
would cost more time than linking a hundred talks, so its data file is read directly where it is found.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from obsidian_import.names.everyday_words import EVERYDAY, FUNCTION, TELLTALE
from obsidian_import.names.surfaces import is_cjk

UNSEEN: Final = 2.0
"""Zipf given to a word no list knows: they end at 3."""
_FLOOR: Final = 5.5
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_KANA: Final = re.compile("[\u3040-\u30ff]")
_HANGUL: Final = re.compile("[\u1100-\u11ff\uac00-\ud7ff]")
_STEMMERS: Final = {
    "en": "english",
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "it": "italian",
    "pt": "portuguese",
    "nl": "dutch",
    "sv": "swedish",
}


def words(text: str) -> list[str]:
    """The words of a text, in order, as written."""
    return _WORD.findall(text)


@lru_cache(maxsize=16)
def _list(language: str) -> dict[str, float]:
    """Word → Zipf of one language; empty where there is no list."""
    try:
        ranks = _packed(language)
    except (OSError, ValueError, ImportError):
        ranks = None
    if ranks is None:
        return _slow(language)
    # Entry n holds the words of -n centibels: 10 ** (-n / 100) of all words.
    return {word: 9 - rank / 100 for rank, held in enumerate(ranks) for word in held}


def _packed(language: str) -> list[list[str]] | None:
    spec = find_spec("wordfreq")
    if spec is None or spec.origin is None:
        return None
    import msgpack  # type: ignore[import-untyped]  # noqa: PLC0415  # only here, and only when a name occurs

    file = Path(spec.origin).parent / "data" / f"small_{language}.msgpack.gz"
    with gzip.open(file, "rb") as stream:
        data = msgpack.load(stream, raw=False)
    if not (isinstance(data, list) and data and isinstance(data[0], dict) and data[0].get("format") == "cB"):
        return None
    return data[1:]


def _slow(language: str) -> dict[str, float]:
    try:
        import wordfreq  # noqa: PLC0415
    except ImportError:
        return {}
    from math import log10  # noqa: PLC0415

    try:
        held = wordfreq.get_frequency_dict(language, "small")
    except LookupError:
        return {}
    return {word: 9 + log10(share) for word, share in held.items()}


def languages(text: str) -> tuple[str, ...]:
    """English always, and any other language whose function words the beginning of the text shows."""
    seen = {word.lower() for word in _WORD.findall(text[:6000])}
    return ("en", *(code for code, marks in TELLTALE.items() if len(seen & marks) >= 6))


@lru_cache(maxsize=65536)
def zipf(word: str, spoken: tuple[str, ...] = ("en",)) -> float:
    """Commonness of one folded word in the languages spoken; the highest counts."""
    if is_cjk(word[:1]):
        if _KANA.search(word):
            spoken = ("ja",)
        elif _HANGUL.search(word):
            spoken = ("ko",)
        else:
            spoken = ("zh",)
        return max((_list(code).get(word, UNSEEN) for code in spoken), default=UNSEEN)
    best = max((_list(code).get(word, UNSEEN) for code in spoken), default=UNSEEN)
    return max(best, _FLOOR) if word in EVERYDAY or word in FUNCTION else best


def commonness(phrase: str, spoken: tuple[str, ...] = ("en",)) -> float:
    """Zipf of a folded phrase: its rarest word, 0.8 less for each further one that says something (`the` does not)."""
    held = words(phrase)
    if not held:
        return 0.0
    if len(held) == 1 and held[0] == phrase:
        return zipf(phrase, spoken)
    if len(held) > 1 and len(content(phrase)) == 1:
        return zipf(content(phrase)[0], spoken)
    held = content(phrase)
    low = min(zipf(word, spoken) for word in held)
    extra = len(held) - 1
    if extra == 0:
        # `C++`, `.NET`, `R&D`: a word with signs of its own is no plain word.
        return max(0.0, min(low, 3.5) - 1.0)
    return max(0.0, low - 0.8 * extra)


def content(phrase: str) -> list[str]:
    """The words of a folded phrase without the function words; all of them where there are no others."""
    held = words(phrase)
    return [word for word in held if word.replace("’", "'") not in FUNCTION] or list(held)


def function_word(phrase: str) -> bool:
    """Whether a folded phrase is made of English function words only."""
    held = words(phrase)
    return bool(held) and all(word.replace("’", "'") in FUNCTION for word in held)


@lru_cache(maxsize=8)
def _stemmer(language: str) -> object:
    import snowballstemmer  # noqa: PLC0415  # suggestion tier only

    return snowballstemmer.stemmer(_STEMMERS[language])


@lru_cache(maxsize=65536)
def stem(word: str, language: str = "en") -> str:
    """The stem of a folded word; the word itself where the language has no stemmer."""
    if language not in _STEMMERS or len(word) < 4:
        return word
    found = _stemmer(language).stemWord(word)  # type: ignore[attr-defined]  # the package carries no types
    return str(found)


def stems(held: Iterable[str], language: str = "en") -> frozenset[str]:
    """The set of stems of folded words."""
    return frozenset(stem(word, language) for word in held)
