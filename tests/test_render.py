"""Whole notes, as they would stand in the vault: a talk in JSON, the note's text beside it.

`OBSIDIAN_IMPORT_REGEN=1` writes the expected texts anew; review them in the diff.
"""

from __future__ import annotations

import base64
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from obsidian_import import inert, redact
from obsidian_import.model import Aside, Conversation, Media, Text, Thinking, ToolCall, ToolResult, Turn
from obsidian_import.render import Rendering, note_text, render, said

CASES = sorted((Path(__file__).parent / "cases" / "render").glob("*.md"))
REGEN = bool(os.environ.get("OBSIDIAN_IMPORT_REGEN"))


def block(value: Any) -> Any:
    if isinstance(value, str):
        return Text(value)
    fields = dict(value)
    kind = fields.pop("is")
    if kind == "media" and "data" in fields:
        fields["data"] = base64.b64decode(fields["data"])
    if kind == "aside":
        fields["turns"] = tuple(turn(one) for one in fields.get("turns", ()))
    return {"thinking": Thinking, "call": ToolCall, "result": ToolResult, "media": Media, "aside": Aside}[kind](
        **fields
    )


def turn(value: dict[str, Any]) -> Turn:
    fields = dict(value)
    at = fields.pop("at", None)
    blocks = tuple(block(one) for one in fields.pop("blocks"))
    return Turn(blocks=blocks, at=datetime.fromisoformat(at) if at else None, **fields)


def talk(value: dict[str, Any]) -> Conversation:
    fields = dict(value)
    for name in ("created", "updated"):
        if name in fields:
            fields[name] = datetime.fromisoformat(fields[name])
    for name in ("tags", "aliases"):
        if name in fields:
            fields[name] = tuple(fields[name])
    fields["turns"] = tuple(turn(one) for one in fields.get("turns", ()))
    fields["asides"] = tuple(block({"is": "aside", **one}) for one in fields.get("asides", ()))
    return Conversation(
        **{"source": "claude-code", "session_id": "s1", "key": "claude-code:s1", "origin": "code", **fields}
    )


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_case(path: Path) -> None:
    head, _, rest = path.read_text(encoding="utf-8").partition("\n=== input\n")
    source, _, expected = rest.partition("\n=== expected\n")
    flags = json.loads(head or "{}")
    zone = ZoneInfo(flags.pop("zone", "UTC"))
    tagged = flags.pop("tags", {})
    result = render(
        talk(json.loads(source)),
        tagged,
        Rendering(zone=zone, **flags),
        redact.Redactor(redact.default_rules()),
        inert.Options(),
    )
    parts = [
        f"=== {note.folder}/{note.stem}.md\n{text}" for note, text in zip(result.notes, result.texts(), strict=True)
    ]
    parts += [f"=== {asset.path} ({len(asset.data)} bytes)\n" for asset in result.assets]
    if REGEN:
        path.write_text(f"{head}\n=== input\n{source}\n=== expected\n{''.join(parts)}", encoding="utf-8", newline="\n")
    assert "".join(parts) == expected
    for text in result.texts():
        assert inert.active(text) == []


def test_there_are_cases() -> None:
    assert len(CASES) >= 8


def test_said_is_what_people_and_the_assistant_said() -> None:
    one = Turn(
        "a", "user", (Text("x"), ToolCall("t", "n", "no"), Thinking("no"), Aside("agent", "no", text="no"), Text("y"))
    )
    assert list(said(Conversation("k", "markdown", "", "t", (one,)))) == ["x", "y"]
    assert list(said(Conversation("k", "markdown", "", "t", (), body="all"))) == ["all"]


def test_a_time_without_a_zone_is_taken_as_written() -> None:
    one = Conversation(
        "k",
        "markdown",
        "",
        "t",
        (Turn("a", "user", (Text("x"),), datetime(2026, 3, 1, 23, 59)),),
        created=datetime(2026, 3, 1, 23, 59),
    )
    note = render(
        one, {}, Rendering(zone=ZoneInfo("Asia/Tokyo")), redact.Redactor(redact.default_rules()), inert.Options()
    ).notes[0]
    assert note.stem.startswith("2026-03-01")
    assert "· 2026-03-01 23:59 ·" in note.body
    aware = Conversation("k", "markdown", "", "t", (), created=datetime(2026, 3, 1, 23, 59, tzinfo=UTC))
    assert (
        render(
            aware, {}, Rendering(zone=ZoneInfo("Asia/Tokyo")), redact.Redactor(redact.default_rules()), inert.Options()
        )
        .notes[0]
        .stem.startswith("2026-03-02")
    )


@pytest.mark.parametrize(
    ("text", "marks"), [("x", 3), ("```", 4), ("`````", 6), ("~~~~", 5), ("a `` b", 3), ("x\n  ```py", 4)]
)
def test_a_fence_is_longer_than_any_run_inside(text: str, marks: int) -> None:
    assert note_text.fence(text).startswith("`" * marks + "\n")
