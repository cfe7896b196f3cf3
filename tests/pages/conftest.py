"""What all tests of pages share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import local_script_runner

from pages.shell.server import jobs


@pytest.fixture(scope="session", autouse=True)
def all_sessions_share_what_a_server_reads_once() -> Iterator[None]:
    """AppTest reads what every installed package says of itself for every session, and compiles pages for every run."""
    compiled = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        found = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        patch.setattr(local_script_runner, "ScriptCache", lambda: compiled)
        yield


@pytest.fixture(autouse=True)
def long_work_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of a test shows what came of its work; test_jobs.py looks at it while it is under way."""
    monkeypatch.setattr(jobs, "AT_ONCE", 120.0)
