"""A private table that nobody may see: every page of Play is full, silent on it, and draws its twin in one press."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.core import Neighbours
from dpcore.data.columns import Number
from dpcore.data.declarations import Capped
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Columns, Reading
from dpcore.data.sources import Source, Uploaded
from dpcore.data.twin import twin
from dpcore.mechanisms import catalogue
from dplab.solve import entries_by_promised_epsilon
from pages.data.upload import SessionFile
from pages.shell.private.data_in_use import MOCK_DATA
from pages.shell.tasks.memory import with_progress
from tests.cases import full_but
from tests.kit import searched
from tests.kit.chance.numbers import has_number, inflated
from tests.pages import opening
from tests.pages.drawn_charts import component, drawn, headline, sent_states
from tests.pages.opening import sound, texts, visitor

ROWS, SECRET = 613, 71.375
"""Neither number is on any page by chance."""
CSV = "\n".join([f"{SECRET},{'yes' if place % 3 else 'no'}" for place in range(ROWS)]) + "\n"
DOMAIN = Number(low=0, high=100, bits=5, missing=True)
PAGES = ("play/page.py", "one_number/page.py", "conversation/page.py", "tables/page.py")


@cache
def people() -> Table:
    """The file's rows, which a session only reads, unless it forgets the file."""
    return read_table(CSV.encode(), name="people.csv", header=False)


def opened(page: str, *, counted: bool = False, person_rows: int = 0, **state: Any) -> AppTest:
    """A page with a private headerless file in use, of so many rows a person at most, at ε = 1."""
    origin = Uploaded(table=people(), private=True, digest="d1")
    held = SessionFile(origin=origin, turn=1)
    app = visitor(page)
    app.session_state["file"] = held
    reading: Reading = Columns(names=("column 1",), on=DOMAIN)
    if person_rows:
        reading = Capped(reading=reading, person="column 2", rows=person_rows)
    app.session_state["upload"] = Source(origin=origin, reading=reading)
    told = {"data": "my-file", "cube": "my-file", f"{held.prefix}counted": counted, **state}
    if page == "play/page.py":
        told = {"epsilon": 1.0, **told}
    for name, value in told.items():
        app.session_state[name] = value
    sound(app.run())
    if page == "tables/page.py":
        app.multiselect(key=f"{held.prefix}cube-columns").set_value(["column 1", "column 2"]).run()
        app.text_input(key=f"{held.prefix}cube-0").set_value(">= 20, >= 40, >= 60").run()
        app.text_input(key=f"{held.prefix}cube-1").set_value("yes").run()
    return sound(app)


def everything(app: AppTest) -> str:
    """All that was sent to the browser of this page; what was sent deflated, as it reads there."""
    sent = [texts(app), json.dumps(list(drawn(app).values()), ensure_ascii=False)]
    sent += [str(each.proto) for kind in ("bidi_component", "page_link", "button") for each in app.get(kind)]
    return "\n".join([*map(inflated, sent), *(f"{each.label} {each.value}" for each in app.metric)])


def said(number: float, app: AppTest) -> bool:
    """Whether a number was sent, on its own and not as digits of a longer one."""
    return has_number(everything(app), number)


def chip(app: AppTest) -> str:
    (found,) = (each for each in app.get("page_link") if "database" in each.proto.icon)
    return str(found.proto.label).replace("\\", "")


@pytest.mark.parametrize("page", PAGES)
def test_a_full_page_with_nothing_of_the_file(page: str) -> None:
    app = opened(page)
    assert not app.error and not app.warning
    assert drawn(app)["promises_chart"]["title"] and len(app.metric) >= 3
    assert not any(chart["download"] for chart in drawn(app).values())
    text = everything(app)
    assert "theory: no values of your data" in text and "simulated" not in text
    assert not said(ROWS, app) and not said(SECRET, app)
    memory = repr(app.session_state.get("memory", ()))
    assert "dataset|" not in memory and "upload:" not in memory, "the file was not even read"
    assert chip(app).startswith("Private · people.csv: ") and "assumed n = 10,000" in chip(app)


def test_what_takes_long_is_seen_to_be_under_way_and_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    order = list[str]()

    def progress(key: str, work: Any, *, label: str) -> Any:
        order.append(label)
        return with_progress(key, work, label=label)

    def ranked(*entries: Any, **settings: Any) -> Any:
        order.append("ranking")
        return entries_by_promised_epsilon(*entries, **settings)

    monkeypatch.setattr("pages.shell.private.promises.with_progress", progress)
    monkeypatch.setattr("pages.play.data_independent.entries_by_promised_epsilon", ranked)
    opened("play/page.py", target="10%")
    assert order[0] == "Computing guaranteed errors." and "ranking" in order


@pytest.mark.parametrize("page", PAGES)
def test_the_twin_is_one_press_away_and_so_is_the_way_back(page: str) -> None:
    app = opened(page)
    before = set(drawn(app))
    sound(app.button(key="twin_on").click().run())
    charts = drawn(app)
    assert not app.error and set(charts) != before and "promises_chart" not in charts
    assert chip(app) == "Mock data for people.csv · n = 10,000"
    assert any(MOCK_DATA in each.value and "ε = 0" in each.value for each in app.markdown)
    text = everything(app)
    assert "true: simulated" in text and "true: private" not in text and "not protected" not in text
    assert not said(SECRET, app) and "upload:" not in repr(app.session_state["memory"])
    if page != "play/page.py":  # which keeps its recipe, and Release looks for the file's own rows
        assert isinstance(app.session_state["shown_elsewhere"].source.origin, Uploaded), "what may be released"
    sound(app.button(key="twin_off").click().run())
    assert set(drawn(app)) == before and chip(app).startswith("Private · ")


@pytest.mark.parametrize("rows", [pytest.param(1, marks=pytest.mark.full), 3])
@pytest.mark.parametrize("relation", full_but(Neighbours, Neighbours.ADD_REMOVE_ONE))
def test_where_a_person_is_protected_the_guarantee_is_theirs_and_n_is_never_told(
    rows: int, relation: Neighbours
) -> None:
    app = opened("play/page.py", counted=True, person_rows=rows, neighbours=str(relation), epsilon=0.5)
    person = f"ε = {0.5 * rows:g} (add or remove one person; per person with at most {rows} row{'s' * (rows > 1)})"
    text = everything(app)
    assert f"For a person: {person}." in text and f"Privacy guarantee: {person}, for each release." in text
    assert "one row)" not in text
    assert chip(app).endswith("assumed n = 10,000") and headline(app).endswith("of 10,000 rows")
    kept = min(ROWS, 2 * rows)  # of two persons
    assert not said(ROWS, app) and f"n = {kept}" not in text and not said(SECRET, app)
    app.session_state["why_open"] = True
    sound(app.button(key="twin_on").click().run())
    assert chip(app).endswith("n = 10,000") and "true: simulated" in everything(app)
    assert f"Privacy guarantee: {person}, for each release." in everything(app)
    assert not said(ROWS, app) and not said(SECRET, app)


@pytest.mark.parametrize("page", [each for each in PAGES if each not in ("play/page.py", "tables/page.py")])
def test_a_page_that_speaks_of_rows_does_not_take_a_file_of_persons(page: str) -> None:
    app = opened(page, person_rows=2)
    assert chip(app).startswith("Public · ") and "Your file" not in everything(app)


@pytest.mark.full
def test_the_twin_goes_from_page_to_page_and_ends_with_its_file() -> None:
    app = opened("play/page.py")
    app.button(key="twin_on").click().run()
    app.switch_page("one_number/page.py").run()
    assert chip(sound(app)).startswith("Mock data for people.csv · n = ")
    app.query_params["way"] = "My own file"
    sound(app.switch_page("data/page.py").run())
    next(each for each in app.button if each.label == "Remove this file").click().run()
    people.cache_clear()
    sound(app)
    assert "twin" not in app.session_state


@pytest.mark.full
def test_the_pictures_draw_the_very_twin_of_the_declaration() -> None:
    app = opened("play/page.py")
    sound(app.number_input(key="declared_n").set_value(2_000).run())
    app.button(key="twin_on").click().run()
    made = twin(Columns(names=("column 1",), on=DOMAIN), n=2_000).dataset()
    assert " rows in 19 of 20 simulations" in headline(sound(app))
    (state,) = (each for key, each in app.session_state["memory"].items() if key.startswith("dataset|twin:"))
    assert (state.histogram == made.histogram).all()


def test_the_slider_moves_the_promise() -> None:
    app = opened("play/page.py")
    first = headline(app), app.metric[0].value
    sound(app.number_input(key="epsilon").set_value(0.1).run())
    assert headline(app) != first[0] and app.metric[0].value != first[1] and "At ε = 0.1," in headline(app)
    states = sent_states(app)
    stops = component(app, "epsilon_slider")["stops"]
    assert len(states["texts"]["headline"]) == len(states["charts"]["promises_chart"]) == len(stops)
    assert states["texts"]["headline"][stops.index(0.1)] == headline(app)
    for mechanism in ("intervals-anchored", "intervals-recursive"):  # neither has a parameter besides ε
        sound(app.selectbox(key="mechanism").set_value(mechanism).run())
        assert sent_states(app)["texts"]["headline"][stops.index(0.1)] == headline(app)


@pytest.mark.full
def test_rows_that_were_declared_public_are_used_where_no_row_comes_or_goes() -> None:
    app = opened("play/page.py", counted=True)
    assert headline(app).endswith(f"of {ROWS} rows") and f"n = {ROWS}" in chip(app)
    assert "declared_n" not in [each.key for each in app.number_input]
    app.button(key="twin_on").click().run()
    assert chip(app).endswith(f"n = {ROWS}")
    sound(app.radio(key="neighbours").set_value(str(Neighbours.ADD_REMOVE_ONE)).run())
    sound(app.run())
    assert not said(ROWS, app), "where rows come and go, their number is private too"


@pytest.mark.parametrize(
    ("mechanism", "hangs_on_n"), [pytest.param("identity", False, marks=pytest.mark.full), ("net", True)]
)
def test_where_rows_come_and_go_the_named_number_counts(mechanism: str, hangs_on_n: bool) -> None:
    app = opened("play/page.py", neighbours=str(Neighbours.ADD_REMOVE_ONE), mechanism=mechanism)
    sound(app.number_input(key="nominal-my-file").set_value(5_000).run())
    assert headline(app).endswith("of 5,000 rows")
    assert not app.number_input(key="nominal-my-file").proto.query_param_key, "a link would give it to another's file"
    assert ("If your n is correct: with" in texts(app)) == hangs_on_n
    assert (", if your n is correct, " in headline(app)) == hangs_on_n
    assert app.metric[0].label == ("Guaranteed if n is right" if hangs_on_n else "Guaranteed worst error")
    app.button(key="twin_on").click().run()
    assert chip(sound(app)).endswith("n = 5,000") and " rows in 19 of 20 simulations" in headline(app)


def test_a_target_says_how_many_rows_it_needs() -> None:
    app = opened("play/page.py")
    sound(app.text_input(key="target").set_value("2%").run())
    assert app.metric[-1].label == "Rows to guarantee 2%"
    needed = int(app.metric[-1].value.replace(",", ""))
    app.number_input(key="declared_n").set_value(needed).run()
    promised = float(app.metric[0].value.rstrip("%"))
    assert promised <= 2
    app.number_input(key="declared_n").set_value(needed // 2).run()
    assert float(app.metric[0].value.rstrip("%")) > 2


def test_a_target_says_which_epsilon_promises_it() -> None:
    app = opened("play/page.py")
    assert "ε that guarantees" not in texts(app)
    sound(app.text_input(key="target").set_value("2%").run())
    (said,) = (each.value for each in app.markdown if each.value.startswith("ε that guarantees 2%: "))
    named = re.findall(r"(?:: |, )([^*]+?) \*\*ε = ([0-9.]+)\*\*", said)
    assert len(named) == 3 and [float(epsilon) for _, epsilon in named] == sorted(float(each) for _, each in named)
    title, epsilon = named[0]
    (key,) = (each.key for each in catalogue() if each.title == title)
    app.selectbox(key="mechanism").set_value(key).run()
    sound(app.number_input(key="epsilon").set_value(float(epsilon)).run())
    assert 1.9 < float(app.metric[0].value.rstrip("%")) <= 2
    wall = searched("Below ε = ([0-9.]+) this error is impossible", said)
    assert float(wall[1]) < float(epsilon)


@pytest.mark.parametrize(
    "question", ["stable_median", "smooth-median", "subsample_median", "subsample-near", "unbounded_mean"]
)
def test_every_question_of_one_number_has_its_page(question: str) -> None:
    app = opened("one_number/page.py", robust=question)
    assert not app.error and set(drawn(app)) == {"promises_chart"} and len(app.metric) >= 3
    assert not said(SECRET, app)


@pytest.mark.parametrize("page", full_but(["data/page.py", "learn/page.py"], "learn/page.py"))
def test_pages_that_leave_the_data_in_use_as_they_are_name_them(page: str) -> None:
    app = sound(opening.opened("play/page.py", data="cities.population"))
    named = chip(app)
    assert named.startswith("Public · Cities of the world: population")
    assert chip(sound(app.switch_page(page).run())) == named


def test_public_data_have_a_chip_and_no_way_to_a_twin() -> None:
    app = sound(opening.opened("play/page.py"))
    assert chip(app).startswith("Public · ") and not [
        each for each in app.button if each.key in ("twin_on", "twin_off")
    ]


def test_a_link_says_in_words_that_rows_come_and_go_before_the_control_has_read_it() -> None:
    app = opened("data/page.py", counted=True)
    assert chip(app).endswith(f"n = {ROWS}")
    app.query_params["neighbours"] = Neighbours.ADD_REMOVE_ONE.words
    assert not said(ROWS, sound(app.run()))
