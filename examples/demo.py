"""`make demo`: the examples into a throw-away vault: dry run, real run, and where to look."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main(target: str) -> None:
    """Copy the example vault to `target` and import the example chats into it."""
    vault = Path(target).resolve()
    if vault.exists():
        if not (vault / ".obsidian-import-demo").exists():
            sys.exit(f"{vault} exists and is no demo vault; name another folder")
        shutil.rmtree(vault)
    shutil.copytree(HERE / "vault", vault)
    (vault / ".obsidian-import-demo").touch()
    # Everything the demo leaves lies in the vault's folder: your own settings and caches are not touched.
    env = {**os.environ, "OBSIDIAN_VAULT": str(vault), "OBSIDIAN_IMPORT_DATA": str(vault / ".demo-data")}
    report = vault / "report.html"
    for words in (
        ["import", str(HERE / "chats"), "--dry-run"],
        ["import", str(HERE / "chats"), "--report", str(report)],
        ["status"],
        ["check"],
    ):
        print(f"\n$ obsidian-import {' '.join(os.path.relpath(w) if os.sep in w else w for w in words)}", flush=True)
        done = subprocess.run([sys.executable, "-m", "obsidian_import", *words], env=env, check=False)
        if done.returncode not in (0, 4):
            sys.exit(done.returncode)
    here = os.path.relpath(vault)
    print(
        f"\nLook at:\n  {here}/chats/          the notes (open the folder in Obsidian as a vault)\n"
        f"  {os.path.relpath(report)}    what was done, link by link\n"
        f"Take it back:\n  OBSIDIAN_VAULT={here} OBSIDIAN_IMPORT_DATA={here}/.demo-data {os.path.relpath(sys.executable)} -m obsidian_import undo"
    )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "demo-vault")
