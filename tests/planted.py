"""A history full of planted secrets, and the search for what is left of them.

Every value is made from parts at run time (`redact_corpus`), is different in every place, and is remembered with the
place it was planted in. `leaks` looks for any eight characters of any value in every byte a run has written or said.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.redact_corpus import Plant, contexts, tokens

WINDOW = 8

POSITIONS = {
    "start": "{} is what it printed",
    "end": "it printed {}",
    "inline code": "run `{}` now",
    "fence": "Look:\n\n```sh\n{}\n```\n\nthat was it",
    "table": "| a | b |\n|---|---|\n| {} | x |",
    "quote": "> {}\n> more",
    "crlf": "one\r\n{}\r\ntwo",
    "after emoji": "🔑 {} 🔑",
    "list": "- first\n- {}\n",
    "bold": "see **{}** there",
    "own words": "It was\n\n{}\n\nand no more.",
}
"""Where in a text a secret may stand; `{}` is the whole text that holds it."""

_MULTILINE_SAFE = ("own words", "fence")
_CONTEXT_SAFE = ("own words", "fence", "end", "crlf", "after emoji")


@dataclass(slots=True)
class Garden:
    """What was planted where, and the files it was planted in."""

    root: Path
    seed: int = 40_000
    values: list[tuple[str, str]] = field(default_factory=list)
    """(place and kind, value)."""
    _known: set[str] = field(default_factory=set)
    _tokens: Iterator[Plant] = field(default=iter(()))
    _round: int = 0

    # ---------------------------------------------------------------- seeds

    def plant(self, plant: Plant, where: str) -> str:
        """Remember a plant; its text."""
        self.values.append((f"{where}: {plant.name}", plant.value))
        self._known |= windows(plant.text.replace(plant.value, " "))
        return plant.text

    def token(self, where: str) -> str:
        """A one-line token of the next kind, new every time."""
        while True:
            plant = next(self._tokens, None)
            if plant is None:
                self._round += 1
                self._tokens = iter(
                    [p for p in tokens(self.seed + self._round) if p.text == p.value and " " not in p.text]
                )
                continue
            if "\n" not in plant.text and not set(plant.text) & set("/:\\"):
                return self.plant(plant, where)

    def texts(self) -> Iterator[tuple[str, str]]:
        """(position, text) of every kind of token and context, each in a position that suits it."""
        turn = itertools.cycle(POSITIONS)
        wide = itertools.cycle(_CONTEXT_SAFE)
        for plant in tokens(self.seed):
            many = "\n" in plant.text
            where = "own words" if many else next(turn)
            yield where, POSITIONS[where].replace("{}", self.plant(plant, where))
        for plant in contexts(self.seed):
            where = "own words" if "\n" in plant.text else next(wide)
            yield where, POSITIONS[where].replace("{}", self.plant(plant, f"context, {where}"))

    # ---------------------------------------------------------------- files

    def write(self, name: str, data: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def leaks(self, *roots: Path, said: Iterable[str] = (), known: str = "") -> list[str]:
        """`kind in place: file` for every value that left eight characters anywhere; names of files count too."""
        harmless = self._known | windows(known)
        wanted: dict[bytes, str] = {}
        for where, value in self.values:
            for window in windows(value) - harmless:
                wanted.setdefault(window.encode(), where)
        found: dict[tuple[str, str], str] = {}
        for name, data in itertools.chain(_written(roots), ((f"output {n}", s.encode()) for n, s in enumerate(said))):
            for at in range(len(data) - WINDOW + 1):
                hit = wanted.get(data[at : at + WINDOW])
                if hit is not None:
                    found.setdefault((hit, name), data[max(0, at - 12) : at + 12].decode("utf-8", "replace"))
        return [f"{where}  in  {name}: {near!r}" for (where, name), near in found.items()]


def windows(text: str) -> set[str]:
    return {text[i : i + WINDOW] for i in range(len(text) - WINDOW + 1) if text[i : i + WINDOW].isascii()}


def _written(roots: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of every file below, its name first; compressed objects are read too."""
    for root in roots:
        for folder, names, files in os.walk(root):
            for name in (*names, *files):
                yield f"name of {name[:8]}… in {os.path.relpath(folder, root)}", name.encode("utf-8", "surrogateescape")
            for name in files:
                path = Path(folder) / name
                if path.is_symlink() or not path.is_file():
                    continue
                data = path.read_bytes()
                yield str(path.relative_to(root)), data
                if path.parent.parent.name == "objects":
                    yield f"object {name[:8]}", zlib.decompress(data)


# ------------------------------------------------------------------ the history


def _record(sid: str, n: int, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    base = {
        "parentUuid": None,
        "isSidechain": False,
        "cwd": "/srv/my-app",
        "sessionId": sid,
        "version": "2.1.200",
        "gitBranch": "main",
        "type": kind,
        "message": {
            "role": kind,
            "content": content,
            **({"id": f"msg_{sid[:8]}_{n}", "model": "c"} if kind == "assistant" else {}),
        },
        "uuid": f"{sid[:8]}-0000-4000-8000-{n:012x}",
        "timestamp": f"2026-03-01T{10 + n // 3600 % 12:02d}:{n // 60 % 60:02d}:{n % 60:02d}.000Z",
    }
    return {**base, **more}


class Talk:
    """A Claude Code session in the making, with every kind of record."""

    def __init__(self, number: int, **always: Any) -> None:
        self.sid = f"{number:08x}-57a5-4f26-b12d-d022ee4e51b7"
        self.always = always
        self.records: list[Any] = []

    def add(self, kind: str, content: Any, **more: Any) -> Talk:
        self.records.append(_record(self.sid, len(self.records), kind, content, **{**self.always, **more}))
        return self

    def you(self, text: str, **more: Any) -> Talk:
        return self.add("user", text, **more)

    def claude(self, text: str, **more: Any) -> Talk:
        return self.add("assistant", [{"type": "text", "text": text}], **more)

    def tool(self, name: str, given: Any, answer: Any, **more: Any) -> Talk:
        call = f"toolu_{self.sid[:8]}_{len(self.records)}"
        self.add("assistant", [{"type": "tool_use", "id": call, "name": name, "input": given}])
        return self.add("user", [{"type": "tool_result", "tool_use_id": call, "content": answer}], **more)

    def line(self, record: Any) -> Talk:
        self.records.append(record)
        return self

    def text(self) -> str:
        return "".join((r if isinstance(r, str) else json.dumps(r, ensure_ascii=False)) + "\n" for r in self.records)


def sessions(garden: Garden) -> None:
    """Claude Code: every kind in prose and tools, then every field that a record has."""
    t = garden.token
    prose = Talk(1).you("Let us begin").claude("Yes.")
    for number, (_, text) in enumerate(garden.texts()):
        (prose.you if number % 2 else prose.claude)(text)
    prose.you("And that is all").claude("Good.")
    garden.write(f"projects/-srv-my-app/{prose.sid}.jsonl", prose.text())

    garden.seed += 500
    work = Talk(2).you("Now with tools please")
    for number, (_, text) in enumerate(garden.texts()):
        if number % 3 == 0:
            work.tool("Bash", {"command": f"set -e\n{text}\nls", "description": "one of many"}, "ok")
        elif number % 3 == 1:
            work.tool("Bash", {"command": "env"}, [{"type": "text", "text": f"PATH=/bin\n{text}\nend"}])
        else:
            work.tool("mcp__db__query", {"query": text, "limit": 3}, f"row\n{text}")
    work.you("Thanks").claude("Done.")
    garden.write(f"projects/-srv-my-app/{work.sid}.jsonl", work.text())

    fields(garden)
    for number, where in enumerate(
        ("cwd", "branch", "title from the prompt", "cut title", "custom title", "summary", "file name")
    ):
        secret = t(where)
        always: dict[str, Any] = {}
        first = f"Talk number {number}"
        name = ""
        if where == "cwd":
            always["cwd"] = f"/srv/{secret}"
        elif where == "branch":
            always["gitBranch"] = f"fix/{secret}"
        elif where == "title from the prompt":
            first = f"Use {secret} please"
        elif where == "cut title":
            first = f"Please use this key for everything that you do from now on and always: {secret}"
        elif where == "file name":
            name = f"notes {secret}"
        one = Talk(20 + number, **always)
        if where == "custom title":
            one.line({"type": "custom-title", "customTitle": f"About {secret}", "sessionId": one.sid})
        one.you(first).claude("Yes.").you("Go on").claude("Gone on.")
        if where == "summary":
            leaf = one.records[-1]["uuid"]
            one.line({"type": "summary", "summary": f"Rotated {secret}", "leafUuid": leaf})
        garden.write(f"projects/-srv-x/{name or one.sid}.jsonl", one.text())


def fields(garden: Garden) -> None:
    """One session with a secret in every field that is shown, and a sub-agent of its own."""
    t = garden.token
    s = Talk(3).you("Fields")
    s.tool(
        "Edit",
        {
            "file_path": f"/srv/my-app/{t('edited path')}.py",
            "old_string": f"key = '{t('Edit old')}'",
            "new_string": f"key = '{t('Edit new')}'",
        },
        "ok",
    )
    s.tool(
        "MultiEdit",
        {"file_path": "/srv/a.py", "edits": [{"old_string": t("MultiEdit old"), "new_string": t("MultiEdit new")}]},
        "ok",
    )
    s.tool("Write", {"file_path": f"/srv/{t('written path')}.env", "content": f"A=1\n{t('written text')}\n"}, "ok")
    s.tool("Bash", {"command": "true", "description": f"uses {t('description of a command')}"}, "ok")
    s.tool(
        "Bash",
        {
            "command": "true",
            "description": "a rather long description of what this command will do with the token, which goes on until it is cut in the middle of "
            + t("cut description"),
        },
        "ok",
    )
    s.tool("TodoWrite", {"todos": [{"content": f"rotate {t('todo')}", "status": "pending", "activeForm": "x"}]}, "ok")
    s.tool("Grep", {"pattern": t("grep pattern"), "path": f"/srv/{t('grep path')}"}, t("grep result"))
    s.tool(
        "WebFetch",
        {"url": f"https://example.org/x?access_token={t('url')}", "prompt": f"with {t('fetch prompt')}"},
        "ok",
    )
    s.tool("WebFetch", {"url": "https://example.org/" + "deep/" * 28 + t("cut url"), "prompt": "read"}, "ok")
    s.tool(
        "mcp__x__y", {"nested": {"deep": [{"value": t("nested input")}]}}, [{"type": "text", "text": t("list result")}]
    )
    s.tool(f"mcp__{t('tool name')}__y", {}, "ok")
    s.tool("ExitPlanMode", {"plan": f"# Plan\n\nuse {t('plan')}"}, "ok")
    s.tool(
        "AskUserQuestion",
        {
            "questions": [
                {"question": f"Use {t('question')}?", "options": [{"label": t("option"), "description": t("why")}]}
            ]
        },
        "ok",
    )
    s.tool(
        "Bash",
        {"command": "x"},
        "boom",
        toolUseResult={"stdout": t("toolUseResult stdout"), "stderr": t("toolUseResult stderr")},
    )
    picture = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 40).decode()
    s.add(
        "user",
        [
            {
                "type": "image",
                "name": f"{t('image name')}.png",
                "source": {"type": "base64", "media_type": "image/png", "data": picture},
            }
        ],
    )
    s.add(
        "user",
        [
            {
                "type": "document",
                "title": f"{t('document title')}.txt",
                "source": {
                    "type": "base64",
                    "media_type": "text/plain",
                    "data": base64.b64encode(f"DB\n{t('document text')}\n".encode()).decode(),
                },
            }
        ],
    )
    s.add(
        "user",
        [
            {
                "type": "document",
                "title": "plain",
                "source": {"type": "text", "media_type": "text/plain", "data": f"see {t('document source text')}"},
            }
        ],
    )
    s.add(
        "user",
        [{"type": "image", "source": {"type": "url", "url": f"https://example.org/p.png?token={t('image url')}"}}],
    )
    s.add("user", [{"type": "new_block", "payload": t("unknown block")}, {"type": "text", "text": "and text"}])
    s.add(
        "assistant",
        [
            {"type": "thinking", "thinking": f"I think {t('thinking')}", "signature": "x"},
            {"type": "text", "text": "hm"},
        ],
    )
    s.you(
        f"This session is being continued from a previous conversation.\n\n{t('compaction summary')}",
        isCompactSummary=True,
    )
    s.you(f"<bash-input>echo {t('bash input')}</bash-input>")
    s.you(f"<bash-stdout>{t('bash output')}</bash-stdout><bash-stderr>{t('bash error')}</bash-stderr>")
    s.you(
        f"<command-name>/model</command-name><command-message>model</command-message><command-args>{t('command argument')}</command-args>"
    )
    s.you(f"<local-command-stdout>{t('command output')}</local-command-stdout>")
    s.add("assistant", [{"type": "text", "text": f"API Error: 401 {t('client error')}"}], isApiErrorMessage=True)
    s.line(
        {
            "type": "system",
            "subtype": "info",
            "content": t("system record"),
            "sessionId": s.sid,
            "uuid": "s-1",
            "timestamp": "2026-03-01T11:00:00Z",
        }
    )
    s.line(
        {
            "type": "queue-operation",
            "operation": "enqueue",
            "content": f"queued {t('queue')}",
            "sessionId": s.sid,
            "timestamp": "2026-03-01T11:00:01Z",
        }
    )
    s.line(
        {
            "type": "attachment",
            "attachment": {"type": "file", "filename": t("attachment name"), "content": t("attachment text")},
            "sessionId": s.sid,
            "uuid": "a-1",
        }
    )
    s.line({"type": "last-prompt", "lastPrompt": t("last prompt"), "sessionId": s.sid})
    s.line('{"type":"user","message":{"role":"user","content":"a damaged line with ' + t("damaged line"))
    s.line(json.dumps([t("a line that is a list")]))
    s.you(f"Decision: we keep {t('decision')} for now").claude(f"TODO: rotate {t('open item')} soon")
    s.you("Two words: " + "padding of a first prompt " * 9 + t("cut log item"))
    call = f"toolu_{s.sid[:8]}_agent"
    s.add(
        "assistant",
        [
            {
                "type": "tool_use",
                "id": call,
                "name": "Task",
                "input": {
                    "description": f"look for {t('task description')}",
                    "prompt": f"find {t('task prompt')}",
                    "subagent_type": "Explore",
                },
            }
        ],
    )
    s.add(
        "user",
        [{"type": "tool_result", "tool_use_id": call, "content": f"agent says {t('task answer')}"}],
        toolUseResult={"agentId": "abc123ff"},
    )
    s.you("Last").claude("Bye.")
    garden.write(f"projects/-srv-my-app/{s.sid}.jsonl", s.text())
    agent = [
        _record(s.sid, 500, "user", f"find {t('agent prompt')}", isSidechain=True, agentId="abc123ff"),
        _record(
            s.sid,
            501,
            "assistant",
            [{"type": "text", "text": f"found {t('agent text')}"}],
            isSidechain=True,
            agentId="abc123ff",
        ),
    ]
    folder = f"projects/-srv-my-app/{s.sid}/subagents"
    garden.write(f"{folder}/agent-abc123ff.jsonl", "".join(json.dumps(r) + "\n" for r in agent))
    garden.write(
        f"{folder}/agent-abc123ff.meta.json",
        json.dumps({"agentType": "Explore", "description": f"seek {t('agent description')}", "toolUseId": call}),
    )


def markdown(garden: Garden) -> None:
    """Exported Markdown: properties of every kind, the file's name, the text."""
    t = garden.token
    head = (
        f"title: {t('md title')}\ntags: [one, {t('md tag')}]\naliases:\n  - {t('md alias')}\nmodel: {t('md property')}\n"
        f"api_key: {t('md named property')}\nnested:\n  key: {t('md nested property')}\nlist:\n  - {t('md list property')}\n"
        f"session_id: {t('md session id')}\nproject: {t('md project')}\n{t('md property name')}: x\n"
    )
    garden.write(
        "md/one.md",
        f"---\n{head}---\n# Talk\n\n## User\n\nhi {t('md prompt')}\n\n## Assistant\n\nyes {t('md answer')}\n",
    )
    garden.write(f"md/{t('md file name')}.md", "# Talk\n\n## User\n\nhi\n\n## Assistant\n\nyes\n")
    garden.write(f"md/{t('md folder name')}/two.md", f"just a body {t('md body')}\n")
    garden.write(f"md/{t('name of a file that is no chat')}.txt", "nothing of the kind\n")
    garden.write(f"md/{t('name of a broken file')}.jsonl", "{broken\n")
    garden.write(f"md/{t('name of a broken zip')}.zip", "PK nothing\n")
    garden.write(
        "md/2026-01-02 wide.md",
        f"# {t('md heading')}\n\n**You:** x\n\n**Claude:** [{t('md link text')}](https://example.org/?key={t('md link')}) <!-- {t('md comment')} -->\n",
    )


def exports(garden: Garden) -> None:
    """Account exports: titles, attachments, projects, memory."""
    t = garden.token

    def message(n: int, who: str, **more: Any) -> dict[str, Any]:
        return {"uuid": f"m{n}", "sender": who, "created_at": "2026-03-01T10:00:00Z", "text": "", **more}

    chat = {
        "uuid": "c0ffee00-0000-4000-8000-000000000001",
        "name": f"About {t('claude.ai title')}",
        "summary": t("claude.ai summary"),
        "created_at": "2026-03-01T10:00:00Z",
        "updated_at": "2026-03-01T10:10:00Z",
        "account": {"uuid": "u"},
        "chat_messages": [
            message(
                1,
                "human",
                content=[{"type": "text", "text": f"hello {t('claude.ai prompt')}"}],
                attachments=[
                    {
                        "file_name": f"{t('claude.ai attachment name')}.txt",
                        "file_type": "txt",
                        "extracted_content": f"x {t('claude.ai attachment')}",
                    }
                ],
                files=[{"file_name": f"{t('claude.ai file name')}.png"}],
            ),
            message(
                2,
                "assistant",
                content=[
                    {"type": "text", "text": f"answer {t('claude.ai answer')}"},
                    {
                        "type": "tool_use",
                        "id": "t",
                        "name": "artifacts",
                        "input": {
                            "command": "create",
                            "id": "a",
                            "type": "text/html",
                            "title": t("artifact title"),
                            "content": f"<p>{t('artifact text')}</p>",
                        },
                    },
                    {"type": "tool_use", "id": "t2", "name": "web_search", "input": {"query": t("claude.ai query")}},
                    {
                        "type": "tool_result",
                        "tool_use_id": "t2",
                        "content": [{"type": "text", "text": t("claude.ai result")}],
                    },
                ],
            ),
        ],
    }
    garden.write("claude/conversations.json", json.dumps([chat]))
    garden.write(
        "claude/projects.json",
        json.dumps(
            [
                {
                    "uuid": "p",
                    "name": t("claude.ai project"),
                    "description": t("claude.ai project description"),
                    "prompt_template": t("claude.ai instructions"),
                    "created_at": "2026-03-01T10:00:00Z",
                    "updated_at": "2026-03-01T10:00:00Z",
                    "docs": [
                        {
                            "uuid": "d",
                            "filename": t("claude.ai doc name"),
                            "content": t("claude.ai doc"),
                            "created_at": "2026-03-01T10:00:00Z",
                        }
                    ],
                }
            ]
        ),
    )
    garden.write("claude/users.json", json.dumps([{"uuid": "u", "full_name": "x", "email_address": "x@example.org"}]))
    garden.write(
        "claude/memories.json",
        json.dumps(
            [{"conversations_memory": f"knows {t('claude.ai memory')}", "project_memories": {}, "account_uuid": "u"}]
        ),
    )

    def node(i: str, parent: str | None, children: list[str], msg: Any) -> dict[str, Any]:
        return {"id": i, "parent": parent, "children": children, "message": msg}

    def said(i: str, role: str, parts: list[str], **more: Any) -> dict[str, Any]:
        base = {"id": i, "author": {"role": role}, "create_time": 1772359200.0, "status": "finished_successfully"}
        content = {"content_type": "text", "parts": parts}
        return {**base, "content": content, "recipient": "all", "metadata": {}, **more}

    gpt = {
        "id": "g1",
        "conversation_id": "g1",
        "title": f"On {t('chatgpt title')}",
        "create_time": 1772359200.0,
        "update_time": 1772359300.0,
        "current_node": "c",
        "mapping": {
            "r": node("r", None, ["a"], None),
            "a": node(
                "a",
                "r",
                ["b"],
                said(
                    "a",
                    "user",
                    [f"hi {t('chatgpt prompt')}"],
                    metadata={"attachments": [{"id": "file-x", "name": f"{t('chatgpt attachment')}.txt"}]},
                ),
            ),
            "b": node(
                "b",
                "a",
                ["c"],
                {
                    **said("b", "assistant", []),
                    "recipient": "python",
                    "content": {"content_type": "code", "language": "python", "text": f"k = '{t('chatgpt code')}'"},
                },
            ),
            "c": node("c", "b", [], said("c", "assistant", [f"yes {t('chatgpt answer')}"])),
        },
    }
    garden.write("chatgpt/conversations.json", json.dumps([gpt]))
    garden.write("chatgpt/file-x-notes.txt", f"attached {t('chatgpt attached text')}\n")


def titles(garden: Garden) -> None:
    """A talk for every kind of secret, whose first prompt is so long that its title is cut inside the secret or behind it."""
    plants = [
        p
        for p in (*tokens(garden.seed + 7000), *contexts(garden.seed + 7000))
        if "\n" not in p.text and p.name != "seed"
    ]
    for number, plant in enumerate(plants):
        text = garden.plant(plant, "first words")
        end = text.index(plant.value) + len(plant.value)
        inside = max(0, 80 - end + min(len(plant.value) // 2, 60))  # the cut at 80 falls into the value
        behind = max(0, 80 - end)  # or right behind it, before what tells what it is
        for kind, room in enumerate((inside, behind)):
            lead = ("so then I ran this " * 5)[: max(0, room - 1)]
            talk = (
                Talk(1000 + 2 * number + kind, cwd="/srv/titles")
                .you(f"{lead} {text} and what do you think of it?".strip())
                .claude("Fine.")
            )
            garden.write(f"projects/-srv-titles/{talk.sid}.jsonl", talk.text())


def descriptions(garden: Garden) -> None:
    """One-line fields of tools, cut by a reader inside the secret or behind it."""
    talk = Talk(5000, cwd="/srv/cuts").you("Go")
    sizes = itertools.cycle((80, 120, 160, 200, 300))
    for plant in (*tokens(garden.seed + 8000), *contexts(garden.seed + 8000)):
        if "\n" in plant.text or plant.name == "seed":  # words of a list: any sentence holds eight characters of it
            continue
        text = garden.plant(plant, "description")
        end = text.index(plant.value) + len(plant.value)
        size = next(sizes)  # what readers have cut at
        for room in (size - end + len(plant.value) // 2, size - end + 2):
            lead = ("so then I ran this " * 20)[: max(0, room - 1)]
            said = f"{lead} {text} and so on for a while"
            turn = len(talk.records) % 4
            if turn < 2:
                talk.tool("Bash", {"command": "true", "description": said}, "ok")
                talk.you(f"<bash-input>{said}</bash-input>")
            else:
                talk.tool("Grep", {"pattern": said}, "ok")
                talk.you(f"<command-name>/x</command-name><command-args>{said}</command-args>")
    talk.you("End").claude("Yes.")
    garden.write(f"projects/-srv-cuts/{talk.sid}.jsonl", talk.text())


def first_words(garden: Garden, form: str) -> None:
    """Talks of another format whose first words hold a secret just where titles are cut."""
    plants = [p for p in (*tokens(garden.seed + 9000), *contexts(garden.seed + 9000)) if "\n" not in p.text]
    chats: list[Any] = []
    for number, plant in enumerate(p for p in plants if p.name != "seed"):
        text = garden.plant(plant, form)
        end = text.index(plant.value) + len(plant.value)
        size = (80, 100, 120)[number % 3]
        room = max(0, size - end + (min(len(plant.value) // 2, 60) if number % 2 else 0))
        said = f"{('so then I ran this ' * 6)[: max(0, room - 1)]} {text} and what do you think of it?".strip()
        name = f"{number:08x}-0000-4000-8000-000000000000"
        if form == "claude.ai":
            both = [
                {
                    "uuid": f"{name}-{n}",
                    "sender": who,
                    "text": words,
                    "content": [{"type": "text", "text": words}],
                    "created_at": "2026-03-01T10:00:00Z",
                }
                for n, (who, words) in enumerate((("human", said), ("assistant", f"ok {number}")))
            ]
            times = {"created_at": "2026-03-01T10:00:00Z", "updated_at": "2026-03-01T10:00:00Z"}
            chats.append({"uuid": name, "name": "", "account": {"uuid": "u"}, "chat_messages": both, **times})
        elif form == "markdown":
            garden.write(f"m{number}.md", f"## User\n\n{said}\n\n## Assistant\n\nok {number}\n")
        elif form == "claude-export":
            head = f" ▐▛███▜▌   Claude Code v2.1.119\n▝▜█████▛▘  Opus 4.7 · Claude Pro\n  ▘▘ ▝▝    ~/path{number}\n\n"
            body = f"> {said}\n\n⏺ ok {number}\n\n! {said}\n  ⎿  ok\n\n⏺ Bash({said})\n  ⎿  ok\n\n> thanks\n\n⏺ bye\n"
            garden.write(f"e{number}.txt", head + body)
        else:
            assert form == "codex"
            items: list[Any] = [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": said}]},
                {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": said}},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"ok {number}"}]},
            ]
            meta = {"type": "session_meta", "payload": {"id": name, "cwd": "/x", "originator": "codex_cli"}}
            lines = [meta, *({"type": "response_item", "payload": one} for one in items)]
            at = {"timestamp": "2026-03-01T10:00:00Z"}
            path = f"rollout-2026-03-01T10-00-00-{name}.jsonl"
            garden.write(path, "".join(json.dumps({**at, **line}) + "\n" for line in lines))
    if chats:
        garden.write("conversations.json", json.dumps(chats))
        garden.write("users.json", "[]")
