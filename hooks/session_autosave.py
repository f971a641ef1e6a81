"""Claude Code's SessionEnd hook: write the event down, start the worker, go. Exit 0 always, nothing on stdout.

Installed as `PYTHON -I -S …/session_autosave.py` with the interpreter that has obsidian-import, by absolute path. It
never opens a transcript: that is the worker's business (`obsidian-import autosave`), which outlives the client.
"""

import os
import signal
import sys


def main() -> None:
    """The whole hook. Signals first: the client cancels hooks from the moment they start."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    here = os.path.dirname(os.path.abspath(__file__))
    # In a wheel this file lies in obsidian_import/_hooks, in a checkout in hooks/ beside the package.
    root = os.path.dirname(os.path.dirname(here)) if os.path.basename(here) == "_hooks" else os.path.dirname(here)
    sys.path.insert(0, root)
    from obsidian_import import spool  # noqa: PLC0415 (after the signals, and -S hides the package until now)

    event = spool.read_event(0)
    if event.strip():
        spool.put(event)
    os.environ["PYTHONUTF8"] = "1"
    spool.start([sys.executable, "-m", "obsidian_import", "autosave", "--quiet"])


if __name__ == "__main__":
    try:
        main()
    except BaseException:  # whatever it is, a session's end is no place to complain
        pass
    os._exit(0)  # no interpreter shutdown: nothing is open, and the client is waiting
