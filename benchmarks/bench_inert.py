"""MB/s of `inert` on made-up chat Markdown and on tool output, and seconds on hostile text. CPU time, best of three."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from obsidian_import import inert


def best(run: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def message(r: random.Random) -> str:
    words = [
        "the",
        "of",
        "queue",
        "index",
        "cache",
        "deploy",
        "retry",
        "build",
        "token",
        "parser",
        "error",
        "value",
        "handler",
        "note",
        "graph",
    ]
    out = []
    for _ in range(r.randint(2, 14)):
        text = " ".join(r.choice(words) for _ in range(r.randint(10, 60)))
        kind = r.random()
        if kind < 0.2:
            out.append(
                "```python\n"
                + "\n".join(f"    {r.choice(words)} = {r.choice(words)}(1)  # {r.choice(words)}" for _ in range(12))
                + "\n```"
            )
        elif kind < 0.4:
            out.append("\n".join(f"- **{r.choice(words)}**: {text[:80]}" for _ in range(4)))
        elif kind < 0.45:
            out.append(f"See [{r.choice(words)}](https://example.com/{r.choice(words)}#x) and [[{r.choice(words)}]].")
        else:
            out.append(f"{text}. Run `{r.choice(words)} --{r.choice(words)}` – then `{r.choice(words)}.py`.")
    return "\n\n".join(out)


def main() -> None:
    r = random.Random(1)
    messages = [message(r) for _ in range(2500)]
    size = sum(len(m.encode()) for m in messages) / 1e6
    log = "".join(f"{n} INFO worker-{n % 7} finished in {n % 91} ms\n" for n in range(80_000))
    print(
        f"prose   {size / best(lambda: [inert.prose(m) for m in messages]):7.0f} MB/s  ({len(messages)} messages, {size:.1f} MB)"
    )
    print(f"code    {len(log) / 1e6 / best(lambda: inert.code(log)):7.0f} MB/s  (ASCII)")
    print(f"code    {len(log) / 1e6 / best(lambda: inert.code(log + '–')):7.0f} MB/s  (not ASCII)")
    made = [inert.prose(m).text for m in messages]
    print(f"restore {size / best(lambda: [inert.restore(m) for m in made]):7.0f} MB/s")
    print(f"active  {size / best(lambda: [inert.active(m) for m in made]):7.0f} MB/s")
    for name, text in {
        "10,000 backticks": "`" * 10_000,
        "1 MB line": "word " * 200_000,
        "100,000 <": "<" * 100_000,
        "100,000 [[": "[[" * 100_000,
        "100,000 <a": "<a " * 100_000,
        "300,000 ](a": "](a" * 300_000,
        "100,000 - [ ]": "- [ ] " * 100_000,
        "50,000 fences": "```\n" * 50_000,
    }.items():
        print(f"{best(lambda text=text: inert.prose(text)):7.2f} s  {name}")


if __name__ == "__main__":
    main()
