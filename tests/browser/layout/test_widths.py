"""Nothing overlaps and nothing is cut: words and controls of every page and lesson, from a phone to a projector."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Literal

import pytest
from playwright.sync_api import Page, ViewportSize

from pages.learn.lecture.plan import LECTURE
from pages.learn.view import LESSONS, PRINTED, TEACHERS, THEOREMS
from tests.browser.layout.faults import faults
from tests.browser.pages.test_words import LINKS
from tests.cases import full_but
from tests.kit.browser import Server, bring, csv_file, go_to, press_button, see, visit
from tests.kit.rest import settled

SIZES = [
    ViewportSize(width=width, height=height)
    for width, height in ((1280, 900), (860, 900), (390, 844), (1024, 768), (1440, 900), (1920, 1080))
]
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PEOPLE = csv_file("people-of-a-rather-long-name.csv", "id,age,monthly_income,region\n1,31,1200,North\n2,52,900,South\n")
PLACES = {
    **LINKS,
    "penguins": "?data=penguins.body_mass_g",
    "map": "?data=cities.longitude*latitude&trials=100",
    "lists": "tables?view=Decision+lists",
    "boxes": "tables?view=Boxes",
    "wall": "learn",
    **{key: f"learn?lesson={key}" for key in (TEACHERS, LECTURE, PRINTED, THEOREMS, *LESSONS)},
    "ask-again": "learn?lesson=attack-me&attack-me-shown=true&attack-me-picture=Ask+again",
}
"""The link to each page, view and lesson."""


def open_more(page: Page) -> None:
    see(page, "More")


def show_what_happens(page: Page) -> None:
    page.get_by_text("Show what happens", exact=True).click()


def next_picture(page: Page) -> None:
    page.locator(".st-key-lesson_switch [role=radio][aria-checked=true] + [role=radio]").click()


def picture_steps(lesson: str) -> tuple[Callable[[Page], object], ...]:
    """Return one step to each further picture of a lesson."""
    pictures = getattr(import_module(getattr(LESSONS[lesson].show, "__module__", "")), "VIEWS", ("",))
    return (next_picture,) * (len(pictures) - 1)


STEPS: dict[str, tuple[Callable[[Page], object], ...]] = {
    **{lesson: (show_what_happens, *picture_steps(lesson)) for lesson in LESSONS},
    **dict.fromkeys(("tables", "one-number", "conversation"), (open_more,)),
    "own-file": (lambda page: bring(page, PEOPLE), lambda page: go_to(page, "plan")),
    "plan": (lambda page: press_button(page, "Load an example"),),
}
"""What is done on a page between one look at all widths and the next."""


@pytest.mark.parametrize("name", full_but(PLACES, "penguins", "own-file", "median"))
def test_nothing_overlaps_or_is_cut_at_any_width(page: Page, server: Server, name: str) -> None:
    visit(page, server, PLACES[name])
    found = {}
    for state, step in enumerate((None, *STEPS.get(name, ()))):
        if step:
            step(page)
        # Places do not depend on the theme: one half of the widths is seen in each, another one in the next state. Of a
        # lesson's further pictures one half is seen, in one theme.
        themes = [*enumerate(THEMES)]
        for half, theme in themes[state // 2 % 2 :][:1] if step is next_picture else themes:
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            for size in SIZES[(half + state) % 2 :: 2]:
                page.set_viewport_size(size)
                # A busy machine may still be drawing a picture in its new size.
                if faults(settled(page)) and (last := faults(settled(page, idle=1))):
                    found[state, size["width"], theme] = last
    assert not found
