"""Nothing a chat says acts in a vault; everything it says can be had back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from obsidian_import import inert
from obsidian_import.inert import Options
from obsidian_import.inert import rules as inert_rules

M, PAD = "\u2060", "\u200b"
CASES = sorted((Path(__file__).parent / "cases" / "inert").glob("*.md"))
RELAXED = Options(tasks=False, tags=False, wikilinks=False, fields=False)


def shown(text: str) -> str:
    """As the case files write it: ⁘ for a MARK, ░ for a PAD."""
    return text.replace(M, "⁘").replace(PAD, "░")


def cases(kind: str) -> list[object]:
    out: list[object] = []
    for path in CASES:
        for block in re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            head, _, rest = block.partition("\n")
            given_, _, wanted = rest.partition("\n--->\n")
            if kind == ("change" if wanted else "stay"):
                text = given_.removesuffix("\n") if not wanted else given_
                out.append(pytest.param(text, wanted.removesuffix("\n"), id=f"{path.stem}: {head}"))
    return out


@pytest.mark.parametrize(("text", "_wanted"), cases("stay"))
def test_ordinary_markdown_stays_byte_for_byte(text: str, _wanted: str) -> None:
    made = inert.prose(text)
    assert shown(made.text) == text
    assert made.counts == {}
    assert inert.active(text) == []


@pytest.mark.parametrize(("text", "wanted"), cases("change"))
def test_active_becomes_harmless(text: str, wanted: str) -> None:
    made = inert.prose(text)
    assert shown(made.text) == wanted.rstrip("\n")
    assert sum(made.counts.values()) > 0
    assert inert.restore(made.text) == text


def test_there_are_cases() -> None:
    assert len(cases("stay")) >= 25
    assert len(cases("change")) >= 45


# ------------------------------------------------------------------ laws

PIECES = [
    *(
        "```",
        "~~~",
        "````",
        "`",
        "``",
        "\n",
        "\n\n",
        "\n",
        "> ",
        "- ",
        "1. ",
        "2. ",
        "    ",
        "   ",
        "  ",
        " ",
        "\t",
        "[[",
        "X",
        "]]",
        "![",
        "[",
        "]",
        "](",
        ")",
    ),
    *(
        "http://x)",
        "obsidian://x)",
        "<",
        "div",
        ">",
        "<!--",
        "-->",
        "<%",
        "%",
        "%%",
        "$",
        "$$",
        "#",
        "tag",
        "#tag",
        "::",
        "key",
        "[k:: ",
        "- [ ] ",
        "[x] ",
    ),
    *(
        " ^id",
        "[^1]",
        "^[",
        ":",
        "\\",
        M,
        PAD,
        "\\[\\[",
        "\\[",
        "{",
        "\\u{202e}",
        "\u202e",
        "\r\n",
        "\r",
        "\x00",
        "---",
        "===",
        "## You · 3f2a",
        "> [!tool]- x",
    ),
    *(
        "= x",
        "$= x",
        "js",
        "dataviewjs",
        "text ",
        "mermaid\n",
        "|",
        "|---|",
        "a | b",
        "é",
        "[a]: ",
        "<https://a>",
        "**",
        "_",
        "(",
        "\ud800",
        "\u2028",
        "!",
        "=",
    ),
    *(f"text {M}{PAD}", f"{M}\n```"),
]
LINES = st.lists(
    st.tuples(
        st.sampled_from(
            ["", "", " ", "   ", "    ", "> ", "> > ", "- ", "1. ", "2. ", "  - ", "> - ", "- > ", "\t", "-     "]
        ),
        st.sampled_from(
            [
                "```",
                "```js",
                "````",
                "~~~",
                "text",
                "<b>",
                "[[x]]",
                "![a](http://x)",
                "`= 1`",
                "",
                "---",
                "===",
                "-",
                "`a",
                "$$",
                "- [ ] t",
                "<!--",
                "= q",
            ]
        ),
    ),
    max_size=12,
).map(lambda rows: "\n".join(a + b for a, b in rows))
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=24).map("".join) | LINES | st.text(max_size=40)


@settings(max_examples=200)
@given(HOSTILE)
@example(f"{M}{M}\\[\\[X]] \\[[[y]] \\\\[[z]] <% %%% $$$ {M}\\u{{202e}}")
@example("text\r\n```js\r\ncode\r\n")
@example("![^1] [[^1]] [[[^a]]] ![[[[x")
@example("    =\n2. ~~~")
def test_restore_is_the_inverse(x: str) -> None:
    assert inert.restore(inert.prose(x).text) == x
    assert inert.restore(inert.prose(x, RELAXED).text) == x
    assert inert.restore(inert.code(x).text) == x
    made = inert.line(x).text
    assert inert.restore(made) == x
    assert "\n" not in made
    assert "[[" not in made
    inert.restore(x)


@settings(max_examples=200)
@given(HOSTILE)
def test_nothing_active_is_left(x: str) -> None:
    for options in (Options(), RELAXED):
        made = inert.prose(x, options).text
        assert inert.active(made) == []
        assert inert.active(made, options) == []
    longest = max(map(len, re.findall("`+", x)), default=0)
    fence = "`" * max(3, longest + 1)
    note = f"## You · 3f2a\n\n{fence}\n{inert.code(x).text}\n{fence}\n"
    assert [f for f in inert.active(note) if f.kind != "fence"] == []
    assert list(inert.active(f"---\ntitle: t\n---\n# {inert.line(x).text}\n", Options())) == []


def harmful(markdown: object, out: str) -> object:
    """What another parser sees of a message and of what follows it; None when all is well."""
    events = list(markdown.events(out + "\n\n## Next · abcd\n\nafter"))  # type: ignore[attr-defined]
    depth, last = 0, None
    for k, event in enumerate(events):
        if isinstance(event, str):
            continue
        ((kind, value),) = event.items()
        if kind in {"InlineHtml", "Html", "FootnoteReference", "TaskListMarker"}:
            return event
        if kind == "Code" and value.strip().startswith(("=", "$=")):
            return event
        if kind == "Start":
            last = event if depth == 0 else last
            depth += 1
            tag, more = next(iter(value.items())) if isinstance(value, dict) else (value, {})
            if tag in {"Image", "FootnoteDefinition"}:
                return event
            if (
                tag == "Link"
                and more["dest_url"]
                and more["link_type"] != "Email"
                and not re.match("https?://|mailto:|#", more["dest_url"], re.IGNORECASE)
            ):
                return event
            if tag == "CodeBlock":
                if isinstance(more, dict) and (more["Fenced"].split() or ["text"])[0].lower() not in {
                    *inert_rules.LANGUAGES,
                    "mermaid",
                }:
                    return event
                following = events[k + 1]
                if isinstance(following, dict) and following.get("Text", "").strip().startswith(("=", "$=")):
                    return following
        elif kind == "End":
            depth -= 1
    return None if last == {"Start": "Paragraph"} else last


@settings(max_examples=200)
@given(HOSTILE)
def test_another_parser_agrees(x: str) -> None:
    """pulldown-cmark sees no HTML, picture, task, foreign link or live code, and what follows the message is outside of it."""
    import pyromark

    o = pyromark.Options
    more = o.ENABLE_MATH | o.ENABLE_WIKILINKS | o.ENABLE_FOOTNOTES | o.ENABLE_TASKLISTS
    out = inert.prose(x).text.encode("utf-8", "replace").decode()
    for flags in (o.ENABLE_TABLES, o.ENABLE_TABLES | more):
        assert harmful(pyromark.Markdown(options=flags), out) is None


def test_the_other_parser_would_notice() -> None:
    import pyromark

    m = pyromark.Markdown(options=pyromark.Options.ENABLE_TABLES)
    for bad in (
        "<div>",
        "![a](http://x)",
        "[a](obsidian://x)",
        "```dataviewjs\n```",
        "`= 1`",
        "```js\n",
        "> <!--",
        "    = x",
    ):
        assert harmful(m, bad) is not None, bad


# ------------------------------------------------------------------ particulars


def test_wikilinks_have_the_form_links_are_made_of_again() -> None:
    assert inert.prose("see [[X]], [[X|y]], ![[Z]]").text == "see \\[\\[X]], \\[\\[X|y]], !\\[\\[Z]]"


@pytest.mark.parametrize("option", ["tasks", "tags", "wikilinks", "fields"])
def test_each_option_relaxes_its_own_kind_only(option: str) -> None:
    text = {"tasks": "- [ ] a", "tags": "a #b", "wikilinks": "[[a]] [b](c.md)", "fields": "k:: v"}
    for name, sample in text.items():
        made = inert.prose(sample, Options(**{option: False})).text
        assert (made == sample) == (name == option)
    everything = "".join(
        f"{k}\n\n" for k in ("<% a %>", "`= a`", "![[a]]", "![a](http://b)", "<b>", "[a](file:///b)", "%% a")
    )
    made = inert.prose(everything, Options(**{option: False}))
    assert {"templater", "dataview", "embed", "image", "html", "scheme", "comment"} <= made.counts.keys()


def test_counts_by_kind() -> None:
    text = "<% a %> [[b]] ![[c]] ![d](http://e) #f <g> %% k:: v \u202e [^1] [x](file:///y)\n\n- [ ] h\n\ntext ^id\n\n```tasks\nx"
    assert inert.prose(text).counts == {
        **dict.fromkeys(
            (
                "templater",
                "wikilink",
                "embed",
                "image",
                "tag",
                "html",
                "comment",
                "unicode",
                "footnote",
                "scheme",
                "task",
                "block-id",
            ),
            1,
        ),
        "fence-language": 1,
        "fence-closed": 1,
    }


def test_own_prefix_of_dataview() -> None:
    assert inert.prose("`dv: x`").text == "`dv: x`"
    assert inert.prose("`dv: x`", Options(queries=("dv:",))).text == f"`{M}dv: x`"


def test_tables_of_languages_do_not_meet() -> None:
    assert not inert_rules.LANGUAGES & inert_rules.ACTIVE_LANGUAGES
    assert not [w for w in inert_rules.LANGUAGES if w.startswith(inert_rules.ACTIVE_PREFIXES)]


def test_findings_name_line_and_kind() -> None:
    note = (
        "---\ntitle: <% x %>\n---\n# H #own [[Own]] ![[own.png]]\n\n- [ ] own\n\n`= this.a`\n\n```dataviewjs\n1\n```\n\n![a](https://t/x)\n"
        "<iframe src=x>\n[a](obsidian://x)\n\u202e\n![[Note]]\n\n```unknown\n= q\n```\n$$ x\n%% a %% b %% c\n\n<!-- d\n\n~~~\nopen"
    )
    got = [(f.line, f.kind) for f in inert.active(note)]
    assert got == [
        *(
            (2, "templater"),
            (8, "dataview"),
            (10, "fence-language"),
            (14, "image"),
            (15, "html"),
            (16, "scheme"),
            (17, "unicode"),
            (18, "embed"),
        ),
        *((21, "dataview"), (23, "math"), (24, "comment"), (26, "comment"), (29, "fence")),
    ]


def test_what_is_ours_or_a_persons_is_no_finding() -> None:
    note = (
        "---\ntags: [a]\n---\n\n## You · 2026-03-01 10:11 · 3f2a\n\ntext\n\n> [!tool]- Bash: x\n> ```bash\n> ls #a\n> ```\n\n![[attachments/a b.png|300]]\n"
        "![x](pic.png)\n\n- [ ] todo #t [[L]] [m](n.md)\n\n%% a %% <!-- b --> k:: v ^id\n"
    )
    assert inert.active(note) == []


@pytest.mark.parametrize(
    "unit",
    [
        "`",
        "` ",
        "<a ",
        "<",
        "[[",
        "![",
        "](a",
        "](\n",
        "$$ ",
        "a::",
        "#a",
        "^a",
        "- [ ] ",
        "> ```\n\n",
        " ```\n- ",
        "\\[[",
        "[a]: ",
        M,
        "a\n---\n",
        "` = ",
    ],
)
def test_long_runs_are_no_trouble(unit: str) -> None:
    text = unit * 4000
    assert inert.restore(inert.prose(text).text) == text


@pytest.mark.parametrize("marker", ["- ", "> ", "1. ", "> - "])
def test_deep_nesting_is_cut_short(marker: str) -> None:
    for text in (marker * 3000 + "```\n<b>", marker * 3000 + "a\n" + marker * 3000 + "```js\n" + " " * 6000 + "x\ny"):
        made = inert.prose(text)
        assert inert.restore(made.text) == text
        assert inert.active(made.text, Options()) == []
        assert "```" not in made.text
    after = marker * 100 + "a\n\n```js\n#x\n```\n"
    assert inert.prose(after).text == after
