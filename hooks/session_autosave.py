"""Claude Code's hook: write the event down, start the worker, go. Exit 0 always, nothing on stdout.

Installed as `PYTHON -I -S …/session_autosave.py --vault DIR` with the interpreter that has obsidian-import, by absolute
path. It never opens a transcript: that is the worker's business (`obsidian-import autosave`), which outlives the client.
What the arguments mean is told in `spool.take`.
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
    sys.path.append(root)  # behind the standard library: nothing in site-packages may take its names
    from obsidian_import import spool  # noqa: PLC0415 (after the signals, and -S hides the package until now)

    spool.take(sys.argv[1:])


if __name__ == "__main__":
    try:
        main()
    except BaseException:  # whatever it is, a session's end is no place to complain
        pass
    os._exit(0)  # no interpreter shutdown: nothing is open, and the client is waiting
