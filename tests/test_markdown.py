"""Where prose is, case by case; exact edits; fences; regions."""

from __future__ import annotations

import re

import pytest

from obsidian_import.markdown import (
    WHOLE_NAMES,
    close_open,
    fence_for,
    in_table,
    longest_run,
    places,
    protected,
    regions,
    splice,
    unsplice,
)
from obsidian_import.model import Edit
from tests.cases import Case, read_cases

PLACES = list(read_cases("places"))


def unmark(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without «», and where the marked words stand in it."""
    text = ""
    words: list[tuple[int, int]] = []
    for number, part in enumerate(re.split("«([^»]*)»", marked)):
        if number % 2:
            words.append((len(text), len(text) + len(part)))
        text += part
    return text, words


@pytest.mark.parametrize("case", PLACES, ids=[case.name for case in PLACES])
def test_exactly_the_marked_words_are_prose(case: Case) -> None:
    text, words = unmark(case.input)
    spans = protected(text)
    prose = {
        (m.start(), m.end())
        for m in re.finditer(r"[\w\u0300-\u036f\u0900-\u0963]+", text)
        if not any(start < m.end() and m.start() < end for start, end, _ in spans)
    }
    for start, end in words:
        hit = [span for span in spans if span.start < end and start < span.end]
        assert not hit, f"over-protected: {text[start:end]!r} by {hit}"
    for start, end in prose:
        assert any(start < b and a < end for a, b in words), f"not protected: {text[start:end]!r} at {start}"


def kinds(text: str) -> dict[str, str]:
    return {text[s.start : s.end]: s.kind for s in protected(text)}


def test_every_place_has_its_reason() -> None:
    text = (
        "`c` $m$ $$d$$ %%k%% <!-- h --> <b>x</b> [[w]] ![[e]] [l](u) ![i](u) https://a.b x@y.zz src/a.py a_b -f #tag "
        "[^1] {{t}} \\* &amp; \\[\\[X]] [REDACTED:key:1] [b] ^id"
    )
    assert kinds(text) == {
        "`c`": "code", "$m$": "math", "$$d$$": "math_block", "%%k%%": "comment", "<!-- h -->": "html_comment",
        "<b>x</b>": "html", "[[w]]": "wikilink", "![[e]]": "embed", "[l](u)": "link", "![i](u)": "image",
        "https://a.b": "url", "x@y.zz": "email", "src/a.py": "path", "a_b": "identifier", "-f": "flag", "#tag": "tag",
        "[^1]": "footnote", "{{t}}": "template", "\\*": "escape", "&amp;": "entity", "\\[\\[X]]": "own_wikilink",
        "[REDACTED:key:1]": "redacted", "[b]": "bracket", "^id": "block_id",
    }  # fmt: skip
    assert kinds("# h\n\n```\nx\n```\n\n    y\n\n<div>\n\n| a |\n|--|\n\n> [!x] y\n\n- [ ] z\n\nk:: v\n\n[r]: u\n") == {
        "# h": "heading", "```\nx\n```": "fence", "y": "indented_code", "<div>": "html_block", "| a |": "table_head",
        "[!x] y": "callout", "[ ]": "task", "k:: v": "inline_field", "[r]: u": "reference",
    }  # fmt: skip


def test_whole_file_reasons() -> None:
    assert [s.kind for s in protected("---\na: b\n")] == ["frontmatter_unclosed"]
    assert [s.kind for s in protected("---\nkanban-plugin: board\n---\nx")] == ["kanban"]
    assert [s.kind for s in protected("---\nexcalidraw-plugin: raw\n---\nx")] == ["excalidraw"]
    assert [s.kind for s in protected("---\n---\nx")] == ["frontmatter"]
    assert protected("") == []


def test_a_name_may_cover_an_identifier_whole() -> None:
    spans = [s for s in protected("Use Node.js, .NET and _Vue.js_.") if s.kind in WHOLE_NAMES]
    assert ["Use Node.js, .NET and _Vue.js_."[s.start : s.end] for s in spans] == ["Node.js", ".NET", "Vue.js"]


def test_tables() -> None:
    text = "a | b\n\n| h | i |\n|---|---|\n| x | y |\n\nz | z\n"
    assert not in_table(text, 0)
    assert in_table(text, text.index("x"))
    assert in_table(text, text.index("y"))
    assert not in_table(text, text.index("z"))
    assert places(text).tables == [(7, text.index("\n\nz") + 1)]
    front = "---\na: |\n  é\n---\n😀\n\n" + text
    assert in_table(front, front.index("x |"))
    assert not in_table(front, front.index("z |"))


def test_splice_is_exact_and_refuses_what_does_not_fit() -> None:
    text = "😀 Rust and Rust"
    edits = [Edit(11, 15, "Rust", "[[Rust|x]]", ""), Edit(2, 6, "Rust", "[[Rust]]", ""), Edit(6, 6, "", "!", "")]
    done = splice(text, edits)
    assert done == "😀 [[Rust]]! and [[Rust|x]]"
    assert unsplice(done, edits) == text
    for bad in (
        [Edit(2, 6, "rust", "x", "")],
        [Edit(2, 6, "Rust", "x", ""), Edit(5, 7, "t ", "x", "")],
        [Edit(2, 5, "Rust", "x", "")],
        [Edit(14, 18, "t", "x", "")],
        [Edit(-4, 0, "Rust", "x", "")],
    ):
        with pytest.raises(ValueError):
            splice(text, bad)
    with pytest.raises(ValueError):
        unsplice(text, edits)


def test_fences_hold_anything() -> None:
    assert fence_for("x") == ("```", "```")
    assert fence_for("```\nx\n```", "py") == ("````py", "````")
    assert fence_for("x", "a`b\nc") == ("~~~a`b c", "~~~")
    assert fence_for("`" * 5000) == ("~~~", "~~~")
    assert longest_run("a``b```c", "`") == 3
    assert longest_run("", "`") == 0


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("", ""),
        ("plain", ""),
        ("```\nx\n```", ""),
        ("- ```\n  x", ""),
        ("> ```\n> x", ""),
        ("<div>\nx", ""),
        ("a `b", ""),
        ("a $b", ""),
        ("[[x", ""),
        ("{{x <% y", ""),
        ("```py\nx", "\n```"),
        ("```py\nx\n", "```"),
        ("~~~~\n```\n~~~", "\n~~~~"),
        ("$$\nx", "\n$$"),
        ("a $$ b", "\n$$"),
        ("%%\nx", "\n%%"),
        ("<!-- x", "\n-->"),
        ("a <!-- x", "\n-->"),
        ("<script>\nx", "\n</script>"),
        ("<![CDATA[\nx", "\n]]>"),
        ("<?php", "\n?>"),
        ("%%\n```\nx", "\n```\n%%"),
        ("<!-- begin X -->\nx", "\n<!-- end X -->"),
        ("---\nno frontmatter in a message", ""),
    ],
)
def test_what_is_open_gets_closed(text: str, added: str) -> None:
    assert close_open(text) == added
    after = text + added + "\n\nprose"
    assert not any(s.end > len(after) - 5 for s in protected("\n" + after if text.startswith("---") else after))


OURS = (
    '---\ntype: chat\nimport_id: "claude-code:1"\n---\n\nContinues [[x]].\n\n## You · 2026-03-01 10:11 · 3f2a\n\nHello\n\n'
    "> a quote\n\n> [!tool]- Bash: run\n> ```\n> Redis\n> ```\n\nafter\n\n## Claude · beef\n\n### Deeper\n\nWorld\n"
)


def test_regions_of_our_notes_are_the_bodies_of_messages() -> None:
    assert [OURS[a:b].strip() for a, b in regions(OURS)] == ["Hello\n\n> a quote", "after", "### Deeper\n\nWorld"]
    crlf = OURS.replace("\n", "\r\n")
    assert [crlf[a:b].strip() for a, b in regions(crlf)][1] == "after"


def test_regions_of_other_notes_are_the_whole_body() -> None:
    assert regions("text ## You · 3f2a") == [(0, 18)]
    assert regions("---\na: b\n---\nbody") == [(13, 17)]
    assert regions("---\na: b\nbody") == []
    assert regions("---\nimport_id: x\n---\n\nA document, no messages.\n") == [(21, 47)]
    assert regions("") == []
