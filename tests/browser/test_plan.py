"""Plan in a real browser: a click on the frontier changes the plan."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages.test_play import PLOT, POINT, chart
from tests.kit.browser import PATIENCE, Server, settled

pytestmark = pytest.mark.full


def test_a_click_on_the_frontier_puts_its_mechanism_and_epsilon_into_the_plan(page: Page, server: Server) -> None:
    page.goto(server.url + "/plan?table=penguins")
    settled(page)
    page.get_by_text("Every mechanism, at every ε or n").click()
    settled(page)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0, timeout=1000 * PATIENCE)
    settled(page)
    plot = chart(page, "plan_frontier_chart").locator(PLOT)
    plot.scroll_into_view_if_needed()
    name = "Overlapping windows"
    places = plot.evaluate("(plot, name) => plot._fullData.find(t => t.name === name && t.mode === 'markers').x", name)
    page.mouse.click(*plot.evaluate(POINT, [name, "markers", places.index(0.2)]))
    settled(page)
    expect(page.get_by_role("spinbutton", name="ε", exact=True).first).to_have_value("0.2")
    assert chart(page, "plan_row_0").get_by_role("combobox").input_value() == name
    expect(page.get_by_role("heading", level=2)).to_contain_text("0.45")
