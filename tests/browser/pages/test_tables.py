"""All tables of k attributes in a real browser: epsilon moves the dots, links reopen them, nothing spills."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.kit.browser import (
    PHONE,
    Server,
    every_view_is_sound,
    on_screens,
    press,
    reopened,
    see,
    sentences,
    visit,
)
from tests.kit.rest import settled

VIEW = "marginals?view=All+tables+of+k+attributes"
CHARTS = [f"{name}_chart" for name in ("tables_all", "tables_cells", "tables_errors", "tables_rows", "marginals_worst")]
DIRECT = [name for name in CHARTS if name != "tables_rows_chart"]


@pytest.mark.full
def test_the_view_is_one_click_away_and_its_link_reopens_it(page: Page, server: Server) -> None:
    visit(page, server, "marginals?cube-rows=1000&cube-attributes=8", "marginals_map_chart")
    page.get_by_role("radio", name="All tables of k attributes").click()
    settled(page)
    expect(page.get_by_role("heading", name="All tables", exact=True)).to_be_visible()
    before = sentences(page)
    press(page, "Privacy budget ε", "ArrowRight", 4)
    after = sentences(page)
    assert after != before
    assert "view=" in page.url and "epsilon=" in page.url
    assert sentences(reopened(page)) == after


def test_rows_come_as_a_file_marked_simulated(page: Page, server: Server, tmp_path: Path) -> None:
    visit(page, server, f"{VIEW}&tables-of=penguins&tables-k=3", *CHARTS)
    see(page, "Synthetic rows")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download 344 simulated rows (CSV)").click()
    assert waiting.value.suggested_filename == "simulated-rows-residual-planner-preview-seed-1-not-a-release.csv"
    waiting.value.save_as(tmp_path / "rows.csv")
    rows = list(csv.reader((tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines()))
    assert rows[0] == ["flipper length (mm)", "body mass (g)", "species", "island", "sex"] and len(rows) == 345


@pytest.mark.full
@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
def test_a_cell_s_name_has_a_line_for_each_attribute_on_a_phone(page: Page, server: Server) -> None:
    visit(page, server, f"{VIEW}&tables-of=penguins&tables-k=3", "tables_cells_chart")
    names = page.locator(".st-key-tables_cells_chart .ytick text")
    lines = names.evaluate_all("names => names.map((name) => name.querySelectorAll('tspan.line').length)")
    assert lines and set(lines) == {3}, "a range is torn apart"


@on_screens("link", (VIEW,))
def test_every_view_is_accessible_and_fits(page: Page, server: Server, link: str) -> None:
    every_view_is_sound(visit(page, server, link, *CHARTS))


@pytest.mark.full
@on_screens(
    "link,charts",
    (f"{VIEW}&tables-of=adult-yes-no&tables-k=3", CHARTS),
    (f"{VIEW}&tables-of=census&tables-method=direct-tables", DIRECT),
)
def test_every_state_is_accessible_and_fits(page: Page, server: Server, link: str, charts: list[str]) -> None:
    every_view_is_sound(visit(page, server, link, *charts))
