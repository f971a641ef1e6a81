"""The bug log of other linkers, and its kinds: what must stay as it is first, then what must change."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from obsidian_import.judgement import LinkSettings
from obsidian_import.lexicon import Known, Lexicon, build
from obsidian_import.links import Linked, Linker
from obsidian_import.markdown import splice, unsplice
from obsidian_import.names.addresses import AppSettings
from obsidian_import.notefacts import facts

FOLDER = Path(__file__).parent / "cases" / "links"


@dataclass
class Case:
    title: str
    fields: dict[str, str]
    before: str
    after: str
    why: str


def cases() -> list[Case]:
    found = []
    for file in sorted(FOLDER.glob("*.md")):
        for block in re.split(r"^=== ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            head, _, rest = block.partition("\n--- in\n")
            title, *lines = head.splitlines()
            before, _, rest = rest.partition("\n--- out\n")
            after, _, why = rest.partition("\n--- why\n")
            after = after.rstrip("\n")
            fields = dict(line.split(":", 1) for line in lines if ":" in line)
            same = after == "same"
            found.append(Case(title, fields, before, before if same else after, why.strip()))
    return found


def lexicon_of(fields: dict[str, str]) -> Lexicon:
    notes = []
    for entry in fields["vault"].split(";"):
        name, _, text = entry.strip().partition(" = ")
        shape = re.fullmatch(r"(.+?)(?: \((.*)\))?", name)
        assert shape
        if shape[2] is not None and shape[1] != "What?":
            name = shape[1]
            text = "---\naliases:\n" + "".join(f'  - "{alias}"\n' for alias in shape[2].split(",")) + f"---\n{text}"
        notes.append(Known(f"{name}.md", facts(text), ours=name.startswith(("chats/", "logs/"))))
    settings = AppSettings(
        link_format=fields.get("format", "shortest").strip(),  # type: ignore[arg-type]
        markdown_links="markdown-links" in fields,
        ignore=tuple(x.strip() for x in fields.get("ignore-filters", "").split(",") if x.strip()),
        templates=tuple(x.strip() for x in fields.get("templates", "").split(",") if x.strip()),
    )
    exclude = [x.strip() for x in fields.get("exclude", "").split(",") if x.strip()]
    found = build(notes, [note.path for note in notes], settings=settings, exclude=exclude)
    bodies = {e.strip().partition(" = ")[0] + ".md": e.partition(" = ")[2] for e in fields["vault"].split(";")}
    from obsidian_import.lexicon import counted, occurrences
    from obsidian_import.notefacts import prose

    if found.human:
        found.counts = counted(
            found, {p: occurrences(found, p, prose(t)[0]) for p, t in bodies.items() if p in found.voters}
        )
    return found


def linker_of(fields: dict[str, str]) -> Linker:
    settings = LinkSettings(
        ignore=tuple(fields.get("ignore", "").split(",")),
        accepted=tuple(x for x in [fields.get("accepted", "")] if x),
        rejected=tuple(x for x in [fields.get("rejected", "")] if x),
    )
    return Linker(lexicon_of(fields), settings)


def run(case: Case, text: str) -> tuple[str, Linked]:
    found = linker_of(case.fields).find(text, case.fields.get("path", "chats/code/x.md").strip())
    return splice(text, found.edits), found


ALL = cases()


def test_every_entry_of_the_bug_log_about_text_has_a_case() -> None:
    named = {int(number) for case in ALL for number in re.findall(r"\bB(\d\d)", case.title)}
    # B29: test_links_suggest; B44-B46, B47b: splice, no placeholders; B48-B52, B54: targets come from the index only;
    # B64: benchmarks/link_speed.py and test_links_laws.
    elsewhere = {29, 44, 45, 46, 48, 49, 50, 51, 52, 54, 64}
    assert named | elsewhere == set(range(1, 65))


@pytest.mark.parametrize("case", [c for c in ALL if c.before == c.after], ids=lambda c: c.title)
def test_must_stay(case: Case) -> None:
    after, found = run(case, case.before)
    assert after == case.before
    if case.why:
        assert any(case.why in miss.reason for miss in found.misses), found.misses


@pytest.mark.parametrize("case", [c for c in ALL if c.before != c.after], ids=lambda c: c.title)
def test_must_change(case: Case) -> None:
    after, found = run(case, case.before)
    assert after == case.after
    assert unsplice(after, found.edits) == case.before
    again, more = run(case, after)
    assert again == after, more.links
    for link in found.links:
        assert link.edit.why
        assert link.target
        assert case.before[link.edit.start : link.edit.end] == link.edit.old


@pytest.mark.parametrize("case", ALL, ids=lambda c: c.title)
@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_line_ends_change_nothing(case: Case, end: str) -> None:
    text = case.before.replace("\n", end)
    assert run(case, text)[0] == case.after.replace("\n", end)
