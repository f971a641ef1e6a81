"""Laws of linking: reversible, idempotent, only where prose is, independent of order, resolvable by others."""

from __future__ import annotations

import random
import time
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_import import markdown
from obsidian_import.judgement import LinkSettings
from obsidian_import.lexicon import Known, Lexicon, build
from obsidian_import.links import Linker
from obsidian_import.names.addresses import AppSettings, parse_link
from obsidian_import.notefacts import facts

NAMES = {
    "Kubernetes": "",
    "auth-flow-design": "",
    "lib/Deep Learning": '---\naliases: [DL, "deep nets"]\n---\n',
    "C++": "",
    "知识管理": "",
    "Café Noir": "",
    "∑ Zettelkasten": "",
    "P/Grafana": "",
    "Q/Grafana": "",
    "İstanbul": "",
    "a/b/Node.js": "",
    "R&D": "",
}


def lexicon(names: dict[str, str] | None = None, settings: AppSettings | None = None) -> Lexicon:
    notes = [Known(f"{name}.md", facts(text)) for name, text in (names or NAMES).items()]
    return build(notes, [note.path for note in notes], settings=settings)


WORD = st.sampled_from(
    [
        *(name.rsplit("/", 1)[-1] for name in NAMES),
        "DL",
        "deep nets",
        "auth flow design",
        "KUBERNETES",
        "kubernetes",
        "the",
        "of",
        "Café Noir",
        "notebook",
        "İSTANBUL",
        "Zettelkasten",
        "ß",
        "हिन्दी",
        "😀",
        "这是",
    ]
)
WRAP = st.sampled_from(
    [
        "{}",
        "{} and",
        "**{}**",
        "_{}_",
        "`{}`",
        "``{} ` x``",
        "[{}](http://e.org/{})",
        "[[{}]]",
        "![[{}]]",
        "[[x|{}]]",
        "$${}$$",
        "${}$",
        "%%{}%%",
        "<!-- {} -->",
        "<b title='{}'>{}</b>",
        "#{}",
        "# {}",
        "- {}",
        "- [ ] {}",
        "> {}",
        "| {} | b |\n|---|---|\n| {} | {} |\n",
        "{}\n===",
        "```\n{}\n```",
        "~~~~\n{}\n```\n{}\n",
        "    {}",
        "{}::x",
        "x:: {}",
        "(k:: {})",
        "^{}",
        "[^{}]: {}",
        "{{{{{}}}}}",
        "<% {} %>",
        "https://{}.io/{}",
        "./{}/x",
        "{}.md",
        "\\[\\[{}]]",
        "!\\[\\[{}]]",
        "\\[\\[{}|show]]",
        "{}'s",
        "l'{}",
        "({})",
        "{}-x",
        "pre-{}",
        "\\{}",
        "[{}]",
        "!{}",
        "[{}][r]\n\n[r]: x",
    ]
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    parts = []
    for _ in range(draw(st.integers(1, 8))):
        wrap = draw(WRAP)
        parts.append(wrap.format(*[draw(WORD)] * wrap.count("{}")) if "{}" in wrap else wrap)
        parts.append(draw(st.sampled_from([" ", "\n", "\n\n", ", ", "\r\n", ". ", ""])))
    return "".join(parts)


LINKER = Linker(lexicon())
EAGER = Linker(lexicon(), LinkSettings(score=-50))
MARKDOWN = Linker(lexicon(settings=AppSettings(markdown_links=True)), LinkSettings(score=-50))
RELATIVE = Linker(lexicon(settings=AppSettings(link_format="relative")), LinkSettings(score=-50))
LINKERS = st.sampled_from([LINKER, EAGER, MARKDOWN, RELATIVE])


@given(texts(), LINKERS)
@settings(max_examples=250)
def test_out_again_and_no_second_time(text: str, linker: Linker) -> None:
    found = linker.find(text, "chats/x.md")
    linked = markdown.splice(text, found.edits)
    assert markdown.unsplice(linked, found.edits) == text
    assert linker.find(linked, "chats/x.md").links == ()


@given(texts(), LINKERS)
@settings(max_examples=250)
def test_only_prose_is_touched(text: str, linker: Linker) -> None:
    found = linker.find(text, "chats/x.md")
    spans = markdown.protected(text)
    for link in found.links:
        edit = link.edit
        touched = [s for s in spans if s.start < edit.end and s.end > edit.start]
        if link.tier == "own":
            assert {s.kind for s in touched} == {"own_wikilink"}
        else:
            assert all(s.kind in markdown.WHOLE_NAMES and edit.start <= s.start and s.end <= edit.end for s in touched)
    # Everything protected before is there, in the same order, after.
    linked = markdown.splice(text, found.edits)
    at = 0
    kept = [s for s in spans if s.kind not in markdown.WHOLE_NAMES and s.kind != "own_wikilink"]
    for span in kept:
        piece = text[span.start : span.end]
        at = linked.index(piece, at) + len(piece)


@given(texts(), LINKERS)
@settings(max_examples=200)
def test_every_link_resolves_to_its_note_and_shows_the_same_words(text: str, linker: Linker) -> None:
    seen = set()
    for link in linker.find(text, "chats/x.md").links:
        spelled = parse_link(link.edit.new)
        assert spelled is not None
        assert linker.lexicon.index.resolve(spelled[0], "chats/x.md") == link.target
        if link.tier != "own":
            assert spelled[1] == link.text
        assert link.target not in seen
        seen.add(link.target)
        assert text.count("\n", 0, link.edit.start) + 1 == link.line


@given(texts())
@settings(max_examples=150)
def test_tables_keep_their_columns(text: str) -> None:
    def columns(body: str) -> list[int]:
        places = markdown.places(body)
        return [
            line.replace("\\|", "").count("|") for start, end in places.tables for line in body[start:end].splitlines()
        ]

    found = EAGER.find(text, "chats/x.md")
    own = [link for link in found.links if link.tier == "own"]
    if not own:
        assert columns(markdown.splice(text, found.edits)) == columns(text)


@given(texts(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_order_of_the_vault_changes_nothing(text: str, chance: random.Random) -> None:
    shuffled = list(NAMES.items())
    chance.shuffle(shuffled)
    other = lexicon(dict(shuffled))
    assert other.fingerprint == LINKER.lexicon.fingerprint
    assert Linker(other).find(text, "chats/x.md").links == LINKER.find(text, "chats/x.md").links


@given(st.text(max_size=200))
@settings(max_examples=200)
def test_any_text_at_all(text: str) -> None:
    found = EAGER.find(text, "chats/x.md", suggest=True)
    assert found.misses == tuple(found.misses)
    assert markdown.unsplice(markdown.splice(text, found.edits), found.edits) == text


def test_what_was_linked_before_changes_nothing() -> None:
    text = "Kubernetes and C++ and Zettelkasten\n\n| a | DL |\n|---|---|\n| DL | b |\n"
    fresh = Linker(lexicon())
    used = Linker(lexicon())
    for other in ("KUBERNETES C++", "DL dl", "# Kubernetes\n\nkubernetes", text.upper()):
        used.find(other, "chats/y.md")
    assert used.find(text, "chats/x.md").links == fresh.find(text, "chats/x.md").links


def test_chats_are_neither_evidence_nor_targets() -> None:
    notes = [Known("Gravity.md", {})]
    chats = [Known(f"chats/{n}.md", facts("[[Gravity]] [[Gravity|gravity]]"), ours=True) for n in range(20)]
    alone = build(notes, ["Gravity.md"])
    both = build([*notes, *chats], [note.path for note in [*notes, *chats]])
    assert both.linked == {}
    assert both.prior == alone.prior
    text = "gravity Kubernetes 3 5"
    assert Linker(both).find(text, "chats/0.md").links == Linker(alone).find(text, "chats/0.md").links


def test_an_independent_resolver_agrees(tmp_path: Path) -> None:
    import obsidiantools.api as otools

    names = {name: text for name, text in NAMES.items() if "Grafana" not in name}
    for name, text in names.items():
        file = tmp_path / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text or "stub\n", encoding="utf-8")
    linker = Linker(lexicon(names))
    text = "Kubernetes, auth flow design, DL, 知识管理 and Zettelkasten; Café Noir, Node.js, R&D, C++.\n"
    found = linker.find(text, "chat of today.md")
    (tmp_path / "chat of today.md").write_text(markdown.splice(text, found.edits), encoding="utf-8")
    vault = otools.Vault(tmp_path).connect()
    assert len(found.links) == 9
    assert not vault.nonexistent_notes
    reached = {vault.md_file_index[target].as_posix() for target in vault.get_wikilinks("chat of today")}
    assert reached == {link.target for link in found.links}


def test_nothing_is_quadratic() -> None:
    small, large = 5_000, 40_000
    for unit in ("Kubernetes ", "`x ", "[[x ", "$ ", "\\[\\[Kubernetes]] ", "a/b/", "'", "DL\n", "_Kubernetes_"):
        costs = []
        for size in (small, large):
            text = unit * (size // len(unit))
            start = time.process_time()
            LINKER.find(text, "chats/x.md").misses
            costs.append(time.process_time() - start)
        # Eight times the text may cost forty times at most (linear is eight; the machine is noisy).
        assert costs[1] < 40 * costs[0] + 0.5, (unit, costs)
