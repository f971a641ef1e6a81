"""Artifacts and canvas documents: written once, changed by commands, shown where they were changed last.

A talk holds only the commands. They are replayed here, so that the last version can be saved whole; every earlier
step stays visible as the tool call it was. A change that does not fit is said and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from obsidian_import.formats._claude_tools import describe
from obsidian_import.model import Block, Media, ToolCall, ToolResult

_ENDINGS: Final = {
    "python": "py", "javascript": "js", "typescript": "ts", "tsx": "tsx", "jsx": "jsx", "java": "java", "kotlin": "kt",
    "go": "go", "rust": "rs", "ruby": "rb", "php": "php", "c": "c", "cpp": "cpp", "c++": "cpp", "csharp": "cs",
    "c#": "cs", "swift": "swift", "bash": "sh", "shell": "sh", "sh": "sh", "powershell": "ps1", "sql": "sql",
    "html": "html", "css": "css", "scss": "scss", "json": "json", "yaml": "yaml", "toml": "toml", "xml": "xml",
    "markdown": "md", "r": "r", "lua": "lua", "scala": "scala", "dart": "dart", "latex": "tex", "react": "jsx",
    "dockerfile": "dockerfile", "csv": "csv",
}  # fmt: skip
_TYPES: Final = {
    "text/markdown": "md",
    "text/html": "html",
    "text/csv": "csv",
    "image/svg+xml": "svg",
    "application/vnd.ant.mermaid": "mmd",
    "application/vnd.ant.react": "jsx",
    "application/json": "json",
}


@dataclass(frozen=True, slots=True)
class Document:
    """One version of an artifact."""

    name: str
    media_type: str = ""
    language: str = ""
    text: str = ""

    @property
    def file_name(self) -> str:
        """The title with the ending of its kind."""
        ending = _TYPES.get(self.media_type) or _ENDINGS.get(self.language.lower(), "")
        name = self.name or "artifact"
        last = name.rpartition(".")[2] if "." in name else ""
        return name if not ending or (last.isalnum() and len(last) <= 10) else f"{name}.{ending}"

    @property
    def kind(self) -> str:
        """A media type under which it is saved as a file, never taken for the extract of somebody's upload."""
        if self.media_type in ("text/markdown", "text/csv", "text/plain", ""):
            return f"text/x-{self.language.lower() or self.media_type.rpartition('/')[2] or 'plain'}"
        return self.media_type


@dataclass(frozen=True, slots=True)
class Version:
    """Stands among a turn's blocks until the path is read to its end and the last version of each is known."""

    key: str
    shown: tuple[Block, ...]
    """The command itself, as a tool call."""
    whole: bool
    """The command carries the whole text: where it is the last one, the document alone is enough."""


Draft = list["Block | Version"]


@dataclass(slots=True)
class Versions:
    """The documents of a path, as of the message that was read last."""

    documents: dict[str, Document] = field(default_factory=dict)
    other_names: dict[str, str] = field(default_factory=dict)
    """Ids under which the source speaks of a document later on → its key."""

    def copy(self) -> Versions:
        """As they stand now, for a branch that goes off here."""
        return Versions(dict(self.documents), dict(self.other_names))

    def write(self, key: str, document: Document, call: str, tool: str, verb: str) -> Version:
        """The whole text, new or again."""
        known = self.documents.get(key)
        if known is not None:
            document = replace(
                document,
                name=document.name or known.name,
                media_type=document.media_type or known.media_type,
                language=document.language or known.language,
            )
        self.documents[key] = document
        title = f"{verb} {document.name}".strip()
        shown = ToolCall(call, tool, document.text, title, document.language or _TYPES.get(document.media_type, ""))
        return Version(key, (shown,), whole=True)

    def change(self, key: str, old: str, new: str, call: str, tool: str) -> Version | tuple[Block, ...]:
        """One place of the text. Where it does not fit, only the call is shown, and that it could not be replayed."""
        known = self.documents.get(key)
        name = known.name if known else key.rpartition("/")[2]
        _, diff, _ = describe("Edit", {"file_path": name or "artifact", "old_string": old, "new_string": new})
        shown = ToolCall(call, tool, diff, f"update {name}".strip(), "diff")
        if known is None:
            return (shown,)
        if not old or old not in known.text:
            return (shown, ToolResult(call, NOT_REPLAYED, error=True))
        return self.replaced(key, known.text.replace(old, new, 1), shown)

    def replaced(self, key: str, text: str, shown: ToolCall) -> Version:
        """A known document with another text."""
        self.documents[key] = replace(self.documents[key], text=text)
        return Version(key, (shown,), whole=False)


NOT_REPLAYED: Final = "This change does not fit the text as the export has it: the document is shown without it."


def settle(drafts: Sequence[Sequence[Block | Version]], versions: Versions) -> list[tuple[Block, ...]]:
    """The turns of one path with each document at its last version, and the earlier commands as what they were.

    `versions` are the documents as they stand at the end of the path.
    """
    last: dict[str, Version] = {}
    for draft in drafts:
        for one in draft:
            if isinstance(one, Version):
                last[one.key] = one
    out = []
    for draft in drafts:
        blocks: list[Block] = []
        for one in draft:
            if not isinstance(one, Version):
                blocks.append(one)
            elif last[one.key] is one:
                blocks += () if one.whole else one.shown
                document = versions.documents[one.key]
                blocks.append(Media(document.file_name, document.kind, text=document.text))
            else:
                blocks += one.shown
        out.append(tuple(blocks))
    return out
