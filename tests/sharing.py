"""Which worker runs which tests: by files, but for those of the browser, and for long ones that share nothing."""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

BROWSER_TESTS = "tests/browser/"
ONE_BY_ONE = ("tests/test_sizes.py", "tests/dprelease/test_genuine_files.py")
"""Files of many tests of half a minute each that share nothing: by files, one worker would do them all at the end."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that gives one worker all tests of the browser, which mostly wait."""
    parser.addoption("--one-browser", action="store_true", help="one app and one Chromium for all browser tests")


def share(name: str, *, file: str, one_browser: bool) -> str:
    """Return what a test is given to a worker with: its file, itself alone, or all tests of the browser."""
    if one_browser and name.startswith(BROWSER_TESTS):
        return BROWSER_TESTS
    return name if name.startswith(ONE_BY_ONE) else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Files go to workers whole, with the exceptions above."""
    scheduler = LoadFileScheduling(config, log)
    file_of, one_browser = scheduler._split_scope, bool(config.getoption("one_browser"))
    scheduler._split_scope = lambda name: share(name, file=file_of(name), one_browser=one_browser)
    return scheduler
