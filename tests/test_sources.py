"""Sources: what is walked, what is refused, and that nothing is followed, unpacked or read twice."""

from __future__ import annotations

import io
import os
import socket
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_import import archives
from obsidian_import.formats import detect
from obsidian_import.model import File, Problem, Skip
from obsidian_import.sources import expand, release


@pytest.fixture(autouse=True)
def _closed():
    yield
    release()


def _all(*paths: Path, skip: tuple[Path, ...] = ()) -> tuple[list[File], list[Problem], list[Skip]]:
    files: list[File] = []
    problems: list[Problem] = []
    skips: list[Skip] = []
    for one in expand(paths, skip=skip):
        if isinstance(one, Problem):
            problems.append(one)
        elif isinstance(one, Skip):
            skips.append(one)
        else:
            files.append(one)
    return files, problems, skips


def _zip(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return path


# -- folders


def test_a_folder_is_walked_in_order_and_hidden_things_are_not_read(tmp_path: Path) -> None:
    root = tmp_path / "exports"
    for name in (
        "b/2.md",
        "a.md",
        "b/1.md",
        ".git/x.md",
        ".hidden.md",
        "node_modules/x.md",
        ".specstory/history/s.md",
        "é.md",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    files, problems, skips = _all(root)
    assert [file.name for file in files] == [
        "exports/.specstory/history/s.md",
        "exports/a.md",
        "exports/b/1.md",
        "exports/b/2.md",
        "exports/é.md",
    ]
    assert not problems
    assert not skips
    assert files[1].where == str(root / "a.md")
    assert (files[1].size, files[1].head(), files[1].open().read()) == (1, b"x", b"x")


def test_a_file_has_the_same_end_of_its_name_named_or_walked(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.md").write_text("x")
    assert _all(tmp_path / "in")[0][0].name == _all(tmp_path / "in" / "a.md")[0][0].name == "in/a.md"


def test_each_file_once(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    assert len(_all(tmp_path, tmp_path / "a.md", tmp_path)[0]) == 1


def test_links_pipes_and_sockets_are_skipped_with_a_reason(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("secret")
    root = tmp_path / "r"
    root.mkdir()
    (root / "link.md").symlink_to(outside)
    (root / "dir").symlink_to(tmp_path)
    os.mkfifo(root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "sock.md"))
        files, problems, skips = _all(root, root / "link.md", root / "pipe.md")
    assert not files
    assert not problems
    assert sorted(Path(one.source).name for one in skips) == [
        "dir",
        "link.md",
        "link.md",
        "pipe.md",
        "pipe.md",
        "sock.md",
    ]
    assert all(one.why for one in skips)


def test_the_vault_inside_a_source_is_not_read(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / "n").mkdir(parents=True)
    (vault / "n" / "a.md").write_text("x")
    (tmp_path / "b.md").write_text("x")
    files, _, skips = _all(tmp_path, skip=(vault,))
    assert [Path(file.where).name for file in files] == ["b.md"]
    assert [one.source for one in skips] == [str(vault)]
    assert [one.fatal for one in _all(vault, skip=(vault,))[1]] == [True]
    assert [Path(file.where).name for file in _all(vault / "n", skip=(vault,))[0]] == ["a.md"]


def test_what_is_not_there_or_empty_is_a_fatal_problem(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    problems = _all(tmp_path / "gone.md", tmp_path / "empty", tmp_path / "a\0b")[1]
    assert [one.fatal for one in problems] == [True, True, True]
    assert all(one.what and one.hint for one in problems)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed").chmod(0)
    (tmp_path / "a.md").write_text("x")
    files, problems, _ = _all(tmp_path)
    (tmp_path / "closed").chmod(0o700)
    assert len(files) == len(problems) == 1


def test_of_a_whole_claude_folder_only_the_projects_are_read(tmp_path: Path) -> None:
    home = tmp_path / ".claude"
    for name in ("projects/-srv-app/a.jsonl", "plugins/x/README.md", "commands/y.md", "history.jsonl"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("{}")
    assert [file.name for file in _all(home)[0]] == [".claude/projects/-srv-app/a.jsonl"]


def test_a_file_that_became_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("x")
    (file,) = _all(path)[0]
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(OSError, match="no regular file"):
        file.open()


def test_a_name_that_is_no_utf8(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("x")
    (file,) = _all(tmp_path)[0]
    assert file.name.encode()
    assert file.open().read() == b"x"


# -- archives


def test_members_are_streamed_and_named(tmp_path: Path) -> None:
    path = _zip(
        tmp_path / "export.zip",
        {
            "b/conversations.json": b"[]",
            "a.md": b"hi",
            "run.exe": b"MZ",
            "__MACOSX/._a.md": b"x",
            ".DS_Store": b"x",
            "dir/": b"",
        },
    )
    files, problems, _ = _all(path)
    assert [file.where for file in files] == [f"{path}!a.md", f"{path}!b/conversations.json"]
    assert not problems
    assert (files[0].open().read(), files[0].open().read(), files[0].size) == (b"hi", b"hi", 2)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_in_a_zip_in_a_folder(tmp_path: Path, method: int) -> None:
    inner = _zip(tmp_path / "inner.zip", {"x.md": b"x" * 100_000, "y.md": b"y"})
    outer = _zip(tmp_path / "outer.zip", {"part1.zip": inner.read_bytes(), "z.md": b"z"}, method)
    inner.unlink()
    files, problems, _ = _all(tmp_path)
    assert not problems
    assert [file.where for file in files] == [f"{outer}!part1.zip!x.md", f"{outer}!part1.zip!y.md", f"{outer}!z.md"]
    assert files[0].open().read() == b"x" * 100_000
    assert files[1].open().read() == b"y"


def test_zips_deeper_than_three_are_not_opened(tmp_path: Path) -> None:
    data = b"x"
    for depth in range(5):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as made:
            made.writestr("a.md" if depth == 0 else "in.zip", data)
        data = buffer.getvalue()
    (tmp_path / "o.zip").write_bytes(data)
    files, problems, _ = _all(tmp_path / "o.zip")
    assert not files
    assert len(problems) == 1
    assert "deep" in problems[0].what


@pytest.mark.parametrize(
    ("hostile", "label"),
    [
        ("../../evil.md", "evil.md"),
        ("/etc/evil.md", "etc/evil.md"),
        ("C:\\x\\evil.md", "x/evil.md"),
        ("a/./b/../evil.md", "a/b/evil.md"),
        ("new\nline.md", "new�line.md"),
    ],
)
def test_hostile_names_are_only_labels(tmp_path: Path, hostile: str, label: str) -> None:
    path = _zip(tmp_path / "e.zip", {hostile: b"x"})
    files, _, _ = _all(path)
    assert [file.name for file in files] == [f"{tmp_path.name}/e.zip/{label}"]
    assert sorted(tmp_path.iterdir()) == [path]


def test_symlink_members_are_not_given(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("link.md")
    info.create_system = 3
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "l.zip", "w") as made:
        made.writestr(info, "/etc/passwd")
        made.writestr("a.md", "x")
    assert [file.where.rpartition("!")[2] for file in _all(tmp_path / "l.zip")[0]] == ["a.md"]


def test_a_bomb_is_refused_and_an_honest_big_member_is_not(tmp_path: Path) -> None:
    bomb = _zip(tmp_path / "bomb.zip", {"a.json": bytes(archives.RATIO_FROM + 1)})
    honest = _zip(tmp_path / "honest.zip", {"a.json": os.urandom(600_000).hex().encode() * 9})
    files, problems, _ = _all(bomb, honest)
    assert [one.source for one in problems] == [str(bomb)]
    assert [file.where for file in files] == [f"{honest}!a.json"]


def _overlapping() -> bytes:
    """Two directory entries that share one member's bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        made.writestr("a.md", "hello world")
    raw = bytearray(buffer.getvalue())
    directory = raw.index(b"PK\x01\x02")
    end = raw.index(b"PK\x05\x06")
    entry = bytes(raw[directory:end])
    tail = bytearray(raw[end:])
    struct.pack_into("<HHI", tail, 8, 2, 2, len(entry) * 2)
    return bytes(raw[:directory]) + entry + entry.replace(b"a.md", b"b.md") + bytes(tail)


def test_overlapping_entries_are_refused(tmp_path: Path) -> None:
    (tmp_path / "o.zip").write_bytes(_overlapping())
    files, problems, _ = _all(tmp_path / "o.zip")
    assert not files
    assert [("overlap" in one.what, one.fatal) for one in problems] == [(True, True)]


def test_encrypted_deep_and_damaged_members(tmp_path: Path) -> None:
    path = _zip(
        tmp_path / "d.zip",
        {"/".join("abcdefghijkl") + ".md": b"x", "ok.md": b"ok", "bad.md": b"b" * 5000},
        zipfile.ZIP_STORED,
    )
    raw = bytearray(path.read_bytes())
    at = raw.index(b"b" * 5000)
    raw[at + 10] = 0
    path.write_bytes(raw)
    files, problems, _ = _all(path)
    assert ["deep" in one.what for one in problems] == [True]
    by_name = {file.where.rpartition("!")[2]: file for file in files}
    assert by_name["ok.md"].open().read() == b"ok"
    with pytest.raises(OSError, match="CRC"):
        by_name["bad.md"].open().read()
    encrypted = bytearray(_zip(tmp_path / "c.zip", {"a.md": b"x"}).read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        encrypted[encrypted.index(mark) + offset] |= 1
    (tmp_path / "c.zip").write_bytes(encrypted)
    files, problems, _ = _all(tmp_path / "c.zip")
    assert not files
    assert [one.what for one in problems] == ["encrypted member"]


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 and then nothing", b"no zip at all", _overlapping()[:-10]])
def test_a_zip_that_is_none_is_a_fatal_problem(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(data)
    files, problems, _ = _all(tmp_path / "x.zip")
    assert not files
    assert [one.fatal for one in problems] == [True]


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_MEMBERS", 3)
    problems = _all(_zip(tmp_path / "m.zip", {f"{n}.md": b"x" for n in range(4)}))[1]
    assert [one.fatal for one in problems] == [True]


def test_a_manifest_names_the_zips_beside_it(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest-0f3c1d2e-1111.json"
    manifest.write_text(
        '{"files": [{"url": "https://x.example/conversations-000.zip?sig=1"}, {"url": "https://x.example/projects-000.zip"}]}'
    )
    _zip(tmp_path / "conversations-000.zip", {"conversations.json": b"[]"})
    files, problems, _ = _all(manifest)
    assert [file.where.rpartition("!")[2] for file in files] == ["conversations.json"]
    assert [("projects-000.zip" in one.what, one.fatal) for one in problems] == [(True, False)]
    (tmp_path / "conversations-000.zip").unlink()
    assert [one.fatal for one in _all(manifest)[1]] == [True]


@given(st.binary(max_size=400), st.integers(0, 2**32))
def test_expand_never_raises_on_a_damaged_zip(noise: bytes, seed: int) -> None:
    import tempfile

    base = bytearray(_overlapping() if seed % 3 else _BASE)
    for index, byte in enumerate(noise):
        base[(seed + index * 7919) % len(base)] = byte
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "z.zip"
        path.write_bytes(bytes(base))
        for file in _all(path)[0]:
            try:
                file.open().read(100_000)
            except OSError:
                pass
        release()


def _base() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a.md", "hello " * 50)
        made.writestr("in.zip", buffer.getvalue() or b"PK")
        made.writestr("b.json", "[]")
    return buffer.getvalue()


_BASE = _base()


# -- detection


def test_an_archive_in_which_nothing_is_recognised_is_an_error(tmp_path: Path) -> None:
    _zip(tmp_path / "export.zip", {"a.png": b"\x89PNG", "b.json": b'{"x": 1}', "c.txt": b"x"})
    found = detect(expand([tmp_path / "export.zip"])).found
    assert [(type(one), getattr(one, "fatal", None)) for one in found] == [(Problem, True)]
    assert "3 files" in getattr(found[0], "what", "")


def test_a_folder_with_some_chats_says_which_texts_are_none(tmp_path: Path) -> None:
    (tmp_path / "chat.md").write_text("# hi\n")
    (tmp_path / "list.txt").write_text("milk\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    found = detect(expand([tmp_path]))
    assert [one.source for one in found.found if isinstance(one, Skip)] == [str(tmp_path / "list.txt")]
    assert len(found.found) == 1


def test_a_named_text_that_is_no_chat_is_a_skip_among_others_and_an_error_alone(tmp_path: Path) -> None:
    (tmp_path / "chat.md").write_text("# hi\n")
    (tmp_path / "list.txt").write_text("milk\n")
    alone = detect(expand([tmp_path / "list.txt"])).found
    among = detect(expand([tmp_path / "list.txt", tmp_path / "chat.md"])).found
    assert [(type(one), one.source) for one in alone] == [(Problem, str(tmp_path / "list.txt"))]
    assert [(type(one), one.source) for one in among] == [(Skip, str(tmp_path / "list.txt"))]


def test_claude_codes_own_files_are_never_notes(tmp_path: Path) -> None:
    home = tmp_path / "projects" / "-srv-app"
    for name in ("memory/MEMORY.md", "5c/tool-results/out.md", "5c/subagents/workflows/r/journal.jsonl"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("# x\n")
    (home / "notes.md").write_text("# kept\n")
    claimed = detect(expand([tmp_path / "projects"])).claimed
    assert [file.name for _, files in claimed for file in files] == ["projects/-srv-app/notes.md"]


class _Greedy:
    def __init__(self, name: str) -> None:
        self.NAME = name

    def claims(self, file: File) -> bool:
        return file.name.endswith(".md")

    def groups(self, files, memo):
        return iter(())

    def read(self, group):
        return iter(())


def test_two_formats_that_claim_one_file_are_both_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    found = detect(expand([tmp_path]), [_Greedy("one"), _Greedy("two")])
    assert not found.claimed
    assert [(one.fatal, "one and two" in one.what) for one in found.found if isinstance(one, Problem)] == [(True, True)]
