"""`make soak`: the state machines for 20,000 examples, a fault at every effect and system call, eight processes for a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import crowd
from tests.test_faults import CALLS, KINDS, SCENES, can_trace, faults, fresh, prepared, system_faults, undo, update
from tests.test_state_machine import Living, TwoVaults, case

__all__ = ["prepared"]  # a fixture

for _n in range(8):
    globals()[f"TestLiving{_n}"] = case(Living, f"SoakLiving{_n}", 1_500, 30, same=False)
    globals()[f"TestTwoVaults{_n}"] = case(TwoVaults, f"SoakTwoVaults{_n}", 1_000, 30, same=False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scene", SCENES, ids=lambda s: s.__name__)
def test_every_kind_of_fault_at_every_effect(scene: Any, kind: str, prepared: Any) -> None:
    """All of them."""
    count = faults(scene, kind, prepared, range(1, prepared(scene)[4] + 1))
    print(f"{scene.__name__} {kind}: {count} points")


@pytest.mark.skipif(not can_trace(), reason="strace cannot inject here")
@pytest.mark.parametrize("scene", [fresh, update, undo], ids=lambda s: s.__name__)
@pytest.mark.parametrize("fault", ["signal=KILL", "error=ENOSPC", "error=EIO", "error=EACCES"])
def test_real_system_calls(scene: Any, fault: str, prepared: Any) -> None:
    """The n-th call of each kind, in a real process."""
    rules = [f"{call}:{fault}:when={n}" for call in CALLS if call != "openat" for n in range(1, 13)]
    print(f"{scene.__name__} {fault}: {system_faults(scene, prepared, rules)} points")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_eight_processes_for_a_minute(seed: int, tmp_path: Path) -> None:
    """Killed at random over import, undo, relink and autosave, while a person saves: healed, clean, nothing lost."""
    came = crowd.run(tmp_path, 60, 8, seed)
    crowd.settled(tmp_path, came)
    print(f"{came.started} processes, {came.killed} killed, {len(came.saved)} saves; exits {came.codes}")
