"""Whatever a chat says: in the vault it is only text, it stands under its own message, and `check` is clean.

The judges are not ours where that is possible: pulldown-cmark says what is a heading, code, HTML, a link; PyYAML says
what the properties are; plain expressions on what is left say whether a tag, a field or a task could be seen.
"""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyromark
import pytest
import yaml

from obsidian_import import inert
from obsidian_import.inert.rules import LANGUAGES
from tests.planted import Talk
from tests.vaults import Desk, session

CASES = Path(__file__).parent / "cases" / "hostile" / "rows.txt"


def unescape(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        word = found[1]
        if word[0] == "u":
            return chr(int(word[1:].strip("{}"), 16))
        return chr(int(word[1:], 16)) if word[0] == "x" else {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}[word]

    return re.sub(r"\\(u\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[ntr\\])", one, text)


def rows() -> list[tuple[str, str]]:
    lines = CASES.read_text(encoding="utf-8").splitlines()[1:]
    return [(name.strip(), unescape(text)) for name, _, text in (line.partition(" | ") for line in lines)]


ROWS = rows()


# ------------------------------------------------------------------ judges


@dataclass
class Seen:
    """A note as pulldown-cmark sees it."""

    sections: dict[str, str] = field(default_factory=dict)
    """Heading of level 2 at the top → all text below it, up to the next."""
    wrong: list[str] = field(default_factory=list)


FLAGS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_MATH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_WIKILINKS
)
_TAG = re.compile(r"""(?<!\S)#[^\u2000-\u206f\u2e00-\u2e7f'!"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s]+""")
"""As Obsidian's own expression has it, but for the need of one letter."""
_FIELD = re.compile(r"\n[\s*_]*\w[\w\s/-]*[*_]*::\s|[\[(]\s*\w[^\[\]()]*::\s")


def see(body: str) -> Seen:
    seen = Seen()
    depth = 0
    heading: list[str] | None = None
    code = False
    here = ""
    raw = body.encode("utf-8", "surrogatepass")
    for event, span in pyromark.events_with_range(body, options=FLAGS, merge_text=True):
        if isinstance(event, str):
            continue
        if "Start" in event:
            tag = event["Start"]
            name = tag if isinstance(tag, str) else next(iter(tag))
            value = None if isinstance(tag, str) else tag[name]
            if name == "Heading" and depth == 0:
                level = value["level"]
                if level in ("H1", 1):
                    seen.wrong.append(f"a heading of level 1: {raw[span['start'] : span['end']]!r}")
                heading = [] if level in ("H2", 2) else None
            depth += 1
            code = code or name == "CodeBlock"
            if name == "CodeBlock" and isinstance(value, dict):
                word = str(value.get("Fenced", "")).split(" ")[0].lower()
                if word and word not in LANGUAGES:
                    seen.wrong.append(f"fence language {word}")
            if name in ("Link", "Image"):
                target = str(value.get("dest_url", ""))
                kind = str(value.get("link_type", ""))
                if "Wiki" in kind:
                    seen.wrong.append(f"wikilink {target}")
                elif name == "Image":
                    seen.wrong.append(f"image {target}")
                elif not re.match(r"https?:|mailto:|#|[^:]*$", target, re.IGNORECASE) and "Email" not in kind:
                    seen.wrong.append(f"link {target}")
            if name in ("FootnoteDefinition", "HtmlBlock"):
                seen.wrong.append(f"{name} {raw[span['start'] : span['end']][:60]!r}")
            continue
        if "End" in event:
            depth -= 1
            name = event["End"] if isinstance(event["End"], str) else next(iter(event["End"]))
            code = code and name != "CodeBlock"
            if name == "Heading" and heading is not None:
                here = "".join(heading)
                if here in seen.sections:
                    seen.wrong.append(f"heading twice: {here}")
                seen.sections[here] = ""
                heading = None
            continue
        kind, value = next(iter(event.items()))
        if kind in ("Html", "InlineHtml", "FootnoteReference", "TaskListMarker"):
            seen.wrong.append(f"{kind} {value!r}")
        text = str(value)
        if heading is not None:
            heading.append(text)
            continue
        if here:
            seen.sections[here] += text
        if kind == "Code" or code:
            if kind == "Code" and text.strip().startswith(("=", "$=")):
                seen.wrong.append(f"query {text!r}")
        elif kind == "Text":
            source = raw[span["start"] : span["end"]].decode("utf-8", "surrogatepass")
            before = raw[max(0, span["start"] - 1) : span["start"]]
            if (
                before != b"\\"
                and (found := _TAG.search(source))
                and not found[0][1:].isdigit()
                and (before in (b"", b" ", b"\n") or found.start())
            ):
                seen.wrong.append(f"tag {found[0]}")
            line = raw[raw.rfind(b"\n", 0, span["start"]) + 1 : span["start"]].decode("utf-8", "surrogatepass")
            if _FIELD.search(source if line.strip(" \t>*+-_") else f"\n{source}"):
                seen.wrong.append(f"field {source!r}")
    return seen


def split(text: str) -> tuple[dict[str, Any], str]:
    """The properties as PyYAML reads them between `---` on line 1 and the next `---`, and the rest."""
    assert text.startswith("---\n")
    block, _, body = text[4:].partition("\n---\n")
    values = yaml.safe_load(block)
    assert isinstance(values, dict)
    return values, body


def harmless(text: str) -> Iterator[str]:
    """What is wrong with a note: active in its own eyes or in the judges'."""
    values, body = split(text)
    for name, value in values.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and ("[[" in one or "<%" in one):
                yield f"property {name}: {one!r}"
    for finding in inert.active(text, inert.Options()):
        line = text.split("\n")[finding.line - 1]
        yield f"{finding.kind}: {finding.what!r} in {line[:100]!r}"
    if re.search(r"<%|[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\ud800-\udfff\x00]", text):
        yield "a sign that must not stand in a note"
    yield from see(body).wrong


def check_note(text: str, sentinels: list[str] | None = None) -> None:
    wrong = list(harmless(text))
    assert not wrong, "\n".join(wrong)
    if sentinels is not None:
        sections = list(see(split(text)[1]).sections.items())
        assert len(sections) == len(sentinels), [s[0] for s in sections]
        for (head, said), sentinel in zip(sections, sentinels, strict=True):
            assert sentinel in said, f"{sentinel} is not under {head}"


def save(desk: Desk, talk: Talk) -> None:
    path = desk.sources / "p" / f"{talk.sid}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(r) + "\n" for r in talk.records))


# ------------------------------------------------------------------ one message each


def wrapped(where: str, row: str) -> str:
    if where == "fence":
        return f"``````````````````````````````\n{row}\n``````````````````````````````"
    if where == "inline code":
        return "`````` " + row.replace("\n", " ").replace("``````", "") + " ``````"
    if where == "quote":
        return "\n".join(f"> {line}" for line in row.split("\n"))
    if where == "list":
        return "- " + row.replace("\n", "\n  ")
    if where == "table":
        return "| a | b |\n|---|---|\n| " + row.replace("\n", " ").replace("|", "\\|") + " | x |"
    if where == "heading":
        return "# " + row.replace("\n", " ")
    if where == "link text":
        return f"[{row}](https://example.org/x)"
    if where == "bold":
        return f"**{row}**"
    if where == "end of a line":
        return f"some words before {row}"
    return row


PLACES = ("prose", "fence", "inline code", "quote", "list", "table", "heading", "link text", "bold", "end of a line")


@pytest.mark.parametrize("where", PLACES)
def test_every_row_in_prose(desk: Desk, where: str) -> None:
    """Each row is a message of its own between two others: all of them are found under their own headings."""
    talk = Talk(1)
    sentinels = []
    for number, (_, row) in enumerate(ROWS):
        text = wrapped(where, row)
        before = text.startswith(("---", "rating", "title:", "#"))  # some act at the start of a text only
        sentinel = f"SENT{number}Z"
        sentinels.append(sentinel)
        talk.you(f"{text}" if before and where == "prose" else f"{sentinel}\n\n{text}")
        if before and where == "prose":
            sentinels[-1] = ""
        sentinels.append(f"ANSWER{number}Z")
        talk.claude(f"ANSWER{number}Z")
    save(desk, talk)
    (note,) = desk.json("import", desk.sources)["notes"]
    check_note(desk.read(note["path"]), sentinels)
    assert desk.json("check")["clean"]


@pytest.mark.parametrize("seed", range(3))
def test_rows_beside_rows(desk: Desk, seed: int) -> None:
    """Two and three at once, glued or apart: what one opens another must not use."""
    chance = random.Random(seed)
    talk, sentinels = Talk(1), []
    for number in range(150):
        some = [
            wrapped(chance.choice(("prose", "quote", "list", "end of a line")), chance.choice(ROWS)[1])
            for _ in range(chance.choice((2, 3)))
        ]
        sentinels += [f"SENT{number}Z", f"ANSWER{number}Z"]
        talk.you(f"SENT{number}Z\n\n" + chance.choice(("\n", "\n\n", " ", "")).join(some)).claude(f"ANSWER{number}Z")
    save(desk, talk)
    (note,) = desk.json("import", desk.sources)["notes"]
    check_note(desk.read(note["path"]), sentinels)
    assert desk.json("check")["clean"]


def test_every_row_in_tools(desk: Desk) -> None:
    """Input, output, diffs, names, descriptions, thinking, sub-agents, summaries: at the fullest detail."""
    talk = Talk(1).you("Begin")
    for name, row in ROWS:
        talk.tool("Bash", {"command": row, "description": row}, row)
        talk.tool(
            "Edit",
            {"file_path": f"/srv/{row}", "old_string": row, "new_string": f"{row}\n{row}"},
            [{"type": "text", "text": row}],
        )
        talk.tool(f"mcp__{name}__{row}", {row: row}, row)
        talk.tool("TodoWrite", {"todos": [{"content": row, "status": "pending", "activeForm": row}]}, "ok")
        talk.tool("ExitPlanMode", {"plan": row}, "ok")
        talk.add("assistant", [{"type": "thinking", "thinking": row, "signature": "x"}, {"type": "text", "text": "hm"}])
        talk.add(
            "user",
            [
                {"type": "text", "text": "see"},
                {
                    "type": "image",
                    "name": row,
                    "source": {
                        "type": "base64",
                        "media_type": "image/png",
                        "data": base64.b64encode(row.encode("utf-8", "replace")).decode(),
                    },
                },
            ],
        )
        talk.add(
            "user",
            [
                {"type": "text", "text": "doc"},
                {"type": "document", "title": row, "source": {"type": "text", "media_type": "text/plain", "data": row}},
            ],
        )
        talk.you(f"<bash-input>{row}</bash-input>").you(f"<bash-stdout>{row}</bash-stdout><bash-stderr></bash-stderr>")
        talk.you(row, isCompactSummary=True)
        talk.you(row, isSidechain=True, agentId="abc123ff")
    talk.you("The last one").claude("LASTZ")
    save(desk, talk)
    result = desk.json("import", desk.sources, "--detail", "full")
    for note in result["notes"]:
        text = desk.read(note["path"])
        wrong = [w for w in harmless(text) if not _ours(w)]
        assert not wrong, "\n".join(wrong[:40])
    assert "LASTZ" in list(see(split(text)[1]).sections.values())[-1]
    assert desk.json("check")["clean"]


def _ours(wrong: str) -> bool:
    """Pictures and documents beside the chats, and the links between parts, are ours and meant."""
    return bool(re.match(r"(?:image|wikilink) chats/|(?:wikilink|embed): '!?\[\[chats/", wrong))


def test_every_row_as_title(desk: Desk) -> None:
    """As the first words of a talk, as its name, as its project: file names, properties, reports stay sane."""
    number = 10
    for _, row in ROWS:
        number += 2
        save(desk, Talk(number, cwd=f"/srv/{row.replace('/', '-')}").you(row).claude("yes").you("and").claude("no"))
        talk = Talk(number + 1, cwd="/srv/x").you("plain").claude("yes")
        talk.line({"type": "custom-title", "customTitle": row, "sessionId": talk.sid})
        save(desk, talk)
    result = desk.json("import", desk.sources)
    assert result["totals"]["create"] >= 2 * len(ROWS) - 12  # some rows say nothing: no talk, or a title made otherwise
    for note in result["notes"]:
        if note["action"] != "create":
            continue
        assert not re.search(r'[\x00-\x1f\x7f"*<>?\\|:#^\[\]\u202e\u2066]|<%', note["path"]), note["path"]
        assert len(note["path"].rpartition("/")[2].encode()) <= 124
        check_note(desk.read(note["path"]))
        assert "\n" not in note["title"]
    assert desk.json("check")["clean"]


def test_every_row_in_exported_markdown(desk: Desk) -> None:
    """As properties, tags, aliases and headings of an exported file, and as the whole body of one."""
    for number, (_, row) in enumerate(ROWS):
        quoted = json.dumps(row.encode("utf-8", "replace").decode())
        head = f"title: {quoted}\ntags: [{quoted}, fine]\naliases: [{quoted}]\nown: {quoted}\n{quoted}: x\nproject: {quoted}\n"
        text = f"---\n{head}---\n\n## User\n\n{row}\n\n## Assistant\n\nANSWERZ\n"
        (desk.sources / f"talk {number}.md").write_text(text, encoding="utf-8", errors="replace")
        (desk.sources / f"body {number}.md").write_text(f"BEFOREZ\n\n{row}\n", encoding="utf-8", errors="replace")
        (desk.sources / f"bare {number}.md").write_text(row, encoding="utf-8", errors="replace", newline="")
    result = desk.json("import", desk.sources, code=None)
    assert result["totals"]["create"] >= 2 * len(ROWS)
    for note in result["notes"]:
        if note["action"] != "create":
            continue
        text = desk.read(note["path"])
        wrong = [w for w in harmless(text) if not w.startswith("a heading of level 1")]
        assert not wrong, f"{note['path']}\n" + "\n".join(wrong)
        assert not {"publish", "cssclasses", "kanban-plugin"} & split(text)[0].keys()
    assert desk.json("check")["clean"]


def test_an_exported_file_cannot_make_itself_something_else(desk: Desk) -> None:
    """Properties that change what a note is, or run something, are not carried over."""
    names = (
        "publish",
        "permalink",
        "cssclasses",
        "cssclass",
        "kanban-plugin",
        "excalidraw-plugin",
        "banner",
        "dg-publish",
        "import_id",
        "status",
        "type",
        "source",
        "position",
    )
    head = "".join(f"{name}: x\n" for name in names)
    (desk.sources / "a.md").write_text(f"---\n{head}fine: yes\n---\n\n## User\n\nhi\n\n## Assistant\n\nho\n")
    (note,) = desk.json("import", desk.sources)["notes"]
    values, _ = split(desk.read(note["path"]))
    assert values["fine"] in ("yes", True)
    assert (values["type"], values["status"], values["source"]) == ("chat", "imported", "markdown")
    assert (
        not {
            "publish",
            "permalink",
            "cssclasses",
            "cssclass",
            "kanban-plugin",
            "excalidraw-plugin",
            "banner",
            "dg-publish",
            "position",
        }
        & values.keys()
    )


def test_the_report_page_runs_nothing(desk: Desk) -> None:
    """One page, no script of a chat, no request to anywhere."""
    talk = Talk(1, cwd="/srv/<img src=x>")
    for _, row in ROWS:
        talk.you(row).claude("yes")
    save(desk, talk)
    session(2).you("</script><script>alert(1)</script><img src=https://evil.example/x>").claude("x").save(desk.sources)
    desk.write("Ghost note.md", "# <b>\n")
    page = desk.sources.parent / "plan.html"
    desk.run("import", desk.sources, "--report", page)
    seen = Page()
    seen.feed(page.read_text(encoding="utf-8"))
    assert not seen.tags & {"img", "iframe", "video", "object", "base", "link", "form", "svg", "textarea"}
    assert not [
        a for a in seen.attributes if a[0].startswith("on") or (a[0] in ("src", "href", "style") and ":" in a[1])
    ]
    assert "alert" not in seen.code
    assert "://" not in seen.code
    assert "@import" not in seen.code


class Page(HTMLParser):
    """The tags and attributes of a page, and what stands in its scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.code = ""
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style"):
            self.code += data
