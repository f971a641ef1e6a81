"""Names for people: a talk's title from its first words, a project's from its folder."""

from __future__ import annotations

import re

_TITLE = 80


def project_of(cwd: str) -> str:
    """The folder's own name, POSIX or Windows; a worktree of Claude Code counts as the project it belongs to."""
    windows = re.match(r"[A-Za-z]:[\\/]|\\\\", cwd) or ("\\" in cwd and "/" not in cwd)
    parts = [p for p in re.split(r"[\\/]" if windows else "/", cwd) if p not in ("", ".")]
    for place in range(1, len(parts) - 1):
        if parts[place : place + 2] == [".claude", "worktrees"]:
            parts = parts[:place]
            break
    if not parts or (len(parts) == 1 and re.fullmatch(r"[A-Za-z]:", parts[0])):
        return ""
    return flat(parts[-1])


def flat(text: str) -> str:
    """One line without control characters."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(text.split())


def headline(text: str) -> str:
    """The first line that says something, cut at a word near 80 characters."""
    for line in text[:4000].splitlines():
        words = flat(line)
        if not words or words.startswith(("```", "~~~")) or not any(c.isalnum() for c in words):
            continue
        words = re.sub(r"^(?:#{1,6}|>|[-*+])\s+", "", words)
        if len(words) <= _TITLE:
            return words
        cut = words[:_TITLE]
        if " " in words[_TITLE // 2 : _TITLE + 1]:
            cut = words[: _TITLE + 1].rsplit(" ", 1)[0].rstrip(" ,;:.-")
        return cut + "…"
    return flat(text[:_TITLE])
