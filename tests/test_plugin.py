"""The plugin: manifest, marketplace, hooks and skills, each value pinned; the skills are the instruction files, byte for byte."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from obsidian_import import __version__

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = ROOT / ".claude-plugin"
KEBAB = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
EVENTS = {"SessionStart", "SessionEnd", "Stop", "PreCompact"}
BUILT_IN = {
    "resume",
    "continue",
    "clear",
    "export",
    "memory",
    "compact",
    "status",
    "init",
    "import",
    "doctor",
    "context",
}
PLACEHOLDER = re.compile(r"\$\{([^}]+)\}")


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_folder_holds_only_the_two_manifests() -> None:
    assert sorted(p.name for p in PLUGIN.iterdir()) == ["marketplace.json", "plugin.json"]


def test_the_manifest() -> None:
    held = load(PLUGIN / "plugin.json")
    assert set(held) <= {
        "name", "displayName", "version", "description", "author", "license", "keywords", "homepage", "repository", "userConfig"
    }  # fmt: skip
    assert KEBAB.fullmatch(held["name"])
    assert held["version"] == __version__, "users of a plugin with a version only get what has a new one"
    assert set(held["author"]) <= {"name", "email", "url"}
    # hooks/hooks.json and skills/ are loaded by themselves; naming them again would load them twice
    assert "hooks" not in held
    assert "skills" not in held


def test_the_vault_is_asked_for() -> None:
    (name, option), *rest = load(PLUGIN / "plugin.json")["userConfig"].items()
    assert (name, rest) == ("vault", [])
    assert option["type"] == "directory"
    assert option["required"] is True
    assert option["title"]
    assert option["description"]


def test_the_marketplace() -> None:
    held = load(PLUGIN / "marketplace.json")
    assert set(held) == {"name", "owner", "plugins"}
    assert held["owner"]["name"]
    (plugin,) = held["plugins"]
    assert plugin["name"] == load(PLUGIN / "plugin.json")["name"]
    assert plugin["source"] == "./"
    assert "version" not in plugin, "the manifest's own version counts"


def handlers() -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    held = load(ROOT / "hooks" / "hooks.json")
    assert set(held) == {"description", "hooks"}
    assert set(held["hooks"]) <= EVENTS
    return [(e, g, h) for e, groups in held["hooks"].items() for g in groups for h in g["hooks"]]


def test_the_hooks() -> None:
    """One SessionEnd handler, one SessionStart sweep: exec form, seconds, placeholders that exist, a script that is there."""
    assert [(e, g.get("matcher")) for e, g, _ in handlers()] == [
        ("SessionEnd", None),
        ("SessionStart", "startup|resume"),
    ]
    for _, group, handler in handlers():
        assert set(group) <= {"matcher", "hooks"}
        assert set(handler) == {"type", "command", "args", "timeout"}
        assert handler["type"] == "command"
        assert isinstance(handler["timeout"], int)
        assert 1 <= handler["timeout"] <= 60, "seconds, not milliseconds"
        assert " " not in handler["command"], "the exec form: no shell splits it"
        for arg in handler["args"]:
            assert set(PLACEHOLDER.findall(arg)) <= {"CLAUDE_PLUGIN_ROOT"}
            assert ".." not in arg
            assert "\\" not in arg
        (script,) = [a for a in handler["args"] if a.endswith(".py")]
        assert script.startswith("${CLAUDE_PLUGIN_ROOT}/")
        assert (ROOT / script.removeprefix("${CLAUDE_PLUGIN_ROOT}/")).is_file()
        assert "--plugin" in handler["args"]


def test_no_other_hosts_hooks_lie_where_this_one_looks() -> None:
    assert sorted(p.name for p in (ROOT / "hooks").iterdir() if p.name != "__pycache__") == [
        "hooks.json",
        "session_autosave.py",
    ]


@pytest.mark.parametrize("name", ["save", "pickup"])
def test_a_skill_is_its_instruction_file(name: str) -> None:
    skill = (ROOT / "skills" / name / "SKILL.md").read_bytes()
    assert skill == (ROOT / "claude-md" / f"{name}.md").read_bytes(), f"cp claude-md/{name}.md skills/{name}/SKILL.md"
    text = skill.decode()
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["name"] == name
    assert name not in BUILT_IN
    assert set(head) <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}, (
        "the portable keys"
    )
    assert len(head["description"]) < 1000


def test_there_are_no_other_skills() -> None:
    assert sorted(p.name for p in (ROOT / "skills").iterdir()) == ["pickup", "save"]


@pytest.mark.parametrize("path", sorted((ROOT / "claude-md").glob("*.md")), ids=lambda p: p.name)
def test_instruction_files_are_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.split("\n")) < 120
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert all(len(line) <= 200 for line in text.split("\n"))


@pytest.mark.parametrize("name", ["CLAUDE.vault.md", "CLAUDE.project.md"])
def test_the_blocks_have_markers_and_say_what_resume_means(name: str) -> None:
    text = (ROOT / "claude-md" / name).read_text(encoding="utf-8")
    assert text.startswith("<!-- obsidian-import:begin")
    assert text.rstrip().endswith("<!-- obsidian-import:end -->")
    assert "/resume" in text
    assert "{pickup}" in text
    assert "{save}" in text


def test_save_says_what_a_log_must_have() -> None:
    text = (ROOT / "claude-md" / "save.md").read_text(encoding="utf-8")
    for wanted in (
        "type: log",
        "tags: [session-log, ",
        "session_id: ${CLAUDE_SESSION_ID}",
        "## Done",
        "## Decisions",
        "## Open items",
        "- [ ] ",
        "## Links",
        "^d-",
        "--supersedes",
    ):
        assert wanted in text
    assert text.index("obsidian-import check") < text.index("Commit only if")
