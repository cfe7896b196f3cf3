"""What synthetic rows are good for, on the page: closed at first, then measured and modelled; refusals in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from streamlit.testing.v1 import AppTest

from dpcore.data.bundled import whole_of
from dpcore.data.product import Product
from dpcore.data.reading.tables import read_table
from dpcore.data.sources import Uploaded
from dplab.utility.measures import OTHER, SHUFFLED, SYNTHETIC, RowMeasures
from dplab.utility.models import Fit, ModelKind
from pages.charts.picture import Dots, Rule, numbers
from pages.data.upload import SessionFile
from pages.tables.marginals.usefulness import (
    AS_REAL,
    FROM_TABLES,
    MOCK,
    REAL,
    measures_picture,
    model_picture,
    refusal,
)
from tests.kit import searched
from tests.kit.chance.numbers import has_number
from tests.pages.drawn_charts import drawn
from tests.pages.lessons import interval, sound
from tests.pages.opening import sound as sound_app
from tests.pages.opening import visitor
from tests.pages.tables.opening import opened, sentence, texts

USE, MODEL = "tables_useful_chart", "tables_model_chart"


def useful(**link: str) -> AppTest:
    """The page with the rows' usefulness open."""
    app = sound_app(opened(view="All tables of k attributes", tables_seen="Synthetic rows", **link))
    assert not {USE, MODEL} & set(drawn(app)), "it is computed where it is opened alone"
    app.session_state["tables_useful_open"] = True
    return sound_app(app.run())


def modelled(app: AppTest, outcome: str, *given: str) -> AppTest:
    """The same with another model."""
    (box,) = (each for each in app.selectbox if each.label == "A model of")
    sound_app(box.select(outcome).run())
    (list_of,) = (each for each in app.multiselect if each.label == "given")
    return sound_app(list_of.set_value(list(given)).run())


def test_coefficients_are_those_of_the_file_and_more_intervals_of_released_tables_hold_them() -> None:
    app = modelled(useful(tables_of="adult-numbers", epsilon="10"), "hours_per_week", "age", "sex")
    source = whole_of("adult")
    domain, rows = source.on(Product), np.asarray(source.dataset().records)
    age, hours = (
        np.append(column.points(), np.nan)[rows[:, place]].astype(np.float64)
        for place, column in enumerate(domain.columns[:2])
    )
    male = rows[:, domain.names.index("sex")] == 1
    exact = sm.OLS(hours, sm.add_constant(np.stack([age, male], axis=1).astype(np.float64))).fit()
    told = searched(r"as if real: (\d) of 3 intervals .*; released tables: (\d) of 3", sentence(app, MODEL))
    app.session_state["tables_model_numbers"] = True
    sound_app(app.run())
    frame = next(each.value for each in app.dataframe if "real rows: coefficient" in each.value)
    np.testing.assert_allclose(frame["real rows: coefficient"].astype(float), exact.params, rtol=1e-6)
    np.testing.assert_allclose(frame["real rows: low"].astype(float), exact.conf_int()[:, 0], rtol=1e-6)
    held = [
        int(((frame[f"{kind}: low"] <= exact.params) & (exact.params <= frame[f"{kind}: high"])).sum())
        for kind in (AS_REAL, FROM_TABLES)
    ]
    assert [int(each) for each in told.groups()] == held and held[0] < held[1]


def test_the_measures_are_told_beside_other_real_rows() -> None:
    app = useful(tables_of="penguins")
    words = sentence(app, USE)
    found = searched(r"synthetic rows are off by ([\d.]+), of other real rows by ([\d.]+)\. They predict sex", words)
    made, other = map(float, found.groups())
    assert 0 < other < made < 1
    assert "They predict sex with an AUC of " in words
    assert "AUC: how well two kinds are told apart" in texts(app)


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ({"tables_of": "penguins"}, "known for a linear model, of a column of numbers"),
        ({"tables_of": "adult-numbers", "epsilon": "0.1"}, "about 2 columns: take a larger ε or fewer columns"),
    ],
)
def test_what_cannot_be_said_is_said(link: dict[str, str], why: str) -> None:
    assert why in texts(useful(**link))


def test_rows_that_fit_no_model_are_said_to() -> None:
    nothing: Any = None  # the page, which is not asked
    real = fits(off=0, wide=1)[REAL]
    assert refusal(nothing, 0, (1,), fits={REAL: real}) == "The synthetic rows fit no such model."


def fits(*, off: float, wide: float) -> dict[str, Fit]:
    """A real fit, one of rows that is off, and one of tables as wide as said."""
    names, real = ("intercept", "age"), np.array([1.0, 2.0])

    def one(values: object, errors: float) -> Fit:
        return Fit(
            names=names, values=np.asarray(values), errors=np.full(2, errors), rows=10_000, kind=ModelKind.LINEAR
        )

    return {REAL: one(real, 0.1), AS_REAL: one(real + off, 0.1), FROM_TABLES: one(real + 0.1, wide)}


def test_a_hollow_dot_is_an_interval_that_does_not_hold_the_real_rows_coefficient() -> None:
    shown = sound(model_picture(fits(off=0.5, wide=0.2)))
    line = shown.one(Rule, role="true").x
    for name, held in ((AS_REAL, 0), (FROM_TABLES, 2)):
        dots = shown.one(Dots, name=name)
        low, high = interval(dots)
        assert ((low <= line) & (line <= high)).sum() == held
        assert list(dots.hollow) == [not held] * 2
        assert f"{name}: {held} of 2 intervals" in shown.sentence[:1].lower() + shown.sentence[1:]
    assert "up to 5 standard errors off" in shown.sentence
    assert "0 of 2 intervals" not in model_picture(fits(off=0.05, wide=0.2)).sentence
    alone = model_picture({REAL: fits(off=0, wide=1)[REAL]})
    assert alone.sentence == "No other rows fit the model." and not alone.find(Dots)


def test_every_measure_has_a_line_and_what_is_not_known_has_none() -> None:
    measures = {
        kind: RowMeasures(pairs=low, triples=np.nan, associations=low, predicted=0.9 - low, told_apart=0.5 + low)
        for kind, low in ((SYNTHETIC, 0.1), (OTHER, 0.05), (SHUFFLED, 0.3))
    }
    shown = sound(measures_picture(measures, outcome="smokes"))
    assert len(shown.y.labels) == 4 and shown.y.labels[-1] == "AUC of predicting smokes"
    assert numbers(shown.one(Dots, name=OTHER).x).tolist() == [0.05, 0.05, 0.55, 0.85]
    assert "off by 0.1, of other real rows by 0.05. They predict smokes with an AUC of 0.8, real rows with 0.85" in (
        shown.sentence
    )


def test_a_private_file_is_stood_for_by_mock_rows_which_is_said_and_none_of_its_values_is_shown() -> None:
    rows = b"".join(b"%d,%d,%d,%d\n" % (17 + i % 40, 777_000 + i, i % 50, i % 9) for i in range(900))
    table = read_table(b"age,pay,hours,visits\n" + rows, name="own.csv")
    held = SessionFile(origin=Uploaded(table=table, private=True, digest="0"), turn=1)
    app = visitor("tables/page.py")
    app.query_params["view"] = "All tables of k attributes"
    app.session_state["file"] = held
    for place, high in enumerate(("120", "1000000", "60", "9")):
        app.session_state[f"{held.prefix}{place}-from"], app.session_state[f"{held.prefix}{place}-to"] = "0", high
    app.session_state["tables-of"] = "my-file"
    app.session_state["tables_useful_open"] = True
    shown = texts(sound_app(app.run()))
    assert USE in drawn(app) and MOCK in shown
    assert not any(has_number(shown, 777_000 + i) for i in range(900))
    assert MOCK not in texts(useful(tables_of="penguins"))
