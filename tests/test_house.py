"""The house rules that a reader relies on: who writes, who stands apart, what tests can reach."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from obsidian_import import files
from obsidian_import.config import data_dir

PACKAGE = Path(__file__).resolve().parents[1] / "obsidian_import"
WRITERS = {
    "apply/__init__.py": "the only writer into a vault",
    "apply/ground.py": "a room of it: folders that come and go with our files",
    "apply/healing.py": "a room of it: after a crash",
    "apply/journal.py": "a room of it: the sidecar",
    "apply/one.py": "a room of it: one file",
    "apply/originals.py": "a room of it: what --move takes away",
    "files.py": "what apply, spool and the caches write with",
    "spool.py": "the hook's inbox",
    "wiring/wired.py": "settings, skills and CLAUDE.md blocks of `setup`, with the record that takes them out again",
    "cache.py": "its own SQLite file",
    "sidecar.py": "the spill of a plan's texts (an unnamed temporary file), this machine's name",
    "vault.py": "its own cache",
    "cli.py": "the log of a crash",
    "commands/sessions.py": "the log of what autosave did",
    "commands/importing.py": "--report FILE, where the person said",
}


def writes(tree: ast.AST) -> set[int]:
    """Lines with a call that could change a disk: open for writing, Path.write_*, os.unlink and the like."""
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        owner = (
            node.func.value.id if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) else ""
        )
        if name in (
            "write_text",
            "write_bytes",
            "touch",
            "rmdir",
            "mkdir",
            "makedirs",
            "write_atomic",
            "write_temp",
        ) or (name in ("unlink", "remove", "rename", "replace", "rmtree") and owner in ("os", "shutil", "files")):
            found.add(node.lineno)
        if name == "open":
            mode = (
                node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords if k.arg == "mode"), None)
            )
            if isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax+"):
                found.add(node.lineno)
    return found


def test_only_the_named_modules_write() -> None:
    """One module writes to a vault; the others that write at all are named here, each with its reason."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        lines = writes(ast.parse(path.read_text(encoding="utf-8")))
        assert not lines or name in WRITERS, f"{name} writes at lines {sorted(lines)}"


def test_the_hook_loads_nothing_but_spool_and_files() -> None:
    """No third party, nothing else of ours: what it imports is what it costs."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from obsidian_import import spool; spool.read_event\n"
        "import json, select\n"
        "ours = sorted(m for m in sys.modules if m.startswith('obsidian_import'))\n"
        "third = [m for m in sys.modules if 'site-packages' in (getattr(sys.modules[m], '__file__', '') or '')]\n"
        "print(ours, third)"
    )
    out = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(PACKAGE.parent)], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "['obsidian_import', 'obsidian_import.files', 'obsidian_import.spool'] []"


def test_tests_cannot_reach_the_real_home() -> None:
    """HOME and the data folder are temporary."""
    assert "pytest" in str(Path.home())
    assert "pytest" in str(data_dir())


# ------------------------------------------------------------------ state folders


def test_a_state_folder_is_private(tmp_path: Path) -> None:
    """Made 0700, kept when it is fine."""
    folder = tmp_path / "a" / "b"
    files.private_dir(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    files.private_dir(folder)


@pytest.mark.skipif(os.name == "nt", reason="modes and links as POSIX has them")
def test_a_state_folder_that_others_could_use_is_refused(tmp_path: Path) -> None:
    """A link, or a folder that group or others may write: never."""
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o770)
    with pytest.raises(files.Unsafe):
        files.private_dir(tmp_path / "open")
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(files.Unsafe):
        files.private_dir(tmp_path / "link")


def test_an_atomic_write_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the replacement fails: the old file stays whole."""
    target = tmp_path / "x"
    files.write_atomic(target, b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        files.write_atomic(target, b"new")
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
