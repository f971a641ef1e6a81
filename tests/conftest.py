"""No test reaches the real home, the real vault or the real Claude Code folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.vaults import Desk

settings.register_profile("ci", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("soak", deadline=None, suppress_health_check=list(HealthCheck), max_examples=20_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

SAMPLES = Path(__file__).resolve().parents[2] / "shared" / "samples"
VAULTS = SAMPLES.parent / "vaults"


@pytest.fixture(autouse=True)
def _no_real_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("CLAUDE", "OBSIDIAN", "XDG_")) and name != "OBSIDIAN_IMPORT_REGEN":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("APPDATA", str(home / "AppData"))
    monkeypatch.setenv("LOCALAPPDATA", str(home / "AppData"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / ".local" / "share"))


@pytest.fixture
def samples() -> Path:
    """The folder of real samples beside the checkout; a test that needs it is skipped where it is absent."""
    if not SAMPLES.is_dir():
        pytest.skip("no ../shared/samples beside this checkout")
    return SAMPLES


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Desk:
    """An empty vault, an empty folder of sessions, and the command."""
    vault, sources = tmp_path / "vault", tmp_path / "sessions"
    (vault / ".obsidian").mkdir(parents=True)
    sources.mkdir()
    monkeypatch.setenv("OBSIDIAN_IMPORT_DATA", str(tmp_path / "data"))
    return Desk(vault, sources, capsys)
