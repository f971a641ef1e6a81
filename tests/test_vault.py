"""A look at a vault: everything there, nothing followed, nothing read twice, no trouble that ends the run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from obsidian_import import vault
from obsidian_import.config import Config, Links
from obsidian_import.links import Linker
from obsidian_import.vault import lexicon, look


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault"


def test_an_empty_vault(root: Path) -> None:
    seen = look(root)
    assert (seen.notes, seen.files, seen.problems) == ({}, [], ())
    assert lexicon(seen).names == {}
    assert Linker(lexicon(seen)).find("any text", "x.md").links == ()


def test_no_vault_at_all(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        look(tmp_path / "nowhere")


def test_dot_folders_links_and_other_files(root: Path, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"secret.md": "x"})
    write(root, {"a.md": "", ".trash/b.md": "", ".obsidian/c.md": "", ".git/d.md": "", "img/e.png": "", "B.MD": ""})
    (root / "loop").symlink_to(root, target_is_directory=True)
    (root / "away").symlink_to(outside, target_is_directory=True)
    (root / "f.md").symlink_to(outside / "secret.md")
    (root / "dir.md").mkdir()
    seen = look(root)
    assert sorted(seen.notes) == ["B.MD", "a.md", "f.md"]
    assert seen.attachments == ["img/e.png"]
    assert seen.folded["b.md"] == "B.MD"
    assert seen.problems == ()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a user whom modes stop")
def test_what_cannot_be_read_is_a_problem(root: Path) -> None:
    write(root, {"ok.md": "", "shut/x.md": "", "locked.md": "x"})
    (root / "shut").chmod(0)
    (root / "locked.md").chmod(0)
    try:
        seen = look(root)
    finally:
        (root / "shut").chmod(0o700)
    assert list(seen.notes) == ["ok.md"]
    assert {problem.source for problem in seen.problems} == {"shut", "locked.md"}


def test_a_note_that_fails_to_be_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {"ok.md": "", "bad.md": "x"})
    real = vault.read_regular

    def fails(path: Path) -> bytes | None:
        if path.name == "bad.md":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(vault, "read_regular", fails)
    seen = look(root)
    assert list(seen.notes) == ["ok.md"]
    assert seen.problems[0].source == "bad.md"


def test_our_notes_are_found_by_identity(root: Path) -> None:
    head = '---\nimport_id: "claude-code:1"\nsession_id: "1"\ntype: chat\n---\n[[Gravity]]'
    write(root, {"chats/a.md": head, "moved/by hand.md": head, "p/logs/l.md": "---\ntype: log\nsession_id: s\n---\n"})
    seen = look(root)
    assert seen.by_import_id == {"claude-code:1": ["chats/a.md", "moved/by hand.md"]}
    assert seen.by_session_id["s"] == ["p/logs/l.md"]
    assert all(note.ours for note in seen.notes.values())
    assert lexicon(seen).human == frozenset()


def test_the_head_of_a_long_chat_is_enough(root: Path) -> None:
    write(root, {"chats/a.md": "---\nimport_id: k\n---\n" + "word " * 100_000})
    assert look(root).by_import_id == {"k": ["chats/a.md"]}
    write(root, {"chats/a.md": "---\nx: " + "y" * 40_000 + "\nimport_id: k\n---\n"})
    assert look(root).by_import_id == {"k": ["chats/a.md"]}


def test_sync_copies(root: Path) -> None:
    text = "---\nimport_id: k\n---\n"
    same = "The very same beginning of a note, long enough to be one and the same."
    copies = {
        "a.sync-conflict-20260101-101010-ABCDEFG.md": "",
        "a (conflicted copy 2026-01-01 101010).md": "",
        "a (Anna's conflicted copy 2026-01-01).md": "",
        "a (Conflicted copy MacBook 202601011010).md": "",
        "chats/c 2.md": text,
        "chats/c (1).md": text,
        "b-DESKTOP-AB12CD3.md": same,
        "b 2.md": same + " and more",
    }
    others = {
        "a.md": "",
        "b.md": same,
        "chats/c.md": text,
        "chats/c 3.md": "---\nimport_id: other\n---\n",
        "Chapter.md": "# One\nabout the first thing of all things there are",
        "Chapter 2.md": "# Two\nabout another thing",
        "Alone 2.md": same,
        "f(1).md": "",
        "well-known.md": "",
    }
    write(root, {**copies, **others})
    seen = look(root)
    assert seen.conflict_copies == frozenset(copies)
    assert all(claim.bar for claim in lexicon(seen).names["b 2"])


def test_icloud_stubs(root: Path) -> None:
    write(root, {"a/.Far away.md.icloud": "", "a/.x.png.icloud": ""})
    seen = look(root)
    assert seen.undownloaded == ("a/Far away.md",)
    assert "a/far away.md" in seen.folded
    assert seen.notes == {}


# ------------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize("text", ["", "null", "[]", "{", '{"userIgnoreFilters": null}', "\x00", '"x"'])
def test_defaults_for_anything_else(root: Path, text: str) -> None:
    write(root, {".obsidian/app.json": text})
    seen = look(root)
    assert (seen.settings.link_format, seen.settings.markdown_links, seen.settings.ignore) == ("shortest", False, ())


def test_settings_are_read(root: Path) -> None:
    app = {
        "newLinkFormat": "relative",
        "useMarkdownLinks": True,
        "userIgnoreFilters": ["Arch/", 3, "/^x/", "/[/"],
        "attachmentFolderPath": "files",
    }
    write(
        root,
        {
            ".obsidian/app.json": json.dumps(app),
            ".obsidian/templates.json": '{"folder": "Tpl"}',
            ".obsidian/plugins/templater-obsidian/data.json": '{"templates_folder": "T2/"}',
            "Arch/Grafana.md": "",
            "Tpl/Kafka.md": "",
            "T2/Redis.md": "",
            "Kubernetes.md": "",
        },
    )
    seen = look(root)
    assert seen.settings.ignore == ("Arch/", "/^x/")
    assert len(seen.problems) == 1
    found = Linker(lexicon(seen)).find("Grafana Kafka Redis Kubernetes", "chats/x.md")
    assert [link.edit.new for link in found.links] == ["[Kubernetes](../Kubernetes.md)"]


def test_configured_folders(root: Path) -> None:
    write(root, {"Talks/Grafana.md": "", "Old/Kafka.md": "", "chats/Redis.md": ""})
    seen = look(root, config=Config(chats="Talks", links=Links(exclude=("Old",))))
    found = Linker(lexicon(seen)).find("Grafana Kafka Redis", "Talks/x.md")
    assert [link.target for link in found.links] == ["chats/Redis.md"]


# ------------------------------------------------------------------------------------------- the cache


def test_an_unchanged_vault_opens_no_note(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {"Gravity.md": "x", "a.md": "[[Gravity]] and Kafka", "Kafka.md": ""})
    cache = tmp_path / "cache"
    first = lexicon(look(root, cache=cache))
    opened: list[str] = []
    real = vault.read_regular

    def watched(path: Path) -> bytes | None:
        opened.append(path.name)
        return real(path)

    monkeypatch.setattr(vault, "read_regular", watched)
    second = lexicon(look(root, cache=cache))
    assert [name for name in opened if name.endswith(".md")] == []
    assert second.fingerprint == first.fingerprint
    assert second.counts == first.counts == {"gravity": (1, 1), "kafka": (1, 1)}
    assert not (root / "cache").exists()
    write(root, {"b.md": "of Gravity and [[Kafka]]", "Zebra thing.md": "Gravity"})
    opened.clear()
    third = lexicon(look(root, cache=cache))
    # The two new notes, and what was there once more for the new names.
    assert {"b.md", "Zebra thing.md"} <= set(opened)
    assert third.counts == lexicon(look(root)).counts == {"gravity": (2, 3), "kafka": (2, 2)}
    assert third.fingerprint == lexicon(look(root)).fingerprint != first.fingerprint


@pytest.mark.parametrize("how", ["empty", "junk", "cut", "other version", "wrong types", "places"])
def test_a_damaged_cache_is_made_anew(root: Path, tmp_path: Path, how: str) -> None:
    write(root, {"Gravity.md": "x", "a.md": "---\naliases: [aa]\n---\n[[Gravity]]"})
    cache = tmp_path / "cache"
    wanted = lexicon(look(root, cache=cache)).fingerprint
    file = next(cache.iterdir())
    data = file.read_bytes()
    held = json.loads(data)
    if how == "other version":
        held["v"] = [0, 0]
    elif how == "wrong types":
        held["notes"] = {name: [1, 2] for name in held["notes"]}
    elif how == "places":
        held["counts"] = {"state": "x", "totals": {}, "places": '{"keys": 3, "notes": {"a.md": 1}}'}
    file.write_bytes({"empty": b"", "junk": b"\xff\x00", "cut": data[:40]}.get(how, json.dumps(held).encode()))
    assert lexicon(look(root, cache=cache)).fingerprint == wanted
    assert lexicon(look(root, cache=cache)).fingerprint == wanted


def test_a_cache_that_cannot_be_written_costs_nothing_else(root: Path, tmp_path: Path) -> None:
    write(root, {"Gravity.md": "x"})
    (tmp_path / "cache").write_text("a file")
    assert list(look(root, cache=tmp_path / "cache").notes) == ["Gravity.md"]


def test_deleted_and_renamed_notes_leave_the_cache(root: Path, tmp_path: Path) -> None:
    write(root, {"Gravity.md": "x", "a.md": "Gravity [[Kafka]]", "Kafka.md": ""})
    cache = tmp_path / "cache"
    lexicon(look(root, cache=cache))
    (root / "Gravity.md").rename(root / "Gravitation.md")
    seen = look(root, cache=cache)
    assert "gravity" not in lexicon(seen).names
    assert lexicon(look(root, cache=cache)).fingerprint == lexicon(look(root)).fingerprint
