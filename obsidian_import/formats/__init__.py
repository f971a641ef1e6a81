"""1 READ. The formats we know, and which of them each input is: by content, not by name.

A format is one module with `NAME`, `claims`, `groups` and `read`. To add one: write the module, put its name into
`MODULES`, add a folder of cases. A file that two formats claim is an error that names both, so claims stay sharp.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Protocol, cast

from obsidian_import.model import File, Found, Group, Memo, Problem, Skip

MODULES: Final = (
    "claude_code",
    "claude_ai",
    "chatgpt",
    "claude_export",
    "codex",
    "gemini",
    "markdown",
)
"""In order of how often people have them; the order decides nothing but the order of reading."""


class Format(Protocol):
    """What a format module gives. Nothing in it raises on any bytes; OSErrors become fatal Problems."""

    NAME: str
    """The `source` of its talks, as a rule; for people."""

    def claims(self, file: File) -> bool:
        """Whether the first bytes of this file are of this format. Cheap. May raise OSError."""
        ...

    def groups(self, files: Sequence[File], memo: Memo) -> Iterator[Group]:
        """The claimed files (and, with `WANTS_ASSETS`, the unclaimed ones around them) as units of reading."""
        ...

    def read(self, group: Group) -> Iterator[Found]:
        """The talks of one group."""
        ...


@cache
def formats() -> tuple[Format, ...]:
    """The format modules, loaded, in their order."""
    return tuple(cast("Format", importlib.import_module(f"{__name__}.{name}")) for name in MODULES)


FORMATS: tuple[Format, ...]


def __getattr__(name: str) -> object:
    """`FORMATS`, loaded when first asked for: a reader may import this package without loading every other."""
    if name == "FORMATS":
        return formats()
    raise AttributeError(name)


@dataclass(frozen=True, slots=True)
class Detected:
    """What the inputs are: per format its files, and what there is to say about the others."""

    claimed: tuple[tuple[Format, tuple[File, ...]], ...]
    found: tuple[Problem | Skip, ...]

    def groups(self, memo: Memo) -> Iterator[tuple[Format, Group]]:
        """Every unit of reading with the format that reads it, in order."""
        for form, files in self.claimed:
            for group in form.groups(files, memo):
                yield form, group


_TEXT_LIKE: Final = frozenset({"txt", "md", "markdown", "json", "jsonl", "html", "htm"})
_CLAUDE_SLUG: Final = re.compile(r"^(?:-|[A-Za-z]--)")


def detect(inputs: Iterable[File | Problem | Skip], known: Sequence[Format] | None = None) -> Detected:
    """Sort the inputs (files, and the Problems and Skips met on the way to them) by format.

    A source or an archive in which nothing was recognised is a fatal Problem; a single text file that is no chat, found
    while walking a folder, is a Skip; pictures and the like are nobody's business unless a format wants them as assets.
    """
    known = formats() if known is None else tuple(known)
    found: list[Problem | Skip] = []
    files: list[File] = []
    for one in inputs:
        if isinstance(one, Problem | Skip):
            found.append(one)
        else:
            files.append(one)
    homes = {_folder(file.name) for file in files if file.name.endswith(".jsonl")}
    by_format: list[list[File]] = [[] for _ in known]
    unclaimed: list[tuple[File, str]] = []
    counted: dict[str, int] = {}
    alive: set[str] = {one.source for one in found}
    for file in files:
        for box in _boxes(file):
            counted[box] = counted.get(box, 0) + 1
        if why := _never(file, homes):
            unclaimed.append((file, why))
            continue
        try:
            claimants = [index for index, form in enumerate(known) if form.claims(file)]
        except OSError as error:
            found.append(Problem(file.where, f"could not be read: {error.strerror or error}", fatal=True))
            alive.update(_boxes(file))
            continue
        if len(claimants) > 1:
            names = " and ".join(known[index].NAME for index in claimants)
            found.append(
                Problem(
                    file.where,
                    f"could be {names}: not imported",
                    "Please report this file's first lines as a bug.",
                    fatal=True,
                )
            )
            alive.update(_boxes(file))
        elif claimants:
            by_format[claimants[0]].append(file)
            alive.update(_boxes(file))
        else:
            unclaimed.append((file, ""))
    found += _unrecognised(unclaimed, counted, alive, anything=any(by_format))
    claimed = []
    for form, mine in zip(known, by_format, strict=True):
        if not mine:
            continue
        assets: list[File] = []
        if getattr(form, "WANTS_ASSETS", False):
            around = {_boxes(file)[-1:] for file in mine}
            assets = [file for file, _ in unclaimed if _boxes(file)[-1:] in around]
        claimed.append((form, (*mine, *assets)))
    return Detected(tuple(claimed), tuple(found))


def _unrecognised(
    unclaimed: list[tuple[File, str]], counted: dict[str, int], alive: set[str], *, anything: bool
) -> Iterator[Problem | Skip]:
    dead: dict[str, list[File]] = {}
    for file, why in unclaimed:
        box = next((box for box in _boxes(file) if box not in alive), None)
        if box is not None:
            dead.setdefault(box, []).append(file)
        elif not why and _suffix(file.name) in _TEXT_LIKE and "!" not in file.where and not _beside(file):
            yield Skip(file.where, _no_chat(file))
    for box, files in dead.items():
        if len(files) == 1 and files[0].where == box:
            why = _no_chat(files[0])
            if anything and _suffix(files[0].name) in _TEXT_LIKE:
                yield Skip(box, why)  # one of several sources: said, and the others are imported
                continue
        else:
            why = f"nothing recognised in {counted[box]:,} files: none is a chat export we know"
        yield Problem(
            box,
            why,
            "We read Claude Code sessions and /export texts, claude.ai and ChatGPT exports, Codex rollouts, Gemini Takeout JSON, and Markdown.",
            fatal=True,
        )


_BESIDE: Final = re.compile(
    r"(?:chat\.html|users?\.json|user_settings\.json|message_feedback\.json|shared_conversations\.json|group_chats\.json"
    r"|shopping\.json|sora\.json|export_manifest\.json|[\w-]*assets?[\w.-]*\.json|conversation_asset_file_names\.json)\Z"
)


def _beside(file: File) -> bool:
    """What lies beside the talks in an unpacked account export: known, and no talk."""
    return _BESIDE.match(file.name.rpartition("/")[2]) is not None


def _no_chat(file: File) -> str:
    if not file.size:
        return "an empty file"
    return f"no chat export we know ({'.' + _suffix(file.name) if _suffix(file.name) else 'no'} ending)"


def _never(file: File, homes: set[str]) -> str:
    """Claude Code's own files beside the talks; never notes, whatever they look like."""
    parts = file.name.split("/")
    if parts[-1] == "journal.jsonl":
        return "a workflow's journal"
    if "tool-results" in parts[:-1]:
        return "output a tool left on disk"
    if len(parts) > 2 and parts[-2] == "memory" and (_CLAUDE_SLUG.match(parts[-3]) or "/".join(parts[:-2]) in homes):
        return "Claude Code's memory"
    return ""


def _boxes(file: File) -> tuple[str, ...]:
    boxes: tuple[str, ...] = getattr(file, "boxes", (file.where,))
    return boxes


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _suffix(name: str) -> str:
    last = name.rpartition("/")[2]
    return last.rpartition(".")[2].lower() if "." in last else ""
