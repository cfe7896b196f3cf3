"""What all tests of pages share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import local_script_runner

from dplab.sweep import sweep
from pages.play import comparison
from pages.shell.private import promises
from pages.shell.tasks import jobs
from pages.shell.tasks.memory import with_progress


@pytest.fixture(scope="session", autouse=True)
def all_sessions_share_what_a_server_reads_once() -> Iterator[None]:
    """AppTest reads what every installed package says of itself for every session, and compiles pages for every run."""
    compiled = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        found = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        patch.setattr(local_script_runner, "ScriptCache", lambda: compiled)
        yield


@pytest.fixture(scope="session", autouse=True)
def a_run_is_waited_for_without_being_asked_a_thousand_times_a_second() -> Iterator[None]:
    """AppTest's way to wait takes the processor from the run that it waits for."""
    usual = local_script_runner.require_widgets_deltas

    def ends(runner: Any, timeout: float = 3) -> None:
        runner._script_thread.join(timeout)
        usual(runner, 0 if runner._script_thread.is_alive() else timeout)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", ends)
        yield


@pytest.fixture(scope="session", autouse=True)
def the_trade_off_is_of_what_is_quick_at_one_privacy_loss() -> Iterator[None]:
    """It is most of the work of Play, anew for every data set; the browser's pages have all mechanisms at all ten."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "sweep", partial(sweep, epsilons=(1.0,), seconds=0.05))
        patch.setattr(comparison, "MAX_CELLS", 1)
        yield


@pytest.fixture(scope="session", autouse=True)
def what_is_known_before_anybody_looks_is_worked_out_once() -> Iterator[None]:
    """A session's memory has it by a key that names all it depends on: public facts, and nothing of any rows."""
    found: dict[str, Any] = {}
    usual = with_progress

    def shared(key: str, work: Callable[[], Any], *, label: str) -> Any:
        if key in found:
            st.session_state.setdefault("memory", {}).setdefault(key, found[key])
        found[key] = usual(key, work, label=label)
        return found[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(promises, "with_progress", shared)
        yield


@pytest.fixture(autouse=True)
def long_work_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of a test shows what came of its work; test_jobs.py looks at it while it is under way."""
    monkeypatch.setattr(jobs, "AT_ONCE", 120.0)
