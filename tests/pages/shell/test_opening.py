"""Long work below the first pictures leaves the processor to a browser that has just come, and to nobody else."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pages.shell import session


@pytest.mark.parametrize(
    ("headers", "since", "waits"), [({"host": "a"}, 0.0, 6), ({"host": "a"}, 2.0, 0), ({}, 0.0, 0)]
)
def test_only_a_browser_that_has_just_come_is_waited_for(
    headers: dict[str, str], since: float, waits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0 + since]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr("streamlit.context", SimpleNamespace(headers=headers))
    monkeypatch.setattr("streamlit.session_state", {session.OPENED_AT: 100.0})
    monkeypatch.setattr(session, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    assert list(session.wait_for_first_pictures()) == [0.0] * waits
