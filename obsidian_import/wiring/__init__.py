"""Into Claude Code and back out: hooks, skills, CLAUDE.md blocks, the two configuration files. A plan, then its writing.

`setup` makes a `Wiring`: for each file what is there, what is to be there, and why. It is shown first and carried out
as it was shown. What was there before is recorded in the user's data folder, so that `setup --remove` gives every file
back byte for byte; of a file that a person has changed since, only our own entries are taken out.

These files are settings, not notes: they have their own way back (`--remove`) and are no part of the vault's runs, so a
bare `undo` never pulls the hook out. The two that lie in the vault are written by the rules of `apply`'s ground: never
through a link, never outside.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import obsidian_import
from obsidian_import import config, files
from obsidian_import.errors import UserError
from obsidian_import.retention import config_dir
from obsidian_import.wiring import handlers
from obsidian_import.wiring.wired import BEGIN, BLOCK, END, Piece, Record, Wiring, bytes_of, encoded, text_of, way_back

SKILLS = ("save", "pickup")
_OWNER = re.compile(r"^  owner: obsidian-import\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Wish:
    """What `setup` was asked for."""

    vault: Path
    project: Path | None = None
    hook: bool = True
    skills: bool = True
    claude_md: bool = True
    checkpoint: bool | None = None
    python: str = sys.executable
    windows: bool = os.name == "nt"


# ------------------------------------------------------------------ in


def setup(wish: Wish) -> Wiring:
    """The plan that wires everything in. Reads only; UserError for a file that cannot be understood."""
    record = Record.load()
    wiring = Wiring()
    wiring.pieces.append(_user_config(wish.vault))
    wiring.pieces.append(_vault_config(wish, wiring))
    if wish.hook:
        _hooks(wish, wiring)
    names = _skills(wish, wiring, record)
    if wish.claude_md:
        held = config.load(wish.vault)
        words = {"chats": held.chats, "logs": held.logs, **names}
        wiring.pieces.append(_block(wish.vault / "CLAUDE.md", "CLAUDE.vault.md", words, record, vault=wish.vault))
        if wish.project:
            nested = wish.project / ".claude" / "CLAUDE.md"
            plain = wish.project / "CLAUDE.md"
            target = nested if nested.is_file() and not plain.exists() else plain
            if target != wish.vault / "CLAUDE.md":
                wiring.pieces.append(_block(target, "CLAUDE.project.md", words, record))
    return wiring


def _user_config(vault: Path) -> Piece:
    path = config.user_config_path()
    before = bytes_of(path)
    text = text_of(before, path)
    line = f"vault: {json.dumps(str(vault), ensure_ascii=False)}"
    held = config._load_yaml(text, str(path)).get("vault") if text.strip() else None  # noqa: SLF001 (one YAML reader)
    what = "which vault is meant, for every command"
    if isinstance(held, str) and Path(held).expanduser() == vault:
        return Piece(path, before, before, what)
    newline = "\r\n" if "\r\n" in text else "\n"
    if re.search(r"^vault:[^\r\n]*", text, re.MULTILINE):
        after = re.sub(r"^vault:[^\r\n]*", lambda _: line, text, count=1, flags=re.MULTILINE)
        return Piece(path, before, after.encode(), what, f"it named {held}" if held else "")
    gap = newline if text and not text.endswith("\n") else ""
    return Piece(path, before, f"{text}{gap}{line}{newline}".encode(), what)


def _vault_config(wish: Wish, wiring: Wiring) -> Piece:
    vault = wish.vault
    path = vault / config.SIDECAR / "config.yaml"
    before = bytes_of(path)
    what = "how this vault wants its chats (every key with its default)"
    # CLAUDE.md is a note to Obsidian: left alone, each "Claude" in a chat would become a link to it.
    named = wish.claude_md and not any(
        p.stem.casefold() == "claude" and p.name != "CLAUDE.md" for p in vault.glob("*.md")
    )
    if before is not None:
        held = config.load(vault).links.ignore
        if named and "claude" not in {i.strip().casefold() for i in held}:
            wiring.notices.append(
                "CLAUDE.md is a note too: `obsidian-import unlink CLAUDE` keeps the word Claude from becoming a link to it"
            )
        return Piece(path, before, before, what, vault=vault)
    zone, why = machine_zone(), ""
    if zone != "UTC" and any((vault / config.SIDECAR / "manifest").glob("*.jsonl")):
        why = f"the notes that are here were written in UTC, so it stays UTC (this machine: {zone})"
        zone = "UTC"
    after = config.DEFAULT_YAML.format(timezone=zone)
    if named:
        after = after.replace("  ignore: []      ", "  ignore: [CLAUDE]", 1)
    return Piece(path, before, after.encode(), what, why, vault=vault)


def machine_zone() -> str:
    """The time zone of this machine by its IANA name; UTC where it cannot be told."""
    names = [os.environ.get("TZ", "").removeprefix(":")]
    try:
        names.append(Path("/etc/timezone").read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError):
        pass
    names.append(os.path.realpath("/etc/localtime").partition("zoneinfo/")[2])
    for name in names:
        if name and re.fullmatch(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*", name):
            try:
                config.parse(f"timezone: {json.dumps(name)}")
            except UserError:
                continue
            return "UTC" if name in ("Etc/UTC", "Etc/UCT", "UCT", "Zulu") else name
    return "UTC"


def _hooks(wish: Wish, wiring: Wiring) -> None:
    path = config_dir() / "settings.json"
    before = bytes_of(path)
    text = text_of(before, path)
    caller = handlers.Caller(wish.python, str(shipped("hooks") / handlers.SCRIPT), str(wish.vault), wish.windows)
    after = handlers.with_handlers(text, str(path), caller, checkpoint=wish.checkpoint)
    value = json.loads(after.removeprefix("\ufeff"))
    plugins = value.get("enabledPlugins")
    twice = isinstance(plugins, dict) and any(str(k).startswith("obsidian-import@") and v for k, v in plugins.items())
    what = "SessionEnd: write the session's log · SessionStart: logs of sessions that were killed"
    if "checkpoint" in handlers.installed(value):
        what += " · Stop, PreCompact: checkpoints · SessionStart(compact): the brief"
    if twice:
        why = "the plugin obsidian-import is enabled and has these hooks already"
        wiring.pieces.append(Piece(path, before, before, what, why, left=True))
        return
    wiring.pieces.append(Piece(path, before, before if after == text else after.encode(), what))
    if value.get("disableAllHooks"):
        wiring.notices.append(f"{path} has disableAllHooks: no hook runs while it is set")
    if re.search(r"[/\\](?:\.cache|cache)[/\\]uv[/\\]|[/\\]archive-v\d", wish.python):
        wiring.notices.append(
            f"{wish.python} is uvx's cache and may vanish: install obsidian-import (pipx, uv tool install), then run setup"
        )


def hook_installed(folder: Path | None = None) -> bool:
    """Whether our SessionEnd handler stands in the user's settings: then `import` may sweep for logs too."""
    try:
        text = ((folder or config_dir()) / "settings.json").read_text(encoding="utf-8-sig")
        return "end" in handlers.installed(json.loads(text))
    except (OSError, ValueError, RecursionError):
        return False


# ------------------------------------------------------------------ skills


def _skills(wish: Wish, wiring: Wiring, record: Record) -> dict[str, str]:
    """Pieces for the skills, and under which names they are to be called."""
    names: dict[str, str] = {}
    for name in SKILLS:
        names[name] = name
        if not wish.skills:
            continue
        text = (shipped("claude-md") / f"{name}.md").read_text(encoding="utf-8")
        what = f"the skill /{name}"
        taken = next((p for p in _others(name, wish.project) if p), None)
        if taken:
            names[name] = f"vault-{name}"
            what = f"the skill /vault-{name} (you have a {name} of your own, which stays: {taken})"
            text = text.replace(f"\nname: {name}\n", f"\nname: vault-{name}\n", 1)
            text = text.replace(f"says /{name},", f"says /vault-{name},", 1)
        path = config_dir() / "skills" / names[name] / "SKILL.md"
        before = bytes_of(path)
        after = text.encode()
        left = False
        why = ""
        if before is not None and before != after:
            known = record.get(path)
            if not _OWNER.search(before.decode("utf-8", "replace")):
                left, why = True, "a skill of yours has that name too; it stays, and ours is not installed"
            elif known is None or known.get("after") != files.digest(before):
                left, why = True, "you edited it; delete the file and run setup again to have the new one"
        wiring.pieces.append(Piece(path, before, before if left else after, what, why, left=left))
    return names


def _others(name: str, project: Path | None) -> list[Path | None]:
    """A person's own skills and commands of this name, which ours would hide or be hidden by."""
    found: list[Path | None] = []
    for top in (config_dir(), *([project / ".claude"] if project else [])):
        skill, command = top / "skills" / name / "SKILL.md", top / "commands" / f"{name}.md"
        data = bytes_of(skill)
        found.append(skill if data is not None and not _OWNER.search(data.decode("utf-8", "replace")) else None)
        if data is None and (skill.parent.is_symlink() or (skill.parent.is_dir() and any(skill.parent.iterdir()))):
            found.append(skill.parent)
        found.append(command if command.is_file() else None)
    return found


# ------------------------------------------------------------------ CLAUDE.md


def _block(path: Path, template: str, words: Mapping[str, str], record: Record, *, vault: Path | None = None) -> Piece:
    """The file with our block at its end, or in the place where a person moved it."""
    what = "what Claude should know about logs and decisions, between two markers"
    before = bytes_of(path)
    text = text_of(before, path)
    block = (shipped("claude-md") / template).read_text(encoding="utf-8").strip("\n").format_map(dict(words))
    lines = tuple(block.split("\n"))
    newline = "\r\n" if "\r\n" in text else "\n"
    if vault is not None and path.is_symlink():
        return Piece(
            path,
            before,
            before,
            what,
            "it is a symbolic link, and nothing in a vault is written through one",
            vault,
            left=True,
        )
    if text.count(BEGIN) != text.count(END) or text.count(BEGIN) > 1:
        why = "its obsidian-import markers are not one begin and one end: mend or delete them"
        return Piece(path, before, before, what, why, vault, left=True)
    found = BLOCK.search(text)
    if found is None:
        gap = "" if not text else newline if text.endswith("\n") else newline * 2
        after = f"{text}{gap}{newline.join(lines)}{newline}"
    else:
        stands = tuple(found[0].replace("\r\n", "\n").split("\n"))
        known = record.get(path)
        if stands != lines and not (known and tuple(known.get("ours", ())) == stands):
            why = "you edited the block; delete it and run setup again to have the new one"
            return Piece(path, before, before, what, why, vault, left=True)
        after = text[: found.start()] + newline.join(lines) + text[found.end() :]
    return Piece(path, before, encoded(after, before), what, vault=vault, ours=lines)


# ------------------------------------------------------------------ out


def remove() -> Wiring:
    """The plan that takes everything out again: what was recorded, and what of ours stands in the usual places."""
    record = Record.load()
    wiring = Wiring(remove=True)
    for name, known in record.entries.items():
        wiring.pieces.append(way_back(Path(name), known))
    seen = {p.path for p in wiring.pieces}
    settings = config_dir() / "settings.json"
    if settings not in seen and (before := bytes_of(settings)) is not None:
        after = encoded(handlers.without_handlers(text_of(before, settings), str(settings)), before)
        if after != before:
            wiring.pieces.append(Piece(settings, before, after, "our hooks, of which no record is left"))
    return wiring


def shipped(name: str) -> Path:
    """Our own `hooks` or `claude-md` folder: inside the package in a wheel, beside it in a checkout."""
    here = Path(obsidian_import.__file__).resolve().parent
    inside = here / f"_{name.replace('-', '_')}"
    return inside if inside.is_dir() else here.parent / name
