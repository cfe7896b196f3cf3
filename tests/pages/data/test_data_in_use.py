"""One data set everywhere: pages with a choice of their own open with the sample that another page has in use."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.opening import DIRECTIONS, opened, sound, switch_page

PLAN, TABLES, DATA = "plan/page.py", "tables/page.py", "data/page.py"


def using(app: AppTest, sample: str, page: str) -> AppTest:
    """The page, opened after a sample was chosen elsewhere."""
    app = sound(switch_page(app, DATA).run())
    app.query_params.clear()  # a browser leaves the parameters of a page behind
    app.session_state["data"] = sample
    return sound(switch_page(app, page).run())


def link(app: AppTest, key: str) -> str | None:
    found = app.query_params.get(key)
    return found[-1] if isinstance(found, list) else found


@pytest.mark.parametrize(
    ("page", "key", "sample"),
    [
        (PLAN, "table", "penguins.body_mass_g"),
        (TABLES, "cube", "census.age"),
        (f"{TABLES}?view=All tables of k attributes", "tables-of", "census.age"),
        (f"{TABLES}?view=Boxes", "boxes-of", "cities.longitude*latitude"),
        (DIRECTIONS, "vectors", "penguins.body_mass_g"),
    ],
)
def test_a_page_opens_with_the_sample_in_use_and_its_link_says_so(page: str, key: str, sample: str) -> None:
    app, expected = using(opened(DATA), sample, page), sample.partition(".")[0]
    assert app.selectbox(key=key).value == link(app, key) == expected
    file, _, query = page.partition("?")
    again = sound(opened(f"{file}?{query}", **{key: expected}))  # the link, in another browser
    assert again.selectbox(key=key).value == expected and not again.warning


def test_the_sample_chosen_in_play_is_the_plans_table() -> None:
    app = sound(opened("play/page.py", data="penguins.body_mass_g"))
    assert sound(switch_page(app, PLAN).run()).selectbox(key="table").value == "penguins"


def test_another_sample_is_followed_and_one_that_the_page_does_not_offer_is_not() -> None:
    app = using(opened(TABLES), "census.age", TABLES)
    assert app.selectbox(key="cube").value == "census"
    app = using(app, "adult.age", TABLES)
    assert app.selectbox(key="cube").value == link(app, "cube") == "adult"
    assert using(app, "penguins.body_mass_g", TABLES).selectbox(key="cube").value == "adult"


def test_what_is_chosen_on_the_page_stays() -> None:
    app = using(opened(PLAN), "penguins.body_mass_g", PLAN)
    app = sound(app.selectbox(key="table").select("cities").run())
    assert app.selectbox(key="table").value == link(app, "table") == "cities"
    assert using(app, "census.age", PLAN).selectbox(key="table").value == "cities"


def test_the_default_of_the_page_can_be_chosen_there() -> None:
    app = using(opened(PLAN), "penguins.body_mass_g", PLAN)
    app = sound(app.selectbox(key="table").select("adult").run())
    assert app.selectbox(key="table").value == "adult" and link(app, "table") is None
    assert using(app, "penguins.body_mass_g", PLAN).selectbox(key="table").value == "adult"


def test_a_link_to_another_sample_wins() -> None:
    app = using(opened(DATA), "penguins.body_mass_g", f"{PLAN}?table=cities")
    assert app.selectbox(key="table").value == link(app, "table") == "cities"
    assert using(app, "census.age", PLAN).selectbox(key="table").value == "cities"
