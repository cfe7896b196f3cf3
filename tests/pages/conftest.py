"""What all tests of pages share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner

from pages.plan import jobs


@pytest.fixture(scope="session", autouse=True)
def components_are_looked_for_once() -> Iterator[None]:
    """Streamlit reads what every installed package says of itself, anew for every session of AppTest."""
    with pytest.MonkeyPatch.context() as patch:
        found = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield


@pytest.fixture(autouse=True)
def long_work_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of a test shows what came of its work; test_jobs.py looks at it while it is under way."""
    monkeypatch.setattr(jobs, "AT_ONCE", 120.0)
