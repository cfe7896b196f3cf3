"""Old addresses: each leads to the page or the lesson that has what it showed, with its settings."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from starlette.requests import Request
from streamlit.testing.v1 import AppTest

from pages.shell.addresses import LESSONS, MOVED, PAGES, WORKBENCHES, routes
from tests.pages.opening import FILES, opened, sound, switch_page, texts, visitor

OPENED_BY = {address: file for file, address in FILES.items()}
"""The script of each page, by its address."""
DIRECTIONS = "vectors=penguins&angle=40&margin=0.1&halfspaces-directions=32&epsilon=0.5"
RANDOM = "sparse=figure-2&grid-rows=3000&planned=3&sparse_histogram-gamma=0.2&epsilon=0.5"


def redirected(old: str, query: str = "") -> str:
    """Where the server sends a browser that asks for an old address."""
    [route] = [each for each in routes("/") if each.path == f"/{old}"]
    scope = {"type": "http", "method": "GET", "path": f"/{old}", "query_string": query.encode(), "headers": []}
    return str(route.endpoint(Request(scope)).headers["location"])


def at(link: str) -> AppTest:
    """The page that a relative address opens, by its file."""
    address = urlsplit(link)
    return sound(visitor(f"{OPENED_BY[address.path.removeprefix('./')]}?{address.query}").run())


@pytest.mark.parametrize("old", MOVED)
def test_every_old_address_leads_to_a_page_with_and_without_settings(old: str) -> None:
    addresses = {page.address for page in PAGES}
    for query in ("", "seed=3&label=a%20b"):
        address = urlsplit(redirected(old, query))
        assert address.path.startswith("./") and address.path.removeprefix("./") in addresses
        assert address.query.endswith(query)


@pytest.mark.parametrize("old", [old for old, lesson in {**LESSONS, **WORKBENCHES}.items() if lesson == "directions"])
def test_an_old_link_to_directions_opens_its_settings(old: str) -> None:
    app = at(redirected(old, DIRECTIONS))
    assert app.selectbox(key="vectors").value == "penguins" and app.slider(key="angle").value == 40
    assert app.slider(key="margin").value == 0.1 and app.select_slider(key="halfspaces-directions").value == "32"
    assert app.number_input(key="epsilon").value == 0.5 and not app.warning
    assert "40° from “longer bill”" in texts(app)


@pytest.mark.parametrize("old", [old for old, lesson in {**LESSONS, **WORKBENCHES}.items() if lesson == "random"])
def test_an_old_link_to_random_privacy_opens_its_settings(old: str) -> None:
    app = at(redirected(old, RANDOM))
    assert app.selectbox(key="sparse").value == "figure-2" and app.select_slider(key="grid-rows").value == "3000"
    assert app.slider(key="planned").value == 3 and app.number_input(key="sparse_histogram-gamma").value == 0.2
    assert app.number_input(key="epsilon").value == 0.5 and not app.warning
    assert "400 cells and 3,000 rows" in texts(app)


@pytest.mark.parametrize(("old", "lesson"), LESSONS.items())
def test_an_old_name_alone_opens_the_lesson_with_a_link_to_all_its_settings(old: str, lesson: str) -> None:
    app = at(redirected(old))
    assert app.query_params == {"lesson": lesson} and f"{lesson}-shown" in [each.key for each in app.toggle]
    [link] = [each.proto for each in app.get("page_link") if each.proto.label.startswith("All settings")]
    assert link.query_string.lstrip("?") == f"lesson={lesson}&view=data"
    settings = sound(opened("learn/page.py", lesson=lesson, view="data"))
    assert [each.proto.label for each in settings.get("page_link")].count("← The lesson") == 1


@pytest.mark.parametrize(("old", "lesson"), WORKBENCHES.items())
def test_an_old_workbench_opens_all_settings(old: str, lesson: str) -> None:
    assert redirected(old) == f"./learn?lesson={lesson}&view=data"


@pytest.mark.parametrize(("lesson", "key"), [("directions", "angle"), ("random", "planned")])
def test_controls_on_both_sides_of_a_lesson_keep_their_values(lesson: str, key: str) -> None:
    app = sound(opened("learn/page.py", lesson=lesson, view="data"))
    sound(app.slider(key=key).set_value(5).run())
    app.query_params.clear()
    sound(switch_page(app, f"learn/page.py?lesson={lesson}").run())
    assert key not in [each.key for each in app.slider]
    sound(app.toggle(key=f"{lesson}-shown").set_value(True).run())
    app.query_params.clear()
    sound(switch_page(app, f"learn/page.py?lesson={lesson}&view=data").run())
    assert app.slider(key=key).value == 5
    app.query_params.clear()
    sound(switch_page(app, f"learn/page.py?lesson={lesson}").run())
    assert app.toggle(key=f"{lesson}-shown").value
