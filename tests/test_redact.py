"""What `redact` leaves alone first, then what it takes, then its laws."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_import.errors import UserError
from obsidian_import.redact import MARK, Redactor, Rules, find, known_from_env
from tests.redact_corpus import Maker, Plant, contexts, tokens

BENIGN = (Path(__file__).parent / "cases" / "redact" / "benign.txt").read_text("utf-8").splitlines()
PLANTS = [*tokens(1), *contexts(1)]
TOKENS = [p for p in tokens(2) if "\n" not in p.text and p.text == p.value]


def survives(value: str, text: str, known: str = "") -> list[str]:
    """The 8-character windows of the value that stand in the text (but not in `known`, the harmless rest)."""
    windows = {value[i : i + 8] for i in range(max(1, len(value) - 7))}
    return sorted(w for w in windows if w in text and w not in known)


# ------------------------------------------------------------------ stays as it is


def test_benign_corpus_is_left_alone() -> None:
    assert len(BENIGN) >= 200
    touched = [line for line in BENIGN if Redactor().redact(line) != line]
    assert len(touched) <= len(BENIGN) // 100, touched


def test_benign_corpus_as_one_text() -> None:
    text = "\n".join(BENIGN)
    changed = [a for a, b in zip(text.split("\n"), Redactor().redact(text).split("\n"), strict=True) if a != b]
    assert len(changed) <= len(BENIGN) // 100, changed


def test_text_without_secrets_is_the_same_object() -> None:
    text = "The token budget is 4096, the password is required."
    assert Redactor().redact(text) is text


@pytest.mark.parametrize(
    "line", ["", "\n", "\x00", "\ud800 token", "[REDACTED:x:1]", "password=[REDACTED:password:3] ok"]
)
def test_odd_texts_stay(line: str) -> None:
    assert Redactor().redact(line) == line


# ------------------------------------------------------------------ is taken


def test_the_corpus_is_as_wide_as_it_says() -> None:
    assert len(PLANTS) >= 120
    assert len({p.name for p in PLANTS}) >= 60


@pytest.mark.parametrize("plant", PLANTS, ids=lambda p: p.name)
def test_nothing_of_a_planted_secret_survives(plant: Plant) -> None:
    out = Redactor().redact(plant.text)
    assert MARK.search(out)
    assert not survives(plant.value, out, plant.text.replace(plant.value, ""))


POSITIONS = {
    "start": "{} is what it printed",
    "end": "it printed {}",
    "sentence": "It printed {}.",
    "inline code": "run `{}` now",
    "fence": "```sh\n{}\n```",
    "table": "| a | {} | b |",
    "quote": "> {}\n> more",
    "crlf": "one\r\n{}\r\ntwo",
    "emoji": "🔑 {} 🔑",
    "cjk": "鍵、{}、終",
    "bold": "**{}**",
    "brackets": "({})",
    "json": json.dumps({"stdout": "line\n{}\ttab"}),
    "json in json": json.dumps(json.dumps({"out": "x\n{}\n"})),
    "diff": "+{}",
    "xml": "<td>{}</td>",
}


@pytest.mark.parametrize("where", POSITIONS)
def test_every_token_in_every_position(where: str) -> None:
    for plant in TOKENS:
        text = POSITIONS[where].replace("{}", plant.text)
        out = Redactor().redact(text)
        assert not survives(plant.value, out), (plant.name, out)


WIDE = [p for p in PLANTS if p not in TOKENS and "\n" not in p.text and '"' not in p.text and "'" not in p.text]


@pytest.mark.parametrize("where", ["end", "fence", "crlf", "emoji", "inline code", "quote"])
def test_contexts_in_positions(where: str) -> None:
    for plant in WIDE:
        text = POSITIONS[where].replace("{}", plant.text)
        out = Redactor().redact(text)
        assert not survives(plant.value, out, plant.text.replace(plant.value, "")), (plant.name, out)


@pytest.mark.parametrize("seed", range(3, 8))
def test_other_values_of_the_same_kinds(seed: int) -> None:
    missed = [
        p.name
        for p in (*tokens(seed), *contexts(seed))
        if survives(p.value, Redactor().redact(p.text), p.text.replace(p.value, ""))
    ]
    assert missed == []


def test_a_token_cut_by_a_line_end() -> None:
    value = "gh" + "p_" + Maker(3).mixed(36)
    for gap in ("\n", "\r\n", "\n> ", "\\\n"):
        out = Redactor().redact(f"x {value[:25]}{gap}{value[25:]} ")
        assert value[25:33] not in out
        assert value[:25] not in out


def test_a_token_list_keeps_its_lines() -> None:
    m = Maker(4)
    values = ["gh" + "p_" + m.mixed(36) for _ in range(3)]
    assert len(Redactor().redact("\n".join(values)).split("\n")) == 3


# ------------------------------------------------------------------ marks


def test_the_same_secret_has_the_same_mark_and_numbers_go_on() -> None:
    m = Maker(5)
    one, two = "gh" + "p_" + m.mixed(36), "hf" + "_" + m.of("abcdefABCDEF", 34)
    redactor = Redactor()
    first = redactor.redact(f"{one} {two} {one}")
    assert first.split() == ["[REDACTED:github-token:1]", "[REDACTED:huggingface-token:2]", "[REDACTED:github-token:1]"]
    assert redactor.redact(one) == "[REDACTED:github-token:1]"
    assert redactor.counts == {"github-token": 3, "huggingface-token": 1}


def test_a_value_found_by_context_is_taken_where_it_stands_bare() -> None:
    value = Maker(6).mixed(24)
    out = Redactor().redact(f"it printed {value}\nexport API_TOKEN={value}\n")
    assert value not in out


# ------------------------------------------------------------------ rules


def test_known_values_are_taken_in_every_form() -> None:
    value = "plain words & more/" + Maker(7).mixed(12)
    rules = Rules(known={value: "mine", "short": "mine"})
    text = f"{value} | {quote(value, safe='')} | {json.dumps(value)} | short"
    out = Redactor(rules).redact(text)
    assert out.count("[REDACTED:mine:") == 3
    assert out.endswith("short")
    coded = base64.b64encode(f"user:{value}".encode()).decode()
    assert not survives(coded[12:-6], Redactor(rules).redact(f"x {coded} x"))


def test_allowed_values_stay() -> None:
    value = Maker(8).mixed(24)
    text = f"API_TOKEN={value}"
    assert Redactor(Rules(allow=frozenset({value}))).redact(text) == text


def test_own_patterns() -> None:
    rules = Rules(patterns={"badge no": r"badge (\d{6})"})
    assert Redactor(rules).redact("badge 123456 of Bob") == "badge [REDACTED:badge-no:1] of Bob"
    with pytest.raises(UserError, match=r"redact\.patterns"):
        Rules(patterns={"x": "("})


def test_find_gives_places() -> None:
    value = "gh" + "p_" + Maker(9).mixed(36)
    text = f"é {value} [REDACTED:x:1] 設 {value}"
    assert [text[h.start : h.end] for h in find(text)] == [value, value]


def test_known_from_env() -> None:
    m = Maker(10)
    secret, password = m.mixed(20), m.mixed(12)
    env = {
        "GITHUB_TOKEN": secret,
        "DATABASE_URL": f"postgres://app:{password}@db/x",
        "HOME_TOKEN_FILE": "/run/secrets/x",
        "API_TOKEN_PATH": "/run/secrets/token",
        "SECRET_KEY": "/run/secrets/key",
        "MAX_TOKEN": "1234567890",
        "AUTH_TOKEN": "short",
        "USE_SECRET": "disabled",
        "TOKEN_URL": "https://example.org/token",
        "API_SECRET": "https://example.org/token",
        "PATH": "/usr/bin:/bin",
        "EDITOR": m.mixed(20),
    }
    assert set(known_from_env(env)) == {secret, password}


# ------------------------------------------------------------------ laws

PIECES = st.sampled_from(
    [
        "password", "token", "API_KEY", "secret", "=", ":", " ", "\n", '"', "'", "`", "\\", "\\n", "is ", "://", "@", "|", "export ", "curl -u ",
        "[REDACTED:x:1]", "[REDACTED:", "]", "sk-", "gh" + "p_", "eyJ", ".", "$", "{", "}", "(", ")", ",", "-----BEGIN PRIVATE KEY-----", "é", "🔑",
        "Cookie: ", "Authorization: ", "Bearer ", "--", "mysql -p", "kind: Secret\ndata:\n  a: ", "a1B2c3D4e5F6", "hunter2", "A" * 40, "abc", "%3D",
        "&", "?key=", "value: ", "echo ", " | sudo -S", "mnemonic: ",
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=80),
    st.lists(PIECES, max_size=24).map("".join),
    st.lists(st.sampled_from([p.text for p in PLANTS] + BENIGN), max_size=4).map("\n".join),
)


@given(TEXTS)
def test_idempotent(text: str) -> None:
    once = Redactor().redact(text)
    assert Redactor().redact(once) == once


@given(TEXTS)
def test_two_redactors_agree_and_counts_are_marks(text: str) -> None:
    a, b = Redactor(), Redactor()
    out = a.redact(text)
    assert b.redact(text) == out
    assert a.counts == b.counts
    if "[REDACTED:" not in text:
        assert sum(a.counts.values()) >= len(MARK.findall(out))


@given(TEXTS)
def test_what_is_no_secret_keeps_every_byte(text: str) -> None:
    hits = find(text)
    if not hits:
        assert Redactor().redact(text) == text
    assert all(a.end <= b.start for a, b in pairwise(hits))
    assert all(0 <= h.start < h.end <= len(text) for h in hits)


@given(st.lists(TEXTS, max_size=4))
def test_marks_that_stand_in_a_text_stay(parts: list[str]) -> None:
    text = "[REDACTED:jwt:7]".join(parts)
    assert Redactor().redact(text).count("[REDACTED:jwt:7]") >= max(0, len(parts) - 1)


def test_a_seed_phrase_ends_where_the_sentence_goes_on() -> None:
    """The twelve words are taken, the words of the sentence behind them stay."""
    words = " ".join(
        f"{a}{b}"
        for a, b in zip(
            ("aba", "abi", "abl", "abo", "abs", "abu", "acc", "aci", "aco", "acq", "act", "add"),
            "ndonlitysexy",
            strict=True,
        )
    )
    text = f"my seed phrase: {words} and what do you think of it?"
    assert Redactor().redact(text) == "my seed phrase: [REDACTED:seed-phrase:1] and what do you think of it?"
    plain = "the seed phrase is what a wallet makes of its key and you should write it down on paper today"
    assert Redactor().redact(plain) == plain
