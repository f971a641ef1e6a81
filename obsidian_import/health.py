"""`check`: manifest against vault, links against notes, notes against their limits, secrets and active content.

Notes we wrote are looked at, and (read-only) everything else in the chats and logs folders. Nothing here writes;
`mended` makes the plan of `check --repair`, which touches only what we generated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from obsidian_import import inert, redact
from obsidian_import.files import read_regular
from obsidian_import.landing import Lander, Sure, inert_options
from obsidian_import.markdown import places, regions
from obsidian_import.names.addresses import parse_link
from obsidian_import.plan import Plan
from obsidian_import.records import recorded, unlinked
from obsidian_import.redact import MARK, Redactor, Rules
from obsidian_import.relinking import relink
from obsidian_import.world import World

MAX_LINE = 8_000  # characters
MAX_NOTE = 2**20  # bytes

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be."""

    kind: str
    """`manifest`, `link`, `secret`, `active`, `size`, `setting`, `file`."""
    path: str
    what: str
    line: int | None = None
    ours: bool = True
    """Whether the note is one we wrote (then `--repair` may mend it)."""
    level: Level = "error"
    hint: str = ""

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {name: getattr(self, name) for name in self.__slots__}


def check(world: World, rules: Rules) -> list[Finding]:
    """Everything, in the order: sidecar, notes by path, settings."""
    found = list(_sidecar(world))
    states = {p: s for s in world.states() if (p := world.find(s.key, s.part, s.path))}
    for path, state in sorted(states.items()):
        found += _recorded(world, path, state.base)
    folders = (f"{world.config.chats}/", f"{world.config.logs}/")
    for path in sorted(world.snapshot.notes):
        ours = path in states
        if not (ours or path.startswith(folders) or world.snapshot.notes[path].ours):
            continue
        if path in world.snapshot.conflict_copies:
            continue
        try:
            data = read_regular(world.vault / path)
        except OSError as error:
            found.append(Finding("file", path, f"cannot be read: {error.strerror or error}", ours=ours))
            continue
        if data is not None:
            found += look_at(path, data, rules, ours=ours)
            found += _links(world, path, data.decode("utf-8", "replace"), ours=ours)
    return found + list(settings(world.vault))


# ------------------------------------------------------------------ one note


def look_at(path: str, data: bytes, rules: Rules, *, ours: bool) -> Iterator[Finding]:
    """Secrets, active content, limits of one note. Pure."""
    if len(data) > MAX_NOTE:
        yield Finding("size", path, f"{len(data):,} bytes; Obsidian's index gets slow beyond {MAX_NOTE:,}", ours=ours)
    text = data.decode("utf-8", "replace")
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_LINE:
            yield Finding("size", path, f"a line of {len(line):,} characters", line=number, ours=ours)
    if "\0" in text:
        yield Finding("size", path, "a NUL byte", line=text[: text.index("\0")].count("\n") + 1, ours=ours)
    for hit in redact.find(text, rules):
        number = text.count("\n", 0, hit.start) + 1
        yield Finding("secret", path, f"looks like a secret ({hit.kind})", line=number, ours=ours)
    for one in inert.active(text):
        yield Finding("active", path, one.kind, line=one.line, ours=ours)


def _links(world: World, path: str, text: str, *, ours: bool) -> Iterator[Finding]:
    """Wikilinks and embeds of a note that lead nowhere."""
    index = world.lexicon.index
    for start, end in regions(text):
        body = text[start:end]
        if "[[" not in body:
            continue
        for span in places(body).spans:
            if span.kind not in ("wikilink", "embed"):
                continue
            written = body[span.start : span.end]
            link = parse_link(written.removeprefix("!"))
            if link is None or not (name := link[0].split("#", 1)[0].strip()):
                continue
            if not index.candidates(name, path):
                number = text.count("\n", 0, start + span.start) + 1
                yield Finding("link", path, f"{written[:80]} leads to no note", line=number, ours=ours, level="warning")


# ------------------------------------------------------------------ the sidecar


def _sidecar(world: World) -> Iterator[Finding]:
    for name, number in world.manifest.damaged:
        yield Finding("manifest", f".obsidian-import/manifest/{name}", "a damaged record", line=number)
    for run, entry in world.manifest.unsettled():
        yield Finding(
            "manifest",
            entry.path or run.id,
            f"run {run.id} was killed before it said how this ended",
            hint="the next import, undo or relink settles it",
        )


def _recorded(world: World, path: str, base: str | None) -> Iterator[Finding]:
    state = next(s for s in world.states() if s.base == base and world.find(s.key, s.part, s.path) == path)
    if world.texts.get(base or "") is None:
        yield Finding(
            "manifest", path, "the text we generated is lost from the sidecar: edits cannot be merged any more"
        )
        return
    text = unlinked(world.texts, state)
    if text is None:
        yield Finding("manifest", path, "the recorded links do not fit the recorded text")
        return
    gone = {link.target for link in recorded(state) if link.target not in world.snapshot.files}
    actual = read_regular(world.vault / path)
    shown = actual.decode("utf-8", "replace") if actual else ""
    for link in recorded(state):
        if link.target in gone and link.edit.new in shown:
            yield Finding(
                "link",
                path,
                f"our link {link.edit.new} leads to {link.target}, which is gone",
                line=link.line,
                hint="`obsidian-import relink` takes it out or mends it",
            )


# ------------------------------------------------------------------ the vault's own settings


def settings(vault: Path) -> Iterator[Finding]:
    """Plugins whose settings make any imported text dangerous."""
    plugins = vault / ".obsidian" / "plugins"
    enabled = _json(vault / ".obsidian" / "community-plugins.json")
    on = [p for p in enabled if isinstance(p, str)] if isinstance(enabled, list) else []

    def data(plugin: str) -> dict[str, Any]:
        value = _json(plugins / plugin / "data.json")
        return value if isinstance(value, dict) else {}

    if "templater-obsidian" in on and data("templater-obsidian").get("trigger_on_file_creation"):
        yield Finding(
            "setting",
            ".obsidian/plugins/templater-obsidian",
            "Templater runs commands in every new file; what we write is inert, other imports are not",
            level="warning",
            hint="switch off “Trigger Templater on new file creation”, or add the chats folder to its ignored folders",
        )
    if "dataview" in on:
        dataview = data("dataview")
        for setting, words in (
            ("enableDataviewJs", "Dataview runs JavaScript blocks"),
            ("enableInlineDataviewJs", "Dataview runs inline JavaScript, also in code"),
        ):
            if dataview.get(setting):
                yield Finding(
                    "setting",
                    ".obsidian/plugins/dataview",
                    f"{words}; what we write is inert, text pasted by hand is not",
                    level="warning",
                    hint=f"switch {setting} off unless you need it",
                )
    if "obsidian-execute-code" in on:
        yield Finding(
            "setting",
            ".obsidian/plugins/obsidian-execute-code",
            "Execute Code can run code blocks of any note",
            level="warning",
        )


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


# ------------------------------------------------------------------ repair


def mended(world: World, rules: Rules, findings: list[Finding]) -> Plan:
    """The plan that mends what is ours: secrets and active content in the text we generated, links that lead nowhere."""
    bad = {f.path for f in findings if f.ours and f.kind in ("secret", "active", "link")}
    options = inert_options(world.config)

    def mend(text: str) -> str:
        highest = max((int(mark.rpartition(":")[2][:-1]) for mark in MARK.findall(text)), default=0)
        clean = Redactor(rules, after=highest).redact(text)
        return _inert_again(clean, options) if inert.active(clean) else clean

    return relink(world, Lander(world, Sure(world)), bad, command="check", mend=mend)


def _inert_again(text: str, options: inert.Options) -> str:
    """Today's rules over the chat text of a note that older rules made: back to what was said, and inert anew."""
    for start, end in reversed(regions(text)):
        text = text[:start] + inert.prose(inert.restore(text[start:end]), options).text + text[end:]
    return text
