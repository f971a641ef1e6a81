"""The text of Claude Code's `/export`."""

from __future__ import annotations


def is_export(text: str) -> bool:
    """Whether a text begins as `/export` writes."""
    return text.startswith((" ▐▛███▜▌", "╭─── Claude Code"))
