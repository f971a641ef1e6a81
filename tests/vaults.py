"""Small vaults and sessions for tests, and a way to call the product as a person does."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from obsidian_import.cli import main


@dataclass
class Outcome:
    """What one call of the command line came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Desk:
    """A vault, a folder of sessions, and the command."""

    vault: Path
    sources: Path
    capsys: pytest.CaptureFixture[str]

    def run(self, *args: str | Path, code: int | None = 0) -> Outcome:
        """Call `obsidian-import ARGS --vault …`; `code` is what it should exit with (None: anything)."""
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as done:
            main([*map(str, args), "--vault", str(self.vault)])
        said = self.capsys.readouterr()
        got = done.value.code
        outcome = Outcome(got if isinstance(got, int) else 0, said.out, said.err)
        if outcome.code == 3:
            logs = sorted((self.sources.parent / "data" / "log").glob("*.md"))
            raise AssertionError(logs[-1].read_text(encoding="utf-8") if logs else said.err)
        assert code is None or outcome.code == code, f"exit {outcome.code}\n{said.out[-3000:]}\n{said.err[-3000:]}"
        return outcome

    def json(self, *args: str | Path, code: int | None = 0) -> Any:
        return self.run(*args, "--json", code=code).json

    def write(self, name: str, text: str) -> Path:
        path = self.vault / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return path

    def read(self, name: str) -> str:
        return (self.vault / name).read_bytes().decode("utf-8", "surrogateescape")

    def tree(self, *, times: bool = False, sidecar: bool = False) -> dict[str, Any]:
        return tree(self.vault, times=times, sidecar=sidecar)


def tree(root: Path, *, times: bool = False, sidecar: bool = False) -> dict[str, Any]:
    """Every file and folder below: bytes and modes (and times)."""
    found: dict[str, Any] = {}
    for folder, names, files in os.walk(root):
        if not sidecar and ".obsidian-import" in names:
            names.remove(".obsidian-import")
        for name in (*names, *files):
            path = Path(folder) / name
            seen = path.lstat()
            facts: list[Any] = [stat.S_IMODE(seen.st_mode)]
            if stat.S_ISREG(seen.st_mode):
                facts.append(path.read_bytes())
                if times:
                    facts.append(seen.st_mtime_ns)
            found[path.relative_to(root).as_posix()] = tuple(facts)
    return found


@dataclass
class Session:
    """A Claude Code transcript in the making."""

    id: str = "5c0375b4-57a5-4f26-b12d-d022ee4e51b7"
    cwd: str = "/srv/my-app"
    day: str = "2026-03-01"
    lines: list[str] = field(default_factory=list)

    def _record(self, kind: str, content: Any, **more: Any) -> Session:
        n = len(self.lines)
        self.lines.append(
            json.dumps(
                {
                    "parentUuid": None,
                    "isSidechain": False,
                    "userType": "external",
                    "cwd": self.cwd,
                    "sessionId": self.id,
                    "version": "2.1.200",
                    "gitBranch": "main",
                    "type": kind,
                    "message": {"role": kind, "content": content, **more},
                    "uuid": f"{self.id[:8]}-0000-4000-8000-{n:012x}",
                    "timestamp": f"{self.day}T10:{n // 60 % 60:02d}:{n % 60:02d}.000Z",
                },
                ensure_ascii=False,
            )
        )
        return self

    def you(self, text: str) -> Session:
        return self._record("user", text)

    def claude(self, text: str) -> Session:
        return self._record("assistant", [{"type": "text", "text": text}], id=f"msg_{len(self.lines)}", model="claude")

    def tool(self, command: str, result: str) -> Session:
        call = f"toolu_{len(self.lines)}"
        block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        self._record("assistant", [block], id=f"msg_{len(self.lines)}", model="claude")
        return self._record("user", [{"type": "tool_result", "tool_use_id": call, "content": result}])

    @property
    def key(self) -> str:
        return f"claude-code:{self.id}"

    def save(self, folder: Path) -> Path:
        path = folder / self.cwd.replace("/", "-") / f"{self.id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        return path


def session(number: int = 1, **more: Any) -> Session:
    """A session of its own number."""
    return Session(id=f"{number:08x}-57a5-4f26-b12d-d022ee4e51b7", **more)
