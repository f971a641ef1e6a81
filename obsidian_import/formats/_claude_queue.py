"""What a person typed while Claude worked: it may stand in the queue's records alone, or there and in the talk."""

from __future__ import annotations

from dataclasses import dataclass, field

from obsidian_import.formats import _claude_records as records
from obsidian_import.formats import _claude_text as words
from obsidian_import.formats._claude_blocks import plain_text
from obsidian_import.formats._claude_drafts import Draft
from obsidian_import.jsonl import Record
from obsidian_import.model import Text

_QUEUE = 200
"""So many waiting messages are compared with what is said later."""


@dataclass(slots=True)
class Queue:
    """The messages that wait, those taken out to be answered, those Claude was given in mid-turn."""

    waiting: list[Draft] = field(default_factory=list)
    taken: list[Draft] = field(default_factory=list)
    removed: list[Draft] = field(default_factory=list)
    owed: int = 0
    """Removals to come for messages that were already met as attachments."""

    def operation(self, record: Record, uid: str) -> Draft | None:
        """Take one record of the queue in. A draft it gives stands where the message was typed, or given to Claude."""
        operation = record.get("operation")
        if operation == "enqueue":
            said = words.understand(plain_text(record.get("content")))
            text = "\n\n".join(s.text for s in said if s.kind == "human")
            if not text or any(s.kind != "human" for s in said):
                return None
            draft = Draft(uid, "user", records.text(record, "timestamp"), [Text(text)], queued=text)
            self.waiting.append(draft)
            del self.waiting[:-_QUEUE]
            return draft
        if operation == "dequeue" and self.waiting:
            self.taken.append(self.waiting.pop(0))
            del self.taken[:-_QUEUE]
        elif operation == "remove":
            return self._remove(squeeze(plain_text(record.get("content"))))
        elif operation == "popAll":
            for draft in self.waiting:
                draft.dead = True
            self.waiting.clear()
        return None

    def _remove(self, text: str) -> Draft | None:
        """A message left the queue in mid-turn: Claude was given it, so it is a prompt; old versions leave no other trace."""
        if self.owed:
            self.owed -= 1
            return None
        for draft in self.waiting:
            if not text or squeeze(draft.queued) == text:
                self.waiting.remove(draft)
                draft.dead = True
                given = Draft(draft.id, "user", draft.at, draft.blocks, queued=draft.queued)
                self.removed.append(given)
                del self.removed[:-_QUEUE]
                return given
        return None

    def strike(self, text: str, *, attached: bool) -> None:
        """Cross out the queue's copy of a prompt that now stands in the talk itself."""
        wanted = squeeze(text)
        for copies in (self.taken, self.waiting, self.removed):
            found = next((d for d in copies if squeeze(d.queued) == wanted), None)
            if found is not None:
                break
        else:
            copies = self.taken
            found = next((d for d in copies if _alike(squeeze(d.queued), wanted)), None)
        if found is not None:
            found.dead = True
            if copies is self.waiting and attached:
                self.owed += 1
            copies.remove(found)


def squeeze(text: str) -> str:
    """Words alone: how the spaces fell is no difference."""
    return " ".join(text.split())


def _alike(queued: str, said: str) -> bool:
    """Whether a prompt is the queue's text with what the client added to it."""
    return len(queued) > 3 and (queued[:40] == said[:40] or queued in said)
