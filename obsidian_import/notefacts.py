"""What one note says about names: aliases, identity, links a person made, switches. Pure text in, JSON out.

The frontmatter is scanned, not parsed: a few keys of ten thousand notes, templated and broken YAML included.
"""

from __future__ import annotations

import re
from typing import Final, NotRequired, TypedDict

from obsidian_import.names.addresses import parse_link

VERSION: Final = 3
"""Part of every cache's name: facts of another version are made anew."""


class Facts(TypedDict):
    """JSON-able; absent keys mean empty."""

    aliases: NotRequired[list[str]]
    import_id: NotRequired[str]
    session_id: NotRequired[str]
    type: NotRequired[str]
    part: NotRequired[str]
    links: NotRequired[list[list[str]]]
    """[target, display text] of every link a person made in prose, in order."""
    off: NotRequired[list[str]]
    """Names this note does not want linked in it; `*` = none at all."""
    no_target: NotRequired[bool]
    """The note does not want to be linked to."""
    whole: NotRequired[str]
    """A plug-in owns the whole file: `excalidraw`, `kanban`."""


_BLOCK: Final = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)(?:^|(?<=\n))(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_KEY: Final = re.compile(
    r"^(alias(?:es)?|import_id|session_id|type|part|tags?|no-?links?|links-?off|automatic-linker-(?:disabled|exclude)"
    r"|linker-exclude|excalidraw-plugin|kanban-plugin)[ \t]*:[ \t]*(.*(?:\r?\n(?:[ \t]+.*|-[ \t].*|-|[ \t]*))*)",
    re.MULTILINE | re.IGNORECASE,
)
_HINT: Final = re.compile(
    r"^(?:alias|import_id|session_id|type|part|tag|no-?link|links-?off|auto|linker|excali|kanban)",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM: Final = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^,\[\]\s\"'][^,\[\]]*")
_TEMPLATED: Final = re.compile(r"\{\{|<%|\$\{")
# What is no prose, cheaply: fences, inline code, comments, headings; enough to count by, not to edit by.
_ASIDE: Final = re.compile(
    r"^[ \t>]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t>]*\1[`~]*[ \t]*$|\Z)|(?<!`)(`+)(?!`)[^\n]*?(?<!`)\2(?!`)|%%.*?%%|<!--.*?-->"
    r"|^#{1,6}[ \t][^\n]*$|\$\$.*?\$\$",
    re.DOTALL | re.MULTILINE,
)
_LINK: Final = re.compile(
    r"(!?)(\[\[[^\[\]\n]+\]\]|\[(?:[^\[\]\n]|\\.)*\]\((?:<[^<>\n]*>|[^()\s]*)(?:[ \t]+\"[^\"\n]*\")?\))|[a-z]+://[^\s<>]+"
)


def frontmatter(text: str) -> tuple[str, int]:
    """The YAML between the `---` lines and the offset behind them; ("", 0) where there is none."""
    if not text.startswith(("---", "\ufeff---")):
        return "", 0
    found = _BLOCK.match(text)
    return (found[1], found.end()) if found else ("", 0)


def facts(text: str) -> Facts:
    """The facts of a whole note. Any text will do; nothing is raised."""
    yaml, start = frontmatter(text)
    out = head(yaml)
    if "import_id" not in out and "whole" not in out and ("[[" in text or "](" in text):
        links = prose(text[start:])[1]
        if links:
            out["links"] = links
    return out


def head(yaml: str) -> Facts:
    """The facts that the frontmatter alone tells."""
    out: Facts = {}
    if not yaml or not _HINT.search(yaml):
        return out
    for found in _KEY.finditer(yaml):
        name = found[1].lower()
        value = found[2].rstrip()
        if name.startswith("alias"):
            held = [item for item in values(value) if not _TEMPLATED.search(item)]
            if held:
                out["aliases"] = list(dict.fromkeys(out.get("aliases", []) + held))
        elif name in ("import_id", "session_id", "type", "part"):
            held = values(value)
            if len(held) == 1:
                out[name] = held[0]  # type: ignore[literal-required]  # one of the four keys above
        elif name.startswith("tag"):
            if any(tag.lstrip("#").casefold() == "linker-exclude" for tag in values(value)):
                out["no_target"] = True
        elif name in ("excalidraw-plugin", "kanban-plugin"):
            out["whole"] = name.split("-")[0]
        elif name in ("automatic-linker-exclude", "linker-exclude"):
            if _true(value):
                out["no_target"] = True
        elif _true(value):
            out["off"] = ["*"]
        elif not _false(value) and name.startswith(("no", "links")):
            out["off"] = out.get("off", []) + values(value)
    return out


def _true(value: str) -> bool:
    return value.strip().strip("\"'").casefold() in ("true", "yes", "on", "*", "all")


def _false(value: str) -> bool:
    return value.strip().strip("\"'").casefold() in ("", "false", "no", "off", "null", "~")


def values(value: str) -> list[str]:
    """The strings of a YAML value: a scalar, `[a, "b, c"]` over one or more lines, or `- item` lines."""
    first, _, rest = value.partition("\n")
    first = first.strip()
    out: list[str]
    if first.startswith("["):
        inner = value.strip()[1:]
        close = inner.rfind("]")
        out = [_unquote(m[0]) for m in _ITEM.finditer(inner[:close] if close >= 0 else inner)]
    elif first and not first.startswith(("#", "|", ">", "&", "!")):
        out = [_unquote(first)]
    elif first.startswith(("|", ">")):
        out = [" ".join(rest.split())]
    else:
        out = []
        for line in rest.splitlines():
            stripped = line.strip()
            if stripped.startswith("- "):
                out.append(_unquote(stripped[2:]))
    return [item for item in out if item and item != "~" and item.casefold() != "null"]


def _unquote(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'").strip()
    if text[:1] == '"':
        end = text.rfind('"')
        if end > 0:
            return text[1:end].replace('\\"', '"').replace("\\\\", "\\").strip()
    cut = text.find(" #")
    return text[:cut].strip() if cut >= 0 else text


def prose(body: str) -> tuple[str, list[list[str]]]:
    """The words of a body without code, comments, headings and addresses, and its links [target, display text].

    Links stay in the words by what they show, so that a phrase counts where it is a link, too.
    """
    if "`" in body or "#" in body or "%%" in body or "<!--" in body or "~~~" in body or "$$" in body:
        body = _ASIDE.sub(" ", body)
    links: list[list[str]] = []

    def shown(found: re.Match[str]) -> str:
        if found[2] is None or found[1]:
            return " "
        link = parse_link(found[2])
        if link is None:
            return " "
        links.append([link[0], link[1]])
        # A link is a place of its own: what follows it (`[[dog]]s`) is not part of the phrase.
        return f" {link[1]} "

    if "[" in body or "://" in body:
        body = _LINK.sub(shown, body)
    return body, links
