"""What a person is told when we cannot go on, and the exit codes scripts rely on."""

from __future__ import annotations

from typing import Final

EXIT_DONE: Final = 0
EXIT_CANNOT: Final = 1
EXIT_USAGE: Final = 2
EXIT_BUG: Final = 3
EXIT_LOOK: Final = 4


class UserError(Exception):
    """An expected reason to stop: what happened and, as `hint`, what to do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
