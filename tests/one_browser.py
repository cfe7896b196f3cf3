"""Which worker runs which tests: one drives the browser, the others need not wait for it."""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

BROWSER_TESTS = "tests/browser/"


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Files go to workers whole, and all files of browser tests to the same one: one app, one Chromium."""
    scheduler = LoadFileScheduling(config, log)
    file_of = scheduler._split_scope
    scheduler._split_scope = lambda name: BROWSER_TESTS if name.startswith(BROWSER_TESTS) else file_of(name)
    return scheduler
