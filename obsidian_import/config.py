"""`config.yaml` → Config, read once; what is remembered (`unlink`, `suggest`) goes back by round trip.

Two files: the vault's own `<vault>/.obsidian-import/config.yaml` (how this vault wants its chats; it travels with
the vault) and the person's `config.yaml` in the user's configuration folder (which vault is meant, nothing else).
An unknown key is an error that names the nearest known one: a typo must not silently change what is linked.
"""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import platformdirs
from rapidfuzz import process
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from obsidian_import.errors import UserError

SIDECAR = ".obsidian-import"
APP = "obsidian-import"
DETAILS = ("prompts", "talk", "tools", "full")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Links:
    """How sure a link has to be, and what is never linked."""

    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    score: float = 1.0
    threshold: float = 88
    jaccard: float = 0.6
    accepted: tuple[str, ...] = ()
    """Remembered decisions of `suggest --accept`: "text -> target"."""
    rejected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Redact:
    """What is no secret after all, and what is one here."""

    allow: tuple[str, ...] = ()
    patterns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Inert:
    """True: the chat's own tasks, tags, … are made inert."""

    tasks: bool = True
    tags: bool = True
    wikilinks: bool = True
    fields: bool = True


@dataclass(frozen=True, slots=True)
class Project:
    """Where one project's logs go, and how it is recognised."""

    folder: str = ""
    remotes: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Config:
    """The whole configuration of one vault; absent keys have these values."""

    chats: str = "chats"
    logs: str = "logs"
    timezone: str = "UTC"
    detail: str = "tools"
    keywords: Mapping[str, str | None] = field(default_factory=dict)
    short_keywords: tuple[str, ...] = ()
    links: Links = field(default_factory=Links)
    redact: Redact = field(default_factory=Redact)
    inert: Inert = field(default_factory=Inert)
    projects: Mapping[str, Project] = field(default_factory=dict)

    @property
    def zone(self) -> ZoneInfo:
        """The zone of all names and headings in this vault."""
        return ZoneInfo(self.timezone)


DEFAULT_YAML = """\
# How obsidian-import treats this vault. Every key may be left out; the values shown are the defaults.
chats: chats                 # folder of imported chats
logs: logs                   # folder of session logs
timezone: {timezone}         # IANA name; names and headings of notes use it on every machine
detail: tools                # prompts | talk | tools | full
keywords: {{}}                 # "kafka": messaging adds; "test": null removes
short_keywords: []           # matched as whole words only, added to the built-in ones
links:
  ignore: []                 # names never linked (trimmed, case folded)
  exclude: []                # folders whose notes are no targets
  score: 1.0                 # evidence needed to link by itself
  threshold: 88              # rapidfuzz token_sort_ratio for suggestions
  jaccard: 0.6               # stem-token overlap for suggestions
redact:
  allow: []                  # exact values that are no secrets
  patterns: {{}}               # kind: regular expression
inert: {{tasks: true, tags: true, wikilinks: true, fields: true}}
projects: {{}}                 # name: {{folder: …, remotes: […], paths: […]}}
"""


# ------------------------------------------------------------------ where things are


def data_dir() -> Path:
    """The user's data folder: spool, locks, caches, originals, log. `$OBSIDIAN_IMPORT_DATA` overrides it."""
    named = os.environ.get("OBSIDIAN_IMPORT_DATA")
    return Path(named) if named else Path(platformdirs.user_data_dir(APP, appauthor=False))


def user_config_path() -> Path:
    """The person's own configuration file."""
    return Path(platformdirs.user_config_dir(APP, appauthor=False)) / "config.yaml"


def find_vault(named: str | None, start: Path | None = None) -> Path:
    """The vault: as named, else `$OBSIDIAN_VAULT`, else the user's config, else the nearest parent with `.obsidian/`."""
    hint = "name it with --vault DIR, or set OBSIDIAN_VAULT; a vault is a folder that Obsidian has opened once"
    for origin, value in (
        ("--vault", named),
        ("$OBSIDIAN_VAULT", os.environ.get("OBSIDIAN_VAULT")),
        (str(user_config_path()), _user_vault()),
    ):
        if value:
            path = Path(value).expanduser()
            if not path.is_dir():
                raise UserError(f"no such folder: {path} (from {origin})", hint)
            if not (path / ".obsidian").is_dir():
                raise UserError(
                    f"{path} is no Obsidian vault: it has no .obsidian folder (from {origin})",
                    "open the folder in Obsidian once (Open folder as vault), or name another with --vault DIR",
                )
            return path.resolve()
    try:
        here = (start or Path.cwd()).resolve()
    except OSError as error:
        raise UserError("no vault named, and the working folder is gone", hint) from error
    for folder in (here, *here.parents):
        if (folder / ".obsidian").is_dir():
            return folder
    raise UserError(f"no vault named, and neither {here} nor a folder above it is one", hint)


def _user_vault() -> str | None:
    path = user_config_path()
    if not path.is_file():
        return None
    value = _load_yaml(path.read_text(encoding="utf-8"), str(path)).get("vault")
    return value if isinstance(value, str) else None


# ------------------------------------------------------------------ reading


def load(vault: Path) -> Config:
    """The configuration of this vault; UserError for anything it should not hold."""
    path = vault / SIDECAR / "config.yaml"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Config()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from error
    return parse(text, str(path))


def parse(text: str, where: str = "config.yaml") -> Config:
    """YAML text → Config. Pure but for the zone database."""
    config = _build(Config, _load_yaml(text, where), where, "")
    _check(config, where)
    return config


def _load_yaml(text: str, where: str) -> dict[str, Any]:
    try:
        loaded = YAML(typ="safe").load(text)
    except (YAMLError, ValueError, RecursionError) as error:
        first = " ".join(str(error).split())
        raise UserError(f"{where} is not valid YAML: {first[:300]}", "mend the line, or move the file away") from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise UserError(f"{where} should hold `key: value` lines, not {type(loaded).__name__}")
    return loaded


def _build(cls: type[T], data: Mapping[Any, Any], where: str, prefix: str) -> T:
    known = {f.name: f for f in fields(cls)}  # type: ignore[arg-type]  # T is a dataclass here
    values: dict[str, Any] = {}
    for key, value in data.items():
        if key not in known:
            near = process.extractOne(str(key), list(known), score_cutoff=50)
            meant = f"did you mean `{prefix}{near[0]}`?" if near else f"known keys: {', '.join(known)}"
            raise UserError(f"{where}: unknown key `{prefix}{key}`", meant)
        if value is not None:  # `links:` with nothing behind it means the defaults
            values[key] = _CONVERT[cls.__name__, key](value, where, f"{prefix}{key}")
    return cls(**values)


def _wrong(where: str, key: str, wanted: str, value: object) -> UserError:
    return UserError(f"{where}: `{key}` should be {wanted}, not {str(value)[:60]!r}")


def _text(value: Any, where: str, key: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _wrong(where, key, "a text", value)
    return value.strip()


def _folder(value: Any, where: str, key: str) -> str:
    text = _text(value, where, key).replace("\\", "/")
    absolute, text = text.startswith("/"), text.strip("/")
    parts = PurePosixPath(text).parts
    if absolute or not parts or any(p in ("..", ".") or p.startswith(".") for p in parts) or ":" in text:
        raise _wrong(where, key, "a folder inside the vault (no leading `/`, no `..`, no leading dot)", value)
    return "/".join(parts)


def _zone(value: Any, where: str, key: str) -> str:
    text = _text(value, where, key)
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise _wrong(where, key, "an IANA time zone such as Europe/Berlin", value) from error
    return text


def _detail(value: Any, where: str, key: str) -> str:
    if value not in DETAILS:
        raise _wrong(where, key, " | ".join(DETAILS), value)
    return str(value)


def _texts(value: Any, where: str, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str | int | float) for v in value):
        raise _wrong(where, key, "a list of texts", value)
    return tuple(str(v) for v in value)


def _number(value: Any, where: str, key: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _wrong(where, key, "a number", value)
    return float(value)


def _flag(value: Any, where: str, key: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(where, key, "true or false", value)
    return value


def _map(value: Any, where: str, key: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(where, key, "a map (`name: value` lines)", value)
    return {str(k): v for k, v in value.items()}


def _keywords(value: Any, where: str, key: str) -> dict[str, str | None]:
    return {k: None if v is None else _text(v, where, f"{key}.{k}") for k, v in _map(value, where, key).items()}


def _patterns(value: Any, where: str, key: str) -> dict[str, str]:
    patterns = {k: _text(v, where, f"{key}.{k}") for k, v in _map(value, where, key).items()}
    for kind, pattern in patterns.items():
        try:
            re.compile(pattern)
        except re.error as error:
            raise UserError(f"{where}: `{key}.{kind}` is no regular expression: {error}") from error
        if not re.fullmatch(r"[a-z][a-z0-9-]{0,31}", kind):
            raise _wrong(where, f"{key}.{kind}", "named in lower-case letters, digits and hyphens", kind)
    return patterns


def _nested(cls: type[T]) -> Callable[[Any, str, str], T]:
    return lambda value, where, key: _build(cls, _map(value, where, key), where, f"{key}.")


def _projects(value: Any, where: str, key: str) -> dict[str, Project]:
    return {
        k: _build(Project, _map(v or {}, where, f"{key}.{k}"), where, f"{key}.{k}.")
        for k, v in _map(value, where, key).items()
    }


_CONVERT: dict[tuple[str, str], Callable[[Any, str, str], Any]] = {
    ("Config", "chats"): _folder,
    ("Config", "logs"): _folder,
    ("Config", "timezone"): _zone,
    ("Config", "detail"): _detail,
    ("Config", "keywords"): _keywords,
    ("Config", "short_keywords"): _texts,
    ("Config", "links"): _nested(Links),
    ("Config", "redact"): _nested(Redact),
    ("Config", "inert"): _nested(Inert),
    ("Config", "projects"): _projects,
    ("Links", "ignore"): _texts,
    ("Links", "exclude"): _texts,
    ("Links", "score"): _number,
    ("Links", "threshold"): _number,
    ("Links", "jaccard"): _number,
    ("Links", "accepted"): _texts,
    ("Links", "rejected"): _texts,
    ("Redact", "allow"): _texts,
    ("Redact", "patterns"): _patterns,
    ("Inert", "tasks"): _flag,
    ("Inert", "tags"): _flag,
    ("Inert", "wikilinks"): _flag,
    ("Inert", "fields"): _flag,
    ("Project", "folder"): _folder,
    ("Project", "remotes"): _texts,
    ("Project", "paths"): _texts,
}


def _check(config: Config, where: str) -> None:
    if config.chats == config.logs:
        raise UserError(f"{where}: `chats` and `logs` should be two folders, both are {config.chats!r}")
    for key, value, low, high in (
        ("links.threshold", config.links.threshold, 0, 100),
        ("links.jaccard", config.links.jaccard, 0, 1),
    ):
        if not low <= value <= high:
            raise _wrong(where, key, f"between {low} and {high}", value)


# ------------------------------------------------------------------ remembering


def with_added(text: str, section: str, key: str, values: list[str]) -> str:
    """`text` with `values` added to the list `section.key`; a person's comments and order stay. Pure."""
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 2**16
    data = yaml.load(text) if text.strip() else None
    if data is None:
        data = yaml.load("{}")
        data.fa.set_block_style()
    if not isinstance(data.get(section), dict):
        data[section] = {}
    present = data[section].get(key) or []
    present.extend(v for v in values if v not in present)
    data[section][key] = present
    out = io.StringIO()
    yaml.dump(data, out)
    return out.getvalue()
