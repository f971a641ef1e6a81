"""Claude Code deletes its transcripts (30 days by default): which will go soon, and which are not in the vault yet."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

from obsidian_import.world import World

SOON = 7  # days
DEFAULT_DAYS = 30

_SESSION = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.jsonl\Z")


def config_dir() -> Path:
    """Claude Code's folder: `$CLAUDE_CONFIG_DIR`, else `~/.claude`."""
    named = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(named) if named else Path.home() / ".claude"


def cleanup_days(folder: Path) -> int:
    """`cleanupPeriodDays` of the client's settings; 30 where it is not set or cannot be read."""
    for name in ("settings.local.json", "settings.json"):
        try:
            value = json.loads((folder / name).read_text(encoding="utf-8")).get("cleanupPeriodDays")
        except (OSError, ValueError, AttributeError, RecursionError):
            continue
        if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
            return value
    return DEFAULT_DAYS


def outlook(world: World, now: float | None = None) -> dict[str, Any]:
    """Sessions in the client's folder: how many, not imported yet, deleted within a week; and that in words.

    A session counts as imported when a note with its id stands in the vault (or was deleted there by a person).
    """
    now = time.time() if now is None else now
    folder = config_dir()
    days = cleanup_days(folder)
    known = {key.removeprefix("claude-code:") for key, _ in world.manifest.notes}
    known |= set(world.snapshot.by_session_id)
    missing: list[dict[str, Any]] = []
    total = soon = 0
    for path in _sessions(folder / "projects"):
        total += 1
        left = days - (now - path.stat().st_mtime) / 86400
        soon += left <= SOON
        if path.stem not in known:
            missing.append({"session_id": path.stem, "path": str(path), "days_left": max(0, int(left))})
    missing.sort(key=lambda m: (m["days_left"], m["session_id"]))
    lost = [m for m in missing if m["days_left"] <= SOON]
    lines = []
    if missing:
        lines.append(
            f"{len(missing)} of {total} Claude Code sessions are not in the vault yet (`obsidian-import import`)"
        )
    if lost:
        first = lost[0]["days_left"]
        when = "any day now" if first == 0 else f"in {first} day{'s' if first != 1 else ''}"
        lines.append(
            f"{len(lost)} of them will be deleted by Claude Code within a week, the first {when} (cleanupPeriodDays {days})"
        )
    return {
        "total": total,
        "cleanup_days": days,
        "deleted_soon": soon,
        "not_imported": missing,
        "not_imported_deleted_soon": len(lost),
        "lines": lines,
    }


def _sessions(projects: Path) -> list[Path]:
    found: list[Path] = []
    try:
        folders = [e.path for e in os.scandir(projects) if e.is_dir(follow_symlinks=False)]
    except OSError:
        return found
    for folder in folders:
        try:
            found += [
                Path(e.path) for e in os.scandir(folder) if _SESSION.match(e.name) and e.is_file(follow_symlinks=False)
            ]
        except OSError:
            continue
    return sorted(found)
