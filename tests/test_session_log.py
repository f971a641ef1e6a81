"""Facts of a session and the note they make: laws, and what only a whole talk shows."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_import import inert, properties, session_log
from obsidian_import.model import Conversation, Text, ToolCall, Turn
from obsidian_import.session_log import Setting, facts, stem, tag_of, text

AT = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
OPTIONS = inert.Options()


def talk(*said: str, calls: tuple[ToolCall, ...] = (), branch: str = "main") -> Conversation:
    turns = [
        Turn(f"t{n}", "user" if n % 2 == 0 else "assistant", (Text(words), *(calls if n == 1 else ())), AT)
        for n, words in enumerate(said)
    ]
    return Conversation(
        "claude-code:abcd-1", "claude-code", "abcd-1", "T", tuple(turns), branch=branch, created=AT, updated=AT
    )


def setting(**more: object) -> Setting:
    return Setting(**{"project": "my-app", "identity": "", "reason": "other", "zone": UTC, **more})  # type: ignore[arg-type]  # a test's shorthand


def note(session: Conversation, **more: object) -> str:
    return text(facts(session), setting(**more), str, OPTIONS)


anything = st.text(max_size=80) | st.sampled_from(
    [
        "---",
        "# H",
        "```",
        "~~~",
        "%%",
        "$$",
        "<!--",
        "- [ ] x",
        "Decision: y\n---\n",
        "> q",
        "a\n\n## Done\n",
        "<% x %>",
        "![[x]]",
        "^id",
        "k:: v",
        "#t",
    ]
)


@given(st.lists(anything, min_size=2, max_size=6), anything, anything, anything)
@settings(max_examples=150)
def test_whatever_is_said_the_note_keeps_its_shape(said: list[str], branch: str, command: str, project: str) -> None:
    """Properties parse and are ours, headings are ours, nothing acts, no line is endless, the same again."""
    calls = (ToolCall("c", "Bash", command), ToolCall("e", "Edit", "", title=command))
    session = talk(*said, calls=calls, branch=branch)
    made = note(session, project=project, named=(command or "x",))
    assert made == note(session, project=project, named=(command or "x",))
    held = properties.read(made)
    assert held["type"] == "log"
    assert held["session_id"] == "abcd-1"
    assert properties.problem(made) is None
    body = made.split("\n---\n", 1)[1]
    headings = [line for line in body.split("\n") if line.startswith("#")]
    assert set(headings) <= {"## First prompt", "## Edited", "## Commands", "## Decisions", "## Open items", "## Links"}
    assert len(headings) == len(set(headings))
    assert inert.active(made) == []
    assert all(len(line) < 8000 for line in made.split("\n"))
    assert "\0" not in made
    made.encode("utf-8")


def test_the_limits() -> None:
    session = talk("p " * 400, "Decision: " + "d" * 500, *[f"Decision: number {n} is made" for n in range(40)])
    told = facts(session)
    assert len(told.prompt) <= 300
    assert len(told.decisions) <= session_log.ITEMS
    assert all(len(d) <= session_log.ITEM for d in told.decisions)


@pytest.mark.parametrize(
    ("line", "kind", "what"),
    [
        ("Decision: use Postgres here", "d", "use Postgres here"),
        ("**Decision:** use Postgres here", "d", "use Postgres here"),
        ("- We decided to use Postgres", "d", "to use Postgres"),
        ("Let's go with Postgres then", "d", "Postgres then"),
        ("Entscheidung: wir nehmen Postgres", "d", "wir nehmen Postgres"),
        ("- [ ] measure it", "o", "measure it"),
        ("TODO: measure the queue", "o", "measure the queue"),
        ("Open question: who measures it?", "o", "who measures it?"),
        ("- [x] done already", "", ""),
        ("We could decide tomorrow about it", "", ""),
        ("the next step is unclear", "", ""),
        ("    todo = 1", "", ""),
        ("Decision:", "", ""),
    ],
)
def test_markers(line: str, kind: str, what: str) -> None:
    told = facts(talk("start", f"Words.\n{line}\nMore."))
    assert told.decisions == ((what,) if kind == "d" else ())
    assert told.open_items == ((what,) if kind == "o" else ())


def test_names_and_times_are_in_the_vaults_zone() -> None:
    told = facts(talk("a", "b", "c"))
    assert stem(told, UTC) == "2026-03-01-2330-auto-session-abcd"
    assert stem(told, ZoneInfo("Europe/Berlin")) == "2026-03-02-0030-auto-session-abcd"
    assert "created: 2026-03-02T00:30:00" in note(talk("a", "b", "c"), zone=ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize("identity", ["/home/me/code/api", "C:\\code\\api", "\\\\server\\x"])
def test_a_local_path_is_told_to_nobody(identity: str) -> None:
    assert "repository" not in note(talk("a", "b", "c"), identity=identity)


def test_paths_are_relative_to_the_project() -> None:
    calls = tuple(
        ToolCall(str(n), "Edit", "", title=p)
        for n, p in enumerate(
            [
                "/srv/api/src/a.py",
                "/srv/api/.claude/worktrees/w/src/b.py",
                "/w/api/src/c.py",
                "/srv/apiary/d.py",
                "e.py",
            ]
        )
    )
    told = facts(talk("a", "b", "c", calls=calls), "/srv/api", "/w/api")
    assert told.edited == ("src/a.py", "src/b.py", "src/c.py", "/srv/apiary/d.py", "e.py")


@pytest.mark.parametrize(
    ("project", "tag"),
    [
        ("my-app", "my-app"),
        ("My App (me)", "my-app-me"),
        ("2048", ""),
        ("プロジェクト", "プロジェクト"),
        ("", ""),
        ("a/b", "a-b"),
    ],
)
def test_tags(project: str, tag: str) -> None:
    assert tag_of(project) == tag
