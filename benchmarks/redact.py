"""benchmarks/redact.py [MB]: MB/s of `Redactor` on ordinary text, on text with secrets, and on hostile text (process time).

Optional: `--files GLOB` measures the texts of real files as well. Figures of the run that is documented are in docs/redaction.md.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from obsidian_import.redact import Redactor, default_rules
from tests.redact_corpus import contexts, tokens

_SYLLABLES = "ba be bi bo ca ce co da de di do fa fe ga ge ha he ja ka ke ki la le li lo ma me mi mo na ne no".split()  # noqa: SIM905
_WORDS = (  # noqa: SIM905
    "auth flow postgres index query cache deploy pipeline docker kubernetes session token login user secret key pass password cookie "
    "header config import export vault note link graph function thread process the a of to and in is it that for on with as"
).split()


def words(seed: int, count: int = 6000) -> list[str]:
    rnd = random.Random(seed)
    return _WORDS + ["".join(rnd.choice(_SYLLABLES) for _ in range(rnd.choice((2, 3, 4)))) for _ in range(count)]


def chat(megabytes: float, seed: int = 5) -> list[str]:
    """Messages of 20 to 600 random words, some with a code block, some not ASCII."""
    rnd, vocabulary = random.Random(seed), words(seed)
    out: list[str] = []
    size = 0
    while size < megabytes * 1e6:
        text = " ".join(rnd.choice(vocabulary) for _ in range(rnd.randint(20, 600)))
        if rnd.random() < 0.3:
            text += "\n\n```py\n" + " ".join(rnd.choice(vocabulary) for _ in range(40)) + "\n```\n"
        if rnd.random() < 0.1:
            text += " — é ✓ 設計"
        out.append(text)
        size += len(text)
    return out


def rate(texts: list[str]) -> float:
    """MB/s, one Redactor for every 40 texts, the best of three runs."""
    best = 1e9
    for _ in range(3):
        start = time.process_time()
        for i in range(0, len(texts), 40):
            redactor = Redactor()
            for text in texts[i : i + 40]:
                redactor.redact(text)
        best = min(best, time.process_time() - start)
    return sum(map(len, texts)) / 1e6 / best


def planted(texts: list[str], seed: int = 9) -> list[str]:
    """Every eighth text (about 8 KB apart) holds a secret."""
    rnd = random.Random(seed)
    plants = [plant.text for plant in (*tokens(seed), *contexts(seed))]
    return [
        text + "\n" + rnd.choice(plants) + "\n" + text[:200] if i % 8 == 0 else text for i, text in enumerate(texts)
    ]


HOSTILE: dict[str, Callable[[], str]] = {
    "100k x token=": lambda: "token=" * 100_000,
    "100k x token=$ ": lambda: "token=$ " * 100_000,
    "100k x token=data:": lambda: "token=data:" * 100_000,
    '100k x "token": "': lambda: '"token": "' * 100_000,
    "100k x password is ": lambda: "password is " * 100_000,
    "100k x ://a:": lambda: "://a:" * 100_000,
    "100k x curl -u ": lambda: "curl -u " * 100_000,
    "100k x eyJ": lambda: "eyJ" * 100_000,
    "100k x -----BEGIN": lambda: "-----BEGIN RSA PRIVATE KEY-----" * 100_000,
    "100k x -----END": lambda: "-----END RSA PRIVATE KEY-----" * 100_000,
    "100k x kind: Secret": lambda: "kind: Secret\ndata:\n" * 100_000,
    "100k x mnemonic: ": lambda: "mnemonic: " * 100_000,
    "100k x sk-a": lambda: "sk-a" * 100_000,
    "100k x authorization:": lambda: "authorization:" * 100_000,
    "100k x cookie: a=": lambda: "cookie: a=" * 100_000,
    "1 MB of A": lambda: "A" * 1_000_000,
    "1 MB of dots": lambda: "." * 1_000_000,
    "1 MB of backslashes": lambda: "password=" + "\\" * 1_000_000,
    "10 MB line of A": lambda: "A" * 10_000_000,
    "10 MB line of token=": lambda: "token=" * 1_666_667,
    "10 MB line of words": lambda: " ".join(words(3)) * 250,
    "200 KB URL": lambda: "https://user:" + "a" * 200_000,
    "300 KB PEM": lambda: "-----BEGIN " + "PRIVATE KEY-----\n" + ("QUJD" * 16 + "\n") * 4700,
    "1 MB blanks after password:": lambda: "password:" + " " * 1_000_000,
    "50k x login a password": lambda: "login a password " * 50_000,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mb", nargs="?", type=float, default=16)
    parser.add_argument("--files", help="also measure these files, in pieces of 4,000 characters", default="")
    options = parser.parse_args()
    start = time.process_time()
    engine = default_rules().engine
    print(
        f"{'tables: ' + str(len(engine.literals)) + ' literals, built in':40s} {(time.process_time() - start) * 1000:8.1f} ms"
    )
    texts = chat(options.mb)
    print(f"{'chat text, no secrets':40s} {rate(texts):8.1f} MB/s")
    print(f"{'chat text, a secret every 8 texts':40s} {rate(planted(texts)):8.1f} MB/s")
    if options.files:
        base = Path(options.files.split("*")[0]).parent if "*" in options.files else Path(options.files)
        pattern = options.files[len(str(base)) + 1 :] if "*" in options.files else "*"
        real = [p.read_text("utf-8", "replace") for p in sorted(base.glob(pattern)) if p.is_file()]
        pieces = [t[i : i + 4000] for t in real for i in range(0, len(t), 4000)]
        print(f"{'files (' + format(sum(map(len, pieces)) / 1e6, '.1f') + ' MB)':40s} {rate(pieces):8.1f} MB/s")
    for name, make in HOSTILE.items():
        text = make()
        start = time.process_time()
        Redactor().redact(text)
        print(f"{'hostile: ' + name:40s} {time.process_time() - start:8.3f} s")


if __name__ == "__main__":
    main()
