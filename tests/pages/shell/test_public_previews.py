"""Previews of public rows and of rows of nobody cost nothing: a ledger beside them stays as it was, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.ledgers import registered
from tests.pages.drawn_charts import drawn, helped
from tests.pages.opening import opened, sound


@pytest.mark.parametrize(
    ("page", "link"),
    [
        ("play/page.py", {"data": "uniform"}),
        ("play/page.py", {"data": "earnings.earnings"}),
        ("tables/page.py", {}),
        ("tables/page.py", {"view": "Decision lists"}),
        ("tables/page.py", {"view": "All tables of k attributes"}),
        ("one_number/page.py", {}),
        ("conversation/page.py", {}),
    ],
)
def test_previews_write_nothing_to_the_ledger(page: str, link: dict[str, str], no_ledger: Path) -> None:
    ledger, dataset_id = registered(no_ledger)

    def held() -> tuple[dict[str, bytes], int]:
        files = {str(each): each.read_bytes() for each in sorted(no_ledger.rglob("*")) if each.is_file()}
        return files, len(ledger.outcomes(dataset_id))

    before = held()
    app = sound(opened(page, **link))
    assert drawn(app)
    app.number_input(key="epsilon").set_value(0.7)
    assert drawn(sound(app.run()))
    assert held() == before and len(before[0]) > 0


@pytest.mark.parametrize(
    ("page", "link", "whose"),
    [
        ("play/page.py", {}, "Generated and bundled data are public"),
        ("tables/page.py", {}, "Generated and bundled rows are public"),
        ("tables/page.py", {"view": "Decision lists"}, "Generated rows are synthetic"),
        ("tables/page.py", {"view": "All tables of k attributes"}, "Bundled samples are public"),
    ],
)
def test_the_pages_say_so(page: str, link: dict[str, str], whose: str) -> None:
    assert any(
        f"{whose}: previews on them spend no privacy budget" in each for each in helped(sound(opened(page, **link)))
    )
