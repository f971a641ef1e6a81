"""Small edits of somebody's JSON file as text: what is not touched keeps every byte, blank and order. Pure.

`settings.json` belongs to a person (and to the client): it is spliced, never dumped. Every function takes text that
`json.loads` accepts and gives text that it accepts.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from obsidian_import.errors import UserError

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SCALAR = re.compile(r"[^\s,\]}]+")
_BLANK = re.compile(r"\s*")
_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|(//[^\n]*|/\*.*?\*/)', re.DOTALL)
_TRAILING = re.compile(r'"(?:[^"\\\n]|\\.)*"|(,)\s*[\]}]')


@dataclass(slots=True)
class Node:
    """A value and where it stands: `text[start:end]`."""

    start: int
    end: int = 0
    kind: str = "scalar"
    """`object`, `array` or `scalar`."""
    items: list[Node] = field(default_factory=list)
    keys: list[tuple[str, int]] = field(default_factory=list)
    """For an object: (key, offset of its quote) of each item."""

    def get(self, key: str) -> Node | None:
        """The member that counts: of several with one key the last, as every JSON reader takes it."""
        found = None
        for (name, _), item in zip(self.keys, self.items, strict=False):
            if name == key:
                found = item
        return found

    def first(self, index: int) -> int:
        """Where an item begins, its key included."""
        return self.keys[index][1] if self.kind == "object" else self.items[index].start


def read(text: str, where: str) -> Any:
    """The value of a whole file; UserError with file and line for what is no JSON."""
    bare = text.removeprefix("\ufeff")
    try:
        return json.loads(bare)
    except RecursionError as error:
        raise UserError(f"{where} is nested too deeply to be settings", "nothing was changed") from error
    except ValueError as error:
        hint = "mend that line; nothing was changed"
        comment = next((m for m in _COMMENT.finditer(bare) if m[1]), None)
        comma = next((m for m in _TRAILING.finditer(bare) if m[1]), None)
        if comment:
            line = bare.count("\n", 0, comment.start()) + 1
            hint = f"line {line} has a comment, which JSON does not know: take it out; nothing was changed"
        elif comma:
            line = bare.count("\n", 0, comma.start()) + 1
            hint = f"line {line} has a comma too many; nothing was changed"
        number = getattr(error, "lineno", 1)
        raise UserError(
            f"{where}, line {number}: no valid JSON ({getattr(error, 'msg', error)})",
            hint,
        ) from error


def parse(text: str) -> Node:
    """The tree of a text that `read` accepted."""
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    return _value(text, start)


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int) -> Node:
    node = Node(at)
    opener = text[at]
    if opener not in "{[":
        found = (_STRING if opener == '"' else _SCALAR).match(text, at)
        assert found is not None
        node.end = found.end()
        return node
    node.kind = "object" if opener == "{" else "array"
    at = _skip(text, at + 1)
    while text[at] not in "]}":
        if node.kind == "object":
            key = _STRING.match(text, at)
            assert key is not None
            node.keys.append((json.loads(key[0], strict=False), at))
            at = _skip(text, _skip(text, key.end()) + 1)
        item = _value(text, at)
        node.items.append(item)
        at = _skip(text, item.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    node.end = at + 1
    return node


# ------------------------------------------------------------------ edits


def with_item(text: str, container: Node, value: Any, key: str | None = None) -> str:
    """`text` with one more item at the end of `container`, in the manner of the file."""
    head = f"{json.dumps(key, ensure_ascii=False)}: " if key is not None else ""
    newline = "\r\n" if "\r\n" in text else "\n"
    if container.items:
        last = container.items[-1].end
        before = text[container.start + 1 : container.first(0)]
        if "\n" not in before:
            return f"{text[:last]}, {head}{_dump(value)}{text[last:]}"
        indent = before.rpartition("\n")[2]
        return f"{text[:last]},{newline}{indent}{head}{_dump(value, text, indent)}{text[last:]}"
    own = _indent_at(text, container.start)
    if "\n" not in text.strip() and text.strip() not in ("{}", "[]"):
        inner = f"{head}{_dump(value)}"
    else:
        indent = own + _unit(text)
        inner = f"{newline}{indent}{head}{_dump(value, text, indent)}{newline}{own}"
    return text[: container.start + 1] + inner + text[container.end - 1 :]


def without_item(text: str, container: Node, index: int) -> str:
    """`text` without one item of `container`, and without the comma that parted it."""
    if len(container.items) == 1:
        return text[: container.start + 1] + text[container.end - 1 :]
    if index:
        return text[: container.items[index - 1].end] + text[container.items[index].end :]
    return text[: container.first(0)] + text[container.first(1) :]


def _dump(value: Any, text: str = "", indent: str | None = None) -> str:
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    newline = "\r\n" if "\r\n" in text else "\n"
    out = json.dumps(value, ensure_ascii=False, indent=_unit(text))
    return out.replace("\n", newline + indent)


def _unit(text: str) -> str:
    """What one level is set in by: two blanks where the file does not say."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _indent_at(text: str, at: int) -> str:
    line = text.rfind("\n", 0, at) + 1
    found = re.match(r"[ \t]*", text[line:at])
    return found[0] if found else ""
