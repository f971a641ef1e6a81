"""What README, docs and --help say can fail the build."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from obsidian_import import config
from obsidian_import.cli import COMMANDS, cli

ROOT = Path(__file__).resolve().parents[1]
DOCS = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "claude-md").rglob("*.md")),
]


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str) -> None:
    """It is in the README's table, has a help with an example, and takes --vault and --json."""
    assert f"`{name}" in (ROOT / "README.md").read_text(encoding="utf-8")
    shown = CliRunner().invoke(cli, [name, "--help"]).output
    assert "Example" in shown
    for option in ("--vault", "--json"):
        assert option in shown


def test_every_config_key_is_documented_with_its_default() -> None:
    """docs/config.md lists exactly the keys there are."""
    text = (ROOT / "docs" / "config.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([\w.]+)` \| `([^`]*)` \|", text, re.MULTILINE))
    wanted: dict[str, object] = {}
    for field in dataclasses.fields(config.Config):
        value = getattr(config.Config(), field.name)
        if field.name in ("links", "redact", "inert"):
            wanted.update({f"{field.name}.{f.name}": getattr(value, f.name) for f in dataclasses.fields(value)})
        else:
            wanted[field.name] = value
    shown = {}
    for key, value in wanted.items():
        if isinstance(value, bool):
            shown[key] = str(value).lower()
        else:
            shown[key] = "{}" if isinstance(value, dict) else "[]" if value == () else str(value)
    assert listed == shown


def test_the_default_config_file_says_the_defaults() -> None:
    """What `setup` writes means the same as no file at all."""
    assert config.parse(config.DEFAULT_YAML.format(timezone="UTC")) == config.Config()


@pytest.mark.parametrize("path", DOCS, ids=lambda p: p.name)
def test_every_command_line_in_the_docs_works(path: Path) -> None:
    """Each `obsidian-import …` in a code span or block names a command and options that exist."""
    text = path.read_text(encoding="utf-8")
    spans = re.findall(r"`(obsidian-import [^`\n]+)`", text)
    spans += re.findall(
        r"^\s*\$?\s*(obsidian-import [^\n#]+)",
        "\n".join(re.findall(r"```(?:console|bash|sh)\n(.*?)```", text, re.DOTALL)),
        re.MULTILINE,
    )
    for line in spans:
        words = line.split()[1:]
        if not words or words[0].startswith("-") or words[0] == "COMMAND":
            continue
        assert words[0] in COMMANDS, line
        known = {o for p in command(words[0]).params for o in (*p.opts, *p.secondary_opts)}
        for word in words[1:]:
            if word.startswith("--"):
                assert word.split("=")[0] in known | {"--help"}, line


@pytest.mark.parametrize("path", DOCS, ids=lambda p: p.name)
def test_every_link_in_the_docs_leads_somewhere(path: Path) -> None:
    """Relative links and pictures name files that are there."""
    for target in re.findall(
        r"\]\((?!https?:|mailto:|#)([^)#\s]+)[^)]*\)",
        re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL),
    ):
        assert (path.parent / target).exists(), f"{path.name}: {target}"
