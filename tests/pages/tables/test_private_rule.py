"""The private rule on Tables: numbers are the core's, any class of rules runs, private rows stay unseen."""

from __future__ import annotations

import math

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.data.reading.tables import read_table
from dpcore.data.sources import Uploaded
from dpcore.limits.attacks.class_text import MAX_BYTES
from pages.charts.picture import Curve, Rule, numbers
from pages.charts.words import percent
from pages.data.upload import SessionFile
from pages.tables.learner import error_chances, population_excess
from tests.pages.drawn_charts import drawn
from tests.pages.lessons import checked
from tests.pages.opening import opened, printed_by_code, sound, texts, visitor

CHARTS = {"learner_errors_chart", "marginals_worst_chart", "learner_population_chart"}
SMALL = {"view": "A private rule", "cube_rows": "1000", "cube_attributes": "4", "epsilon": "2"}
PEOPLE = b"age,smokes,ill\n" + b"".join(
    b"%d,%s,%s\n" % (20 + 10 * (i % 5), b"yes" if i % 2 else b"no", b"yes" if i % 2 and i % 5 > 2 else b"no")
    for i in range(60)
)


def with_private_rules(*, private: bool = True) -> AppTest:
    """The page with a held file: is a person ill, by age and smoking?"""
    held = SessionFile(origin=Uploaded(table=read_table(PEOPLE, name="own.csv"), private=private, digest="0"), turn=1)
    app = visitor("tables/page.py")
    app.query_params["view"] = "A private rule"
    app.query_params["rule-label"] = "3"
    app.session_state["file"] = held
    app.session_state["cube"] = "my-file"
    app.session_state[f"{held.prefix}cube-columns"] = ["age", "smokes", "ill"]
    for place, text in enumerate((">= 30, >= 50", "yes", "yes")):
        app.session_state[f"{held.prefix}cube-{place}"] = text
    return sound(app.run())


def test_the_rule_of_an_own_table_is_found_and_released() -> None:
    app = with_private_rules(private=False)
    assert set(drawn(app)) >= CHARTS and not app.error
    best = next(each.value for each in app.markdown if each.value.startswith("Without privacy"))
    assert "smokes is yes" in best and "at least 50" in best and "**0%**" in best
    assert any(r"\mathrm{err}(h)" in each.value for each in app.latex)


def test_private_rows_show_a_promise_until_their_owner_asks() -> None:
    app = with_private_rules()
    assert set(drawn(app)) == {"promises_chart"} and "**No values of your rows are shown" in texts(app)
    sound(app.toggle(key="steward_choice").set_value(True).run())
    assert set(drawn(app)) >= CHARTS and not any(each["download"] for each in drawn(app).values())


@pytest.mark.parametrize("kind", ["intervals", "table"])
def test_other_classes_of_rules_run(kind: str) -> None:
    app = sound(opened("tables/page.py", **SMALL, rule_kind=kind))
    assert set(drawn(app)) >= CHARTS and not app.error
    if kind == "table":
        area = app.text_area[0]
        assert str(area.value).split("\n")[0] == "0,1,0,1,0,1,0,1"
        for bad, words in (
            ("0,1", "The matrix needs 8 columns"),
            ("nan,0,0,0,0,0,0,0", "this is not a decimal number"),
            ("0.5,0,0,0,0,0,0,0", "zeros and ones only"),
            ("1," * MAX_BYTES, "which is too long"),
            ("\n".join(["0,0,0,0,0,0,0,1"] * 513), "At most 512"),
        ):
            sound(area.set_value(bad).run())
            assert words in app.error[0].value and not drawn(app), bad[:20]


def test_the_code_gives_the_release_that_is_shown() -> None:
    app = sound(opened("tables/page.py", **SMALL))
    released = app.header[0].value.split("`")[1]
    assert released in printed_by_code(app, key="learner_code_open")


def test_pictures_have_the_exact_chances_and_both_bounds() -> None:
    errors, law = np.array([0.1, 0.3, 0.1, 0.2]), np.array([0.5, 0.1, 0.2, 0.2])
    picture = error_chances(errors, law)
    checked(picture)
    curve = picture.one(Curve)
    assert numbers(curve.x).tolist() == [0.1, 0.2, 0.3] and numbers(curve.y) == pytest.approx([0.7, 0.9, 1.0])
    assert picture.one(Rule, role="true").x == 0.1 and percent(0.1) in picture.sentence
    excess = population_excess(50, n=1000, epsilon=0.5)
    checked(excess)
    private, plain = (excess.one(Curve, role=role) for role in ("mechanism:learner", "other-1"))
    at = int(np.argmin(np.abs(numbers(private.x) - 1000)))
    n = float(numbers(private.x)[at])
    assert float(numbers(plain.y)[at]) == pytest.approx(2 * math.sqrt(math.log(2 * 50 / 0.05) / (2 * n)))
    assert float(numbers(private.y)[at]) == pytest.approx(
        2 * math.sqrt(math.log(4 * 50 / 0.05) / (2 * n)) + 2 / (0.5 * n) * math.log(100 / 0.05)
    )
