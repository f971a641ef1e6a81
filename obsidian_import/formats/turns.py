"""Marked messages → turns: neighbours of one role are one turn, results sit with their call, helpers are folded in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from obsidian_import.formats import client_words, pieces
from obsidian_import.formats.dates import When
from obsidian_import.formats.dialects import Dialect, Message, trim
from obsidian_import.model import Aside, Block, Role, Text, Thinking, ToolCall, Turn


@dataclass(slots=True)
class _Open:
    role: Role
    blocks: list[Block]
    at: datetime | None
    speaker: str


class Turns:
    """Takes messages in order; `when` reads a date in the order (D/M, M/D) of the whole file."""

    def __init__(self, dialect: Dialect, when: Callable[[When | None], datetime | None], assistant: str) -> None:
        self._dialect, self._when, self._assistant = dialect, when, assistant
        self._turns: list[_Open] = []
        self._loose: list[Block] = []
        self._side: list[Turn] = []
        self._command: tuple[str, When | None] = ("", None)
        self.only_client = True

    def add(self, message: Message) -> None:
        """One more message of the file."""
        mark = message.mark
        turn_id = str(len(self._turns) + 1)
        if mark.sidechain:
            at = self._when(mark.when)
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
            self._turns[-1].blocks += [*self._take(), *blocks]
            return
        named = speaker if speaker != self._assistant else ""
        self._turns.append(_Open(role, [*self._take(), *blocks], self._when(when), named))

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
            self._turns[-1].blocks.append(aside)
        else:
            self._loose.append(aside)

    def done(self) -> tuple[Turn, ...]:
        """The turns; what is still loose goes with the last one."""
        self._close_side()
        if self._loose and not self._turns:
            self._turns.append(_Open("user", [], None, ""))
        if self._turns:
            self._turns[-1].blocks += self._take()
        return tuple(
            Turn(str(number), one.role, tuple(one.blocks), one.at, speaker=one.speaker)
            for number, one in enumerate(self._turns, 1)
        )


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
