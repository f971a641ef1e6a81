"""A file with role marks → a Conversation: its head read, its messages dated, its identity found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from obsidian_import.formats import dates, frontmatter
from obsidian_import.formats.dates import When
from obsidian_import.formats.dialects import Dialect, Message, trim
from obsidian_import.formats.naming import beginning, name_title, one_line, prompt_title
from obsidian_import.formats.turns import Turns
from obsidian_import.model import (
    Aside,
    Conversation,
    File,
    Found,
    Origin,
    Problem,
    Skip,
    Text,
    Thinking,
    ToolCall,
    Turn,
)

SOURCE: Final = "markdown"
"""Of talks whose own source is not known."""

_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
CHAT_URL: Final = re.compile(
    r"https?://(?:www\.)?(claude\.ai/chat|chatgpt\.com/(?:g/[\w-]+/)?c|chat\.openai\.com/c)/([0-9A-Za-z-]{8,64})"
)
_SPECSTORY_SESSION: Final = re.compile(r"<!-- (.{1,60}?) Session ([0-9A-Za-z_-]{6,80}) \((.{0,40}?)\) -->")
_FIELD: Final = re.compile(
    r"(?:[-*] )?\**(Session ID|Session|Date|User|Account|Email|Created|Updated|Exported|Export Date|Link|URL|Model|Project|Project Path|Messages|Total Messages|Organization|Started|Ended|Duration|Version|Working Directory)\**:\**:?\**\s*(.*?)\s*",
    re.IGNORECASE,
)
_LONGEST_HEAD: Final = 1000
"""Characters of a head line: patterns are for lines that people see, not for a megabyte of blanks."""
_TIME_TITLE: Final = re.compile(r"[\d\s:TZ+.,/-]{8,40}(?:[AP]M)?")
_FOOTER: Final = re.compile(
    r"(?:\*|_)?(?:Powered|Exported|Generated) (?:by|with|from|using) (?:\[[^\]]{1,80}\]\([^)]{0,200}\)|(?:Claude|ChatGPT) Export\w*).{0,40}",
    re.IGNORECASE,
)


def url_key(found: re.Match[str]) -> tuple[str, str]:
    """(key, native id) of the talk that a web address names."""
    source = "claude.ai" if found[1].startswith("claude") else "chatgpt"
    return f"{source}:{found[2].lower()}", found[2].lower()


def named_day(name: str) -> When | None:
    """The day in a file name."""
    day = dates.in_name(name)
    return dates.value(day) if day else None


@dataclass(slots=True)
class Dates:
    """The dates of one file, read in one order (D/M or M/D)."""

    file: File
    all: list[When] = field(default_factory=list)
    order: dates.Order | None = None

    def add(self, *whens: When | None) -> None:
        """Dates of the file that may settle the order of the others."""
        self.all += [one for one in whens if one is not None]
        self.order = None

    def read(self, when: When | None) -> datetime | None:
        """A date in the file's order."""
        if when is None:
            return None
        if self.order is None:
            self.order = dates.order(self.all or [when], self.file.name, self.file.mtime)
        return when.read(self.order.day_first)

    def first(self, *whens: When | datetime | None) -> datetime | None:
        """The first of these that is there."""
        self.add(*(one for one in whens if isinstance(one, When)))
        for one in whens:
            got = self.read(one) if isinstance(one, When) else one
            if got is not None:
                return got
        return None

    def problems(self) -> Iterator[Problem]:
        """That a date was read one of two ways, where only the file's time settled it."""
        if self.order is not None and self.order.by in {"mtime", "nothing"}:
            taken = "day/month" if self.order.day_first else "month/day"
            by = "from the file's time" if self.order.by == "mtime" else "as nothing tells"
            yield Problem(
                self.file.where,
                f"its dates can be read two ways; taken as {taken}/year, {by}",
                "Put the date into the file's name (2026-04-03 …) if this is wrong.",
            )


class Talk:
    """One marked file on its way to a Conversation."""

    def __init__(
        self, file: File, front: frontmatter.Front, dialect: Dialect, before: list[str], messages: list[Message]
    ) -> None:
        self.file, self.front, self.dialect = file, front, dialect
        self.before, self.messages = before, messages
        self.carried = frontmatter.carried(front.data)
        self.fields: dict[str, str] = {}
        self.title = self.carried.title
        self.prelude: list[str] = []
        self.session = ""
        self.source = SOURCE
        self.assistant = dialect.assistant
        self.when = Dates(file)
        self.head_when: When | None = None
        self._head()
        self._messages()

    # -- what stands before the first message

    def _head(self) -> None:
        for line in self.before:
            bare = line.strip()
            if len(bare) > _LONGEST_HEAD:
                self.prelude.append(line)
                continue
            comment = _SPECSTORY_SESSION.search(bare)
            heading = re.fullmatch(r"#{1,2} +(.+?)\s*#*", bare)
            known = _FIELD.fullmatch(bare.rstrip("\\ "))
            if comment:
                self._agent(comment[1], comment[2])
                self.head_when = self.head_when or dates.parse(comment[3])
            elif heading and not self.prelude and self._heading(heading[1]):
                continue
            elif known:
                self.fields.setdefault(known[1].lower(), known[2].strip("`"))
            elif re.match(r"_Exported on .* from Cursor", bare):
                self.fields.setdefault("exported", bare)
                self.assistant = "Cursor"
            elif (
                bare
                and bare not in {"---", "***", "___"}
                and not bare.startswith(("<!--", "- [", "<a id=", "<a name=", "* ["))
            ):
                self.prelude.append(line)
        link = " ".join(
            [
                self.fields.get("link", ""),
                self.fields.get("url", ""),
                *(str(self.front.data.get(k, "")) for k in frontmatter.URL_KEYS),
            ]
        )
        named = self.fields.get("session id") or str(self.front.data.get("session_id") or "")
        if self.session:
            pass
        elif found := CHAT_URL.search(link):
            key, self.session = url_key(found)
            self.source = key.partition(":")[0]
            self.assistant = "Claude" if self.source == "claude.ai" else "ChatGPT"
        elif _UUID.fullmatch(named):
            self.source, self.session = "claude-code", named.lower()
        elif self.dialect.name in {"claude-code-log", "cctrace"} and (
            uuid := _UUID.search(named or self.file.name.rpartition("/")[2])
        ):
            self.source, self.session = "claude-code", uuid[0].lower()
        elif named:
            self.session = named
        elif own := frontmatter.own_id(self.front.data):
            self.session = own
        tail = "\n".join(self.messages[-1].lines[-6:])
        author = str(self.front.data.get("author", "")).lower()
        for word, name in (
            ("chatgpt", "ChatGPT"),
            ("claude", "Claude"),
            ("gemini", "Gemini"),
            ("copilot", "Copilot"),
            ("grok", "Grok"),
        ):
            if word in author or (self.dialect.name == "Claude Exporter" and f"[{word} exporter]" in tail.lower()):
                self.assistant = name

    def _heading(self, text: str) -> bool:
        """Take a heading of the head as title; False where it is text of the talk."""
        if text in self.dialect.generic_titles or text in {"Table of Contents", "Session Information"}:
            return True
        if self.dialect.name == "claude-code-log":
            if text.startswith("Claude Transcripts"):
                return True
            session = re.fullmatch(r"(?:\W{1,3} )?Session\b[^:]{0,80}:? ?(.*)", text)
            text = session[1] if session else text
        dated = re.fullmatch(r"(.*?)\s*\((.{6,40})\)", text)
        when = dates.parse(dated[2]) if dated else None
        if dated and when:
            self.head_when = self.head_when or when
            text = dated[1]
        if _TIME_TITLE.fullmatch(text):
            self.head_when = self.head_when or dates.parse(text)
            return True
        bare = text.strip("*_ ")
        if bare and not self.title:
            self.title = bare
        return bool(when) or bare == self.title

    def _agent(self, agent: str, session: str) -> None:
        """`Claude Code`, `Cursor IDE`, `Codex CLI` … → source, key and the name in the headings."""
        word = agent.strip().lower()
        self.session = session.lower() if _UUID.fullmatch(session) else session
        if word.startswith("claude"):
            self.source, self.assistant = "claude-code", "Claude"
            return
        stem = re.sub(r"\s+(?:ide|cli|tui|code|chat)$", "", word)
        self.source = {"gemini": "gemini-cli"}.get(stem, re.sub(r"[^a-z0-9]+", "-", stem).strip("-") or "agent")
        self.assistant = " ".join(part.capitalize() for part in re.split(r"[\s-]+", stem)) or "Agent"

    # -- the messages

    def _messages(self) -> None:
        pending: When | None = None
        for message in self.messages:
            lines = trim(message.lines, ruled=self.dialect.ruled)
            if self.dialect.name == "revivalstack":
                while lines and (
                    re.fullmatch(r"###### \[top\]\(.*\)", lines[-1].strip()) or lines[-1].strip() in {"", "___", "---"}
                ):
                    lines.pop()
            when, message.lines = message.mark.when or pending, lines
            pending = None
            if (
                self.dialect.name == "cctrace"
                and lines
                and (later := dates.only_date(lines[-1]))
                and lines[-1].startswith("**[")
            ):
                pending, message.lines = later, trim(lines[:-1], ruled=True)
            if when is None:
                when = self._date_line(message)
            if when is not None:
                message.mark = replace(message.mark, when=when)
        last = self.messages[-1]
        if last.lines and len(last.lines[-1]) < _LONGEST_HEAD and _FOOTER.fullmatch(last.lines[-1].strip()):
            last.lines = trim(last.lines[:-1], ruled=True)
        if self.dialect.name == "cctrace" and self.before:
            first = next((one for line in reversed(self.before) if (one := dates.only_date(line))), None)
            if first and self.messages[0].mark.when is None:
                self.messages[0].mark = replace(self.messages[0].mark, when=first)
                self.prelude = [line for line in self.prelude if dates.only_date(line) is None]

    def _date_line(self, message: Message) -> When | None:
        """A message's first line where it is nothing but its time."""
        if not message.lines:
            return None
        first = message.lines[0].strip()
        if len(first) > 200 or not any(c.isdigit() for c in first[:60]):
            return None
        tagged = re.match(r'<time datetime="([^"]{8,40})"[^>]*>.{0,40}?</time>$', first)
        logged = re.fullmatch(r"(?:\*\*`(\d{4}-\d\d-\d\d)`\*\* )?`(\d\d:\d\d:\d\d)`", first)
        when = dates.parse(tagged[1]) if tagged else dates.only_date(first)
        if logged and self.dialect.name == "claude-code-log":
            if logged[1]:
                self._day = logged[1]
            when = dates.parse(f"{getattr(self, '_day', '')} {logged[2]}") if getattr(self, "_day", "") else None
            message.lines = trim(message.lines[1:], ruled=False)
        elif when is not None:
            message.lines = trim(message.lines[1:], ruled=False)
        return when

    _day = ""

    def _one_speaker(self, talk: tuple[Turn, ...]) -> tuple[Turn, ...]:
        """Where all answers bear one name, that is the talk's assistant."""
        names = {turn.speaker for turn in talk if turn.role == "assistant"}
        if len(names) != 1 or not (name := names.pop()):
            return talk
        self.assistant = name
        return tuple(replace(turn, speaker="") for turn in talk)

    def found(self) -> Iterator[Found]:
        """The talk, with Problems about its dates, or a Skip where only wrappers are in it."""
        self.when.add(*(m.mark.when for m in self.messages))
        fields = {
            name: dates.parse(self.fields[name])
            for name in ("created", "date", "started", "updated", "ended", "exported", "export date")
            if name in self.fields
        }
        self.when.add(self.head_when, self.carried.created, self.carried.updated, *fields.values())
        turns = Turns(self.dialect, self.when.read, self.assistant)
        for message in self.messages:
            turns.add(message)
        talk = turns.done()
        if self.dialect.name == "plain":
            talk = self._one_speaker(talk)
        said = [turn for turn in talk if any(isinstance(block, Text | ToolCall | Thinking) for block in turn.blocks)]
        named = name_title(self.file.name) if self.dialect.name == "agarwalvishal" else ""
        title = self.title or named or prompt_title(talk) or name_title(self.file.name)
        key = f"{self.source}:{self.session}" if self.session else f"{SOURCE}:{beginning(talk)}"
        if not said or turns.only_client:
            yield Skip(self.file.where, "nothing but the client's own words in it", key=key, title=one_line(title))
            return
        times = [turn.at for turn in talk if turn.at is not None]
        created = self.when.first(
            self.carried.created,
            self.head_when,
            fields.get("created") or fields.get("date") or fields.get("started"),
            times[0] if times else None,
            fields.get("exported") or fields.get("export date"),
            named_day(self.file.name),
            self.carried.updated,
            dates.from_mtime(self.file.mtime),
        )
        if times and created is not None:
            created = _earlier(created, times[0])
        updated = (
            times[-1] if times else self.when.read(self.carried.updated or fields.get("updated") or fields.get("ended"))
        )
        yield from self.when.problems()
        project = (
            self.fields.get("project", "")
            or self.fields.get("project path", "")
            or self.fields.get("working directory", "")
        )
        prelude = "\n".join(self.prelude).strip("\n")
        yield Conversation(
            key=key,
            source=self.source,
            session_id=self.session,
            title=one_line(title),
            turns=talk,
            assistant=self.assistant,
            origin=_origin(self.source, self.dialect),
            project=re.split(r"[\\/]", project.strip().rstrip("\\/"))[-1],
            cwd=project if re.search(r"[\\/]", project) else "",
            created=created,
            updated=updated,
            asides=(Aside("context", "Before the first message", text=prelude),) if prelude.strip() else (),
            tags=self.carried.tags,
            aliases=self.carried.aliases,
            properties=self.carried.properties,
            files=(self.file.where,),
        )


def _earlier(head: datetime, first: datetime) -> datetime:
    """The earlier of two times of one beginning; of one with a zone and one without, the one with."""
    if (head.tzinfo is None) == (first.tzinfo is None):
        return min(head, first)
    aware, naive = (head, first) if head.tzinfo else (first, head)
    near = abs((aware.replace(tzinfo=None) - naive).total_seconds()) < 15 * 3600
    return aware if near else head


def _origin(source: str, dialect: Dialect) -> Origin | None:
    if source in {"claude.ai", "chatgpt"}:
        return "web"
    return "code" if source == "claude-code" else dialect.origin
