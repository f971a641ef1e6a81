"""What other importers got wrong, one test each: the defects of the pipeline we replace, then those of its peers.

The inputs are the smallest that showed the defect there. Where a name is an everyday word, what counts is that the text
is not damaged; where it is none, that the link is there and right.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from tests.planted import Talk
from tests.vaults import Desk, session


def brought(desk: Desk, text: str, *names: str, notes: dict[str, str] | None = None) -> str:
    """What becomes of a message in a vault with notes of these names: the message as it stands in the note."""
    for name in names:
        desk.write(f"{name}.md", f"# {name}\n")
    for path, content in (notes or {}).items():
        desk.write(path, content)
    session(1).you("START").claude(text).you("END").save(desk.sources)
    (note,) = desk.json("import", desk.sources)["notes"]
    body = desk.read(note["path"])
    return re.search(r"\n## Claude[^\n]*\n\n(.*?)\n\n## You", body, re.DOTALL)[1]  # type: ignore[index]


# ------------------------------------------------------------------ the pipeline we replace


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (("auth flow design", "flow"), "We use auth flow design here."),
        (("Zephyrine Kestrel", "Kestrel"), "We use Zephyrine Kestrel here."),
    ],
)
def test_01_no_link_inside_a_link(desk: Desk, names: tuple[str, ...], text: str) -> None:
    out = brought(desk, text, *names)
    assert not re.search(r"\[\[[^\]]*\[\[", out)
    assert out in (text, text.replace(names[0], f"[[{names[0]}]]"))


@pytest.mark.parametrize(
    "text",
    [
        "[the Zephyrine guide](https://x.com/Zephyrine)",
        "https://Zephyrine.com/docs and www.Zephyrine.com",
        "`Zephyrine` and `` a ` Zephyrine` ``",
        "~~~\nZephyrine\n~~~",
        "````\n```\nZephyrine\n```\n````",
        "a\n\n    Zephyrine indented",
        "$Zephyrine + \\beta$",
        "Zephyrine-flow and x.Zephyrine.js",
        "Zephyrine@x.io",
        "a/Zephyrine/b and ./Zephyrine.py",
        "Zephyrines and preZephyrine",
    ],
)
def test_02_to_08_places_where_no_link_may_go(desk: Desk, text: str) -> None:
    """Link texts, addresses, code of every kind, maths, parts of words, mail, paths: as they were."""
    assert brought(desk, text, "Zephyrine") == text


@pytest.mark.parametrize(
    "text", ["[[my Zephyrine page|the Zephyrine]]", "![[img Zephyrine x.png]]", "[x](obsidian://Zephyrine)"]
)
def test_02_to_06_active_text_is_not_linked_either(desk: Desk, text: str) -> None:
    """It is made inert, and inside it nothing is linked."""
    from obsidian_import import inert

    out = brought(desk, text, "Zephyrine")
    assert not re.search(r"(?<!\\)\[\[", out)
    assert inert.restore(out) == text


def test_09_headings_stay_headings(desk: Desk) -> None:
    desk.write("You.md", "# You\n")
    desk.write("Claude.md", "# Claude\n")
    out = brought(desk, "# Zephyrine\n\ntext", "Zephyrine")
    assert out.startswith("### Zephyrine\n")
    (note,) = desk.json("import", desk.sources)["notes"]
    assert "## [[" not in desk.read(note["path"])


def test_10_the_words_stay_as_they_were_written(desk: Desk) -> None:
    assert brought(desk, "ZEPHYRINE is fast.", "Zephyrine") in (
        "[[Zephyrine|ZEPHYRINE]] is fast.",
        "ZEPHYRINE is fast.",
    )


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("C++", "We use C++ here.", "We use [[C++]] here."),
        ("Node.js", "We use Node.js here.", "We use [[Node.js]] here."),
        ("設計メモ", "これは「設計メモ」です。", "これは「[[設計メモ]]」です。"),
        ("Cafe\u0301 Zéphyr", "At Caf\u00e9 Zéphyr today.", "At [[Cafe\u0301 Zéphyr|Caf\u00e9 Zéphyr]] today."),
    ],
)
def test_11_names_that_are_no_latin_words(desk: Desk, name: str, text: str, wanted: str) -> None:
    """Signs at the end, dots, other scripts, other normal forms."""
    import unicodedata

    out = brought(desk, text, name)
    assert unicodedata.normalize("NFC", out) in (
        unicodedata.normalize("NFC", wanted),
        unicodedata.normalize("NFC", wanted).replace("|Café Zéphyr", ""),
    )


def test_12_aliases_ambiguous_names_templates_and_illegal_names(desk: Desk) -> None:
    out = brought(
        desk,
        "The Zephyr Policy, the Kestrel Plan, Q#1 plan and a|b note, Merlin Sheet.",
        notes={
            "Retries.md": "---\naliases: [Zephyr Policy]\n---\n",
            "a/Kestrel Plan.md": "# a\n",
            "b/Kestrel Plan.md": "# b\n",
            "Q#1 plan.md": "# q\n",
            "Templates/Merlin Sheet.md": "# t\n",
            ".obsidian/templates.json": '{"folder":"Templates"}',
        },
    )
    assert "[[Retries|Zephyr Policy]]" in out
    assert "[[Kestrel Plan]]" not in out
    assert "[[Q#1" not in out
    assert "[[Merlin" not in out
    assert "[[Templates" not in out


def test_13_two_sources_of_one_name_are_two_notes(desk: Desk) -> None:
    """And with --move both originals are safe."""
    for folder, word in (("p1", "first"), ("p2", "second")):
        path = desk.sources / folder / "chat.md"
        path.parent.mkdir()
        path.write_text(f"# Chat\n\n## User\n\n{word}\n\n## Assistant\n\nyes {word}\n")
    notes = desk.json("import", desk.sources, "--move")["notes"]
    assert sorted("second" in desk.read(n["path"]) for n in notes) == [False, True]
    desk.run("undo")
    assert len(list(desk.sources.rglob("chat.md"))) == 2


def test_14_a_hand_edited_note_is_not_overwritten(desk: Desk) -> None:
    one = session(1).you("Hi there").claude("Ho")
    one.save(desk.sources)
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    desk.write(
        path,
        desk.read(path).replace("status: imported", "status: imported\nmyfield: keep").replace("Ho\n", "Ho\n\nmine\n"),
    )
    one.you("More").claude("Less").save(desk.sources)
    desk.run("import", desk.sources)
    assert "myfield: keep" in desk.read(path)
    assert "mine\n" in desk.read(path)
    assert "Less" in desk.read(path)


def test_15_the_second_run_changes_nothing(desk: Desk) -> None:
    """No chat is linked to itself or to another chat by its name."""
    for number in (1, 2, 3):
        session(number).you(f"Zephyrine Kestrel {number}").claude(
            "About Zephyrine Kestrel 1, Zephyrine Kestrel 2 and Zephyrine Kestrel 3"
        ).save(desk.sources)
    desk.run("import", desk.sources)
    before = desk.tree(times=True, sidecar=True)
    for _ in range(3):
        assert desk.json("import", desk.sources)["totals"]["keep"] == 3
        desk.run("relink")
    assert desk.tree(times=True, sidecar=True) == before


@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_16_properties_of_an_export_are_kept(desk: Desk, bom: str, end: str) -> None:
    text = f"{bom}---\nmodel: opus\ntags: [alpha]\n---\n\n# T\n\n## User\n\nhi\n\n## Assistant\n\nho\n".replace(
        "\n", end
    )
    (desk.sources / "a.md").write_bytes(text.encode())
    (note,) = desk.json("import", desk.sources)["notes"]
    made = desk.read(note["path"])
    values = yaml.safe_load(made[4:].partition("\n---\n")[0])
    assert values["model"] == "opus"
    assert "alpha" in values["tags"]
    assert made.count("\n---\n") == 1
    assert "\r" not in made


def test_17_titles_are_written_as_yaml(desk: Desk) -> None:
    session(1).you('say "hi": now').claude("x").save(desk.sources)
    (note,) = desk.json("import", desk.sources)["notes"]
    assert yaml.safe_load(desk.read(note["path"])[4:].partition("\n---\n")[0])["title"] == 'say "hi": now'


def test_19_origin_comes_from_the_data(desk: Desk) -> None:
    path = desk.sources / "web" / "about code review.md"
    path.parent.mkdir()
    path.write_text("# About code review\n\n## User\n\nhi\n\n## Assistant\n\nho\n")
    (note,) = desk.json("import", desk.sources)["notes"]
    assert note["origin"] == "web"


def test_20_tags_are_words_not_letters(desk: Desk) -> None:
    session(1).you("I forgot the contest about unrust storage, the gogol and a ragged nlpx").claude("x").save(
        desk.sources
    )
    (note,) = desk.json("import", desk.sources)["notes"]
    assert note["tags"] == ["chat-import"]


def test_21_bytes_of_another_encoding(desk: Desk) -> None:
    """Latin-1 is read as it was meant, or said; with --move the original is not lost."""
    path = desk.sources / "a.md"
    data = "# Café\n\n## User\n\nnaïve\n\n## Assistant\n\noui\n".encode("latin-1")
    path.write_bytes(data)
    result = desk.json("import", desk.sources, "--move", code=None)
    (note,) = [n for n in result["notes"] if n["action"] == "create"]
    text = desk.read(note["path"])
    assert "naïve" in text or any("UTF-8" in p["what"] or "encod" in p["what"] for p in result["problems"])
    desk.run("undo")
    assert path.read_bytes() == data


# ------------------------------------------------------------------ its hook, on bad transcripts


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "1",
        '"x"',
        "null",
        '{"type":"user","message":"hi"}',
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","name":"Bash","input":[1]}]}}',
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","name":"Bash","input":{"command":[1]}}]}}',
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","name":"Edit","input":{"file_path":{"a":1}}}]}}',
        '{"type":"user","message":{"role":"user","content":' + "[" * 100_000 + "]" * 100_000 + "}}",
        '{"type":"user","n":' + "9" * 5000 + "}",
        '{"type":"user","message":{"role":"user","content":"x \\udcb2 y"}}',
        '{"type":"user","mess',
        "\x00" * 9000,
    ],
    ids=range(13),
)
def test_a_bad_line_costs_that_line(desk: Desk, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the import and in the auto-log: the talk around it is whole."""
    one = session(1).you("<div> is broken in the page").claude("I see").you("Fix it").claude("FIXEDZ")
    one.lines.insert(2, line)
    path = desk.sources / "projects" / "-srv-my-app" / f"{one.id}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(one.lines) + "\n", encoding="utf-8")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(desk.sources))
    result = desk.json("import", code=None)
    (note,) = [n for n in result["notes"] if n["action"] == "create"]
    text = desk.read(note["path"])
    assert "FIXEDZ" in text
    assert "div> is broken" in text
    done = desk.json("autosave", code=None)
    assert [n["action"] for n in done["notes"]] == ["create"], done
    assert "div> is broken" in desk.read(done["notes"][0]["path"])


def test_backticks_in_a_command_stay_in_their_span(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    one = session(1).you("Go on").claude("ok").tool("echo `date` ``x`` [[y]] #z", "ok").you("Thanks").claude("ok")
    one.save(desk.sources / "projects")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(desk.sources))
    (note,) = desk.json("autosave")["notes"]
    from obsidian_import import inert

    assert inert.active(desk.read(note["path"]), inert.Options()) == []
    assert "date" in desk.read(note["path"])


# ------------------------------------------------------------------ inputs of the peers


def test_sub_agents_whose_ids_begin_alike_are_both_there(desk: Desk) -> None:
    one = Talk(1).you("Look").claude("I send two")
    folder = desk.sources / "p"
    for name in ("abc12345-1", "abc12345-2"):
        call = f"toolu_{name}"
        one.add(
            "assistant",
            [
                {
                    "type": "tool_use",
                    "id": call,
                    "name": "Task",
                    "input": {"description": name, "prompt": "p", "subagent_type": "x"},
                }
            ],
        )
        one.add(
            "user", [{"type": "tool_result", "tool_use_id": call, "content": "done"}], toolUseResult={"agentId": name}
        )
        agent = (
            Talk(1)
            .you(f"task of {name}", isSidechain=True, agentId=name)
            .claude(f"WORDS{name}", isSidechain=True, agentId=name)
        )
        for n, record in enumerate(agent.records):
            record["uuid"] = f"{name}-{n}"
        path = folder / one.sid / "subagents" / f"agent-{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(agent.text())
    one.you("Thanks").claude("ok")
    (folder / f"{one.sid}.jsonl").write_text(one.text())
    notes = desk.json("import", desk.sources, "--detail", "full")["notes"]
    text = "".join(desk.read(n["path"]) for n in notes if n["action"] == "create")
    assert len([n for n in notes if n["action"] == "create"]) == 1
    assert "WORDSabc12345-1" in text
    assert "WORDSabc12345-2" in text


def test_a_resumed_copy_is_one_talk(desk: Desk) -> None:
    """File B repeats A's records and goes on."""
    a = session(1).you("First").claude("One")
    a.save(desk.sources)
    b = session(2)
    more = session(1).you("First").claude("One").you("Second").claude("Two")
    b.lines = [json.dumps({**json.loads(line), "sessionId": b.id}) for line in more.lines]
    b.save(desk.sources)
    notes = [n for n in desk.json("import", desk.sources)["notes"] if n["action"] == "create"]
    said = "".join(desk.read(n["path"]) for n in notes)
    assert said.count("\nFirst\n") == 1
    assert said.count("\nTwo\n") == 1


def test_tool_results_are_there_and_cannot_break_out(desk: Desk) -> None:
    session(1).you("Run it").tool("cat x", "intro\n```py\nx\n```\n# H\n[[Ghost]] #tag").claude("Done").save(
        desk.sources
    )
    (note,) = desk.json("import", desk.sources)["notes"]
    text = desk.read(note["path"])
    assert "> ````\n> intro\n> ```py\n> x\n> ```\n> # H\n" in text
    assert "> ````\n\n" in text[text.index("intro") :]


def test_maths_money_and_code_beside_each_other(desk: Desk) -> None:
    out = brought(desk, "\\(a_1\\) beside `\\(code\\)` beside $5 to $6\n\n````\n```\n\\(x\\)\n```\n````")
    assert "$a_1$" in out
    assert "`\\(code\\)`" in out
    assert "```\n\\(x\\)\n```" in out
    assert not re.search(r"(?<!\\)\$5 to (?<!\\)\$6", out)


def test_placeholders_do_not_vanish(desk: Desk) -> None:
    out = brought(desk, "use <module> here and <keyword>, [[Link]] #tag, a ~ b, 2 * 3 * 4")
    for words in ("module>", "keyword>", "Link]]", "tag", "2 * 3 * 4"):
        assert words in out
    assert not re.search(r"(?<!\\)<(?:module|keyword)>", out)


def test_terminal_colours_are_gone(desk: Desk) -> None:
    session(1).you("Run").tool("x", "\x1b[32mok\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07").claude("Done").save(
        desk.sources
    )
    (note,) = desk.json("import", desk.sources)["notes"]
    text = desk.read(note["path"])
    assert "ok link" in text
    assert "\x1b" not in text


def test_an_abandoned_branch_is_folded(desk: Desk) -> None:
    def message(n: str, who: str, text: str, parent: str) -> dict[str, Any]:
        at = f"2026-03-01T10:0{n[-1]}:00Z"
        return {
            "uuid": n,
            "sender": who,
            "text": text,
            "content": [{"type": "text", "text": text}],
            "created_at": at,
            "parent_message_uuid": parent,
        }

    chat = {
        "uuid": "c1",
        "name": "B",
        "created_at": "2026-03-01T10:00:00Z",
        "updated_at": "2026-03-01T10:09:00Z",
        "account": {"uuid": "u"},
        "chat_messages": [
            message("m1", "human", "Ask", "00000000-0000-4000-8000-000000000000"),
            message("m2", "assistant", "OLDANSWER", "m1"),
            message("m3", "assistant", "NEWANSWER", "m1"),
            message("m4", "human", "Thanks", "m3"),
            message("m5", "assistant", "Welcome", "m4"),
        ],
    }
    (desk.sources / "conversations.json").write_text(json.dumps([chat]))
    (desk.sources / "users.json").write_text("[]")
    (note,) = [n for n in desk.json("import", desk.sources)["notes"] if n["action"] == "create"]
    text = desk.read(note["path"])
    assert "\nNEWANSWER" in text
    assert "\nOLDANSWER" not in text
    assert "> OLDANSWER" in text


def test_a_compaction_summary_is_nobodys_words(desk: Desk) -> None:
    one = (
        Talk(1)
        .you("Begin")
        .claude("ok")
        .you("This session is being continued from a previous conversation. SUMMARYZ", isCompactSummary=True)
        .you("Go on")
        .claude("ok")
    )
    path = desk.sources / "p" / f"{one.sid}.jsonl"
    path.parent.mkdir()
    path.write_text(one.text())
    for detail in ("talk", "full"):
        (note,) = desk.json("import", desk.sources, "--detail", detail)["notes"]
        assert "\nThis session is being continued" not in desk.read(note["path"])


def test_fewer_messages_than_before_never_empty_a_note(desk: Desk) -> None:
    """A source that was cut short (a sync, a retention) does not take away what is in the vault."""
    one = session(1).you("First").claude("One").you("Second").claude("Two")
    one.save(desk.sources)
    path = desk.json("import", desk.sources)["notes"][0]["path"]
    file = one.save(desk.sources)
    file.write_text("")
    desk.run("import", desk.sources, code=None)
    assert "Two" in desk.read(path)
    file.unlink()
    desk.run("import", desk.sources, code=None)
    assert "Two" in desk.read(path)


def test_nothing_recognised_is_no_success(desk: Desk) -> None:
    """Zero found in an archive that holds something is said, never "up to date"."""
    (desk.sources / "x.json").write_text('{"some": "thing"}')
    outcome = desk.run("import", desk.sources, code=None)
    assert outcome.code == 1 or "x.json" in outcome.out


def test_the_format_is_known_by_its_records(desk: Desk) -> None:
    """A claude.ai list without users.json is not taken for another export, and a split one is found."""
    chat = {
        "uuid": "u1",
        "name": "Split",
        "created_at": "2026-03-01T10:00:00Z",
        "updated_at": "2026-03-01T10:00:00Z",
        "chat_messages": [
            {
                "uuid": "m",
                "sender": "human",
                "text": "hi",
                "content": [{"type": "text", "text": "hi"}],
                "created_at": "2026-03-01T10:00:00Z",
            }
        ],
    }
    (desk.sources / "conversations-000.json").write_text(json.dumps([chat]))
    (note,) = desk.json("import", desk.sources)["notes"]
    assert (note["action"], note["source"]) == ("create", "claude.ai")


def test_counts_are_of_what_is_on_disk(desk: Desk) -> None:
    for number in range(1, 12):
        session(number).you(("Same", "CON", "...", "🚀" * 120)[number % 4]).claude("x").save(desk.sources)
    outcome = desk.run("import", desk.sources)
    assert "On disk: 11 of 11 files" in outcome.out
    assert len(list((desk.vault / "chats").rglob("*.md"))) == 11


def test_a_project_is_where_one_worked(desk: Desk) -> None:
    """`/w/a-b` and `/w/a/b` share a folder name at the client; the records tell them apart."""
    for number, cwd in ((1, "/w/a-b"), (2, "/w/a/b")):
        one = session(number, cwd=cwd).you(f"In {number}").claude("x")
        (desk.sources / "-w-a-b").mkdir(exist_ok=True)
        (desk.sources / "-w-a-b" / f"{one.id}.jsonl").write_text("\n".join(one.lines) + "\n")
    assert {n["project"] for n in desk.json("import", desk.sources)["notes"]} == {"a-b", "b"}


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/Los_Angeles"])
def test_the_machines_zone_changes_nothing(desk: Desk, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        session(1).you("Late").claude("x").save(desk.sources)
        (note,) = desk.json("import", desk.sources)["notes"]
        assert note["created"] == "2026-03-01T10:00:00"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_source_files_are_never_touched(desk: Desk) -> None:
    """Without --move: bytes, modes, times."""
    from tests.vaults import tree

    session(1).you("a").claude("b").save(desk.sources)
    (desk.sources / "x.md").write_text("# a\n")
    before: dict[str, Any] = tree(desk.sources, times=True)
    desk.run("import", desk.sources)
    desk.run("undo")
    assert tree(desk.sources, times=True) == before
