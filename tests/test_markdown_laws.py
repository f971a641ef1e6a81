"""Laws of places and edits: any text, and any composition of the contexts around a known name."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_import.markdown import close_open, fence_for, places, protected, regions, splice, unsplice
from obsidian_import.model import Edit

NAME = "Zebrafish"
BLOCKS = [
    "```py\n{}\n```", "~~~~\n```\n{}\n~~~~", "- item\n\n  ```\n  {}\n  ```", "> ```\n> {}\n> ```", "    {}", "$$\n{}\n$$",
    "%%\n{}\n%%", "<!--\n{}\n-->", "<div>\n{}\n</div>", "<!-- begin X -->\n{}\n<!-- end X -->", "# {}", "{}\n---",
    "> [!note]- {}", "| {} | h |\n|--|--|\n| x | y |", "{}:: v", "[{}]: https://a.b", "[^{}]: text", "- [ ] x [due:: {}]",
    "<script>\n\n{}\n\n</script>", "<% {}\n%>",
]  # fmt: skip
INLINE = [
    "`{}`", "``a ` {}``", "${}$", "$${}$$", "%%{}%%", "<!-- {} -->", '<img alt="{}">', '<a href="x">{}</a>', "[[{}]]",
    "![[{}|x]]", "[{}](https://a.b)", "![x]({}.png)", "[x][{}]", "https://a.b/{}", "<https://{}.org>", "www.{}.org/x",
    "{}@x.io", "/usr/{}", "./{}", "src/{}.py", "C:\\a\\{}", "--{}", "snake_{}", "{}.get(x)", "a.{}", "[^{}]", "^[{}]", "#{}",
    "[k:: {}]", "(k:: {})", "<% {} %>", "{{{{{}}}}}", "\\[\\[{}]]", "[REDACTED:{}:1]", "[{}]", "{}::get", "${}",
]  # fmt: skip
PROSE = [
    "{}",
    "**{}**",
    "_{}_",
    "=={}==",
    "({})",
    "“{}”",
    "{},",
    "{}'s",
    "这是{}内容",
    "- {}",
    "- [ ] {}",
    "> {}",
    "1. {}",
    "~~{}~~",
]

TEXT = st.text(
    st.one_of(st.sampled_from("`~$%<>[]()|#*_-!:\\/@^&={}. \n\n\r\tab1é😀测\ud800\0\u2028\ufeff"), st.characters()),
    max_size=60,
)
PIECES = st.sampled_from(
    ["```", "~~~", "$$", "$", "%%", "<!--", "-->", "[[", "]]", "[", "](", ")", "|", "|-|-|\n", "---\n", "\n", "\n\n", "> ", "- ",
     "    ", "<a>", "</a>", "<div>", "`", "``", "{{", "}}", "<%", "%>", "::", "[!x]", "^id", "#t", "http://", "\r\n", "\\", "x", "测",
     "😀", " ", "[^1]", "[^1]: ", "[r]: u\n", "<!-- begin X -->", "<!-- end X -->", "<<<<<<< a\n", "\n>>>>>>> b\n", "=", "📅 2026-11-30"]
)  # fmt: skip
ANY = st.one_of(TEXT, st.lists(PIECES, max_size=25).map("".join))


def free(text: str) -> list[int]:
    """Offsets of the name where a link may go."""
    spans, out, at = protected(text), [], text.find(NAME)
    while at >= 0:
        if not any(s.start < at + len(NAME) and at < s.end for s in spans):
            out.append(at)
        at = text.find(NAME, at + 1)
    return out


@given(ANY)
@settings(max_examples=200)
def test_any_text_has_sorted_disjoint_places_inside_it(text: str) -> None:
    found = places(text)
    reached = 0
    for start, end, kind in found.spans:
        assert reached <= start < end <= len(text)
        assert kind
        reached = end
    for start, end in found.tables:
        assert 0 <= start < end <= len(text)
    assert all(0 <= a < b <= len(text) for a, b in regions(text))


@given(ANY)
@settings(max_examples=100)
def test_a_closed_text_swallows_nothing(text: str) -> None:
    whole = "x\n\n" + text
    whole += close_open(whole)
    assert close_open(whole) == ""
    assert free(f"{whole}\n\n{NAME} swims.\n")[-1:] == [len(whole) + 2]


@given(ANY)
@settings(max_examples=100)
def test_places_stay_when_a_sentence_follows(text: str) -> None:
    whole = "x\n\n" + text
    whole += close_open(whole)
    after = protected(whole + "\n\nA sentence.\n")
    assert after == protected(whole + "\n\n")


CONTEXT = st.one_of(
    st.sampled_from(BLOCKS).map(lambda t: (t, False)),
    st.sampled_from(INLINE).map(lambda t: ("before " + t + " after", False)),
    st.sampled_from(PROSE).map(lambda t: (t, True)),
)


@given(
    st.lists(CONTEXT, min_size=1, max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "é 😀\n\n", "---\na: b\n---\n"]),
)
@settings(max_examples=150)
def test_the_name_is_free_in_prose_and_nowhere_else(contexts: list[tuple[str, bool]], newline: str, lead: str) -> None:
    text, wanted = lead, []
    for template, prose in contexts:
        text += "\n\nA paragraph between.\n\n"
        piece = template.format(NAME)
        if prose:
            wanted.append(len(text) + piece.index(NAME))
        text += piece
    lines = text.split("\n")
    moved = [at + (len(newline) - 1) * text.count("\n", 0, at) for at in wanted]
    assert free(newline.join(lines)) == moved


@given(ANY, st.data())
def test_unsplice_undoes_splice(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    edits = [Edit(a, b, text[a:b], data.draw(st.text(max_size=5)), "") for a, b in pairs]
    assert unsplice(splice(text, edits), edits) == text


@given(ANY)
def test_a_fence_holds_any_text(text: str) -> None:
    opening, closing = fence_for(text, "py")
    whole = f"{opening}\n{text}\n{closing}\n\n{NAME}"
    assert free(whole) == [len(whole) - len(NAME)]
    assert close_open(whole) == ""


HOSTILE = ["word ", "`", "$", "$a ", "[[", "[[a ", "[a ", "[", "<", "<a>", "<!-- ", "> ", ">", "{{ ", "<% ", "%% ", "a/", "测/", "_a", "f(",
           "(a", "^[", "#a", "::", "[!a] ", "\\[[a", "|-", "http://", "- [ ] a\n", "> [!a] x\n", "[a]: x\n", "<<<<<<< a\n"]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_grows_with_the_text_and_no_faster(unit: str) -> None:
    """Four times the text may cost eight times, where a quadratic one costs sixteen; noise below 50 ms does not count."""

    def cost(count: int) -> float:
        best = 9e9
        for extra in ("", "x"):
            start = time.process_time()
            protected(unit * count + extra)
            best = min(best, time.process_time() - start)
        return best

    small = cost(3_000)
    assert cost(12_000) < max(0.05, 8 * small)
