"""What all tests of pages share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner


@pytest.fixture(scope="session", autouse=True)
def components_are_looked_for_once() -> Iterator[None]:
    """Streamlit reads what every installed package says of itself, anew for every session of AppTest."""
    with pytest.MonkeyPatch.context() as patch:
        found = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield
