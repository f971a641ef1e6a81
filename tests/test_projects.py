"""Which project a folder belongs to: repositories, worktrees, sub-folders, submodules, two of one name; git is never started."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from obsidian_import import projects
from obsidian_import.config import Project
from obsidian_import.projects import Home, folder_of, home_of, normal_remote
from tests.vaults import Desk, session


def repository(folder: Path, remote: str = "", *, worktree: str = "") -> Path:
    git = folder / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(f'[remote "origin"]\n\turl = {remote}\n' if remote else "[core]\n")
    if worktree:
        (git / "worktrees" / worktree).mkdir(parents=True)
        (git / "worktrees" / worktree / "commondir").write_text("../..\n")
    return folder


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("git@github.com:me/api.git", "github.com/me/api"),
        ("https://github.com/me/api", "github.com/me/api"),
        ("https://user:word@GitHub.com/me/api.git/", "github.com/me/api"),
        ("ssh://git@host.example:2222/group/sub/api.git", "host.example/group/sub/api"),
        ("git+ssh://git@h/x/y", "h/x/y"),
        ("/srv/git/api.git", ""),
        ("../api", ""),
        ("file:///srv/api", ""),
        ("", ""),
    ],
)
def test_remotes(url: str, wanted: str) -> None:
    assert normal_remote(url) == wanted


def test_a_password_in_a_remote_goes_nowhere(tmp_path: Path) -> None:
    home = home_of(str(repository(tmp_path / "api", "https://me:hunter2@github.com/me/api.git")))
    assert "hunter2" not in repr(home)


def test_the_top_a_sub_folder_and_worktrees_are_one(tmp_path: Path) -> None:
    top = repository(tmp_path / "api", "git@github.com:me/api.git", worktree="fix")
    beside = tmp_path / "api-fix"
    beside.mkdir()
    (beside / ".git").write_text(f"gitdir: {top}/.git/worktrees/fix\n")
    (top / "src" / "deep").mkdir(parents=True)
    wanted = Home("api", "github.com/me/api", "me", str(top))
    assert home_of(str(top)) == wanted
    assert home_of(str(top / "src" / "deep")) == wanted
    assert home_of(str(beside)) == wanted
    assert home_of(str(top / ".claude" / "worktrees" / "fix-1" / "src")) == wanted
    assert home_of(str(top / "gone" / "long" / "ago")) == wanted


def test_as_git_itself_makes_them(tmp_path: Path) -> None:
    """Real worktrees of a real git, with a relative and with an absolute gitdir."""
    top = tmp_path / "api"
    env = {
        **os.environ,
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b.c",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b.c",
    }
    top.mkdir()
    for words in (
        ["init", "-q"],
        ["commit", "-q", "--allow-empty", "-m", "x"],
        ["remote", "add", "upstream", "https://github.com/acme/api"],
        ["worktree", "add", "-q", "../elsewhere"],
    ):
        subprocess.run(["git", "-c", "commit.gpgsign=false", *words], cwd=top, env=env, check=True, capture_output=True)
    assert (
        home_of(str(tmp_path / "elsewhere"))
        == home_of(str(top))
        == Home("api", "github.com/acme/api", "acme", str(top))
    )


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path) -> None:
    top = repository(tmp_path / "api", "git@github.com:me/api.git")
    module = top / ".git" / "modules" / "lib"
    module.mkdir(parents=True)
    (module / "HEAD").write_text("ref: x\n")
    (module / "config").write_text('[remote "origin"]\n\turl = git@github.com:me/lib.git\n')
    (top / "lib").mkdir()
    (top / "lib" / ".git").write_text("gitdir: ../.git/modules/lib\n")
    assert home_of(str(top / "lib")).identity == "github.com/me/lib"


@pytest.mark.parametrize(
    "config", ["", "not ini at all [", '[remote "origin"]\nurl\n', "\0\0", '[remote "origin"]\n\turl = /local/path\n']
)
def test_a_config_that_says_nothing(config: str, tmp_path: Path) -> None:
    top = repository(tmp_path / "api")
    (top / ".git" / "config").write_text(config)
    assert home_of(str(top)) == Home("api", str(top), tmp_path.name, str(top))


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("C:\\Users\\me\\code\\api", "api"),
        ("\\\\server\\share\\api", "api"),
        ("D:/code/api", "api"),
        ("/nowhere/api", "api"),
        ("/", "/"),
    ],
)
def test_folders_of_other_machines(cwd: str, name: str) -> None:
    assert home_of(cwd).name == name


def test_git_is_never_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("no subprocess here")

    monkeypatch.setattr(subprocess, "Popen", never)
    monkeypatch.setattr(os, "posix_spawn", never)
    assert home_of(str(repository(tmp_path / "api", "git@github.com:me/api.git"))).owner == "me"


# ------------------------------------------------------------------ folders in the vault

ONE = Home("api", "github.com/acme/api", "acme", "/a/api")
TWO = Home("api", "github.com/other/api", "other", "/b/api")
THREE = Home("api", "gitlab.com/other/api", "other", "/c/api")


def test_two_of_one_name_keep_two_folders() -> None:
    owners: dict[str, str] = {}
    found = []
    for home in (ONE, TWO, THREE, ONE, TWO, THREE):
        _, folder = folder_of(home, {}, owners)
        owners.setdefault(folder.casefold(), home.identity)
        found.append(folder)
    assert found[:3] == found[3:]
    assert found[:2] == ["api", "api (other)"]
    assert len(set(found[:3])) == 3


def test_the_configuration_says_it_by_remote_path_or_name() -> None:
    by_remote = {"shop": Project(folder="Work/Shop", remotes=("git@github.com:acme/api.git",))}
    assert folder_of(ONE, by_remote, {}) == ("shop", "Work/Shop")
    assert folder_of(TWO, by_remote, {}) == ("api", "api")
    by_path = {"shop": Project(paths=("/b",))}
    assert folder_of(TWO, by_path, {}) == ("shop", "shop")
    assert folder_of(ONE, by_path, {}) == ("api", "api")
    by_name = {"api": Project(folder="Code/API")}
    assert folder_of(ONE, by_name, {}) == ("api", "Code/API")


def test_paths_in_the_configuration_end_at_a_folder() -> None:
    """`/b/ap` is not above `/b/api`."""
    assert projects.configured(TWO, {"x": Project(paths=("/b/ap",))}) is None


def test_logs_of_two_repositories_of_one_name(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the sessions to the vault: two folders, whichever comes first, and the same ones next time."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    sessions = tmp_path / "claude" / "projects"
    one = repository(tmp_path / "a" / "api", "https://github.com/acme/api.git", worktree="w")
    two = repository(tmp_path / "b" / "api", "https://github.com/other/api.git")
    beside = tmp_path / "w"
    beside.mkdir()
    (beside / ".git").write_text(f"gitdir: {one}/.git/worktrees/w\n")
    for name in ("api", "api (other)"):
        (desk.vault / name).mkdir()
    for n, cwd in ((1, one), (2, two), (3, one / "src"), (4, beside)):
        session(n, cwd=str(cwd)).you("One").claude("a").you("Two").claude("b").save(sessions)
        desk.run("autosave")
    found = sorted(p.relative_to(desk.vault).parts[0] for p in desk.vault.rglob("*.md"))
    assert found == ["api", "api", "api", "api (other)"]
    text = "".join(p.read_text() for p in desk.vault.rglob("*.md"))
    assert str(tmp_path) not in text, "where this machine keeps its code is nobody's business"
    assert text.count("repository: github.com/acme/api") == 3


def test_a_log_of_save_claims_its_folder_too(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two = repository(tmp_path / "b" / "api", "https://github.com/other/api.git")
    desk.write(
        "api/logs/2026-03-01-x.md", "---\ntype: log\nproject: api\nrepository: github.com/acme/api\n---\n## Done\n- x\n"
    )
    monkeypatch.chdir(two)
    held = json.loads(desk.run("resume", "--json").out)
    assert held["project"]["folder"] == "api (other)"
    assert held["empty"] is True
