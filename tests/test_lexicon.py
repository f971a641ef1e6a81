"""What notes say about names, and the lexicon made of it."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_import.lexicon import Known, build, derived, numeric
from obsidian_import.names.addresses import AppSettings, Index, excluded, filters, parse_link, render_link
from obsidian_import.names.everyday import commonness, languages, zipf
from obsidian_import.names.surfaces import compose, fold, key
from obsidian_import.notefacts import facts, prose

# ------------------------------------------------------------------------------------------- facts


@pytest.mark.parametrize(
    "text",
    [
        "no frontmatter\naliases: [x]",
        " ---\naliases: [x]\n---\n",  # not on the first line
        "\n---\naliases: [x]\n---\n",
        "---\naliases: [x]\n",  # never closed
        "---\naliases:\n---\n",
        "---\naliases: []\n---\n",
        "---\naliases: null\n---\n",
        "---\naliases: ['', \" \"]\n---\n",
        '---\naliases: ["{{title}}"]\n---\n',
        "---\naliases: <% tp.file.title %>\n---\n",
        "---\nmy-aliases: [x]\n---\n",
        "---\nnested:\n  aliases: [x]\n---\n",
    ],
)
def test_no_alias(text: str) -> None:
    assert "aliases" not in facts(text)


@pytest.mark.parametrize(
    ("yaml", "aliases"),
    [
        ("aliases: [DL, \"deep, nets\", 'it''s']", ["DL", "deep, nets", "it's"]),
        ("aliases: DL", ["DL"]),
        ("alias: DL", ["DL"]),
        ("Aliases:\n  - DL\n  - 'deep: nets'", ["DL", "deep: nets"]),
        ('aliases:\n- DL\n- "nets" # said so\nother: x', ["DL", "nets"]),
        ("aliases: [\n  DL,\n  nets\n]", ["DL", "nets"]),
        ("alias: A1\naliases: [B2, A1]", ["A1", "B2"]),
        ('title: {{broken\naliases: ["DL"]\n- : :', ["DL"]),
        ("aliases: [2026-01-01, 42, true]", ["2026-01-01", "42", "true"]),
        ('aliases: "say \\"hi\\""', ['say "hi"']),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_aliases(yaml: str, aliases: list[str], end: str, bom: str) -> None:
    assert facts(bom + f"---\n{yaml}\n---\nbody".replace("\n", end))["aliases"] == aliases


def test_identity_and_switches() -> None:
    text = '---\nimport_id: "claude-code:5c03"\nsession_id: 5c03\ntype: chat\npart: 2\nno-link: [A, B]\ntags: [linker-exclude]\n---\n[[X]]'
    assert facts(text) == {
        "import_id": "claude-code:5c03",
        "session_id": "5c03",
        "type": "chat",
        "part": "2",
        "off": ["A", "B"],
        "no_target": True,
    }
    assert facts("---\nkanban-plugin: board\n---\n- [[X]]") == {"whole": "kanban"}


def test_links_of_people_are_those_in_prose() -> None:
    text = (
        "# [[Heading]]\n[[A]] [[b/C|see c]] [d](D%20d.md) ![[Embed]] `[[Code]]` %%[[Hidden]]%%\n"
        "```\n[[Fence]]\n```\n<!-- [[Comment]] --> [x](https://e.org/x.md) | [[T\\|t]] |"
    )
    assert facts(text)["links"] == [["A", "A"], ["b/C", "see c"], ["D d.md", "d"], ["T", "t"]]
    assert "see c" in prose(text)[0]
    assert "Fence" not in prose(text)[0]


@given(st.text(alphabet=st.sampled_from("-:[]\"'\n #|{}<%>aliases"), max_size=120))
def test_facts_of_any_text(text: str) -> None:
    assert json.loads(json.dumps(facts("---\n" + text))) == facts("---\n" + text)


# ------------------------------------------------------------------------------------------- folding


@given(st.text())
def test_folding_keeps_every_offset(text: str) -> None:
    assert len(fold(text)) == len(text)
    assert fold(fold(text)) == fold(text)


@given(st.text(alphabet="ae\u0301\u0308ß\u0915\u093c한ᄒ\u1161\u11ab x"))
def test_composing_keeps_a_way_back(text: str) -> None:
    whole, starts = compose(text)
    if starts is None:
        assert len(whole) == len(text)
        return
    assert len(starts) == len(whole) + 1
    assert starts[-1] == len(text)
    known = [at for at in starts if at >= 0]
    assert known == sorted(set(known))


def test_one_key_for_one_name() -> None:
    assert key("  Café   Noir ") == key(unicodedata.normalize("NFD", "CAFÉ noir")) == "café noir"
    assert key("ΛΌΓΟΣ") == key("λόγος")


# ------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize("name", ["2026-11-30", "10", "21:34", "2026-W48", "3月4日", "1st", "2026"])
def test_numeric(name: str) -> None:
    assert numeric(key(name))


@pytest.mark.parametrize("name", ["top-10", "c++", "3d printing", "v2ex", "web3", "2nd brain"])
def test_not_numeric(name: str) -> None:
    assert not numeric(key(name))


def test_derived() -> None:
    assert derived("kubernetes") == []
    assert derived(".net") == []
    assert derived("auth-flow") == ["auth flow"]
    assert derived("auth flow") == ["auth-flow"]
    assert derived("auth_flow-two") == ["auth flow two", "auth-flow-two"]
    assert derived("∑ pkm tools") == ["pkm tools", "pkm-tools"]
    assert derived("2026-11-30") == []


def lexicon_of(*names: str, **kw: object) -> dict[str, list[tuple[str, str, str]]]:
    notes = [Known(f"{name}.md", {}) for name in names]
    found = build(notes, [note.path for note in notes], **kw)  # type: ignore[arg-type]
    return {name: [(c.path, c.tier, c.bar) for c in claims] for name, claims in found.names.items()}


def test_a_real_name_outranks_a_derived_form() -> None:
    assert lexicon_of("auth flow", "auth-flow")["auth flow"] == [("auth flow.md", "exact", "")]
    assert lexicon_of("a/auth-flow", "b/auth_flow")["auth flow"] == [
        ("a/auth-flow.md", "derived", ""),
        ("b/auth_flow.md", "derived", ""),
    ]


@pytest.mark.parametrize(
    ("settings", "exclude", "path", "bar"),
    [
        (AppSettings(templates=("Tpl/",)), (), "Tpl/Xyz", "a template"),
        (AppSettings(), ("Arch",), "Arch/deep/Xyz", "in an excluded folder"),
        (AppSettings(), ("Arch",), "Archive/Xyz", ""),
        (AppSettings(), ("ÄRCH",), unicodedata.normalize("NFD", "ärch/Xyz"), "in an excluded folder"),
        (AppSettings(ignore=("Res/chat *.md",)), (), "Res/chat one", "excluded in Obsidian's settings"),
        (AppSettings(ignore=("/^priv.*/",)), (), "private/Xyz", "excluded in Obsidian's settings"),
        (AppSettings(ignore=("/[/",)), (), "private/Xyz", ""),
        (AppSettings(ignore=("README.md",)), (), "README", "excluded in Obsidian's settings"),
        (AppSettings(attachments="files"), (), "files/Xyz", "an attachment"),
        (AppSettings(attachments="./"), (), "files/Xyz", ""),
    ],
)
def test_bars(settings: AppSettings, exclude: tuple[str, ...], path: str, bar: str) -> None:
    names = lexicon_of(path, settings=settings, exclude=exclude)
    assert names[key(path.rsplit("/", 1)[-1])][0][2] == bar


def test_filters_take_anything() -> None:
    prefixes, patterns = filters([None, 3, "", " ", "//", "/(/", "a/"])
    assert prefixes == ["a/"]
    assert patterns == []
    assert excluded("A/b.md", prefixes, patterns)


def test_evidence_leaves_the_note_itself_out() -> None:
    said = facts("[[Gravity]]")
    notes = [Known("Gravity.md", {}), Known("a.md", said), Known("b.md", said), Known("c.md", {})]
    found = build(notes, [note.path for note in notes])
    found.counts = {"gravity": (2, 3)}
    assert found.evidence("gravity")[0] == 2
    assert found.evidence("gravity", "a.md")[0] == 1
    assert found.evidence("gravity", "chats/x.md") == found.evidence("gravity")


# ------------------------------------------------------------------------------------------- addresses


def test_addresses_of_the_three_formats() -> None:
    files = ["a/Note.md", "b/note.md", "lib/One.md", "pic.png", "Root.md", "x/Root.md", "we#ird/Note two.md"]
    for form, wanted in (
        ("shortest", {"a/Note.md": "a/Note", "lib/One.md": "One", "Root.md": "", "we#ird/Note two.md": "Note two"}),
        ("absolute", {"a/Note.md": "a/Note", "lib/One.md": "lib/One", "we#ird/Note two.md": ""}),
        ("relative", {"a/Note.md": "a/Note", "lib/One.md": "../lib/One"}),
    ):
        index = Index.of(files, AppSettings(link_format=form))  # type: ignore[arg-type]
        for path, text in wanted.items():
            address = index.address(path, "chats/x.md")
            assert address.text == text, (form, path)
            assert bool(address.problem) == (not text)
            if text:
                assert index.resolve(text, "chats/x.md") == path


def test_one_way_to_spell_a_link() -> None:
    assert render_link("Gravity", "Gravity") == "[[Gravity]]"
    assert render_link("Gravity", "gravity") == "[[Gravity|gravity]]"
    assert render_link("Gravity", "gravity", table=True) == "[[Gravity\\|gravity]]"
    assert render_link("Gravity", "Gravity", table=True) == "[[Gravity]]"
    assert render_link("a b/C(d)", "x", markdown=True) == "[x](a%20b/C%28d%29.md)"
    for text in ("a|b", "a]]b", "a\nb", "[x", ""):
        assert render_link("Gravity", text) is None


def test_links_are_read_back() -> None:
    assert parse_link("[[A\\|b]]") == ("A", "b")
    assert parse_link("[b](<A b.md>)") == ("A b.md", "b")
    assert parse_link('[b](A%20b.md "t")') == ("A b.md", "b")
    assert parse_link("[b](https://e.org/a.md)") is None
    assert parse_link("![[A]]") is None
    assert parse_link("[b](%FF.md)") == ("%FF.md", "b")


# ------------------------------------------------------------------------------------------- words


def test_commonness() -> None:
    assert zipf("the") > zipf("meeting") > zipf("gravity") > zipf("redis")
    assert zipf("haus", ("en", "de")) > zipf("haus", ("en",))
    assert zipf("时间") > 5
    assert commonness("c++") < 3
    assert commonness("auth flow design") < commonness("machine learning")
    assert commonness("") == 0


def test_languages() -> None:
    assert languages("The cat and the dog") == ("en",)
    assert "de" in languages("Der Hund und die Katze ist nicht das, mit dem ich auf die Reise gehe")
