"""What `.obsidian` says about links and folders. Absent, `null` or malformed: the app's own defaults."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import orjson

from obsidian_import.files import read_regular
from obsidian_import.model import Problem
from obsidian_import.names.addresses import AppSettings, LinkFormat

_FORMATS: Final[dict[str, LinkFormat]] = {"shortest": "shortest", "relative": "relative", "absolute": "absolute"}
_PLUGINS: Final = (
    ("templates.json", "folder"),
    ("plugins/templater-obsidian/data.json", "templates_folder"),
    ("plugins/templater-obsidian/data.json", "template_folder"),
)


def read_settings(root: Path) -> tuple[AppSettings, tuple[Problem, ...]]:
    """The settings of the vault at `root`, and what of them could not be understood."""
    problems: list[Problem] = []
    app = _read(root, "app.json", problems)
    ignore: list[str] = []
    filters = app.get("userIgnoreFilters")
    if isinstance(filters, list):
        for entry in filters:
            if not isinstance(entry, str):
                continue
            if len(entry) > 2 and entry.startswith("/") and entry.endswith("/"):
                try:
                    re.compile(entry[1:-1])
                except re.error as error:
                    problems.append(
                        Problem(
                            ".obsidian/app.json",
                            f"the excluded-files pattern {entry} is no regular expression we understand: {error}",
                            "the notes it hides in Obsidian can be linked to; name the folder instead",
                        )
                    )
                    continue
            ignore.append(entry)
    elif filters is not None:
        problems.append(Problem(".obsidian/app.json", "userIgnoreFilters is no list; nothing is excluded by it"))
    templates: list[str] = []
    for name, field in _PLUGINS:
        folder = _read(root, name, problems).get(field)
        if isinstance(folder, str) and folder.strip("/ ") and folder not in templates:
            templates.append(folder)
    attachments = app.get("attachmentFolderPath")
    settings = AppSettings(
        link_format=_FORMATS.get(str(app.get("newLinkFormat", "")), "shortest"),
        markdown_links=app.get("useMarkdownLinks") is True,
        ignore=tuple(ignore),
        attachments=attachments if isinstance(attachments, str) else "",
        templates=tuple(templates),
    )
    return settings, tuple(problems)


def _read(root: Path, name: str, problems: list[Problem]) -> dict[str, Any]:
    try:
        data = read_regular(root / ".obsidian" / name)
        held = orjson.loads(data) if data else {}
    except (OSError, ValueError):
        said = Problem(f".obsidian/{name}", "could not be understood; Obsidian's defaults are used")
        if said not in problems:
            problems.append(said)
        return {}
    return held if isinstance(held, dict) else {}
