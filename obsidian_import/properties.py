"""The properties (frontmatter) of a note: read keys as Obsidian does, set our keys, leave every other byte.

A block is what Obsidian takes for one: an optional BOM, line 1 exactly `---`, and the next line that is exactly `---`.
`----`, a blank line before it, `...` as its end, trailing blanks: no block. Reading goes through python-frontmatter
with a handler that sees this block and nothing else; writing never dumps a person's block: it replaces the bytes of
our own keys (`set_keys`), proves the result by reading it again, and refuses (`Refused`) rather than guesses.

Values are what the text says, not what YAML 1.1 makes of it: `NO`, `01234`, `12:30`, `1.10` and dates stay text;
`true`/`false`, plain whole numbers and plain decimals are bool, int and float; an empty value, `~` and `null` are None.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import frontmatter
import yaml
from frontmatter.default_handlers import BaseHandler

from obsidian_import.scalars import BOOL, FLOAT, INT, NULL, canonical, name_text, plain, value_text

__all__ = ["Block", "Refused", "emit", "equal", "problem", "read", "set_keys", "split"]

BOM = "\ufeff"
LIMIT = 64 * 1024
"""Characters of a block that we are ready to parse: a longer one is somebody's data, not properties."""
ALIASES = 100
"""YAML aliases (`*x`) in one block, and …"""
NODES = 100_000
"""… values they may unfold to: nine lines of aliases can name a billion strings."""

_FIRST = re.compile(r"---\r?\n")
_LAST = re.compile(r"^---\r?(?:\n|\Z)", re.MULTILINE)
_ALMOST = re.compile(r"---[ \t]*\r?(?:\n|\Z)")


class Refused(ValueError):
    """The block cannot be edited without a risk for what a person wrote in it: leave it alone. The text says why."""


@dataclass(frozen=True, slots=True)
class Block:
    """Offsets (code points) of a block: `text[start:end]` is all of it, `text[inner:close]` its YAML."""

    start: int
    """Of the opening line: 1 after a BOM, else 0."""
    inner: int
    close: int
    """Of the closing line."""
    end: int
    """Behind the closing line and its line end."""


def split(text: str) -> Block | None:
    """The properties block that Obsidian sees, or None (also where line 1 opens one that is never closed)."""
    start = 1 if text.startswith(BOM) else 0
    first = _FIRST.match(text, start)
    if first is None:
        return None
    last = _LAST.search(text, first.end())
    if last is None:
        return None
    return Block(start, first.end(), last.start(), last.end())


def read(text: str) -> dict[str, object]:
    """The properties of a note by name, in their order; {} where there are none or the block is malformed."""
    return _read(text)[0]


def problem(text: str) -> str | None:
    """Why Obsidian (and we) cannot read the block, in words for people; None where there is no block or it is fine."""
    return _read(text)[1]


def emit(mapping: Mapping[str, object]) -> str:
    r"""A whole block of our own, from `---\n` to `---\n`, in the mapping's order.

    Strings stand plain only where no YAML of any version could take them for something else, otherwise as JSON
    strings; titles and aliases are always quoted; lists are flow lists; None leaves the key out.
    """
    lines = [f"{name_text(key)}: {value_text(key, value)}\n" for key, value in mapping.items() if value is not None]
    return f"---\n{''.join(lines)}---\n"


def equal(a: object, b: object) -> bool:
    """Whether two values are the same to a person, however Obsidian's own property editor wrote them.

    A one-item list and its item, a number and its digits, a date with `T` or a blank, with or without `:00` or `Z`,
    nothing, an empty text and an empty list: all the same. The order of a list counts.
    """
    return canonical(a) == canonical(b)


def set_keys(text: str, updates: Mapping[str, object | None]) -> str:
    """The note with our keys set (None: taken out); every other byte stays, comments, order and line ends included.

    A key that is there keeps its place and what stands behind it; a new one comes last. A block list stays a block
    list. A note without a block gets one. Raises Refused where the block is malformed, where a key of ours is
    written in a way that no edit of its own bytes can change, or where the result does not read back as wanted.
    """
    block = split(text)
    if block is None:
        return _with_new_block(text, updates)
    keys, before, why = _entries(text, block)
    if why:
        raise Refused(why)
    edits: list[tuple[int, int, str]] = []
    eol = "\r\n" if text[block.inner - 2] == "\r" else "\n"
    indent = next((" " * entry.column for entry in keys.values()), "")
    fresh = ""
    for key, raw in updates.items():
        value = plain(raw)
        entry = keys.get(key)
        if entry is None:
            if value is not None:
                fresh += f"{indent}{name_text(key)}: {value_text(key, value)}{eol}"
        elif value is None:
            edits.append((*entry.lines(text), ""))
        elif repr(before[key]) != repr(value):
            edits.extend(entry.replace(text, key, value, eol))
    if fresh:
        edits.append((block.close, block.close, fresh))
    result = _apply(text, edits)
    _prove(before, updates, result)
    return result


# ------------------------------------------------------------------ reading


class _Loader(yaml.CSafeLoader):
    """Only what all versions of YAML and Obsidian agree on is anything but text."""


_Loader.yaml_implicit_resolvers = {}
_TAG = "tag:yaml.org,2002:"
for _kind, _pattern, _starts in (
    ("bool", BOOL, [*"tTfF"]),
    ("null", NULL, ["~", "n", "N", ""]),
    ("int", INT, [*"-0123456789"]),
    ("float", FLOAT, [*"-0123456789"]),
):
    _Loader.add_implicit_resolver(_TAG + _kind, _pattern, _starts)


class _Handler(BaseHandler):
    """python-frontmatter's view of a note, held to exactly our block."""

    FM_BOUNDARY = _FIRST
    START_DELIMITER = END_DELIMITER = "---"

    def detect(self, text: str) -> bool:
        return split(text) is not None

    def split(self, text: str) -> tuple[str, str]:
        block = split(text)
        if block is None:
            raise ValueError("no properties block")
        return text[block.inner : block.close], text[block.end :]

    def load(self, fm: str) -> dict[str, object]:
        return _construct(_compose(fm))


def _read(text: str) -> tuple[dict[str, object], str | None]:
    block = split(text)
    if block is None:
        opened = _ALMOST.match(text, 1 if text.startswith(BOM) else 0)
        return {}, "line 1 opens a properties block that no line of exactly `---` closes" if opened else None
    try:
        # Only the block goes in: the library strips what it is given, and the body of a note may be large.
        return frontmatter.parse(text[block.start : block.end], handler=_Handler())[0], None
    except _TROUBLE as error:
        return {}, _reason(error)


# UnicodeError: lone surrogates; RecursionError: a value inside itself; OverflowError, ValueError: absurd numbers.
_TROUBLE = (yaml.YAMLError, ValueError, RecursionError, OverflowError, MemoryError)


def _reason(error: BaseException) -> str:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 2}: " if mark is not None else ""
        return f"the properties are no valid YAML: {line}{error.problem or error.context}"
    if isinstance(error, Refused):
        return str(error)
    return f"the properties are no valid YAML: {str(error).splitlines()[0] if str(error) else type(error).__name__}"


def _compose(source: str) -> yaml.MappingNode | None:
    """The root node; None for an empty block."""
    if len(source) > LIMIT:
        raise Refused(f"the properties block is longer than {LIMIT // 1024} KB")
    root = yaml.compose(source, _Loader)
    if root is None:
        return None
    if not isinstance(root, yaml.MappingNode):
        raise Refused("the properties block is no list of `name: value` lines")
    seen: set[int] = set()
    aliases = 0
    todo: list[yaml.Node] = [root]
    while todo:
        node = todo.pop()
        if id(node) in seen:
            aliases += 1
            if aliases > ALIASES:
                raise Refused(f"the properties block has more than {ALIASES} aliases")
            continue
        seen.add(id(node))
        todo.extend(_children(node))
    return root


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        yield from node.value
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key
            yield value


def _construct(root: yaml.MappingNode | None) -> dict[str, object]:
    left = NODES

    def make(node: yaml.Node, depth: int) -> object:
        nonlocal left
        left -= 1
        if left < 0 or depth > 64:
            raise Refused("the properties block unfolds to too much")
        if isinstance(node, yaml.ScalarNode):
            return _scalar_value(node)
        if node.tag not in {_TAG + "seq", _TAG + "map"}:
            raise Refused(f"the properties block holds a value of the kind {node.tag[:80]}")
        if isinstance(node, yaml.SequenceNode):
            return [make(item, depth + 1) for item in node.value]
        return mapping(node, depth)

    def mapping(node: yaml.Node, depth: int) -> dict[str, object]:
        result: dict[str, object] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise Refused("a property's name is no text")
            name = str(key.value)
            if name in result:
                raise Refused(f"the property {name[:80]!r} is there twice")
            result[name] = make(value, depth + 1)
        return result

    return {} if root is None else mapping(root, 0)


def _scalar_value(node: yaml.ScalarNode) -> object:
    value = str(node.value)
    kind = str(node.tag).removeprefix(_TAG)
    if kind in {"str", "timestamp"}:
        return value
    if kind == "bool" and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    if kind == "null":
        return None
    if kind == "int" and len(value) < 20:
        return int(value)
    if kind == "float":
        number = float(value)
        return number if repr(number) == value else value
    raise Refused(f"the properties block holds a value of the kind {str(node.tag)[:80]}")


# ------------------------------------------------------------------ setting


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where one top-level key stands in the whole note."""

    start: int
    column: int
    key_end: int
    node: yaml.Node
    shift: int
    """Offset of the YAML in the note: marks count from there."""
    value_end: int

    def lines(self, text: str) -> tuple[int, int]:
        """All lines of the key and its value, the line end included."""
        self._check()
        return self.start - self.column, _line_end(text, self.value_end)

    def _check(self) -> None:
        if self.value_end < 0:
            raise Refused("a value of ours is an alias of another one")

    def replace(self, text: str, key: str, value: object, eol: str) -> list[tuple[int, int, str]]:
        """Edits that give the key another value and keep its style where it is a list."""
        self._check()
        node = self.node
        start = node.start_mark.index + self.shift
        block_style = isinstance(node, yaml.CollectionNode) and not node.flow_style
        if isinstance(value, list) and value and isinstance(node, yaml.SequenceNode):
            if block_style:
                return self._items(text, key, value, eol)
            # A person's way to write an item stays; only what is new is written our way.
            texts = {
                repr(_construct_one(n)): text[n.start_mark.index + self.shift : n.end_mark.index + self.shift]
                for n in node.value
            }
            items = [texts.get(repr(item)) or value_text(key, item, nested=True) for item in value]
            return [(start, self.value_end, f"[{', '.join(items)}]")]
        new = value_text(key, value)
        if not block_style and self.value_end > start:
            return [(start, self.value_end, new)]
        colon = text.index(":", self.key_end) + 1
        edits = [(colon, colon, f" {new}")]
        if block_style:  # the comment behind the colon stays
            edits.append((_line_end(text, colon), _line_end(text, self.value_end), ""))
        return edits

    def _items(self, text: str, key: str, value: Sequence[object], eol: str) -> list[tuple[int, int, str]]:
        """Take lines of a block list out and put new ones in; comments between the items stay."""
        nodes: list[yaml.Node] = list(self.node.value)
        column = self.node.start_mark.column
        places: list[tuple[int, int]] = []
        for node in nodes:
            at = node.start_mark.index + self.shift
            start = text.rfind("\n", 0, at) + 1
            if text[start : start + column].strip() or text[start + column : start + column + 1] != "-":
                raise Refused(f"the list {key!r} is written in a way that cannot be edited safely")
            places.append((start, _line_end(text, _end_of(node, text, self.shift))))
        old = [repr(_construct_one(node)) for node in nodes]
        want = [repr(item) for item in value]
        kept = [item for item in want if item in old]
        in_order = kept == [item for item in old if item in want] and len(set(kept)) == len(kept)
        indent = " " * column
        edits = [(s, e, "") for (s, e), item in zip(places, old, strict=True) if not in_order or item not in kept]
        at = places[0][0]
        for item, name in zip(value, want, strict=True):
            if in_order and name in kept:
                at = places[old.index(name)][1]
            else:
                edits.append((at, at, f"{indent}- {value_text(key, item, nested=True)}{eol}"))
        return edits


def _with_new_block(text: str, updates: Mapping[str, object | None]) -> str:
    start = 1 if text.startswith(BOM) else 0
    if _ALMOST.match(text, start):
        raise Refused("line 1 opens a properties block that no line of exactly `---` closes")
    fresh = {key: value for key, value in updates.items() if value is not None}
    if not fresh:
        return text
    newline = text.find("\n")
    eol = "\r\n" if newline > 0 and text[newline - 1] == "\r" else "\n"
    result = text[:start] + emit(fresh).replace("\n", eol) + text[start:]
    _prove({}, updates, result)
    return result


def _entries(text: str, block: Block) -> tuple[dict[str, _Entry], dict[str, object], str]:
    """Where each key stands, what the block says now, and why it must not be touched (else "")."""
    try:
        root = _compose(text[block.inner : block.close])
        values = _construct(root)
    except _TROUBLE as error:
        return {}, {}, _reason(error)
    if root is None:
        return {}, values, ""
    if root.flow_style:
        return {}, values, "the properties are written as one `{…}`"
    entries: dict[str, _Entry] = {}
    for key, value in root.value:
        start, column = key.start_mark.index + block.inner, key.start_mark.column
        if text[start - column : start].strip(" ") or column != root.value[0][0].start_mark.column:
            return {}, values, f"the property {str(key.value)[:80]!r} does not begin its line"
        try:
            end = _end_of(value, text, block.inner, key.end_mark.index)
        except Refused:
            end = -1
        entries[str(key.value)] = _Entry(start, column, key.end_mark.index + block.inner, value, block.inner, end)
    return entries, values, ""


def _end_of(node: yaml.Node, text: str, shift: int, after: int = 0) -> int:
    """Where a value really ends: the marks of block collections and `|` texts run on to the next key."""
    if node.start_mark.index < after:
        raise Refused("an alias stands where a value of ours is")
    if isinstance(node, yaml.ScalarNode):
        end: int = node.end_mark.index + shift
        if node.style in {"|", ">"}:
            end = shift + len(text[shift:end].rstrip())
        return end
    if isinstance(node, yaml.CollectionNode) and node.flow_style:
        return int(node.end_mark.index) + shift
    return max(_end_of(child, text, shift, node.start_mark.index) for child in _children(node))


def _construct_one(node: yaml.Node) -> object:
    return _construct(yaml.MappingNode(_TAG + "map", [(yaml.ScalarNode(_TAG + "str", "x"), node)]))["x"]


def _line_end(text: str, at: int) -> int:
    newline = text.find("\n", at)
    return len(text) if newline < 0 else newline + 1


def _apply(text: str, edits: list[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    last = 0
    for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
        if start < last or end < start:
            raise Refused("a value of ours is written in a way that cannot be edited safely")
        parts += (text[last:start], new)
        last = end
    return "".join(parts) + text[last:]


def _prove(before: Mapping[str, object], updates: Mapping[str, object | None], result: str) -> None:
    """The check that makes the splice safe: what we meant is there, what we did not mean is as it was."""
    after, why = _read(result)
    expected = dict(before)
    for key, raw in updates.items():
        value = plain(raw)
        if value is None:
            expected.pop(key, None)
        else:
            expected[key] = value
    if why or repr(list(after.items())) != repr(list(expected.items())):
        raise Refused(
            f"setting {', '.join(sorted(updates))[:200]} would change something else{': ' if why else ''}{why or ''}"
        )
