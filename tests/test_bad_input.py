"""Bad input, and what it gets: a clear message or a counted problem, never a traceback, nothing half-written."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
import unicodedata
import zipfile
from pathlib import Path
from typing import Any

import pytest

from obsidian_import import apply as applying
from tests.vaults import Desk, session, tree


def talk(number: int = 1, title: str = "Why is it slow", **more: Any) -> Any:
    return session(number, **more).you(title).claude("Because.").you("And now").claude("Now it is fast.")


def good(desk: Desk, *sources: Path, code: int = 0, create: int = 1) -> Any:
    """An import that brings in `create` notes, whatever else lies about."""
    outcome = desk.run("import", *(sources or (desk.sources,)), "--json", code=code)
    assert outcome.json["totals"]["create"] == create, outcome.json["problems"]
    assert "Traceback" not in outcome.err
    return outcome.json


# ------------------------------------------------------------------ a process of its own


def call(
    desk: Desk,
    *args: str | Path,
    vault: bool = True,
    env: dict[str, str] | None = None,
    stdin: Any = subprocess.DEVNULL,
    limit: float = 60,
) -> subprocess.CompletedProcess[bytes]:
    """As a shell calls it."""
    here = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV"))}
    here |= {"PYTHONPATH": str(Path(__file__).parents[1])} | (env or {})
    named = ["--vault", str(desk.vault)] if vault else []
    argv = [sys.executable, "-m", "obsidian_import", *map(str, args), *named]
    return subprocess.run(
        argv,
        capture_output=True,
        env={k: v for k, v in here.items() if v != "\0"},
        stdin=stdin,
        timeout=limit,
        check=False,
        cwd=desk.sources.parent,
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-16"])
def test_stdout_that_is_not_utf8(desk: Desk, encoding: str) -> None:
    """Titles of any script, on a terminal of an old one."""
    talk(title="研究 🚀 «été» of the day").save(desk.sources)
    done = call(desk, "import", desk.sources, env={"PYTHONIOENCODING": encoding})
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    for command in (["log"], ["status"], ["diff"]):
        assert call(desk, *command, env={"PYTHONIOENCODING": encoding}).returncode == 0


def test_json_is_utf8_whatever_the_terminal(desk: Desk) -> None:
    talk(title="研究 🚀").save(desk.sources)
    done = call(desk, "import", desk.sources, "--json", env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert json.loads(done.stdout.decode())["notes"][0]["title"] == "研究 🚀"


def test_stdout_closed_early(desk: Desk) -> None:
    """`… | head -1`: no traceback, and the work is done."""
    for number in range(1, 40):
        talk(number, f"Talk number {number}").save(desk.sources)
    argv = [sys.executable, "-m", "obsidian_import", "import", str(desk.sources), "--vault", str(desk.vault)]
    for args in (
        argv,
        [*argv[:3], "diff", "--vault", str(desk.vault)],
        [*argv[:3], "log", "--json", "--vault", str(desk.vault)],
    ):
        with subprocess.Popen(
            args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=Path(__file__).parents[1]
        ) as child:
            assert child.stdout is not None
            assert child.stderr is not None
            child.stdout.read(1)
            child.stdout.close()
            said = child.stderr.read()
        assert b"Traceback" not in said
        assert b"Exception" not in said, said
    assert len(list((desk.vault / "chats").rglob("*.md"))) == 39


def test_stdout_closed_from_the_start(desk: Desk) -> None:
    talk().save(desk.sources)
    for shell in (">&-", "2>&-", ">&- 2>&-", ">/dev/full"):
        line = f"{sys.executable} -m obsidian_import import {desk.sources} --vault {desk.vault} {shell}"
        done = subprocess.run(["sh", "-c", line], capture_output=True, check=False, cwd=Path(__file__).parents[1])
        assert b"Traceback" not in done.stdout + done.stderr, shell
        assert done.returncode in (0, 1), (shell, done)
    assert list((desk.vault / "chats").rglob("*.md"))


def test_no_home(desk: Desk) -> None:
    """HOME unset, or a folder that is not there."""
    talk().save(desk.sources)
    for home in ("\0", "/nowhere/at/all"):
        done = call(desk, "import", desk.sources, env={"HOME": home, "XDG_DATA_HOME": "\0"})
        assert done.returncode == 0, done.stderr
    done = call(desk, "import", env={"HOME": "/nowhere/at/all"})
    assert done.returncode == 1
    assert b"/nowhere/at/all/.claude/projects" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_data_folder_that_cannot_be_made(desk: Desk) -> None:
    """A file stands where the state folder should be: said, exit 1, nothing written."""
    talk().save(desk.sources)
    (desk.sources.parent / "file").write_text("x")
    before = desk.tree(sidecar=True)
    done = call(desk, "import", desk.sources, env={"OBSIDIAN_IMPORT_DATA": str(desk.sources.parent / "file" / "data")})
    assert done.returncode == 1, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"bug" not in done.stderr
    assert desk.tree(sidecar=True) == before


@pytest.mark.skipif(os.name == "nt", reason="modes")
def test_a_data_folder_others_can_write_to(desk: Desk) -> None:
    """It keeps originals and titles: refused when it is a link or open to others."""
    talk().save(desk.sources)
    data = desk.sources.parent / "data"
    data.mkdir()
    data.chmod(0o777)
    assert "data" in desk.run("import", desk.sources, code=1).err
    data.rmdir()
    (desk.sources.parent / "real").mkdir(mode=0o700)
    data.symlink_to(desk.sources.parent / "real")
    assert "data" in desk.run("import", desk.sources, code=1).err


def test_a_working_folder_that_is_gone(desk: Desk, tmp_path: Path) -> None:
    talk().save(desk.sources)
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f"cd {gone} && rmdir {gone} && {sys.executable} -m obsidian_import import {desk.sources}"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    for end, codes in ((f"--vault {desk.vault}", (0,)), ("", (1,))):
        done = subprocess.run(["sh", "-c", f"mkdir -p {gone}; {line} {end}"], capture_output=True, check=False, env=env)
        assert done.returncode in codes, done
        assert b"Traceback" not in done.stderr
        assert b"bug" not in done.stderr


# ------------------------------------------------------------------ odd command lines


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["import", ""], 1),
        (["import", "nowhere"], 1),
        (["import", "a\nb"], 1),
        (["import", "--since", "2026-13-01"], 2),
        (["import", "--since", ""], 2),
        (["import", "--until", "2026-02-30"], 2),
        (["import", "--detail", "everything"], 2),
        (["import", "--origin", ""], 2),
        (["import", "--take", "mine", "x"], 2),
        (["imprt"], 2),
        ([], 2),
        (["undo", "nosuch"], 1),
        (["undo", ""], 1),
        (["undo", "--note", "x"], 0),
        (["explain", "nosuch"], 1),
        (["explain", ""], 1),
        (["explain"], 2),
        (["log", "nosuch"], 1),
        (["log", ""], 1),
        (["diff", "nosuch"], 1),
        (["diff", "../../etc/passwd"], 1),
        (["relink", "nosuch"], 1),
        (["unlink", ""], 1),
        (["unlink", "  "], 1),
        (["unlink", "[[ ]]"], 1),
        (["unlink"], 2),
        (["suggest", "--accept", "a", "nosuch.md"], 1),
        (["suggest", "--reject", "", ""], 1),
        (["prune"], 2),
        (["prune", "--keep", "-1"], 2),
        (["prune", "--keep", "99999999999"], 2),
        (["autosave", "--nope"], 2),
        (["status", "extra"], 2),
    ],
)
def test_odd_command_lines(desk: Desk, args: list[str], code: int) -> None:
    """The exit code of the contract, a message, no traceback, nothing written."""
    before = desk.tree(times=True, sidecar=True)
    outcome = desk.run(*args, code=None)
    assert outcome.code == code, (outcome.out, outcome.err)
    assert "Traceback" not in outcome.err
    if code:
        assert outcome.err.strip() or outcome.out.strip()
    assert desk.tree(times=True, sidecar=True) == before


@pytest.mark.parametrize("named", ["", " ", "/nowhere", "/dev/null", "~nobody/x", "a\0b"])
def test_odd_vaults(desk: Desk, named: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Exit 1 and how to name one."""
    monkeypatch.chdir(tmp_path)
    talk().save(desk.sources)
    desk.vault = named  # type: ignore[assignment]
    outcome = desk.run("import", desk.sources, code=None)
    assert outcome.code == 1, outcome
    assert "vault" in outcome.err.lower()


def test_an_undo_of_a_note_that_no_run_has(desk: Desk) -> None:
    talk().save(desk.sources)
    good(desk)
    outcome = desk.run("undo", "--note", "x", code=1)
    assert "x" in outcome.err
    assert list((desk.vault / "chats").rglob("*.md"))


# ------------------------------------------------------------------ config.yaml


@pytest.mark.parametrize(
    "text",
    [
        "chats: [",
        "chats: x\nchats: y\n",
        "\tchats: x\n",
        "- a\n- b\n",
        "just words",
        "42",
        "chats: ../out\n",
        "chats: /etc\n",
        "chats: .obsidian\n",
        "chats: ''\n",
        "chats: 'a:b'\n",
        "chats: [a]\n",
        "chats: logs\n",
        "timezone: Mars/Olympus\n",
        "timezone: 3\n",
        "timezone: ../../etc/passwd\n",
        "detail: all\n",
        "keywords: [a]\n",
        "keywords: {a: [b]}\n",
        "short_keywords: x\n",
        "links: {score: high}\n",
        "links: {threshold: 101}\n",
        "links: {ignore: x}\n",
        "links: {ignor: [x]}\n",
        "redact: {patterns: {x: '('}}\n",
        "redact: {patterns: {'X Y': a}}\n",
        "redact: {allow: {a: b}}\n",
        "inert: {tasks: maybe}\n",
        "inert: true\n",
        "projects: {a: {foldr: x}}\n",
        "projects: {a: {folder: ../x}}\n",
        "projects: [a]\n",
        "a: &a [*a]\n",
        "chats: !!python/object/apply:os.system ['true']\n",
        "links: {score: .nan}\n",
        "\x00",
        "chats: \x07\n",
        "links: {score: 1e999}\n",
        "? [a]\n: b\n",
        "1: 2\n",
    ],
)
def test_a_broken_config(desk: Desk, text: str) -> None:
    """Exit 1 and the file's name, for every command, and nothing is written."""
    talk().save(desk.sources)
    desk.write(".obsidian-import/config.yaml", text)
    before = desk.tree(times=True, sidecar=True)
    for command in (["import", desk.sources], ["status"], ["check"], ["relink"], ["unlink", "X"]):
        outcome = desk.run(*command, code=None)
        assert outcome.code == 1, (command, outcome)
        assert "config.yaml" in outcome.err
        assert "Traceback" not in outcome.err
    assert desk.tree(times=True, sidecar=True) == before


def test_a_config_that_is_not_text(desk: Desk) -> None:
    talk().save(desk.sources)
    (desk.vault / ".obsidian-import").mkdir()
    path = desk.vault / ".obsidian-import" / "config.yaml"
    path.write_bytes(b"chats: \xff\xfe\n")
    assert "config.yaml" in desk.run("import", desk.sources, code=1).err
    path.unlink()
    path.mkdir()
    assert "config.yaml" in desk.run("import", desk.sources, code=1).err


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "# only a comment\n",
        "chats:\nlinks:\n",
        "links: {}\n",
        "\ufeffchats: talks\n",
        "chats: talks\r\nlogs: x\r\n",
        "redact: {patterns: {x: '(a+)+$'}}\n",
    ],
)
def test_a_config_that_is_odd_but_right(desk: Desk, text: str) -> None:
    talk().save(desk.sources)
    desk.write(".obsidian-import/config.yaml", text)
    good(desk)


# ------------------------------------------------------------------ the sidecar


JUNK = [
    b"",
    b"\n\n",
    b"junk\n",
    b"\xff\xfe\x00",
    b"{}\n",
    b"[]\n",
    b"null\n",
    b"42\n",
    b'{"record":"intent"}\n',
    b'{"record":"done","run":1}\n',
    b'{"record": "intent", "run": "x"',
    b"\x00" * 5000,
    b'{"a":' * 5000 + b"\n",
    b'{"record":"run","run":"../../x","time":"never"}\n',
    b"9" * 5000 + b"\n",
]


@pytest.mark.parametrize("junk", JUNK, ids=range(len(JUNK)))
@pytest.mark.parametrize("place", ["before", "after", "beside"])
def test_a_manifest_with_junk(desk: Desk, junk: bytes, place: str) -> None:
    """What is whole is used; `check` names the damage; nothing is imported twice, and undo still works."""
    talk().save(desk.sources)
    before = desk.tree()
    good(desk)
    (own,) = (desk.vault / ".obsidian-import" / "manifest").glob("*.jsonl")
    if place == "beside":
        (own.parent / "0other.jsonl").write_bytes(junk)
    else:
        own.write_bytes(
            junk + own.read_bytes() if place == "before" and junk.endswith(b"\n") else own.read_bytes() + junk
        )
    assert desk.json("import", desk.sources)["totals"]["keep"] == 1
    for command in (["status"], ["log"], ["check"], ["relink"]):
        assert desk.run(*command, code=None).code in (0, 4)
    desk.run("undo")
    assert desk.tree() == before


@pytest.mark.parametrize("part", ["", "manifest", "objects", "manifest/x.jsonl"])
def test_a_sidecar_that_is_in_the_way(desk: Desk, part: str) -> None:
    """A file where a folder of ours should be (or the other way round): said, exit 1 or 4, the file keeps its bytes."""
    talk().save(desk.sources)
    path = desk.vault / ".obsidian-import" / part
    path.parent.mkdir(parents=True, exist_ok=True)
    if part.endswith(".jsonl"):
        path.mkdir(parents=True)
    else:
        path.write_text("mine")
    before = tree(desk.vault, sidecar=True)
    outcome = desk.run("import", desk.sources, code=None)
    assert outcome.code in (1, 4), outcome
    assert "Traceback" not in outcome.err
    assert not list((desk.vault / "chats").rglob("*.md")) if (desk.vault / "chats").exists() else True
    after = tree(desk.vault, sidecar=True)
    assert {p: after.get(p) for p in before} == before


def test_lost_objects(desk: Desk) -> None:
    """A sync that left the objects out: no traceback; edits cannot be merged and that is said."""
    one = talk()
    one.save(desk.sources)
    path = good(desk)["notes"][0]["path"]
    for file in (desk.vault / ".obsidian-import" / "objects").rglob("*"):
        if file.is_file():
            file.unlink()
    desk.write(path, desk.read(path) + "mine\n")
    one.you("more").claude("yes").save(desk.sources)
    outcome = desk.run("import", desk.sources, code=4)
    assert "lost" in outcome.out
    assert desk.read(path).endswith("mine\n")
    for command in (["status"], ["log"], ["diff"], ["check"], ["explain", path], ["relink"], ["undo"]):
        assert desk.run(*command, code=None).code in (0, 1, 4)


# ------------------------------------------------------------------ the vault


def test_chats_is_a_file(desk: Desk) -> None:
    talk().save(desk.sources)
    desk.write("chats", "a note without an ending\n")
    outcome = desk.run("import", desk.sources, code=None)
    assert outcome.code in (1, 4)
    assert "chats" in outcome.out + outcome.err
    assert desk.read("chats") == "a note without an ending\n"


def test_a_folder_named_like_the_note(desk: Desk) -> None:
    """The note goes beside it."""
    talk().save(desk.sources)
    path = desk.json("import", desk.sources, "--dry-run")["notes"][0]["path"]
    (desk.vault / path).mkdir(parents=True)
    (desk.vault / path / "x.md").write_text("mine\n")
    note = good(desk)["notes"][0]
    assert note["path"] != path
    assert (desk.vault / note["path"]).is_file()


def test_a_note_replaced_by_a_folder(desk: Desk) -> None:
    one = talk()
    one.save(desk.sources)
    path = good(desk)["notes"][0]["path"]
    (desk.vault / path).unlink()
    (desk.vault / path).mkdir()
    one.you("more").claude("yes").save(desk.sources)
    outcome = desk.run("import", desk.sources, code=None)
    assert outcome.code in (0, 4)
    assert (desk.vault / path).is_dir()
    assert desk.run("undo", code=None).code in (0, 4)


def test_an_attachment_in_the_way(desk: Desk) -> None:
    """A folder stands where a picture would go: the talk is not lost for that."""
    from tests.planted import Talk

    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}
    one = Talk(1).you("see").add("user", [picture, {"type": "text", "text": "this"}]).claude("I see")
    path = desk.sources / "x" / f"{one.sid}.jsonl"
    path.parent.mkdir()
    path.write_text(one.text())
    desk.run("import", desk.sources)
    (asset,) = (desk.vault / "chats" / "attachments").iterdir()
    desk.run("undo")
    asset.mkdir(parents=True)
    outcome = desk.run("import", desk.sources, code=None)
    assert outcome.code in (0, 4), outcome
    assert len(list((desk.vault / "chats").rglob("* see.md"))) == 1


@pytest.mark.parametrize(
    "name",
    [
        "with spaces",
        "ünï©ode 研究 🚀",
        unicodedata.normalize("NFD", "café"),
        "-dash",
        "a'b\"c",
        "a$b`c",
        "new\nline",
        "[brackets]",
        "%41",
    ],
)
def test_odd_vault_names(desk: Desk, name: str) -> None:
    talk().save(desk.sources)
    desk.vault = desk.vault.rename(desk.vault.parent / name)
    before = desk.tree()
    good(desk)
    assert desk.json("import", desk.sources)["totals"]["keep"] == 1
    desk.run("check")
    desk.run("undo")
    assert desk.tree() == before


@pytest.mark.skipif(os.name == "nt", reason="symlinks need a privilege there")
def test_a_vault_behind_a_link(desk: Desk) -> None:
    """The same vault by two names is one: one lock, one manifest, nothing twice."""
    talk().save(desk.sources)
    real = desk.vault.rename(desk.vault.parent / "real")
    desk.vault.symlink_to(real)
    good(desk)
    desk.vault = real
    assert desk.json("import", desk.sources)["totals"]["keep"] == 1


def test_two_vaults_do_not_know_each_other(desk: Desk, tmp_path: Path) -> None:
    talk().save(desk.sources)
    good(desk)
    first = desk.vault
    desk.vault = tmp_path / "second"
    (desk.vault / ".obsidian").mkdir(parents=True)
    good(desk)
    desk.run("undo")
    assert not list(desk.vault.rglob("*.md"))
    assert len(list(first.rglob("*.md"))) == 1


def test_sources_inside_the_vault(desk: Desk) -> None:
    """Named on purpose they are read; the vault's own notes never become chats."""
    inside = desk.vault / "Sources"
    inside.mkdir()
    talk().save(inside)
    desk.write("Mine.md", "# Mine\n\n## User\n\nhi\n\n## Assistant\n\nho\n")
    good(desk, inside)
    again = desk.run("import", desk.vault, code=None)
    assert again.code in (0, 1)
    assert len([p for p in desk.vault.rglob("*.md") if p.name != "Mine.md"]) == 1


def test_a_vault_named_as_source_of_itself(desk: Desk) -> None:
    """Nothing of ours is imported again as a chat."""
    talk().save(desk.sources)
    good(desk)
    before = desk.tree(times=True, sidecar=True)
    outcome = desk.run("import", desk.vault / "chats", code=None)
    assert outcome.code in (0, 1, 4)
    assert desk.tree(times=True, sidecar=True) == before


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO, errno.EDQUOT])
@pytest.mark.parametrize("when", [0, 1, 2, 3])
def test_a_disk_that_refuses(desk: Desk, monkeypatch: pytest.MonkeyPatch, error: int, when: int) -> None:
    """Full, read-only, broken: exit 1 (or 4), each note whole, and the next run completes the work."""
    for number in (1, 2, 3):
        talk(number, f"Talk {number}").save(desk.sources)
    before = desk.tree()
    real, calls = os.replace, [0]

    def refuse(source: Any, target: Any, **more: Any) -> None:
        calls[0] += 1
        if calls[0] > when:
            raise OSError(error, os.strerror(error), str(target))
        real(source, target, **more)

    monkeypatch.setattr(os, "replace", refuse)
    outcome = desk.run("import", desk.sources, code=None)
    monkeypatch.undo()
    monkeypatch.setenv("OBSIDIAN_IMPORT_DATA", str(desk.sources.parent / "data"))
    assert outcome.code in (1, 4), outcome
    assert "Traceback" not in outcome.err
    for path in desk.vault.rglob("*.md"):
        assert path.read_text().endswith("Now it is fast.\n")
    assert not list(desk.vault.glob("chats/**/.*"))
    done = desk.json("import", desk.sources)
    assert done["totals"]["create"] + done["totals"]["keep"] == 3
    assert len(list((desk.vault / "chats").rglob("*.md"))) == 3
    while "Nothing to undo" not in desk.run("undo").out:
        pass
    assert desk.tree() == before


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_vault(desk: Desk) -> None:
    talk().save(desk.sources)
    desk.vault.chmod(0o555)
    try:
        outcome = desk.run("import", desk.sources, code=1)
    finally:
        desk.vault.chmod(0o755)
    assert "Traceback" not in outcome.err


def test_a_vault_changed_while_we_work(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between plan and writing a person saves the same note: their text stays, exit 4."""
    one = talk()
    one.save(desk.sources)
    path = good(desk)["notes"][0]["path"]
    one.you("more").claude("yes").save(desk.sources)
    session(2).you("Another talk").claude("yes").save(desk.sources)
    real = applying.apply

    def late(*args: Any, **more: Any) -> Any:
        desk.write(path, "saved by the person in this moment\n")
        return real(*args, **more)

    monkeypatch.setattr("obsidian_import.commands.common.apply", late)
    outcome = desk.run("import", desk.sources, code=4)
    assert path in outcome.out
    assert desk.read(path) == "saved by the person in this moment\n"
    assert len(list((desk.vault / "chats").rglob("*.md"))) == 2


# ------------------------------------------------------------------ sources


def junk_files() -> dict[str, bytes]:
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("../../evil.md", "# evil\n")
        archive.writestr("/abs.md", "# abs\n")
        archive.writestr("C:\\x.md", "# drive\n")
    return {
        "empty.jsonl": b"",
        "empty.md": b"",
        "empty.zip": b"",
        "empty.json": b"",
        "nul.jsonl": b"\0" * 100_000,
        "nul.md": b"a\0b\n",
        "binary.jsonl": bytes(range(256)) * 400,
        "binary.md": bytes(range(256)) * 400,
        "binary.json": bytes(range(256)) * 400,
        "binary.txt": bytes(range(256)) * 400,
        "half.jsonl": b'{"type":"user","mess',
        "half.json": b'[{"uuid":"a","chat_messages":[{"uu',
        "broken.zip": zipped.getvalue()[:60],
        "traversal.zip": zipped.getvalue(),
        "html.json": b"<html></html>",
        "list.json": b"[]",
        "number.json": b"1",
        "null.json": b"null",
        "deep.json": b"[" * 100_000,
        "deep.jsonl": b'{"type":"user","message":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
        "digits.json": b'[{"uuid":' + b"9" * 5000 + b"}]",
        "digits.jsonl": b'{"type":"user","message":{"role":"user","content":"a"},"timestamp":' + b"9" * 5000 + b"}\n",
        "types.jsonl": b'{"type":["user"],"message":5,"uuid":{},"sessionId":7,"timestamp":true,"cwd":[]}\n' * 5,
        "content.jsonl": b"".join(
            json.dumps(
                {"type": "user", "message": {"role": "user", "content": v}, "uuid": f"u{i}", "sessionId": "s"}
            ).encode()
            + b"\n"
            for i, v in enumerate(
                [
                    None,
                    1,
                    [],
                    {},
                    [None],
                    [1],
                    [[]],
                    [{}],
                    [{"type": 1}],
                    [{"type": "text"}],
                    [{"type": "text", "text": None}],
                    [{"type": "image"}],
                    [{"type": "tool_use", "input": [1]}],
                    [{"type": "tool_result", "content": {"a": 1}}],
                ]
            )
        ),
        "utf16.jsonl": '{"type":"user"}\n'.encode("utf-16"),
        "utf16.md": "# Talk\n".encode("utf-16"),
        "latin1.md": "# caf\xe9\n\n## User\n\nna\xefve\n".encode("latin-1"),
        "crlf.md": b"# T\r\n\r\n## User\r\n\r\nhi\r\n",
        "yaml.md": b"---\na: [\n---\n\ntext\n",
        "yaml2.md": b"---\n" + b"[" * 2000 + b"\n---\n\ntext\n",
        "yaml3.md": b"---\na: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e]\ntags: *f\n---\ntext\n",
        "bom.jsonl": b"\xef\xbb\xbf" + b'{"type":"summary","summary":"x"}\n',
        "mbox.txt": b"From: a\n\nhello\n",
        "deep.html": b"<div>" * 50_000,
        "rtf.md": b"{\\rtf1 x}",
    }


@pytest.mark.parametrize("name", junk_files())
def test_one_bad_file_costs_nothing_else(desk: Desk, name: str) -> None:
    """Alone: a message, exit 0, 1 or 4. Beside a good one: the good one comes in, and undo takes everything back."""
    bad = desk.sources / "bad"
    bad.mkdir()
    (bad / name).write_bytes(junk_files()[name])
    before = desk.tree()
    alone = desk.run("import", bad, code=None)
    assert alone.code in (0, 1, 4)
    assert alone.out.strip() or alone.err.strip()
    for path in desk.vault.rglob("*.md"):
        assert path.is_relative_to(desk.vault / "chats")
        path.read_text(encoding="utf-8")
    desk.run("undo")
    talk().save(desk.sources)
    assert desk.run("import", desk.sources, code=None).code in (0, 4)
    assert list((desk.vault / "chats" / "code" / "my-app").glob("*.md"))
    again = desk.json("import", desk.sources, code=None)
    assert again["totals"]["create"] == again["totals"]["update"] == 0
    assert desk.json("check")["clean"]
    desk.run("undo")
    assert desk.tree() == before


@pytest.mark.skipif(os.name == "nt", reason="pipes and links of POSIX")
def test_things_that_are_no_files(desk: Desk) -> None:
    """A pipe does not hang us, a loop of links ends, a link to elsewhere is named, a device is left alone."""
    talk().save(desk.sources)
    os.mkfifo(desk.sources / "pipe.jsonl")
    (desk.sources / "loop").symlink_to(desk.sources)
    (desk.sources / "dangling.jsonl").symlink_to("/nowhere.jsonl")
    (desk.sources / "null.jsonl").symlink_to("/dev/zero")
    (desk.sources / "dir.jsonl").mkdir()
    good(desk)


def test_an_unreadable_file(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permission denied: named, exit 4, the rest comes in; alone exit 1."""
    talk(1).save(desk.sources)
    locked = talk(2, "Locked").save(desk.sources)
    real = io.open

    def refuse(file: Any, *args: Any, **more: Any) -> Any:
        if str(file) == str(locked):
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return real(file, *args, **more)

    plain = os.open

    def refuse_fd(file: Any, *args: Any, **more: Any) -> int:
        if str(file) == str(locked):
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return plain(file, *args, **more)

    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr(io, "open", refuse)
    monkeypatch.setattr(os, "open", refuse_fd)
    result = good(desk, code=4)
    assert any(str(locked) in p["source"] and "ermission" in p["what"] for p in result["problems"])
    assert "permission denied" in desk.run("import", locked, code=1).err.lower()


@pytest.mark.parametrize(
    "title",
    [
        'say "hi": now',
        "a: b: c # d",
        "line one\nline two",
        "x" * 300,
        "研究" * 150,
        "🚀" * 120,
        "👨‍👩‍👧‍👦" * 60,
        "../../../etc/passwd",
        "..\\..\\x",
        "C:\\Windows\\system32",
        "/etc/passwd",
        "CON",
        "nul.txt",
        "aux",
        "COM¹",
        "...",
        ". . .",
        "-",
        "   x   ",
        "a.",
        "a ",
        "\u202egnp.exe",
        "a\u2028b",
        "tab\there",
        "a|b#c^d[e]f",
        "%%",
        "~$temp",
        ".hidden",
        "e\u0301" * 80,
        "<% x %>",
        "{{date}}",
        "2024",
        "true",
        "null",
        "- x",
        "[x]",
        "? x",
        "& x",
        "* x",
        "!x",
        "@x",
        "`x`",
        "'",
        '"',
        "\\",
        "a\x07b",
        "a\x7fb\x85c",
        "\ufeff",
    ],
)
def test_titles(desk: Desk, title: str) -> None:
    """A legal name of at most 120 bytes, the title whole in the properties, and the file where the plan says."""
    import yaml

    from tests.planted import Talk

    one = Talk(1, cwd="/srv/x").you("plain words").claude("yes")
    one.line({"type": "custom-title", "customTitle": title, "sessionId": one.sid})
    path = desk.sources / "x" / f"{one.sid}.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(r) + "\n" for r in one.records))
    (note,) = good(desk)["notes"]
    made = desk.vault / note["path"]
    assert made.is_file()
    name = made.name
    assert len(name.encode()) <= 124
    assert not set(name) & set('\\/:*?"<>|#^[]\u202e\u2028\n\t\x07\x7f')
    assert name == unicodedata.normalize("NFC", name)
    assert not name.startswith((".", "~", "-", " ", "2026-03-01  "))
    assert made.parent == desk.vault / "chats" / "code" / "x"
    text = made.read_text(encoding="utf-8")
    told = yaml.safe_load(text[4:].partition("\n---\n")[0])["title"]
    assert isinstance(told, str)
    assert told.strip()
    if title.isprintable() and len(title) < 100 and not set(title) & set("<#[]^|%`{*!\\\u0301"):
        assert told == " ".join(title.split())
    desk.run("check")
    desk.run("undo")


def test_many_talks_of_one_name(desk: Desk) -> None:
    """Same, same and SAME, ids that begin alike: every one has its note."""
    for number in range(1, 30):
        session(number).you(("Same", "same", "SAME", "Sａme")[number % 4]).claude(f"answer {number}!").save(
            desk.sources
        )
    notes = good(desk, create=29)["notes"]
    assert len({unicodedata.normalize("NFC", n["path"]).casefold() for n in notes}) == 29
    said = "".join(desk.read(n["path"]) for n in notes)
    assert all(f"answer {n}!" in said for n in range(1, 30))


def test_a_line_of_twenty_megabytes(desk: Desk) -> None:
    """All of it stays, on lines Obsidian can index, in notes below a megabyte; and in time and memory that are fit."""
    words = " ".join(f"word{n}" for n in range(2_200_000))
    session(1).you("Read this").tool("cat big", words).you(words[:3_000_000]).claude("Done.").save(desk.sources)
    done = limited(desk, "import", desk.sources)
    assert done.returncode == 0, done.stderr
    notes = sorted((desk.vault / "chats").rglob("*.md"))
    total = ""
    for path in notes:
        text = path.read_text(encoding="utf-8")
        assert len(text.encode()) <= 2**20
        assert max(map(len, text.split("\n"))) <= 8000
        total += text
    assert "word2199999" in total
    assert "word1234567" in total.replace("⏎\n> ", "")


def limited(
    desk: Desk, *args: str | Path, memory: int = 2**30, seconds: int = 20
) -> subprocess.CompletedProcess[bytes]:
    """A run that is killed beyond this memory (address space) and CPU time."""
    argv = [sys.executable, "-m", "obsidian_import", *map(str, args), "--vault", str(desk.vault)]
    code = f"import resource,os;resource.setrlimit(resource.RLIMIT_AS,({memory},{memory}));resource.setrlimit(resource.RLIMIT_CPU,({seconds},{seconds}));os.execv({sys.executable!r},{argv!r})"
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        timeout=10 * seconds,
        check=False,
        cwd=Path(__file__).parents[1],
    )


def hostile(name: str) -> dict[str, bytes]:
    if name == "zip bomb":
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("conversations.json", b"[" + b" " * 400_000_000)
        return {"bomb.zip": out.getvalue()}
    if name == "zips in zips":
        data = b'[{"uuid":"a","chat_messages":[]}]'
        for _ in range(30):
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("a.zip", data)
                archive.writestr("b.zip", data)
            data = out.getvalue()
        return {"nest.zip": data}
    if name == "many members":
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for n in range(60_000):
                archive.writestr(f"{n}.md", b"")
        return {"many.zip": out.getvalue()}
    if name == "nested":
        return {
            "a.json": b'[{"uuid":"u","chat_messages":' + b"[" * 3_000_000 + b"]}]",
            "b.jsonl": b'{"type":"user","message":' + b'{"a":' * 3_000_000 + b"1\n",
        }
    if name == "digits":
        return {
            "a.json": b'[{"uuid":"u","created_at":' + b"9" * 5_000_000 + b"}]",
            "b.jsonl": b'{"type":"user","n":' + b"9" * 5_000_000 + b"}\n",
        }
    if name == "many lines":
        return {"a.jsonl": b"{}\n" * 1_000_000}
    if name == "broken lines":
        return {"a.jsonl": b'{"type":"user","mess\n' * 500_000}
    if name == "one message of fences":
        return {"a.jsonl": _message("```\n" * 200_000)}
    if name == "one message of brackets":
        return {"a.jsonl": _message("[[" * 150_000)}
    if name == "one message of quotes":
        return {"a.jsonl": _message(">" * 300_000)}
    if name == "one message of marks":
        return {"a.jsonl": _message("*_`<![" * 60_000)}
    if name == "one message of secrets":
        return {"a.jsonl": _message("password=" * 40_000 + "token: " * 40_000)}
    if name == "one title of everything":
        return {"a.jsonl": _message("# " + "`[(<*_%$=:" * 100_000)}
    assert name == "markdown of rules"
    return {"a.md": b"---\n" * 90_000 + b"## User\n" * 30_000}


def _message(text: str) -> bytes:
    lines = [
        {
            "type": k,
            "message": {"role": k, "content": t},
            "uuid": f"u{i}",
            "sessionId": "s",
            "timestamp": "2026-03-01T10:00:00Z",
            "cwd": "/x",
        }
        for i, (k, t) in enumerate((("user", text), ("assistant", "yes")))
    ]
    return b"".join(json.dumps(one).encode() + b"\n" for one in lines)


@pytest.mark.parametrize(
    "name",
    [
        "zip bomb",
        "zips in zips",
        "many members",
        "nested",
        "digits",
        "many lines",
        "broken lines",
        "one message of fences",
        "one message of brackets",
        "one message of quotes",
        "one message of marks",
        "one message of secrets",
        "one title of everything",
        "markdown of rules",
    ],
)
def test_hostile_sizes(desk: Desk, name: str) -> None:
    """Below a gigabyte and twenty seconds, whatever it is; and no traceback."""
    for file, data in hostile(name).items():
        (desk.sources / file).write_bytes(data)
    done = limited(desk, "import", desk.sources)
    assert done.returncode in (0, 1, 4), done.stderr[-500:]
    assert b"Traceback" not in done.stderr
