"""Markdown by extractors and browser extensions → talks; any other Markdown → one note with its own body.

Identity, in this order: the talk's own id where the file has it (a session id, a chat's address: then the key is that
of the transcript or the account export); for a talk without id a digest of its beginning, which stays when the talk
grows or is exported under another name; for a plain file its own `id`, else its folder and name, which stay when it is
edited.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from obsidian_import.formats import client_words, dates, frontmatter, pieces
from obsidian_import.formats.dates import When
from obsidian_import.formats.dialects import Dialect, Message, cut, fenced, sniff, trim
from obsidian_import.model import (
    Aside,
    Block,
    Conversation,
    File,
    Found,
    Group,
    Memo,
    Origin,
    Problem,
    Role,
    Skip,
    Text,
    Thinking,
    ToolCall,
    Turn,
)

NAME: Final = "markdown"
MAX_SIZE: Final = 32 * 1024 * 1024
"""Bytes. A Markdown file is read whole; no person has a larger one."""

_ENDINGS: Final = (".md", ".markdown", ".mdown")
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_CHAT_URL: Final = re.compile(
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


def claims(file: File) -> bool:
    """A Markdown name and text inside, or another name and the marks of a tool we know. May raise OSError."""
    named = file.name.lower().endswith(_ENDINGS)
    if not named and not file.name.lower().endswith((".txt", ".text")) and "." in file.name.rpartition("/")[2]:
        return False
    head = file.head()
    if not head.strip() or (
        b"\0" in head[:4096].replace(b"\0\n", b"") and not head.startswith((b"\xff\xfe", b"\xfe\xff"))
    ):
        return False
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:2] in {b'{"', b"[{"}:
        return False
    text = decode(head)[0]
    if _is_export(text):
        return False
    if named:
        return True
    dialect = sniff(_body_lines(text))
    return dialect is not None and dialect.name != "plain"


def _is_export(text: str) -> bool:
    from obsidian_import.formats import claude_export  # noqa: PLC0415 -- each of the two asks the other

    return claude_export.is_export(text)


def groups(files: Sequence[File], memo: Memo) -> Iterator[Group]:  # noqa: ARG001 -- the common signature
    """All files as one group, so that copies of one talk under two names are seen together."""
    if files:
        yield Group(NAME, tuple(files))


def read(group: Group) -> Iterator[Found]:
    """A talk or a note for each file; a copy of an earlier one in the group as a Skip that names it."""
    seen: dict[str, tuple[str, str]] = {}
    for file in group.files:
        for found in _file(file):
            if isinstance(found, Conversation):
                content = _digest(*_words(found))
                earlier = seen.setdefault(found.key, (content, file.where))
                if earlier[1] != file.where and earlier[0] == content:
                    yield Skip(file.where, f"same talk as {earlier[1]}", key=found.key, title=found.title)
                    continue
                if earlier[1] != file.where and found.body is not None:
                    # Two different notes that claim one id: the second one goes by its full name.
                    yield replace(found, key=f"{NAME}:{_digest(file.name)}", session_id="")
                    continue
            yield found


def _words(talk: Conversation) -> Iterator[str]:
    if talk.body is not None:
        yield talk.body
    for turn in talk.turns:
        yield turn.role
        yield from (block.text for block in turn.blocks if isinstance(block, Text | Thinking))


def _file(file: File) -> Iterator[Found]:
    if file.size > MAX_SIZE:
        yield Problem(
            file.where, f"a Markdown file of {file.size:,} bytes, more than {MAX_SIZE:,}", "Split it.", fatal=True
        )
        return
    try:
        with file.open() as stream:
            raw = stream.read(MAX_SIZE + 1)
    except OSError as error:
        yield Problem(file.where, f"could not be read: {error.strerror or error}", fatal=True)
        return
    text, damage = decode(raw)
    if damage:
        yield Problem(file.where, damage, "Save the file as UTF-8 to have every character.")
    yield from read_text(text, file)


def read_text(text: str, file: File) -> Iterator[Found]:
    """The talk or note of one file's text. Never raises."""
    front = frontmatter.split(text)
    if front.trouble:
        yield Problem(file.where, front.trouble, "The block is kept as text in the note.", line=1)
    if "import_id" in front.data and "chat-import" in frontmatter.strings(front.data.get("tags")):
        yield Skip(file.where, "a note that obsidian-import wrote", key=str(front.data["import_id"]))
        return
    lines = front.body.split("\n")
    if not front.body.strip() and not front.data:
        yield Skip(file.where, "nothing in it")
        return
    dialect = sniff(_skip_blank(lines))
    if dialect is not None:
        before, messages = cut(lines, dialect)
        if messages:
            yield from _Talk(file, front, dialect, before, messages).found()
            return
    yield from _plain_note(file, front)


# ------------------------------------------------------------------ any Markdown


def _plain_note(file: File, front: frontmatter.Front) -> Iterator[Found]:
    carried = frontmatter.carried(front.data)
    body = front.body.strip("\n")
    title = carried.title or _first_heading(body.split("\n")) or _stem(file.name)
    key_id = frontmatter.own_id(front.data)
    url = _CHAT_URL.search(" ".join(str(front.data.get(name, "")) for name in frontmatter.URL_KEYS))
    when = _Dates(file)
    created = when.first(carried.created, _named_day(file.name), carried.updated, dates.from_mtime(file.mtime))
    yield from when.problems()
    key, session = _url_key(url) if url else (f"{NAME}:{key_id or _digest(*_place(file.name))}", key_id)
    yield Conversation(
        key=key,
        source=key.partition(":")[0] if url else NAME,
        session_id=session,
        title=one_line(title),
        turns=(),
        origin="web" if url else None,
        created=created,
        updated=when.read(carried.updated) or None,
        tags=carried.tags,
        aliases=carried.aliases,
        properties=carried.properties,
        body=body,
        files=(file.where,),
    )


def _named_day(name: str) -> When | None:
    day = dates.in_name(name)
    return dates.value(day) if day else None


def _place(name: str) -> tuple[str, ...]:
    """Folder and file name, folded: the same whether the file was named itself or found by walking."""
    return tuple(unicodedata.normalize("NFC", part).casefold() for part in name.split("/")[-2:])


# ------------------------------------------------------------------ talks


@dataclass(slots=True)
class _Dates:
    """The dates of one file, read in one order (D/M or M/D)."""

    file: File
    all: list[When] = field(default_factory=list)
    order: dates.Order | None = None

    def add(self, *whens: When | None) -> None:
        self.all += [one for one in whens if one is not None]
        self.order = None

    def read(self, when: When | None) -> datetime | None:
        if when is None:
            return None
        if self.order is None:
            self.order = dates.order(self.all or [when], self.file.name, self.file.mtime)
        return when.read(self.order.day_first)

    def first(self, *whens: When | datetime | None) -> datetime | None:
        self.add(*(one for one in whens if isinstance(one, When)))
        for one in whens:
            got = self.read(one) if isinstance(one, When) else one
            if got is not None:
                return got
        return None

    def problems(self) -> Iterator[Problem]:
        if self.order is not None and self.order.by in {"mtime", "nothing"}:
            taken = "day/month" if self.order.day_first else "month/day"
            by = "from the file's time" if self.order.by == "mtime" else "as nothing tells"
            yield Problem(
                self.file.where,
                f"its dates can be read two ways; taken as {taken}/year, {by}",
                "Put the date into the file's name (2026-04-03 …) if this is wrong.",
            )


class _Talk:
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
        self.source = NAME
        self.assistant = dialect.assistant
        self.when = _Dates(file)
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
        elif found := _CHAT_URL.search(link):
            key, self.session = _url_key(found)
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
        turns = _Turns(self.dialect, self.when, self.assistant, self.source)
        for message in self.messages:
            turns.add(message)
        talk = turns.done()
        if self.dialect.name == "plain":
            talk = self._one_speaker(talk)
        said = [turn for turn in talk if any(isinstance(block, Text | ToolCall | Thinking) for block in turn.blocks)]
        named = name_title(self.file.name) if self.dialect.name == "agarwalvishal" else ""
        title = self.title or named or prompt_title(talk) or name_title(self.file.name)
        key = f"{self.source}:{self.session}" if self.session else f"{NAME}:{beginning(talk)}"
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
            _named_day(self.file.name),
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


class _Turns:
    """Messages → turns: neighbours of one role are one turn, tool results sit with their call, helpers are folded in."""

    def __init__(self, dialect: Dialect, when: _Dates, assistant: str, source: str) -> None:
        self._dialect, self._when, self._assistant, self._source = dialect, when, assistant, source
        self._turns: list[Turn] = []
        self._loose: list[Block] = []
        self._side: list[Turn] = []
        self._command: tuple[str, When | None] = ("", None)
        self.only_client = True

    def add(self, message: Message) -> None:
        mark = message.mark
        turn_id = str(len(self._turns) + 1)
        if mark.sidechain:
            at = self._when.read(mark.when)
            blocks = pieces.specstory_blocks(message.lines, f"s{len(self._side)}")
            if blocks:
                self._side.append(
                    Turn(
                        f"s{len(self._side) + 1}", mark.role, blocks, at, speaker="" if mark.role == "user" else "Agent"
                    )
                )
                self.only_client = False
            return
        self._close_side()
        text = "\n".join(message.lines)
        if self._dialect.name == "revivalstack" and mark.kind == "section":
            asked, answer = _quoted_prompt(message.lines)
            self._put("user", self._user(asked, mark.when), mark.when)
            self._put("assistant", (Text(answer),) if answer else (), mark.when)
            return
        if mark.role == "user":
            self._put("user", self._user(text, mark.when), mark.when)
            return
        self._put("assistant", self._assistant_blocks(message, text, turn_id), mark.when, mark.speaker)

    def _user(self, text: str, when: When | None) -> tuple[Block, ...]:
        if not self._dialect.code:
            return (Text(text),) if text.strip() else ()
        name, at = self._command
        self._command = (client_words.command_name(text), when)
        if name and when is not None and at == when and not self._command[0] and not text.lstrip().startswith("<"):
            # The text of the command's own file, sent in the same instant: nobody typed it.
            return (Aside("command", f"Text of {name}", text=text),)
        return client_words.user_blocks(text)

    def _assistant_blocks(self, message: Message, text: str, turn_id: str) -> tuple[Block, ...]:
        kind = message.mark.kind
        if self._dialect.code and (message.mark.model == "<synthetic>" or client_words.assistant_is_client(text)):
            return pieces.client(text) if text.strip() else ()
        if kind == "tool_result":
            return pieces.extractor_result(text)
        if kind == "system":
            return (Aside("client", "System", text=re.sub(r"^ℹ️? System: ?", "", text)),)
        if kind == "thinking":
            return (Thinking(_unquote(text)),)
        if kind == "section":
            return pieces.specstory_section(text, turn_id)
        if self._dialect.name == "SpecStory":
            return pieces.specstory_blocks(message.lines, f"{turn_id}.{message.line}")
        if self._dialect.name == "claude-code-log":
            if kind == "tool_use":
                given, language = pieces.unfence(_unquote(text))
                return (ToolCall(f"{turn_id}.{message.line}", message.mark.speaker, given, language=language),)
            return (Text(_unquote(text)),) if text.strip() else ()
        if self._dialect.name == "claude-conversation-extractor":
            return pieces.extractor_text(text, f"{turn_id}.{message.line}")
        return pieces.web_blocks(text) if text.strip() else ()

    def _put(self, role: Role, blocks: tuple[Block, ...], when: When | None, speaker: str = "") -> None:
        if not blocks:
            return
        aside_only = all(isinstance(block, Aside) for block in blocks)
        if not aside_only:
            self.only_client = False
        elif role == "user":
            # Nobody said this: it goes with what is said next, or with the last turn there is.
            self._loose += blocks
            return
        if self._turns and self._turns[-1].role == role and not (role == "user" and self._dialect.name == "plain"):
            last = self._turns[-1]
            self._turns[-1] = replace(last, blocks=(*last.blocks, *self._take(), *blocks))
            return
        loose = self._take()
        at = self._when.read(when)
        self._turns.append(
            Turn(
                str(len(self._turns) + 1),
                role,
                (*loose, *blocks),
                at,
                speaker=speaker if speaker != self._assistant else "",
            )
        )

    def _take(self) -> tuple[Block, ...]:
        taken = tuple(self._loose)
        self._loose.clear()
        return taken

    def _close_side(self) -> None:
        if not self._side:
            return
        aside = Aside("agent", "Sub-agent", turns=tuple(self._side))
        self._side = []
        if self._turns and self._turns[-1].role == "assistant":
            self._turns[-1] = replace(self._turns[-1], blocks=(*self._turns[-1].blocks, aside))
        else:
            self._loose.append(aside)

    def done(self) -> tuple[Turn, ...]:
        """The turns; what is still loose goes with the last one."""
        self._close_side()
        if self._loose and self._turns:
            self._turns[-1] = replace(self._turns[-1], blocks=(*self._turns[-1].blocks, *self._take()))
        elif self._loose:
            self._turns.append(Turn("1", "user", self._take()))
        return tuple(self._turns)


def _quoted_prompt(lines: Sequence[str]) -> tuple[str, str]:
    """revivalstack: the first quote is the prompt, the rest is the answer."""
    start = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    end = start
    while end < len(lines) and lines[end].lstrip().startswith(">"):
        end += 1
    asked = _unquote("\n".join(lines[start:end]))
    answer = [line for line in lines[end:] if not re.fullmatch(r"#{6} .{1,30} said:", line.strip())]
    return asked, "\n".join(trim(answer, ruled=False))


def _unquote(text: str) -> str:
    lines = text.split("\n")
    if any(line.strip() and not line.startswith(">") for line in lines):
        return text.strip("\n")
    return "\n".join(re.sub(r"^> ?", "", line) for line in lines).strip("\n")


# ------------------------------------------------------------------ identity and titles


def beginning(turns: Sequence[Turn]) -> str:
    """A digest of how a talk begins: its first prompt and the start of the first answer, letters and digits only.

    It stays when the talk grows, is wrapped at another width or exported by another tool; and two talks that both
    begin with "hi" differ in the answer.
    """
    asked = next((turn.text for turn in turns if turn.role == "user" and turn.text.strip()), "")
    answer = next((turn.text for turn in turns if turn.role == "assistant" and turn.text.strip()), "")
    return _digest(_letters(asked, 2000), _letters(answer, 160))


def _letters(text: str, limit: int) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text[: limit * 4]).casefold() if c.isalnum())[:limit]


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:24]


def _url_key(found: re.Match[str]) -> tuple[str, str]:
    source = "claude.ai" if found[1].startswith("claude") else "chatgpt"
    return f"{source}:{found[2].lower()}", found[2].lower()


def prompt_title(turns: Sequence[Turn]) -> str:
    """The first line that a person wrote, shortened; empty where there is none."""
    for turn in turns:
        if turn.role == "user":
            for line in turn.text.split("\n"):
                bare = re.sub(r"^(?:#{1,6} |> |[-*] )+", "", line.strip()).strip("*_` ")
                if bare and not re.fullmatch(r"[`~<>\-=_*#|\s]*", bare):
                    return _short(bare)
    return ""


def _short(text: str, limit: int = 100) -> str:
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    cut_at = text.rfind(" ", limit // 2, limit)
    return text[: cut_at if cut_at > 0 else limit].rstrip(" ,;:.-") + "…"


def _first_heading(lines: Sequence[str]) -> str:
    """The first heading of a file, outside fences, if nothing but blank lines and comments stand before it."""
    mask = fenced(lines[:200], lambda _: False)
    for line, inside in zip(lines[:200], mask, strict=True):
        found = None if inside or len(line) > _LONGEST_HEAD else re.fullmatch(r"# +(.+?)(?:\s+#+)?\s*", line)
        if found:
            return re.sub(r"[*_`]+|\[\[|\]\]", "", found[1]).strip()
        if line.strip() and not line.startswith(("<!--", "![", "%%")):
            return ""
    return ""


def _stem(name: str) -> str:
    last = name.rpartition("/")[2]
    return re.sub(r"\.(?:md|markdown|mdown|txt|text)$", "", last, flags=re.IGNORECASE) or "Untitled"


def name_title(name: str) -> str:
    """A title from a file name, without the date in front."""
    stem = _stem(name)
    without = re.sub(r"^\d{4}-\d\d-\d\d(?:[_T -]\d\d[-:]?\d\d(?:[-:]?\d\d)?Z?)?[-_ ]*", "", stem)
    return without or stem


def one_line(text: str) -> str:
    """One line without control characters; never empty."""
    flat = "".join(" " if unicodedata.category(c) in {"Cc", "Zl", "Zp", "Cs"} else c for c in text)
    return " ".join(flat.split()) or "Untitled"


# ------------------------------------------------------------------ bytes


def decode(raw: bytes) -> tuple[str, str]:
    """Text with LF line ends and without NULs, and what is wrong with it (empty: nothing)."""
    damage = ""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = raw.decode("utf-16", "replace")
    else:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            text = raw.decode("utf-8-sig", "replace")
            damage = f"not valid UTF-8 from byte {error.start:,} on: replaced by �"
    if "\0" in text:
        text, damage = text.replace("\0", ""), damage or "holds NUL characters: left out"
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, damage


def _body_lines(text: str) -> list[str]:
    return _skip_blank(frontmatter.split(text).body.split("\n"))


def _skip_blank(lines: list[str]) -> list[str]:
    start = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    return lines[start:]
