"""Which project a folder belongs to: by its git repository, read from files, never by starting git.

Worktrees and sub-folders are one project; two repositories that are both called `api` are two. The identity is the
remote (`github.com/owner/api`), else the path of the main checkout.
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from obsidian_import.config import Project
from obsidian_import.paths import folder_name

_WORKTREE = re.compile(r"[/\\]\.claude[/\\]worktrees[/\\].*\Z")


@dataclass(frozen=True, slots=True)
class Home:
    """A project as its logs know it."""

    name: str
    """Base name of the main checkout, or of the folder."""
    identity: str
    """`github.com/owner/api`, else the absolute path of the main checkout."""
    owner: str
    """Who has it: the remote's owner, else the folder above."""
    root: str
    """Path of the main checkout, else of the folder itself."""

    @property
    def apart(self) -> str:
        """The name of its folder where another project of this name has the plain one."""
        return f"{self.name} ({self.owner})" if self.owner else self.name


def home_of(cwd: str, read: Callable[[Path], str | None] | None = None) -> Home:
    """The project of a working folder; works for folders that are gone, and for Windows paths seen elsewhere."""
    read = read or _read
    plain = _WORKTREE.sub("", cwd)
    if re.match(r"[A-Za-z]:[\\/]|\\\\", plain) and not Path(plain).exists():
        windows = PureWindowsPath(plain)
        return Home(windows.name or plain, plain, windows.parent.name, plain)
    folder = Path(plain)
    for place in (folder, *folder.parents):
        common = _common_dir(place, read)
        if common is not None:
            root = common.parent if common.name == ".git" else common
            remote = _remote(read(common / "config"))
            name = root.name.removesuffix(".git")
            identity = remote or str(root)
            owner = PurePosixPath(remote).parent.name if remote else root.parent.name
            return Home(name, identity, owner, str(root))
    return Home(folder.name or str(folder), str(folder), folder.parent.name, str(folder))


def _common_dir(place: Path, read: Callable[[Path], str | None]) -> Path | None:
    """The repository's common git folder when `place` is the top of a checkout."""
    git = place / ".git"
    if (git / "HEAD").is_file():
        return git
    text = read(git)
    if text is None or not text.startswith("gitdir:"):
        return None
    inner = Path(text.removeprefix("gitdir:").strip())
    if not inner.is_absolute():
        inner = place / inner
    common = read(inner / "commondir")
    if common is None:
        return _plain(inner)  # a submodule: a repository of its own
    path = Path(common.strip())
    return _plain(path if path.is_absolute() else inner / path)


def _plain(path: Path) -> Path:
    try:
        return path.resolve()
    except OSError:
        return path


def _remote(text: str | None) -> str:
    """`host/owner/name` of `origin` (else the first remote); no scheme, no user, no secret."""
    if text is None:
        return ""
    parser = configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    try:
        parser.read_string(re.sub(r"^[ \t]+", "", text, flags=re.MULTILINE))
    except configparser.Error:
        return ""
    remotes = {s: parser[s].get("url") or "" for s in parser.sections() if s.startswith("remote ")}
    url = remotes.get('remote "origin"') or next((u for u in remotes.values() if u), "")
    return normal_remote(url)


def normal_remote(url: str) -> str:
    """`git@github.com:owner/api.git` and `https://user:word@github.com/owner/api` → `github.com/owner/api`."""
    url = url.strip().rstrip("/").removesuffix(".git")
    found = re.match(r"(?:[a-z+]+://)?(?:[^@/]*@)?([^/:]+)(?::\d+)?[:/](.+)\Z", url, re.IGNORECASE)
    if not found or url.startswith(("/", ".", "file:")):
        return ""
    return f"{found[1].lower()}/{found[2].strip('/')}"


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")[:65536]
    except OSError:
        return None


# ------------------------------------------------------------------ where its notes go


def configured(home: Home, projects: Mapping[str, Project]) -> tuple[str, str] | None:
    """(name, folder) where the configuration says so: by remote, by path, else by the project's name."""
    for name, project in projects.items():
        remotes = {normal_remote(r) or r for r in project.remotes}
        inside = any(_within(home.root, p) for p in project.paths)
        by_name = not project.remotes and not project.paths and name == home.name
        if home.identity in remotes or inside or by_name:
            return name, project.folder or folder_name(name)
    return None


def _within(root: str, path: str) -> bool:
    wanted = str(Path(path).expanduser())
    return root == wanted or root.startswith(wanted.rstrip("/\\") + "/")


def folder_of(home: Home, projects: Mapping[str, Project], owners: Mapping[str, str]) -> tuple[str, str]:
    """(name for tags and properties, folder in the vault) of a project.

    `owners` says which identity already has which plain folder name: the second `api` becomes `api (owner)`.
    """
    told = configured(home, projects)
    if told:
        return told
    name = folder_name(home.name) or "project"
    if owners.get(name.casefold(), home.identity) != home.identity:
        apart = folder_name(home.apart)
        if owners.get(apart.casefold(), home.identity) != home.identity:
            apart = folder_name(f"{home.name} ({home.identity.replace('/', ' ')})")
        return home.name, apart
    return home.name, name
