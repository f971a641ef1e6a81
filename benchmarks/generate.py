"""Seeded workloads: vaults of N notes, chats as an extractor exports them, Claude Code sessions. Our own generator."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Sequence
from pathlib import Path

_STEMS = [
    "auth",
    "cache",
    "queue",
    "index",
    "query",
    "deploy",
    "cluster",
    "router",
    "state",
    "token",
    "login",
    "invoice",
    "order",
    "search",
    "vector",
    "model",
    "batch",
    "worker",
    "retry",
    "timeout",
    "logging",
    "metric",
    "trace",
    "alert",
    "report",
    "export",
    "sync",
    "merge",
    "branch",
    "release",
    "schema",
    "migration",
    "table",
    "column",
    "trigger",
    "lambda",
    "gateway",
    "proxy",
    "node",
    "service",
    "config",
    "vault",
    "note",
    "graph",
    "review",
    "meeting",
    "project",
    "design",
    "record",
    "module",
    "package",
    "test",
    "fixture",
    "parser",
    "lexer",
    "runtime",
    "memory",
    "thread",
    "mutex",
    "stream",
    "buffer",
    "socket",
    "protocol",
    "header",
    "storage",
    "image",
    "template",
    "plugin",
    "setting",
    "feature",
    "budget",
]
_COMMON = [
    "the",
    "a",
    "of",
    "to",
    "and",
    "in",
    "is",
    "it",
    "that",
    "for",
    "on",
    "with",
    "as",
    "this",
    "be",
    "are",
    "from",
    "at",
    "by",
    "we",
    "you",
    "not",
    "can",
    "will",
    "if",
    "or",
    "an",
    "when",
    "so",
]
_SYLLABLES = [
    "ba",
    "ce",
    "do",
    "fi",
    "gu",
    "ha",
    "je",
    "ki",
    "lo",
    "mu",
    "na",
    "pe",
    "ri",
    "so",
    "tu",
    "va",
    "we",
    "xi",
    "yo",
    "za",
]


def vocabulary(size: int = 5000) -> list[str]:
    """Words: the stems first, then invented ones; a prefix is a smaller vocabulary."""
    r = random.Random(1)
    words = dict.fromkeys(_STEMS)
    while len(words) < size:
        words["".join(r.choice(_SYLLABLES) for _ in range(r.choice((2, 3, 3, 4)))) + r.choice(("", "n", "r", "l"))] = (
            None
        )
    return list(words)


WORDS = vocabulary()


def _pick(r: random.Random, items: Sequence[str]) -> str:
    return items[min(int(len(items) ** r.random()), len(items)) - 1]  # few are frequent, most are rare


def names(count: int) -> list[str]:
    """Distinct note names: half kebab, a third Title Case, some single words, a few odd ones."""
    r = random.Random(2)
    found: dict[str, str] = {}
    while len(found) < count:
        kind = r.random()
        if kind < 0.5:
            name = "-".join(_pick(r, WORDS) for _ in range(r.choice((2, 2, 3))))
        elif kind < 0.85:
            name = " ".join(_pick(r, WORDS).capitalize() for _ in range(r.choice((2, 2, 3, 4))))
        elif kind < 0.97:
            name = _pick(r, WORDS).capitalize()
        else:
            name = r.choice(("C++ ", "Über ", "設計 ", "R&D ")) + _pick(r, WORDS)
        found.setdefault(name.lower(), name)
        if kind >= 0.85:
            extra = f"{name} {_pick(r, WORDS)}"
            found.setdefault(extra.lower(), extra)
    return list(found.values())[:count]


def _sentence(r: random.Random, known: Sequence[str]) -> str:
    words = []
    for _ in range(r.randint(7, 20)):
        kind = r.random()
        words.append(_pick(r, known) if kind < 0.05 else r.choice(_COMMON) if kind < 0.4 else _pick(r, WORDS))
    return " ".join(words).capitalize() + "."


def _paragraph(r: random.Random, known: Sequence[str]) -> str:
    kind = r.random()
    if kind < 0.15:
        lines = "\n".join(
            f"    {r.choice(WORDS)} = {r.choice(WORDS)}({r.randint(0, 99)})" for _ in range(r.randint(3, 20))
        )
        return f"```python\ndef {r.choice(WORDS)}():\n{lines}\n```"
    if kind < 0.3:
        return "\n".join(f"- {_sentence(r, known)}" for _ in range(r.randint(2, 5)))
    return (
        " ".join(_sentence(r, known) for _ in range(r.randint(1, 5))) + f" Run `{r.choice(WORDS)} --{r.choice(WORDS)}`."
    )


def vault(folder: Path, count: int) -> None:
    """A vault of `count` notes in folders; one in ten has an alias, most link to another."""
    r = random.Random(3)
    known = names(count)
    (folder / ".obsidian").mkdir(parents=True)
    for number, name in enumerate(known):
        place = folder / f"area {number % max(1, count // 200)}"
        place.mkdir(exist_ok=True)
        alias = f"aliases: [{_pick(r, WORDS)} {number}]\n" if number % 10 == 0 else ""
        text = " ".join(_sentence(r, known) for _ in range(r.randint(2, 8)))
        place.joinpath(f"{name}.md").write_text(
            f"---\ntags: [{_pick(r, WORDS)}]\n{alias}---\n\n# {name}\n\n{text} See [[{_pick(r, known)}]].\n",
            encoding="utf-8",
        )


def chats(folder: Path, count: int) -> None:
    """`count` chats of 2 to 40 KB in claude-conversation-extractor's layout."""
    r = random.Random(4)
    known = names(20_000)
    folder.mkdir(parents=True)
    for number in range(count):
        sid = str(uuid.UUID(int=r.getrandbits(128)))
        out = [f"# Claude Conversation Log\n\nSession ID: {sid}\nDate: 2026-03-{1 + number % 28:02d} 10:00:00\n\n---\n"]
        size, goal = 0, int(2000 * 20 ** r.random())
        while size < goal:
            for who, most in (("## 👤 User", 1), ("## 🤖 Claude", 6)):
                body = "\n\n".join(_paragraph(r, known) for _ in range(r.randint(1, most)))
                out.append(f"{who}\n\n{body}\n\n---\n")
                size += len(body)
        folder.joinpath(f"claude-conversation-2026-03-{1 + number % 28:02d}-{sid[:8]}.md").write_text(
            "\n".join(out), encoding="utf-8"
        )


def sessions(folder: Path, count: int) -> int:
    """`count` Claude Code transcripts of about 100 KB each; their bytes."""
    r = random.Random(5)
    total = 0
    for number in range(1, count + 1):
        sid = f"{number:08x}-0000-4000-8000-{number:012x}"
        cwd = f"/srv/nimbus/p{number % 7}"
        lines: list[str] = []

        def record(
            kind: str,
            content: object,
            sid: str = sid,
            cwd: str = cwd,
            lines: list[str] = lines,
            number: int = number,
            **more: object,
        ) -> None:
            k = len(lines)
            when = f"2026-03-{1 + number % 28:02d}T{10 + k // 3600 % 12:02d}:{k // 60 % 60:02d}:{k % 60:02d}.000Z"
            head = {
                "parentUuid": None,
                "isSidechain": False,
                "userType": "external",
                "cwd": cwd,
                "sessionId": sid,
                "version": "2.1.200",
            }
            message = {"role": kind, "content": content, **more}
            lines.append(
                json.dumps(
                    {
                        **head,
                        "gitBranch": "main",
                        "type": kind,
                        "message": message,
                        "uuid": f"{sid[:8]}-{k:04x}-4000-8000-{number:012x}",
                        "timestamp": when,
                    }
                )
            )

        def words(size: int) -> str:
            return " ".join(r.choice(WORDS) for _ in range(size))

        for turn in range(r.randint(3, 12)):
            record("user", words(r.randint(8, 60)))
            text = f"{words(r.randint(40, 300))}\n\n```py\n{words(40)}\n```\n\n{words(60)}"
            record("assistant", [{"type": "text", "text": text}], id=f"msg_{number}_{turn}", model="claude")
            for step in range(r.randint(0, 4)):
                call = f"toolu_{number}_{turn}_{step}"
                block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": f"pytest -q {words(3)}"}}
                record("assistant", [block], id=f"msg_{call}", model="claude")
                record("user", [{"type": "tool_result", "tool_use_id": call, "content": words(r.randint(20, 600))}])
        path = folder / cwd.replace("/", "-") / f"{sid}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        total += path.stat().st_size
    return total
