"""Long runs are for `make soak` alone."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marked, and skipped unless `-m soak` asks for them."""
    asked = config.option.markexpr.strip() == "soak"
    for item in items:
        if "tests/soak/" in item.path.as_posix():
            item.add_marker("soak")
            if not asked:
                item.add_marker(pytest.mark.skip(reason="only with `make soak`"))
