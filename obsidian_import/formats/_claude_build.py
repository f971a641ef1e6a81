"""One talk as its records come by: drafts of turns, in file order, with every tool's answer where it was asked for.

File order is the order (times are not monotonic, parents dangle); the tree only marks prompts that were rewound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from obsidian_import.formats import _claude_records as records
from obsidian_import.formats import _claude_text as words
from obsidian_import.formats._claude_blocks import answer, extends, from_result, plain_text, shown
from obsidian_import.formats._claude_drafts import Draft, fold_rewound, unique
from obsidian_import.formats._claude_queue import Queue, squeeze
from obsidian_import.formats._claude_text import Said, clean
from obsidian_import.formats._claude_tools import Shelf, indented, text_of
from obsidian_import.jsonl import Record
from obsidian_import.model import Aside, Block, Text, Thinking, ToolCall, ToolResult, Turn

_LONG_ID = 20
"""A message id of this length is the API's and unique; shorter ones are somebody's own and may be used again."""
_PLACEHOLDERS = frozenset({"(no content)", "No response requested."})


@dataclass(slots=True, eq=False)
class _Message:
    """One API message: the blocks its lines have brought so far, and the draft they went to."""

    draft: Draft
    at: str
    blocks: list[Block] = field(default_factory=list)
    seen: set[object] = field(default_factory=set)
    """The same blocks, and the ids of calls, to look up."""
    ended: bool = False


@dataclass(slots=True)
class Call:
    """A call that may have started a sub-agent."""

    id: str
    prompt: str
    title: str
    builder: Builder


@dataclass(slots=True, eq=False)
class Builder:
    """The turns of one talk, or of one sub-agent."""

    shelf: Shelf
    unknown: Counter[str]
    agent: str = ""
    drafts: list[Draft] = field(default_factory=list)
    lead: list[Block] = field(default_factory=list)
    calls: set[str] = field(default_factory=set)
    results: dict[str, list[Block]] = field(default_factory=dict)
    """What stands behind each call, in the end: sub-agents, then what the tool answered."""
    starts: list[Call] = field(default_factory=list)
    agents: dict[str, str] = field(default_factory=dict)
    """Call → the sub-agent that answered it."""
    first_text: str = ""
    first_at: str = ""
    last_at: str = ""
    answered: bool = False
    prompts: list[str] = field(default_factory=list)
    prompt_at: str = ""
    _messages: dict[str, _Message] = field(default_factory=dict)
    _open: Draft | None = None
    _last: dict[str, Draft] = field(default_factory=dict)
    """The latest draft of each role that is in the talk for certain, and of any ("")."""
    _command: tuple[Said, Draft] | None = None
    _seen: set[int] = field(default_factory=set)
    _queue: Queue = field(default_factory=Queue)
    _steered: str = ""

    # ------------------------------------------------------------------ records

    def add(self, record: Record, uid: str) -> None:
        """Take one record in."""
        kind = record.get("type")
        if kind in ("user", "assistant"):
            stamp = record.get("timestamp")
            at = stamp if isinstance(stamp, str) else ""
            if at:
                self.first_at = self.first_at or at
                self.last_at = max(self.last_at, at)
            message = record.get("message")
            message = message if isinstance(message, dict) else {"content": message}
            if record.get("isCompactSummary") is True:
                self._compaction(plain_text(message.get("content")))
            elif kind == "user":
                self._user(record, message.get("content"), uid, at)
            else:
                self._assistant(record, message, uid, at)
        elif kind == "queue-operation":
            self._queue_operation(record, uid)
        elif kind == "attachment":
            self._attachment(record, uid)
        elif kind == "system" and record.get("subtype") == "local_command":
            content = record.get("content")
            if isinstance(content, str):
                self._say(words.understand(content), [], uid, records.text(record, "timestamp"), record, wrapped=True)

    def _user(self, record: Record, content: Any, uid: str, at: str) -> None:
        blocks = content if isinstance(content, list) else [content]
        said: list[Said] = []
        media: list[Block] = []
        results = False
        alone = "toolUseResult" in record
        for block in blocks:
            if isinstance(block, str):
                said += words.understand(block)
            elif isinstance(block, dict):
                kind = block.get("type")
                if kind == "text":
                    said += words.understand(text_of(block.get("text")))
                elif kind in ("image", "document"):
                    media.append(self.shelf.media(block))
                elif isinstance(kind, str) and kind.endswith("tool_result"):
                    results = True
                    self._result(
                        block, record if len(blocks) == 1 or sum(map(_is_result, blocks)) == 1 else {}, at, uid
                    )
                elif kind == "tool_reference":
                    continue
                else:
                    self.unknown[f"block {str(kind)[:40]}"] += 1
                    said.append(Said("context", indented(block), title=f"Unknown block: {str(kind)[:40]}"))
            elif block is not None:
                said.append(Said("human", text_of(block)))
        if alone and not results and not record.get("isMeta"):
            loose = "\n".join(s.text for s in said if s.kind in ("human", "output"))
            if loose or media:
                self._place_result(ToolResult("", words.tool_text(loose)), media, at, uid)
            return
        if record.get("isMeta") is True or record.get("isVisibleInTranscriptOnly") is True:
            self._attach(media, uid, at)
            said = [s for s in said if s.kind in ("client", "compaction", "output", "command", "echo")]
            media = []
        self._say(said, media, uid, at, record, wrapped=results)

    def _say(self, said: list[Said], media: list[Block], uid: str, at: str, record: Record, *, wrapped: bool) -> None:
        """Put what a record says where it belongs: a prompt of the person, or something beside the talk."""
        origin = record.get("origin")
        source = origin.get("kind") if isinstance(origin, dict) else None
        if source is None and record.get("promptSource") == "system":
            source = "the client"
        foreign = isinstance(source, str) and source not in ("human", "") and not self.agent
        spoken: list[str] = []
        for one in said:
            if one.kind == "human" and foreign:
                self._beside(Aside("context", f"Message from {source}", text=one.text))
            elif one.kind == "human":
                spoken.append(one.text)
            elif one.kind == "command":
                self._settle_command()
                draft = Draft(uid, "user", at, [Text(one.text)], records.text(record, "parentUuid"))
                if one.args and one.title.lstrip("/") not in words.LOCAL and not wrapped:
                    self._prompt(draft, one.text)
                else:
                    self._command = (one, draft)
            elif one.kind == "echo":
                self._settle_command()
                self._command = (one, Draft(uid, "user", at, [], ""))
            elif one.kind == "output":
                if self._command is not None:
                    command, self._command = self._command, None
                    self._beside(Aside("command", _title(command[0]), text=one.text))
                else:
                    self._output(one.text)
            elif one.kind == "compaction":
                self._compaction(one.text)
            else:
                self._beside(Aside("client" if one.kind == "client" else "context", one.title, text=one.text))
        if not spoken and not media:
            return
        if foreign or (wrapped and not spoken):
            self._beside(*media)
            return
        self._settle_command()
        text = "\n\n".join(spoken)
        if self._repeated(("user", at, text, len(media))):
            return
        if self._was_queued(text, record):
            return
        blocks: list[Block] = [Text(text)] if text else []
        self._prompt(Draft(uid, "user", at, [*blocks, *media], records.text(record, "parentUuid")), text)

    def _prompt(self, draft: Draft, text: str) -> None:
        self.prompts.append(text)
        self.first_text = self.first_text or text
        self.prompt_at = self.prompt_at or draft.at
        self._steered = ""
        self._append(draft)

    def _append(self, draft: Draft) -> None:
        if self.lead:
            draft.blocks[:0] = self.lead
            self.lead = []
        self.drafts.append(draft)
        self._last[""] = self._last[draft.role] = draft
        self._open = draft if draft.role == "assistant" else None

    def _beside(self, *blocks: Block) -> None:
        """Something that is nobody's turn: at the end of the turn at hand, or at the head of the first to come."""
        self._settle_command()
        home = self._last.get("")
        if home is not None:
            home.blocks += blocks
        else:
            self.lead += blocks

    def _attach(self, media: list[Block], uid: str, at: str) -> None:
        """A document the person attached comes as a record of its own after the prompt."""
        if not media:
            return
        if (home := self._last.get("user")) is not None:
            home.blocks += media
        else:
            self._append(Draft(uid, "user", at, list(media)))

    def _compaction(self, text: str) -> None:
        if text and not self._repeated(("compaction", "", text, 0)):
            self._beside(Aside("compaction", "The client compacted the talk", text=clean(text)))

    def _settle_command(self) -> None:
        """A command that Claude did not answer was the client's business."""
        if self._command is not None:
            command, self._command = self._command, None
            self._beside(Aside("command", _title(command[0])))

    def _output(self, text: str) -> None:
        """Output in a record of its own: to the command just shown, if there is one."""
        home = last.blocks if (last := self._last.get("")) is not None else self.lead
        if home and isinstance(shown_last := home[-1], Aside) and shown_last.kind == "command":
            home[-1] = Aside("command", shown_last.title, text=f"{shown_last.text}\n{text}".strip("\n"))
        else:
            self._beside(Aside("command", "Output of a command", text=text))

    def _repeated(self, what: tuple[str, str, str, int]) -> bool:
        """Histories that are written twice come with equal times and words."""
        if not what[1] and what[0] == "user":
            return False
        key = hash(what)
        if key in self._seen:
            return True
        self._seen.add(key)
        return False

    # ------------------------------------------------------------------ the queue

    def _queue_operation(self, record: Record, uid: str) -> None:
        if record.get("operation") == "enqueue":
            what = plain_text(record.get("content"))
            if self._repeated(("queue", records.text(record, "timestamp"), what, 0)):
                return
        draft = self._queue.operation(record, uid)
        if draft is not None:
            self.drafts.append(draft)
            self._open = None

    def _was_queued(self, text: str, record: Record) -> bool:
        """Cross the queue's copy of a prompt out. True: the prompt itself was shown already (a steering message)."""
        self._queue.strike(text, attached=record.get("type") == "attachment")
        steered = bool(self._steered) and record.get("type") == "user"
        return steered and len(self._steered) > 20 and squeeze(text) == self._steered

    def _attachment(self, record: Record, uid: str) -> None:
        attachment = record.get("attachment")
        if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
            return
        prompt = attachment.get("prompt")
        blocks = prompt if isinstance(prompt, list) else [prompt]
        said: list[Said] = []
        media: list[Block] = []
        for block in blocks:
            if isinstance(block, dict) and block.get("type") in ("image", "document"):
                media.append(self.shelf.media(block))
            else:
                said += words.understand(plain_text([block]))
        source = attachment if "origin" in attachment else record
        if attachment.get("commandMode") == "task-notification" and any(s.kind == "human" for s in said):
            said = [Said("context", s.text, title="Background task") for s in said]
        spoken = "\n\n".join(s.text for s in said if s.kind == "human")
        probe = {"type": "attachment", "origin": source.get("origin"), "parentUuid": record.get("parentUuid")}
        count = len(self.prompts)
        self._say(said, media, uid, records.text(record, "timestamp"), probe, wrapped=False)
        if len(self.prompts) > count:
            self._steered = squeeze(spoken)

    # ------------------------------------------------------------------ Claude

    def _assistant(self, record: Record, message: Record, uid: str, at: str) -> None:
        content = message.get("content")
        blocks = content if isinstance(content, list) else [] if content is None else [content]
        if message.get("model") == "<synthetic>" or record.get("isApiErrorMessage") is True:
            text = clean(plain_text(content)).strip()
            if text and text not in _PLACEHOLDERS and not self._repeated(("client", at, text, 0)):
                title = "API error" if record.get("isApiErrorMessage") is True else "The client says"
                self._beside(Aside("client", title, text=text))
            return
        new: list[Block] = []
        for block in blocks:
            new += shown(block, self.shelf, self.unknown)
        if not new:
            return
        if len(new) == 1 and isinstance(first := new[0], Text) and first.text.startswith(words.COMPACTION):
            self._compaction(first.text)
            return
        if self._command is not None and self._command[0].kind == "command":
            command, self._command = self._command, None
            self._was_queued(command[0].text, {})
            self._prompt(command[1], command[0].text)
        self._settle_command()
        mid = records.text(message, "id")
        known = self._messages.get(mid) if mid else None
        draft = self._home(known)
        if known is None or known.draft is not draft:
            fresh = _Message(draft or Draft(uid, "assistant", at), at)
            if known is not None and (len(mid) >= _LONG_ID or known.at == at):
                new = [b for b in new if b not in known.seen]
                fresh.blocks, fresh.seen = list(known.blocks), set(known.seen)
            known = fresh
            if not new:
                return
            if draft is None:
                self._append(known.draft)
            if mid:
                self._messages[mid] = known
        self._merge(known, new)
        if message.get("stop_reason") == "end_turn":
            known.ended = True

    def _home(self, known: _Message | None) -> Draft | None:
        """Where blocks go: the open turn; or the one before the last prompt, if their message began there; or a new one."""
        if self._open is None and known is not None and not known.ended and self._last.get("assistant") is known.draft:
            return known.draft
        return self._open

    def _merge(self, message: _Message, new: list[Block]) -> None:
        """Add a line's blocks to its message; a line that repeats the message from its start with more replaces it."""
        draft = message.draft
        have = message.blocks
        snapshot = bool(have) and not message.ended and all(extends(n, o) for n, o in zip(new, have, strict=False))
        for place, block in enumerate(new):
            if snapshot and place < len(have):
                old = have[place]
                if block != old:
                    have[place] = block
                    message.seen.add(block)
                    spot = next((i for i in range(len(draft.blocks) - 1, -1, -1) if draft.blocks[i] is old), None)
                    if spot is not None:
                        draft.blocks[spot] = block
                continue
            if isinstance(block, ToolCall) and block.id:
                if block.id in message.seen:
                    continue
                message.seen.add(block.id)
            elif block in message.seen and not isinstance(block, Thinking):
                continue
            message.seen.add(block)
            have.append(block)
            draft.blocks.append(block)
            if isinstance(block, ToolCall):
                if block.id:
                    self.calls.add(block.id)
                if block.name in ("Task", "Agent", "Skill"):
                    self.starts.append(Call(block.id, squeeze(block.input), block.title, self))
            if isinstance(block, Text | ToolCall):
                self.answered = True

    def _result(self, block: Record, record: Record, at: str, uid: str) -> None:
        text, media = answer(block.get("content"), self.shelf)
        aside = record.get("toolUseResult")
        if not text and not media and aside:
            text = from_result(aside)
        call = records.text(block, "tool_use_id")
        if isinstance(aside, dict) and isinstance(agent := aside.get("agentId"), str):
            self.agents[call] = agent
        self._place_result(ToolResult(call, text, block.get("is_error") is True), media, at, uid)

    def _place_result(self, result: ToolResult, media: Sequence[Block], at: str, uid: str) -> None:
        """Behind the call it answers; else at the end of Claude's turn at hand."""
        if result.call in self.calls:
            behind = self.results.setdefault(result.call, [])
            if result not in behind[-4:]:
                behind += [result, *media]
            return
        draft = self._open or self._last.get("assistant")
        if draft is None:
            draft = Draft(uid, "assistant", at)
            self._append(draft)
        draft.blocks += [result, *media]

    # ------------------------------------------------------------------ the end

    def turns(self) -> tuple[tuple[Turn, ...], list[Block]]:
        """The finished turns, and what has no turn to stand in."""
        self._settle_command()
        merged: list[Draft] = []
        for draft in self.drafts:
            if draft.dead:
                continue
            if draft.queued:
                self.prompts.append(draft.queued)
                self.first_text = self.first_text or draft.queued
                self.prompt_at = self.prompt_at or draft.at
            if merged and draft.role == "assistant" and merged[-1].role == "assistant":
                merged[-1].blocks += draft.blocks
            elif draft.blocks:
                merged.append(draft)
        unique(merged)
        for draft in merged:
            self._answers(draft)
        speaker = {"user": "Task", "assistant": "Agent"} if self.agent else {}
        kept = fold_rewound(merged) if not self.agent else merged
        return tuple(
            Turn(d.id, d.role, tuple(d.blocks), records.when(d.at), speaker.get(d.role, "")) for d in kept
        ), self.lead

    def _answers(self, draft: Draft) -> None:
        """Put behind each call what belongs there."""
        if self.results and draft.role == "assistant":
            blocks: list[Block] = []
            for block in draft.blocks:
                blocks.append(block)
                if isinstance(block, ToolCall) and block.id in self.results:
                    blocks += self.results.pop(block.id)
            draft.blocks = blocks


def _is_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _title(said: Said) -> str:
    return " ".join((said.text or said.title).split())[
        :2000
    ]  # shortened after it was redacted: half a token looks like none
