"""The examples that hypothesis makes follow from the test alone: what failed yesterday fails today."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st


def examples() -> list[tuple[int, str, str]]:
    """Those of one property."""
    found: list[tuple[int, str, str]] = []

    @given(st.integers(), st.floats(), st.text())
    def seen(whole: int, number: float, text: str) -> None:
        found.append((whole, float.hex(number), text))

    seen()
    return found


def test_what_a_process_has_imported_makes_no_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = examples()
    assert len(before) == 100 and before == examples()
    (tmp_path / "planted_constants.py").write_text(f"NUMBERS = {[*range(7_000, 7_900)]}, 0.717, 'planted'\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("planted_constants")
    assert examples() == before
