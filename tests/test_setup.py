"""`setup`: in, twice = no change, and out again with every file as it was; a person's entries are never touched."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_import import config, files, wiring
from obsidian_import.errors import UserError
from obsidian_import.wiring import handlers, jsontext, wired
from tests.vaults import Desk, session, tree

CALLER = handlers.Caller("/opt/py/bin/python3", "/opt/py/hooks/session_autosave.py", "/home/me/My Vault")
THEIRS: dict[str, Any] = {"type": "command", "command": "echo theirs", "timeout": 3}


@pytest.fixture
def claude(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The (empty) folder of Claude Code."""
    folder = Path.home() / ".claude"
    folder.mkdir()
    monkeypatch.delenv("OBSIDIAN_IMPORT_DATA", raising=False)
    monkeypatch.setenv("TZ", "Europe/Berlin")
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "code" / "my-app"
    folder.mkdir(parents=True)
    return folder


def everything(desk: Desk, *more: Path) -> dict[str, Any]:
    """Every file of home and vault, the sidecar too."""
    found = {f"home/{k}": v for k, v in tree(Path.home(), sidecar=True).items()}
    found |= {f"vault/{k}": v for k, v in tree(desk.vault, sidecar=True).items()}
    for n, folder in enumerate(more):
        found |= {f"{n}/{k}": v for k, v in tree(folder).items()}
    return found


def settings(claude: Path) -> Any:
    return json.loads((claude / "settings.json").read_text(encoding="utf-8"))


def ours(value: Any) -> list[tuple[str, str]]:
    return sorted(
        (event, role)
        for event, groups in value["hooks"].items()
        for group in groups
        for handler in group["hooks"]
        if (role := handlers.role_of(handler))
    )


# ------------------------------------------------------------------ in and out


def test_a_dry_run_writes_nothing(desk: Desk, claude: Path, project: Path) -> None:
    before = everything(desk, project)
    held = desk.json("setup", "--project", project, "--dry-run")
    assert held["dry_run"] is True
    assert {f["action"] for f in held["files"]} == {"create"}
    assert everything(desk, project) == before


def test_in_twice_and_out(desk: Desk, claude: Path, project: Path) -> None:
    """Everything is there, the second time changes nothing, and after --remove every byte and mode is as before."""
    (claude / "settings.json").write_bytes(b'{"model": "opus",\r\n\t"hooks": {"Stop": [{"hooks": []}]}}')
    (claude / "settings.json").chmod(0o600)
    (project / "CLAUDE.md").write_bytes(b"# Mine\n\nNo line end at the end")
    desk.write("CLAUDE.md", "# Vault\r\n")
    before = everything(desk, project)
    desk.run("setup", "--project", project, "--checkpoint")
    after = everything(desk, project)
    assert ours(settings(claude)) == [
        ("PreCompact", "checkpoint"),
        ("SessionEnd", "end"),
        ("SessionStart", "brief"),
        ("SessionStart", "sweep"),
        ("Stop", "checkpoint"),
    ]
    assert settings(claude)["model"] == "opus"
    assert config.load(desk.vault).timezone == "Europe/Berlin"
    assert f'vault: "{desk.vault}"' in config.user_config_path().read_text(encoding="utf-8")
    assert (claude / "skills" / "save" / "SKILL.md").is_file()
    assert (
        (project / "CLAUDE.md")
        .read_bytes()
        .startswith(b"# Mine\n\nNo line end at the end\n\n<!-- obsidian-import:begin")
    )
    assert b"\n" not in (desk.vault / "CLAUDE.md").read_bytes().replace(b"\r\n", b"")
    again = desk.json("setup", "--project", project)
    assert {f["action"] for f in again["files"]} == {"keep"}
    assert everything(desk, project) == after
    desk.run("setup", "--remove")
    assert everything(desk, project) == before
    assert "Nothing to take out" in desk.run("setup", "--remove").out
    assert everything(desk, project) == before


def test_the_handler_finds_the_vault_without_environment(desk: Desk, claude: Path, tmp_path: Path) -> None:
    desk.run("setup")
    (group,) = settings(claude)["hooks"]["SessionEnd"]
    (handler,) = group["hooks"]
    assert handler["timeout"] == 10
    words = shlex.split(handler["command"])
    assert os.path.isabs(words[0])
    assert Path(words[3]).is_file()
    assert words[-2:] == ["--vault", str(desk.vault)]
    done = subprocess.run(
        ["sh", "-c", handler["command"]], input=b"{}", capture_output=True, env={"HOME": str(Path.home())}, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_what_is_not_wanted_is_left_alone(desk: Desk, claude: Path) -> None:
    desk.run("setup", "--no-hook", "--no-skills", "--no-claude-md")
    assert list(claude.iterdir()) == []
    assert not (desk.vault / "CLAUDE.md").exists()
    assert (desk.vault / ".obsidian-import" / "config.yaml").is_file()


def test_checkpoints_stay_as_they_are_until_named(desk: Desk, claude: Path) -> None:
    desk.run("setup", "--checkpoint")
    desk.run("setup")
    assert ("Stop", "checkpoint") in ours(settings(claude))
    desk.run("setup", "--no-checkpoint")
    assert ours(settings(claude)) == [("SessionEnd", "end"), ("SessionStart", "sweep")]
    desk.run("setup", "--remove")
    assert not (claude / "settings.json").exists()


def test_another_vault_or_python_replaces_the_handlers(desk: Desk, claude: Path, tmp_path: Path) -> None:
    desk.run("setup")
    other = tmp_path / "other"
    (other / ".obsidian").mkdir(parents=True)
    wired.carry_out(wiring.setup(wiring.Wish(other, python="/elsewhere/python")), other)
    assert ours(settings(claude)) == [("SessionEnd", "end"), ("SessionStart", "sweep")]
    assert "/elsewhere/python" in (claude / "settings.json").read_text()
    assert str(desk.vault) not in (claude / "settings.json").read_text()
    desk.run("setup", "--remove")
    assert list(claude.iterdir()) == []
    assert not config.user_config_path().exists()


# ------------------------------------------------------------------ a person's changes


def test_settings_changed_since_lose_only_our_entries(desk: Desk, claude: Path) -> None:
    (claude / "settings.json").write_text('{\n  "hooks": {\n    "Stop": []\n  }\n}\n')
    desk.run("setup")
    value = settings(claude)
    value["hooks"]["SessionEnd"][0]["hooks"].append(THEIRS)
    value["hooks"]["SessionEnd"].insert(0, {"hooks": [THEIRS]})
    value["env"] = {"A": "b"}
    (claude / "settings.json").write_text(json.dumps(value, indent=3))
    desk.run("setup", "--remove")
    assert settings(claude) == {
        "hooks": {"Stop": [], "SessionEnd": [{"hooks": [THEIRS]}, {"hooks": [THEIRS]}]},
        "env": {"A": "b"},
    }
    assert '\n   "env"' in (claude / "settings.json").read_text()


def test_changed_then_set_up_again_then_out(desk: Desk, claude: Path) -> None:
    """The way back leads to the person's text of today, not to that of the first setup."""
    desk.run("setup")
    value = {**settings(claude), "model": "mine"}
    (claude / "settings.json").write_text(json.dumps(value, indent=2))
    desk.run("setup", "--checkpoint")
    desk.run("setup", "--remove")
    assert settings(claude) == {"model": "mine"}


def test_lines_of_a_person_in_our_block_stay(desk: Desk, claude: Path) -> None:
    desk.write("CLAUDE.md", "# Mine\n")
    desk.run("setup")
    text = desk.read("CLAUDE.md").replace(
        "## Session logs and imported chats\n", "## Session logs and imported chats\n\nMy own rule.\n"
    )
    desk.write("CLAUDE.md", text + "\nAfter it.\n")
    held = desk.json("setup", code=4)
    assert next(f for f in held["files"] if f["path"].endswith("CLAUDE.md"))["action"] == "leave"
    desk.run("setup", "--remove")
    left = desk.read("CLAUDE.md")
    assert "obsidian-import" not in left
    assert [x for x in left.split("\n") if x] == ["# Mine", "My own rule.", "After it."]


def test_a_persons_text_around_the_block_is_exact(desk: Desk, claude: Path) -> None:
    desk.write("CLAUDE.md", "# Mine\n")
    desk.run("setup")
    desk.write("CLAUDE.md", desk.read("CLAUDE.md") + "After it.\n")
    desk.run("setup", "--remove")
    assert desk.read("CLAUDE.md") == "# Mine\nAfter it.\n"


@pytest.mark.parametrize("kind", ["skill", "command", "folder", "project"])
def test_a_persons_own_save_stays(kind: str, desk: Desk, claude: Path, project: Path) -> None:
    mine = {
        "skill": claude / "skills" / "save" / "SKILL.md",
        "command": claude / "commands" / "save.md",
        "folder": claude / "skills" / "save" / "notes.txt",
        "project": project / ".claude" / "skills" / "save" / "SKILL.md",
    }[kind]
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    before = everything(desk, project)
    held = desk.json("setup", "--project", project)
    assert mine.read_text() == "mine"
    skill = claude / "skills" / "vault-save" / "SKILL.md"
    assert "name: vault-save" in skill.read_text()
    assert any("vault-save" in f["what"] and "stays" in f["what"] for f in held["files"])
    assert "`/vault-save`" in desk.read("CLAUDE.md")
    assert {f["action"] for f in desk.json("setup", "--project", project)["files"]} == {"keep"}
    desk.run("setup", "--remove")
    assert everything(desk, project) == before


def test_an_edited_skill_stays(desk: Desk, claude: Path) -> None:
    desk.run("setup")
    skill = claude / "skills" / "save" / "SKILL.md"
    skill.write_text(skill.read_text() + "\nAnd say hello.\n")
    desk.run("setup", code=4)
    assert "say hello" in skill.read_text()
    desk.run("setup", "--remove", code=4)
    assert "say hello" in skill.read_text()
    assert not (claude / "skills" / "pickup").exists()


def test_an_older_skill_of_ours_is_brought_up_to_date(desk: Desk, claude: Path) -> None:
    desk.run("setup")
    skill = claude / "skills" / "save" / "SKILL.md"
    old = skill.read_bytes() + b"old line\n"
    skill.write_bytes(old)
    record = json.loads(wired.Record.path().read_text())
    record["files"][str(skill)]["after"] = files.digest(old)
    wired.Record.path().write_text(json.dumps(record))
    desk.run("setup")
    assert b"old line" not in skill.read_bytes()


def test_the_users_config_keeps_its_other_lines(desk: Desk, claude: Path) -> None:
    path = config.user_config_path()
    path.parent.mkdir(parents=True)
    path.write_text("# mine\nvault: /old/one # where\nother: 1\n")
    desk.run("setup")
    assert path.read_text() == f'# mine\nvault: "{desk.vault}"\nother: 1\n'
    desk.run("setup", "--remove")
    assert path.read_text() == "# mine\nvault: /old/one # where\nother: 1\n"


def test_a_vault_with_notes_in_utc_stays_in_utc(desk: Desk, claude: Path, samples: Path) -> None:
    (desk.vault / ".obsidian-import" / "manifest").mkdir(parents=True)
    (desk.vault / ".obsidian-import" / "manifest" / "x.jsonl").write_text("")
    held = desk.json("setup")
    assert config.load(desk.vault).timezone == "UTC"
    assert any("stays UTC" in f["why"] for f in held["files"])


def test_the_word_claude_does_not_become_a_link_to_the_instructions(desk: Desk, claude: Path) -> None:
    """CLAUDE.md is a note to Obsidian, and every chat says Claude."""
    desk.run("setup")
    assert config.load(desk.vault) == config.Config(timezone="Europe/Berlin", links=config.Links(ignore=("CLAUDE",)))
    source = session().you("Ask Claude about CLAUDE.md").claude("I am Claude. See CLAUDE for more.").save(desk.sources)
    assert desk.json("import", source)["notes"][0]["links"] == []


def test_where_a_configuration_stands_already_it_is_said(desk: Desk, claude: Path) -> None:
    (desk.vault / ".obsidian-import").mkdir()
    (desk.vault / ".obsidian-import" / "config.yaml").write_text("detail: talk\n")
    assert "unlink CLAUDE" in desk.run("setup").out
    assert (desk.vault / ".obsidian-import" / "config.yaml").read_text() == "detail: talk\n"


# ------------------------------------------------------------------ what cannot be


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ('{\n  "a": 1,\n  "b": \n}', "line 4", ""),
        ('{\n  // mine\n  "a": 1\n}', "line 2", "has a comment"),
        ('{\n  "u": "http://x", /* a */\n  "a": 1\n}', "line 2", "has a comment"),
        ('{\n  "a": [1,\n  ],\n}', "line 3", "comma too many"),
        ("[]", "should hold an object", ""),
        ('{"hooks": []}', "`hooks` should be", ""),
        ('{"hooks": null}', "`hooks` should be", ""),
        ('{"hooks": {"Stop": {}}}', "`hooks.Stop`", ""),
        ('{"hooks": {"SessionEnd": [1]}}', "`hooks.SessionEnd`", ""),
        ('{"hooks": {"SessionEnd": [{"hooks": {}}]}}', "`hooks.SessionEnd`", ""),
        ("\xff", "UTF-8", ""),
        ("[" * 100_000, "settings.json", ""),
    ],
)
def test_malformed_settings_are_named_and_nothing_is_written(
    text: str, says: str, hint: str, desk: Desk, claude: Path
) -> None:
    path = claude / "settings.json"
    path.write_bytes(text.encode("latin-1"))
    before = everything(desk)
    err = desk.run("setup", code=1).err
    assert "settings.json" in err
    assert says in err
    assert hint in err
    assert everything(desk) == before


def test_a_file_that_changes_meanwhile_is_not_written_over(desk: Desk, claude: Path) -> None:
    plan = wiring.setup(wiring.Wish(desk.vault))
    (claude / "settings.json").write_text('{"new": true}')
    with pytest.raises(UserError, match="changed while we looked"):
        wired.carry_out(plan, desk.vault)
    assert (claude / "settings.json").read_text() == '{"new": true}'
    desk.run("setup", "--remove")
    assert (claude / "settings.json").read_text() == '{"new": true}'
    assert not config.user_config_path().exists()


@pytest.mark.skipif(os.name == "nt", reason="links as POSIX has them")
def test_settings_behind_a_link_stay_behind_it(desk: Desk, claude: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "settings.json"
    real.parent.mkdir()
    real.write_text("{}")
    (claude / "settings.json").symlink_to(real)
    desk.run("setup")
    assert (claude / "settings.json").is_symlink()
    assert "SessionEnd" in real.read_text()
    desk.run("setup", "--remove")
    assert real.read_text() == "{}"
    assert (claude / "settings.json").is_symlink()


@pytest.mark.skipif(os.name == "nt", reason="links as POSIX has them")
def test_nothing_in_a_vault_is_written_through_a_link(desk: Desk, claude: Path, tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("theirs")
    (desk.vault / "CLAUDE.md").symlink_to(tmp_path / "AGENTS.md")
    held = desk.json("setup", code=4)
    assert next(f for f in held["files"] if f["path"].endswith("CLAUDE.md"))["action"] == "leave"
    assert (tmp_path / "AGENTS.md").read_text() == "theirs"


def test_a_plugin_that_is_enabled_is_not_doubled(desk: Desk, claude: Path) -> None:
    text = '{"enabledPlugins": {"obsidian-import@obsidian-import": true}}'
    (claude / "settings.json").write_text(text)
    held = desk.json("setup", code=4)
    assert any("plugin obsidian-import is enabled" in f["why"] for f in held["files"])
    assert (claude / "settings.json").read_text() == text


def test_hooks_that_are_switched_off_are_said(desk: Desk, claude: Path) -> None:
    (claude / "settings.json").write_text('{"disableAllHooks": true}')
    assert "disableAllHooks" in desk.run("setup").out


def test_a_lost_record_still_lets_the_hooks_out(desk: Desk, claude: Path) -> None:
    (claude / "settings.json").write_text('{"model": "opus"}')
    desk.run("setup")
    wired.Record.path().unlink()
    desk.run("setup", "--remove")
    assert settings(claude) == {"model": "opus"}


def test_settings_that_are_broken_now_do_not_keep_the_rest_in(desk: Desk, claude: Path) -> None:
    desk.run("setup")
    (claude / "settings.json").write_text("{ broken")
    held = desk.json("setup", "--remove", code=4)
    assert [f["action"] for f in held["files"] if f["path"].endswith("settings.json")] == ["leave"]
    assert not (desk.vault / "CLAUDE.md").exists()
    (claude / "settings.json").write_text("{}")
    desk.run("setup", "--remove")
    assert not wired.Record.path().exists()


def test_killed_between_two_files_everything_goes_back(
    desk: Desk, claude: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every write: what was written so far comes out again."""
    real = files.write_atomic
    before = {k: v for k, v in everything(desk).items() if "/.local" not in k}
    for stop in range(1, 14):
        count = 0

        def write(*args: Any, stop: int = stop, **more: Any) -> None:
            nonlocal count
            count += 1
            if count == stop:
                raise KeyboardInterrupt
            real(*args, **more)

        monkeypatch.setattr(files, "write_atomic", write)
        try:
            wired.carry_out(wiring.setup(wiring.Wish(desk.vault)), desk.vault)
        except KeyboardInterrupt:
            pass
        monkeypatch.setattr(files, "write_atomic", real)
        desk.run("setup", "--remove")
        assert {k: v for k, v in everything(desk).items() if "/.local" not in k} == before, stop
        if count < stop:
            break
    assert count < stop


def test_whether_the_hook_is_installed(desk: Desk, claude: Path) -> None:
    assert not wiring.hook_installed()
    desk.run("setup")
    assert wiring.hook_installed()
    (claude / "settings.json").write_text("not json")
    assert not wiring.hook_installed()


# ------------------------------------------------------------------ the handlers


def test_windows_has_the_exec_form() -> None:
    """No shell eats the backslashes; the interpreter is a real .exe by absolute path."""
    caller = handlers.Caller("C:\\Py\\python.exe", "C:\\Py\\hooks\\session_autosave.py", "C:\\My Vault", windows=True)
    handler = caller.handler("end")
    assert handler["command"] == "C:\\Py\\python.exe"
    assert handler["args"] == ["-I", "-S", "C:\\Py\\hooks\\session_autosave.py", "--vault", "C:\\My Vault"]
    for role in ("end", "sweep", "checkpoint", "brief"):
        assert handlers.role_of(caller.handler(role)) == role  # type: ignore[arg-type]  # the four roles


def test_timeouts_are_seconds_and_allowed() -> None:
    assert 1 <= handlers.TIMEOUT <= 60


@pytest.mark.parametrize(
    "handler",
    [
        THEIRS,
        {"type": "http", "url": "https://x/session_autosave.py"},
        {"type": "command", "command": "obsidian-import import"},
        {"type": "command", "command": "python -m obsidian_import resume"},
        {"type": "prompt", "prompt": "session_autosave.py"},
        "session_autosave.py",
        None,
        {},
    ],
)
def test_handlers_of_others_are_none_of_ours(handler: Any) -> None:
    assert handlers.role_of(handler) is None


# ------------------------------------------------------------------ JSON as text

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=6)
groups = st.lists(
    st.fixed_dictionaries({"hooks": st.lists(st.just(THEIRS), max_size=2)}, optional={"matcher": st.text(max_size=3)}),
    max_size=2,
)
values = st.fixed_dictionaries(
    {},
    optional={
        "model": scalars,
        "env": st.dictionaries(st.text(max_size=4), scalars, max_size=3),
        "hooks": st.dictionaries(
            st.sampled_from(["SessionEnd", "SessionStart", "Stop", "PreToolUse"]), groups, max_size=4
        ),
        "zz": st.lists(scalars, max_size=3),
    },
)
indents = st.sampled_from([None, 1, 2, 4, "\t"])


@given(values, indents, st.booleans(), st.booleans())
def test_our_handlers_go_in_and_out_of_any_settings(value: Any, indent: Any, crlf: bool, checkpoint: bool) -> None:
    """In: theirs unchanged, ours exactly once. Twice: the same text. Out: the same value but for what was empty."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    text = text.replace("\n", "\r\n") if crlf else text
    put = handlers.with_handlers(text, "s", CALLER, checkpoint=checkpoint)
    assert handlers.with_handlers(put, "s", CALLER, checkpoint=None) == put
    held = json.loads(put)
    assert len(ours(held)) == (5 if checkpoint else 2)
    if crlf and "\n" in text:
        assert "\n" not in put.replace("\r\n", "")
    out = json.loads(handlers.without_handlers(put, "s"))

    def solid(v: Any) -> Any:
        hooks = {e: [g for g in gs if g["hooks"]] for e, gs in v.get("hooks", {}).items()}
        return {**{k: x for k, x in v.items() if k != "hooks"}, "hooks": {e: g for e, g in hooks.items() if g}}

    assert solid(out) == solid(value)


def test_what_is_not_touched_keeps_every_byte() -> None:
    text = '{ "b" : 1,\n\n   "a":[ 1 ,2 ],   "hooks" :{ "Stop":[ {"hooks":[ ]} ] }\n , "c": "\\u00e9" }\n\n'
    put = handlers.with_handlers(text, "s", CALLER, checkpoint=False)
    assert put.startswith('{ "b" : 1,\n\n   "a":[ 1 ,2 ],   "hooks" :{ "Stop":[ {"hooks":[ ]} ]')
    assert put.endswith('\n , "c": "\\u00e9" }\n\n')
    assert handlers.without_handlers(put, "s") == text


@pytest.mark.parametrize("text", ["", "  \n", "{}", "{ }", "{\n}\n", "\ufeff{}"])
def test_nearly_empty_settings(text: str) -> None:
    put = handlers.with_handlers(text, "s", CALLER, checkpoint=False)
    assert len(ours(jsontext.read(put, "s"))) == 2


def test_it_is_this_interpreter() -> None:
    assert wiring.Wish(Path("/v")).python == sys.executable
