"""Speed of tags, dialect and render on generated sessions: `python benchmarks/render_speed.py [SESSIONS]`.

Prints CPU seconds; `bare` renders with a redactor and an inert room that do nothing, so it is render's own share.
"""

from __future__ import annotations

import random
import sys
import time
from datetime import UTC, datetime, timedelta
from unittest import mock

from obsidian_import import inert, redact, tags
from obsidian_import.model import Block, Conversation, Text, ToolCall, ToolResult, Turn
from obsidian_import.render import Rendering, dialect, messages, render, said

WORDS = "the a of parser cache index when because module retry error value test deploy config field token queue path lock build".split()  # noqa: SIM905


class Blind:
    """Finds no secret."""

    def redact(self, text: str) -> str:  # noqa: D102
        return text


def talks(count: int) -> list[Conversation]:
    dice = random.Random(5)

    def words(size: int) -> str:
        return " ".join(dice.choices(WORDS, k=size))

    out = []
    for number in range(count):
        turns: list[Turn] = []
        at = datetime(2026, 3, 1, 10, tzinfo=UTC)
        for _ in range(dice.randint(3, 12)):
            at += timedelta(minutes=2)
            turns.append(Turn(f"{number}-{len(turns)}", "user", (Text(words(dice.randint(8, 60))),), at))
            blocks: list[Block] = [Text(f"{words(dice.randint(40, 300))}\n\n```py\n{words(40)}\n```\n\n{words(60)}")]
            for call in range(dice.randint(0, 4)):
                blocks += [
                    ToolCall(str(call), "Bash", f"pytest -q {words(3)}", words(3), "bash"),
                    ToolResult(str(call), words(dice.randint(20, 1600))),
                ]
            turns.append(Turn(f"{number}-{len(turns)}", "assistant", tuple(blocks), at))
        out.append(
            Conversation(
                f"claude-code:{number}", "claude-code", str(number), words(6), tuple(turns), created=at, origin="code"
            )
        )
    return out


def main() -> None:
    all_talks = talks(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
    size = sum(
        len(getattr(b, "text", getattr(b, "input", ""))) for t in all_talks for turn in t.turns for b in turn.blocks
    )
    spoken = [list(said(t)) for t in all_talks]
    chars = sum(len(text) for texts in spoken for text in texts)
    print(f"{len(all_talks)} talks, {size / 1e6:.1f} MB of text, {chars / 1e6:.1f} MB of it said")

    keymap = tags.keymap()
    start = time.process_time()
    for texts in spoken:
        tags.tag(texts, keymap)
    print(f"tags      {time.process_time() - start:6.2f} s")
    start = time.process_time()
    for texts in spoken:
        for text in texts:
            dialect.convert(text)
    print(f"dialect   {time.process_time() - start:6.2f} s")

    bare = mock.Mock(
        prose=lambda text, _options: inert.Inert(text, {}),
        code=lambda text, _options: inert.Inert(text, {}),
        line=lambda text: inert.Inert(text, {}),
    )
    with mock.patch.object(messages, "inert", bare):
        start = time.process_time()
        for talk in all_talks:
            render(talk, {}, Rendering(), Blind(), inert.Options()).texts()
        print(f"bare      {time.process_time() - start:6.2f} s")
    start = time.process_time()
    for talk in all_talks:
        render(talk, {}, Rendering(), redact.Redactor(redact.default_rules()), inert.Options()).texts()
    print(f"render    {time.process_time() - start:6.2f} s, with redaction and inert text")
    start = time.process_time()
    sum(range(20_000_000))
    loop = time.process_time() - start
    print(f"(this machine sums twenty million numbers in {loop:.2f} s)")


if __name__ == "__main__":
    main()
