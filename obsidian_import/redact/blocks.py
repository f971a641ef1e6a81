"""Secrets of many lines: keys in PEM, Kubernetes Secrets, seed phrases, and what is piped into a command."""

from __future__ import annotations

import re
from typing import Final

from obsidian_import.redact.context import Scan
from obsidian_import.redact.values import Style, secret

# ------------------------------------------------------------------ blocks


_PEM: Final = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_PEM_GAP: Final = r"""(?:[\s>|#*"'+,;.]|\\+[nrt]|\\+["'])"""
_PEM_HEAD: Final = re.compile(
    rf"""(?:{_PEM_GAP}{{0,40}}+(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[ ][^\n\\]{{0,200}})*+"""
)
_PEM_LINE: Final = re.compile(rf"""{_PEM_GAP}{{0,60}}+(?P<b>[A-Za-z0-9+/=]++)""")
_PEM_END: Final = re.compile(rf"""{_PEM_GAP}{{0,60}}+-----END [A-Z0-9 ]{{0,60}}-----""")


def _pem_body(text: str, pos: int) -> int:
    """Where the key material that starts at `pos` stops: line after line, the last may be short."""
    pos = _PEM_HEAD.match(text, pos).end()  # type: ignore[union-attr]
    last = 64
    while True:
        ended = _PEM_END.match(text, pos)
        if ended:
            return ended.end()
        line = _PEM_LINE.match(text, pos)
        size = len(line["b"]) if line else 0
        if (
            not line
            or last < 40
            or (size < 16 and (last < 60 or " " in text[line.start() : line.start("b")].strip("\n\r>|")))
        ):
            return pos
        pos, last = line.end(), size


def pem(scan: Scan, start: int, end: int) -> None:  # noqa: ARG001
    """A private key block, also cut off before its END, or with `\\n` for line ends."""
    if start < scan.read.get("pem", 0):
        return
    found = _PEM.match(scan.text, start)
    if found:
        stop = _pem_body(scan.text, found.end())
        if stop - found.end() >= 16:  # the words alone, as in documentation and code, are no key
            scan.read["pem"] = stop
            scan.add(start, stop, "private-key")


def pem_tail(scan: Scan, start: int, end: int) -> None:  # noqa: ARG001
    """The end of a private key whose beginning was cut away."""
    text = scan.text
    if start < scan.read.get("pem", 0) or not re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY").match(
        text, start
    ):
        return
    pos = start
    floor = max(scan.read.get("pem", 0), start - 16384)
    while pos > floor:
        line = max(text.rfind("\n", max(floor, pos - 130), pos - 1) + 1, pos - 130, floor)
        body = text[line:pos].strip(" \t\r\n>|")
        if not (body and re.fullmatch(r"[A-Za-z0-9+/]{1,}={0,2}", body)) or len(body) > 100:
            break
        pos = line
    scan.read["pem"] = start
    if pos < start:
        scan.add(pos, start, "private-key")


_ENTRY: Final = re.compile(
    r"""^[ \t>]{1,40}["']?[\w.-]{1,128}["']?:[ \t]+(?!\n)(?P<q>["'])?(?P<v>[^\s"'][^\n"']{2,8000})""", re.MULTILINE
)
_DATA: Final = re.compile(r"^(?P<i>[ \t>]*)(?:stringData|data):[ \t]*\r?$", re.MULTILINE)
_DATA_JSON: Final = re.compile(r""""(?:stringData|data)"\s*:\s*\{(?P<b>[^{}]{1,8000})\}""")
_PAIR: Final = re.compile(r""""[^"\n]{1,128}"\s*:\s*"(?P<v>[^"\n]{3,8000})\"""")
_BLOCK_LINE: Final = re.compile(r"(?P<i>[ \t>]*)(?P<r>[^\n]*)(?:\n|\Z)")


def kubernetes(scan: Scan, start: int, end: int) -> None:  # noqa: ARG001
    """Every value under `data:` and `stringData:` of a Kubernetes Secret (YAML or JSON)."""
    text = scan.text
    done = scan.read.get("k8s", 0)
    low = max(done, start - 6000)
    high = min(len(text), start + 20000)
    if high <= done or start < done - 19000:
        return
    scan.read["k8s"] = high
    cut = text.rfind("\n---", low, start)
    low = cut if cut >= 0 else low
    cut = text.find("\n---", start, high)
    high = cut if cut >= 0 else high
    for block in _DATA_JSON.finditer(text, low, high):
        for pair in _PAIR.finditer(text, *block.span("b")):
            scan.add(*pair.span("v"), "kubernetes-secret")
    for block in _DATA.finditer(text, low, high):
        pos = block.end() + 1
        depth = len(block["i"])
        while pos < high:
            line = _BLOCK_LINE.match(text, pos, high)
            if not line or line.end() == pos:
                break
            if line["r"].strip() and len(line["i"]) <= depth:
                break
            value = re.match(r"""(?:["']?[\w./-]{1,128}["']?:[ \t]+)?["']?(?P<v>[^"'\r]{3,})""", line["r"])
            if value and not re.fullmatch(r"[|>][-+]?\s*|.*:\s*", value["v"]):
                at = line.start("r")
                scan.add(at + value.start("v"), at + len(value["v"].rstrip()) + value.start("v"), "kubernetes-secret")
            pos = line.end()


_WORDS12: Final = re.compile(
    r"""(?:[^\n]{0,40}?(?:[:=]|\b(?:is|are|was)\b)|["'`]?[ \t]*$)[\s>"'`*:=]{0,12}(?P<v>(?:(?:\d{1,2}[.)][ ]?)?[a-z]{3,8}[\s,]{1,3}){11,23}(?:\d{1,2}[.)][ ]?)?[a-z]{3,8})(?![\w])""",
    re.MULTILINE,
)


_NO_SEED: Final = frozenset({"the", "and", "for", "are", "that", "was", "has", "its", "but", "not"})


def seed(scan: Scan, start: int, end: int) -> None:  # noqa: ARG001
    """12 to 24 words of a wallet's seed phrase."""
    window = scan.window("seed", end, 600)
    found = _WORDS12.match(scan.text, end, min(len(scan.text), end + 600)) if window else None
    if found is None:
        return
    # The sentence may go on behind the phrase: it ends before the first word that no phrase holds.
    words = list(re.finditer(r"[a-z]{3,8}", found["v"]))
    until = next((n for n, word in enumerate(words) if word[0] in _NO_SEED), len(words))
    if until >= 12:
        scan.add(found.start("v"), found.start("v") + words[until - 1].end(), "seed-phrase")


_PIPED: Final = re.compile(
    r"""(?:echo|printf)[ ]+(?:-\w+[ ]+)*(?:["']%s(?:\\n)?["'][ ]+)?(?P<q>\\?["'])?(?P<v>(?(q)[^"'\n\\]|[^\s"'|\\]){1,300})(?:\\n)?(?(q)\\?["'])[ ]*\|[ ]*(?:sudo[ ]+)?[\w./-]*[^|\n]{0,120}\Z"""
)


def piped(scan: Scan, start: int, end: int) -> None:
    """`echo X | sudo -S`, `echo X | docker login --password-stdin`, `<<< X`."""
    text = scan.text
    low = max(text.rfind("\n", max(0, start - 400), start) + 1, start - 400, 0)
    echo = max(text.rfind("echo ", low, start), text.rfind("printf ", low, start))
    found = _PIPED.match(text, echo, start) if echo >= 0 else None
    if found:
        value = found["v"]
        at = found.start("v")
        if text[start:end].lower() == "chpasswd" and ":" in value:
            at += value.index(":") + 1
        if secret(text[at : found.end("v")], Style.SLOT, passish=True):
            scan.add(at, found.end("v"), "password")
    here = re.compile(r"""[^\n|;]{0,80}<<<[ ]*["']?(?P<v>[^\s"']{3,300})""").match(text, end)
    if here and secret(here["v"], Style.SLOT, passish=True):
        scan.add(*here.span("v"), "password")


def jwk(scan: Scan, start: int, end: int) -> None:  # noqa: ARG001
    """The private members of a JSON Web Key."""
    window = scan.window("jwk", max(scan.read.get("jwk", 0), start - 3000), 8000)
    if window:
        for found in re.compile(r""""(?:d|p|q|dp|dq|qi|k)\\?"\s*:\s*\\?"(?P<v>[\w-]{16,8000})""").finditer(
            scan.text, *window
        ):
            scan.add(*found.span("v"), "private-key")
