"""TAG: which tags are legal (the keyword map follows in the next commit)."""

from __future__ import annotations

import re

_ILLEGAL = re.compile("[\\s\u2000-\u206f\u2e00-\u2e7f!\"#$%&'()*+,.:;<=>?@\\[\\\\\\]^`{|}~]+")


def legal(tag: str) -> str:
    """`tag` as Obsidian accepts it, or empty: no sign, no space, not digits alone."""
    text = _ILLEGAL.sub("-", tag.strip().lstrip("#")).strip("-/")
    text = re.sub(r"/{2,}", "/", re.sub(r"-{2,}", "-", text))
    return "" if not text or text.replace("/", "").replace("-", "").isdigit() else text
