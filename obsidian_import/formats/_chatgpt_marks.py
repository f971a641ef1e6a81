"""ChatGPT's citation marks in an answer → links, titles or nothing.

New marks stand between private-use characters (U+E200 kind U+E202 reference … U+E201), old ones look like
`【11†source】`; where each leads stands in the message's metadata. What cannot be resolved is removed: it says nothing.
"""

from __future__ import annotations

import re
from typing import Any, Final

from obsidian_import import jsonl
from obsidian_import.formats._exports import first, items, line, link, record, text

_MARK: Final = re.compile("\ue200([a-z_]{0,40})([^\ue200\ue201]{0,20000})\ue201")
_OPEN: Final = re.compile("\ue200[a-z_]{0,40}(?:\ue202(?:turn\\d+[a-z_]*\\d*)?)+")
"""A mark that the answer was cut off in."""
_STRAY: Final = re.compile("[\ue200-\ue206]")
_OLD: Final = re.compile(r"【\d{1,5}(?::\d{1,5})?†[^】\n]{0,300}】")
_HTTP: Final = re.compile(r"https?://[^\s<>\ue200-\ue206]{1,2000}\Z")
_NAMED: Final = frozenset({"entity", "url", "product_entity", "map", "link_title"})
"""Kinds of mark that stand for words of the answer: removed whole, a sentence would lose its subject."""


def resolve(words: str, metadata: dict[str, Any]) -> str:
    """The words of an answer with its marks resolved or removed. A person's own words are never passed here."""
    if "\ue200" in words:
        known = {
            matched: given
            for one in items(metadata.get("content_references"))
            if "\ue200" in (matched := text((given := record(one)).get("matched_text")))
        }
        words = _MARK.sub(lambda found: _shown(found, known), words)
        words = _OPEN.sub("", words)
    words = _STRAY.sub("", words)
    if "†" in words and "【" in words:
        words = _old(words, metadata)
    return words


def _shown(found: re.Match[str], known: dict[str, dict[str, Any]]) -> str:
    given = known.get(found[0], {})
    alt = _STRAY.sub("", text(given.get("alt")))
    if alt.strip():
        return alt
    links: dict[str, str] = {}
    for one in (given, *items(given.get("items")), *items(given.get("sources"))):
        _gather(record(one), links)
    if found[1] in _NAMED:
        return _name(found, given, links)
    if links:
        return _apart(found, f"({', '.join(link(title, url) for url, title in links.items())})")
    named = first((line(given.get("title"), 120), line(given.get("name"), 120)))
    return _apart(found, f"({named})") if named else ""


def _apart(found: re.Match[str], shown: str) -> str:
    """With a space before it, unless there is one."""
    return shown if found.string[max(0, found.start() - 1) : found.start()].isspace() else f" {shown}"


def _gather(given: dict[str, Any], links: dict[str, str]) -> None:
    url = text(given.get("url"))
    if _HTTP.match(url) and url not in links and len(links) < 20:
        links[url] = first((line(given.get("title"), 120), line(given.get("attribution"), 80), _host(url)))
    for one in items(given.get("supporting_websites")):
        inner = text(record(one).get("url"))
        if _HTTP.match(inner) and len(links) < 20:
            links.setdefault(inner, line(record(one).get("title"), 120) or _host(inner))


def _name(found: re.Match[str], given: dict[str, Any], links: dict[str, str]) -> str:
    """What an entity or a named link is called in the answer."""
    parts = [part for part in found[2].split("\ue202") if part]
    name = first((line(given.get("name"), 200), line(given.get("title"), 200)))
    for part in parts:
        if name:
            break
        if part.lstrip()[:1] in ("[", "{"):
            try:
                value = jsonl.decode(part.encode("utf-8", "replace"))
            except ValueError:
                continue
            if isinstance(value, list):
                name = first(line(one, 200) for one in value[1:])
            else:
                name = first((line(record(value).get("name"), 200), line(record(value).get("title"), 200)))
        elif not re.fullmatch(r"turn\d+[a-z_]+\d+", part):
            name = line(part, 200)
    url = next(iter(links), "")
    return link(name or links[url], url) if url else name


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].removeprefix("www.")


def _old(words: str, metadata: dict[str, Any]) -> str:
    """Old marks, each by its place in the text, else by its order among equal ones."""
    places: dict[tuple[int, int], str] = {}
    for one in items(metadata.get("citations")):
        given = record(one)
        start, end = given.get("start_ix"), given.get("end_ix")
        about = record(given.get("metadata"))
        url = text(about.get("url"))
        title = first((line(about.get("title"), 120), line(about.get("name"), 120)))
        shown = link(title or _host(url), url) if _HTTP.match(url) else title
        if type(start) is int and type(end) is int and shown:
            places[start, end] = f"({shown})"

    def put(found: re.Match[str]) -> str:
        exact = places.get((found.start(), found.end()))
        shown = exact or next((one for (start, _), one in places.items() if start == found.start()), "")
        return _apart(found, shown) if shown else ""

    return _OLD.sub(put, words)
