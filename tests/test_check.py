"""`check` and `check --repair`: what it finds in our notes and beside them, and what it mends."""

from __future__ import annotations

import json

from tests.vaults import Desk, session

KEY = "".join(["gh", "p_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"])


def kinds(result: dict[str, object]) -> list[tuple[str, bool]]:
    findings = result["findings"]
    assert isinstance(findings, list)
    return [(f["kind"], f["ours"]) for f in findings]


def test_an_import_is_clean(desk: Desk) -> None:
    """Whatever the talk held: secrets, templates, queries, images, ghost links."""
    session(1).you(f"use {KEY} and <% tp.system.clipboard() %> ![x](https://evil.example/p.png) [[Nowhere]]").claude(
        "```dataviewjs\ndv.pages()\n```\n\n<iframe src=x></iframe> and an open fence\n```"
    ).tool("echo <% evil %>", "`= 1+1`\n" + "x" * 20_000).save(desk.sources)
    desk.run("import", desk.sources)
    result = desk.json("check")
    assert result["findings"] == []
    assert result["clean"]


def test_a_persons_secret_and_template_are_found_not_touched(desk: Desk) -> None:
    """In our notes and in other notes of the folder; the rest of the vault is nobody's business."""
    session(1).you("hello there").claude("hi").save(desk.sources)
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    desk.write(path, desk.read(path) + f"\n{KEY}\n")
    desk.write("chats/by hand.md", "<% tp.file.title %>\n")
    desk.write("Private.md", f"{KEY}\n<% tp.file.title %>\n")
    before = desk.tree()
    assert kinds(desk.json("check", code=4)) == [("active", False), ("secret", True)]
    desk.run("check", "--repair", code=4)
    assert desk.tree() == before


def test_a_link_to_a_note_that_is_gone_is_mended(desk: Desk) -> None:
    """`--repair` takes it out; undo brings it back."""
    desk.write("Zephyrhold.md", "# Zephyrhold\n")
    session(1).you("Where is Zephyrhold?").claude("In the north.").save(desk.sources)
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    linked = desk.read(path)
    (desk.vault / "Zephyrhold.md").unlink()
    assert ("link", True) in kinds(desk.json("check", code=4))
    desk.run("check", "--repair")
    assert desk.read(path) == linked.replace("[[Zephyrhold]]", "Zephyrhold")
    assert desk.json("check")["clean"]
    desk.run("undo")
    assert desk.read(path) == linked


def test_dangerous_plugin_settings_are_warned_of(desk: Desk) -> None:
    """Templater on file creation, Dataview JS: warnings, exit 0; malformed settings are no crash."""
    desk.write(".obsidian/community-plugins.json", json.dumps(["templater-obsidian", "dataview"]))
    desk.write(".obsidian/plugins/templater-obsidian/data.json", json.dumps({"trigger_on_file_creation": True}))
    desk.write(".obsidian/plugins/dataview/data.json", json.dumps({"enableDataviewJs": True}))
    assert [f["level"] for f in desk.json("check")["findings"]] == ["warning", "warning"]
    desk.write(".obsidian/community-plugins.json", "{broken")
    assert desk.json("check")["findings"] == []


def test_lost_texts_and_damaged_records_are_found(desk: Desk) -> None:
    """An object that is gone, a manifest line that is junk."""
    session(1).you("hello there").claude("hi").save(desk.sources)
    desk.run("import", desk.sources)
    for path in (desk.vault / ".obsidian-import" / "objects").rglob("*"):
        if path.is_file():
            path.unlink()
    (manifest,) = (desk.vault / ".obsidian-import" / "manifest").iterdir()
    manifest.write_bytes(manifest.read_bytes() + b"junk\n")
    result = desk.json("check", code=4)
    assert [f["what"][:9] for f in result["findings"]] == ["a damaged", "the text "]


def test_a_secret_the_older_rules_missed_is_taken_out_of_our_text(desk: Desk) -> None:
    """A new pattern in the configuration: `--repair` takes it out, with the next number, and undo brings it back."""
    session(1).you(f"use {KEY} for nimbus-4711-x").claude("Ok.").save(desk.sources)
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    before = desk.read(path)
    assert "[REDACTED:github-token:1]" in before or ":1]" in before
    desk.write(".obsidian-import/config.yaml", "redact:\n  patterns:\n    nimbus: nimbus-\\d+-\\w\n")
    assert ("secret", True) in kinds(desk.json("check", code=4))
    desk.run("check", "--repair")
    after = desk.read(path)
    assert "nimbus-4711-x" not in after
    assert "[REDACTED:nimbus:2]" in after
    desk.run("undo")
    assert desk.read(path) == before
