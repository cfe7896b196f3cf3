"""The form of a new statistic on Plan, and the line on top of a private table: at one height, whole, in two lines."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

from tests.browser.release.test_groups import Hand
from tests.kit.browser import OWN_FILE, Server, bring, csv_file, in_menu
from tests.kit.rest import settled

WIDTHS = (1280, 1024, 390)
LINES = 2
"""Largest number of lines on top of a private table."""
MAX_LINE = 30
"""Largest height of one of them in pixels."""
INSIDE = """tag => {
    const box = tag.closest('.react-aria-ComboBox').getBoundingClientRect(), own = tag.getBoundingClientRect();
    return own.top >= box.top && own.bottom <= box.bottom && own.left >= box.left && own.right <= box.right;
}"""


def top_of(control: Locator) -> float:
    """The upper edge of a control with its label."""
    box = control.bounding_box()
    assert box is not None
    return box["y"]


def test_fields_stand_at_one_height_and_show_what_is_chosen(page: Page, server: Server) -> None:
    """Also the field whose chosen name is longer than itself, and columns with long names."""
    page.goto(f"{server.url}/plan")
    hand = Hand(settled(page))
    hand.choose("Columns", "hours_per_week", "age")
    hand.choose("By", "sex", "race")
    hand.choose("Statistic", "Slope")
    form = page.locator(".st-key-plan_form")
    columns, by, statistic = (
        form.locator(selector) for selector in (".stMultiSelect >> nth=0", ".stMultiSelect >> nth=1", ".stSelectbox")
    )
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        settled(page)
        tags = form.locator("[data-tag]")
        assert tags.count() == 4 and all(tag.evaluate(INSIDE) for tag in tags.all()), width
        if width > 640:
            assert top_of(columns) == top_of(by) == top_of(statistic), width
            field, button = form.get_by_role("spinbutton"), form.get_by_role("button", name="Add")
            assert abs(top_of(field) - top_of(button)) < 8, width


def test_the_line_on_top_of_a_private_table_takes_two_lines_beside_controls(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/{OWN_FILE}")
    hand = Hand(bring(settled(page), csv_file("survey_2023.csv", "person_id,age\n1,20\n1,30\n2,40\n")))
    hand.button("Suggest from the names")
    hand.on(page.get_by_text("A person, who may have several rows"))
    hand.button("Take person_id, by its name")
    hand.type(page.get_by_role("spinbutton", name="Maximum rows per person"), "3")
    hand.on(in_menu(page, "plan"))
    for width in (1280, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        settled(page)
        box = page.locator(".st-key-status_bar").bounding_box()
        assert box is not None and box["height"] <= LINES * MAX_LINE, width
        assert "up to 3 rows" in page.locator(".st-key-status_bar").inner_text()
