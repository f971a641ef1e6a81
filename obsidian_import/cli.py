"""The command line: parse, call, print. One error edge for every command.

Exit codes are a contract: 0 done · 1 cannot go on · 2 usage · 3 a bug of ours · 4 done, but something needs a look.
A command lives in a module of `commands/` and is imported only when it is called, so that `--help` and the hook's
child start fast.
"""

from __future__ import annotations

import errno
import importlib
import os
import platform
import sys
import traceback
from datetime import UTC, datetime
from typing import NoReturn

import click

from obsidian_import import __version__
from obsidian_import.errors import EXIT_BUG, EXIT_CANNOT, EXIT_DONE, UserError

COMMANDS = {
    "import": ("importing", "Bring chats into the vault: files, folders, zips; none = Claude Code's own projects."),
    "status": ("history", "What is in the vault by us: notes, edited, moved, deleted, conflicts."),
    "log": ("history", "The runs, newest last; or one run; or everything that happened to one note."),
    "diff": ("history", "What a run, or all runs, changed in the notes."),
    "undo": ("history", "Take a run back (the last one); later edits of yours survive."),
    "prune": ("history", "Drop stored texts that only very old undos need."),
    "relink": ("linking", "Links of the chat notes as of today's vault."),
    "explain": ("linking", "Every link of a note and every near miss, with its reasons."),
    "suggest": ("linking", "Links worth a look, most useful first; accept or reject them for good."),
    "unlink": ("linking", "Take our links to a name out everywhere, and never make them again."),
    "autosave": ("sessions", "Write the logs of sessions that ended (the hook's child runs it)."),
    "resume": ("resuming", "Where this project stands: newest logs, open items, decisions that hold, changes since."),
    "decide": ("resuming", "Add a decision to the project's log of today; mark the one it replaces."),
    "setup": ("wiring", "Hooks, skills, CLAUDE.md block and configuration: in, and with --remove out again."),
    "check": (
        "checking",
        "Manifest against vault, links, secrets, active content, sizes; --repair mends what is ours.",
    ),
}
"""Command → (module of `commands/`, help in a line)."""


_WORLD = frozenset(
    getattr(errno, name, -1)
    for name in (
        "ENOSPC",
        "EDQUOT",
        "EROFS",
        "EIO",
        "EACCES",
        "EPERM",
        "EMFILE",
        "ENFILE",
        "ESTALE",
        "ETIMEDOUT",
        "ENOMEM",
    )
)
"""The machine's troubles, wherever we meet them: no bugs of ours."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """All names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the module that has the command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"obsidian_import.commands.{COMMANDS[cmd_name][0]}")
        command = getattr(module, cmd_name.replace("-", "_") if cmd_name != "import" else "import_")
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Names and one-line helps from the table: nothing is imported for `--help`."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="obsidian-import")
def cli() -> None:
    """Bring AI chats into an Obsidian vault: tagged, linked, explained, and reversible.

    Every command takes --vault DIR (else $OBSIDIAN_VAULT, else your own config file, else the nearest folder above
    that holds .obsidian) and --json. What writes takes --dry-run and shows the same plan.
    """


def main(argv: list[str] | None = None) -> NoReturn:
    """The one edge: expected trouble in two lines, a bug with a log to send, never a bare traceback."""
    # A stream that was closed before we began is None: nobody listens, and the work is done all the same.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (as long as the process)
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(args=argv, prog_name="obsidian-import", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else EXIT_DONE)
    except UserError as error:
        complain(f"error: {error.message}", error.hint)
        sys.exit(EXIT_CANNOT)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        complain("interrupted", "notes are whole, old or new; the next command settles the rest")
        sys.exit(130)
    except BrokenPipeError:
        _hush()
        sys.exit(EXIT_DONE)
    except OSError as error:
        if error.errno not in _WORLD:
            _bug(error)
        if error.filename is None:
            _hush()  # most likely what we print to; it must not fail once more at the end
        what = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
        complain(f"error: {what}", "notes are whole, old or new; mend that and run the command again")
        sys.exit(EXIT_CANNOT)
    except Exception as error:  # noqa: BLE001 (the edge: whatever it is, it is our bug)
        _bug(error)


def _bug(error: Exception) -> NoReturn:
    complain(
        f"this is a bug in obsidian-import: {type(error).__name__}",
        f"please send {_crash_log(error)} with what you did; notes are whole, old or new",
    )
    sys.exit(EXIT_BUG)


def _hush() -> None:
    """Nobody can read what we print: say no more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(message: str, hint: str = "") -> None:
    """To stderr: what happened, and what to do. A message may quote a file's name or text: no secret of it is shown."""
    click.echo(printable(_clean(message)), err=True)
    if hint:
        click.echo(f"  {printable(_clean(hint))}", err=True)


def _clean(text: str) -> str:
    from obsidian_import.redact import Redactor, Rules, known_from_env  # noqa: PLC0415 (only in trouble)

    return Redactor(Rules(known=known_from_env(os.environ))).redact(text)


def printable(text: str) -> str:
    """Text that cannot drive the terminal, whatever a file name or a title holds."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


def _crash_log(error: Exception) -> str:
    from obsidian_import.config import data_dir  # noqa: PLC0415 (only in trouble)
    from obsidian_import.files import private_dir, write_atomic  # noqa: PLC0415

    now = datetime.now(UTC)
    text = (
        f"# obsidian-import {__version__}\n\n- {now.isoformat()}\n- {platform.platform()}\n- Python {sys.version}\n"
        f"- command: {' '.join(sys.argv[1:2])}\n\n```\n{''.join(traceback.format_exception(error))}```\n"
    )
    try:
        private_dir(data_dir())
        private_dir(data_dir() / "log")
        path = data_dir() / "log" / f"crash-{now:%Y%m%d-%H%M%S}.md"
        write_atomic(path, _clean(text).encode("utf-8", "replace"))
    except OSError:
        return "the command line and what it printed (no log could be written)"
    return str(path)
