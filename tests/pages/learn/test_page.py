"""Limits without a browser: every lesson asks before it shows, and takes bad links in its stride."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Slider

from dpcore.core import Neighbours, rounded_down, rounded_up
from dpcore.limits.attacks import halves, vc
from dpcore.limits.attacks.group_counts import SUBSET_SUMS
from dpcore.limits.attacks.named_classes import NAMED, NamedClass
from dpcore.limits.bounds import median, minimax, net_samples
from dpcore.mechanisms.histograms.sparse import lone_row_chance
from dpcore.randomness import Preview
from dplab.limits import medians
from dplab.limits.reconstruction import attackable_entries, release_half
from pages.charts.words import significant
from pages.data import tab_storage
from pages.learn.median import lesson as median_lesson
from pages.learn.vc import lesson as vc_lesson
from pages.learn.view import LESSONS
from tests import ROOT
from tests.cases import full_but
from tests.pages import opening
from tests.pages.drawn_charts import drawn, helped

MAIN = ROOT / "pages" / "main.py"


def opened(**link: str) -> AppTest:
    """Limits, opened by a link whose names may be written with _ for -."""
    return opening.sound(opening.opened("learn/page.py", **link))


def texts(app: AppTest) -> str:
    """All words of the page, with the sentences of its pictures."""
    kinds = ("markdown", "caption", "error", "info", "warning")
    words = [str(getattr(element, "value", "")) for kind in kinds for element in app.get(kind)]
    return "\n".join([*words, *helped(app), *(chart["sentence"] for chart in drawn(app).values())])


VC = dict(
    zip(vc_lesson.VIEWS, ("vc_recovered_chart", "vc_run_chart", "vc_accuracy_chart", "vc_worlds_chart"), strict=True)
)
DIMENSION = {"dimension_matrix_chart"}


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_asks_before_it_shows(lesson: str) -> None:
    app = opened(lesson=lesson)
    (before,) = drawn(app).values()
    assert "hidden until you have guessed" in before["sentence"] and not before["download"]
    assert all(trace["type"] == "heatmap" for trace in before["data"] if any(trace.get("x") or ()))
    assert not re.search("mean|measured", str(before["layout"]["annotations"]))
    assert "Guess first" in texts(app) and "you guessed" not in texts(app).lower()
    app.toggle(key=f"{lesson}-shown").set_value(True).run()
    assert not app.exception, [each.message for each in app.exception]
    (after,) = drawn(app).values()
    assert "hidden" not in after["sentence"] and after["download"] and not app.error
    page_text = texts(app)
    assert "Reference:" in page_text and "you guessed" not in page_text.lower()
    assert "your guess" not in str(after["layout"])
    key = f"{lesson}-guess"
    if any(each.key == key for each in app.radio):  # none is judged before it is chosen
        assert "Your guess was" not in page_text
        chosen = app.radio(key=key)
        chosen.set_value(chosen.options[0]).run()
        assert not app.exception and not app.warning and "**Your guess was wrong.**" in texts(app)
        return
    # Who never touched the control has guessed nothing.
    assert "the slider was at" in page_text.lower() and "Your guess was" not in page_text
    (guess,) = (each for each in (*app.slider, *app.select_slider) if each.key == key)
    ends = (guess.min, guess.max) if isinstance(guess, Slider) else (guess.options[0], guess.options[-1])
    guess.set_value(ends[0] if guess.value != ends[0] else ends[1]).run()
    page_text = texts(app).lower()
    assert not app.exception and not app.warning and "you guessed" in page_text and "the slider was" not in page_text
    assert "**your guess was " in page_text, "a lesson ends in a verdict"


def test_a_guess_about_another_question_is_known_as_such_after_a_reload_and_tells_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tab: dict[str, Any] = {}

    def storage(*, key: str, data: dict[str, Any], on_restored_change: Callable[[], None]) -> None:
        if data["text"]:
            tab[data["item"]] = data["text"]
        elif data["restore"] and data["item"] in tab:
            st.session_state[key] = SimpleNamespace(restored=tab[data["item"]])
            st.button("Restore", key="restore", on_click=on_restored_change)

    monkeypatch.setattr(tab_storage, "_storage", storage)
    link = {"lesson": "vc", "vc_shown": "true", "vc_guess": "70"}
    app = opened(**link)
    app.number_input(key="vc-epsilon").set_value(1.1).run()
    assert "before, you guessed 70%" in texts(app)
    (stored,) = tab.values()
    assert set(json.loads(stored)) == {"guess", "asked", "broken"} and "attacker" not in stored
    other = opened(**link, vc_epsilon="1.1")  # the same address in a new session of the tab
    assert "before, you guessed" not in texts(other), "the control: nothing is known before the tab tells it"
    other.button(key="restore").click().run()
    assert "before, you guessed 70%" in texts(other)
    other.slider(key="vc-guess").set_value(60).run()
    assert "you guessed 60%" in texts(other) and "efore, you guessed" not in texts(other)
    for nonsense in ("[]", "{", '{"guess": 70, "asked": [], "broken": 7}', "[" * 1999):
        tab["dpscope-guess-vc"] = nonsense
        other = opened(**link, vc_epsilon="1.1")
        other.button(key="restore").click().run()
        assert not other.exception and "you guessed 70%" in texts(other)


def test_a_guess_is_not_held_against_another_question() -> None:
    app = opened(lesson="vc", vc_shown="true", vc_guess="70")
    assert "you guessed 70%" in texts(app) and "efore, you guessed" not in texts(app)
    app.number_input(key="vc-epsilon").set_value(1.1).run()
    assert not re.search("(?<!efore, )you guessed", texts(app)) and "before, you guessed 70%" in texts(app)
    asked, found = (re.search(f"{words} ε = ([0-9.]+)", texts(app)) for words in ("attacker find at", "every count at"))
    assert asked and found and asked[1] == found[1]
    app.slider(key="vc-guess").set_value(60).run()
    assert "you guessed 60%" in texts(app) and "efore, you guessed" not in texts(app)
    link = {"audit_guess": "Its claim is false", "audit_runs": "10000"}
    app = opened(lesson="audit", audit_shown="true", **link)
    assert "Your guess was" in texts(app)
    app.slider(key="audit-number").set_value(2).run()
    assert not app.exception and "Your guess was" not in texts(app)


def test_from_how_many_rows_polynomials_are_near_is_said_of_the_rows_that_were_tried() -> None:
    link = {"polynomials_width": "6", "polynomials_bias": "0.01"}
    page_text = texts(opened(lesson="polynomials", polynomials_shown="true", **link))
    assert "have an error this small from about 56,200,000" in page_text
    assert "some answers have a larger error even at" not in page_text
    link |= {"polynomials_width": "12", "polynomials_epsilon": "0.01"}
    page_text = texts(opened(lesson="polynomials", polynomials_shown="true", **link))
    assert "some answers have a larger error even at" in page_text


@pytest.mark.parametrize("walk", ["exponential", "permute-and-flip", "refusing", "stable", "search", "interval-search"])
@pytest.mark.parametrize("picture", [each for each in median_lesson.VIEWS[1:] if each != "If δ > 0"])
def test_every_mechanism_walks(walk: str, picture: str) -> None:
    link = {"median_walk": walk, "median_bits": "10000", "median_n": "201", "median_picture": picture}
    app = opened(lesson="median", median_shown="true", **link)
    exact = {"Row by row": "median_climb_chart", "Each step": "median_steps_chart"}[picture]
    assert not app.error and set(drawn(app)) == {"median_measured_chart" if walk.endswith("search") else exact}


def test_publishing_true_counts_is_caught() -> None:
    worlds = {"lesson": "vc", "vc_shown": "true", "vc_picture": "Two data sets"}
    app = opened(**worlds, vc_mechanism="noise-free")
    assert "This cannot be private at" in app.warning[0].value
    run = opened(lesson="vc", vc_shown="true", vc_mechanism="noise-free", vc_picture="One attack")
    assert "finds 32 of the 32 secret points" in texts(run)
    assert not opened(**worlds, vc_mechanism="identity").warning


@pytest.mark.parametrize("mechanism", full_but(["net", "subset-sums", "intervals-recursive"], "subset-sums"))
def test_other_releases_are_attacked(mechanism: str) -> None:
    told = ""
    for picture, chart in VC.items():
        link = {"vc_points": "16", "vc_epsilon": "10", "vc_mechanism": mechanism, "vc_picture": picture}
        app = opened(lesson="vc", vc_shown="true", **link)
        assert not app.error and not app.warning and set(drawn(app)) == {chart}
        told += texts(app)
    assert "of the 8 secret points" in told


@pytest.mark.full
def test_every_release_that_fits_is_attacked_at_once() -> None:
    app = opened(lesson="vc", vc_shown="true", vc_points="4", vc_all="true")
    assert not app.error and "Subset sums" in str(drawn(app)["vc_recovered_chart"]["data"])


@pytest.mark.parametrize("mechanism", ["identity", pytest.param("subset-sums", marks=pytest.mark.full)])
def test_ten_thousand_people(mechanism: str) -> None:
    link = {"vc_points": "10000", "vc_epsilon": "10", "vc_mechanism": mechanism, "vc_picture": "One attack"}
    app = opened(lesson="vc", vc_shown="true", **link)
    assert not app.error and not app.warning and "of the 5,000 secret points" in texts(app)


def test_ten_thousand_people_are_reconstructed() -> None:
    # What the page does with one release.
    truth = halves.random_half(Preview(1), points=10_000)[0]
    assert "net" not in attackable_entries(10_000) and {"net", "subset-sums", "intervals-recursive"} <= set(
        attackable_entries(64)
    )
    for entry in (attackable_entries(10_000)["identity"], SUBSET_SUMS, None):
        release = release_half(entry, truth, repeats=1, epsilon=10.0, sampler=Preview(2), trials=1)
        assert halves.recovered(vc.reconstruct(release), truth)[0] > 0.5


@pytest.mark.parametrize("named", NAMED, ids=lambda named: named.key)
def test_every_named_class_is_searched_and_agrees_with_its_closed_form(named: NamedClass) -> None:
    app = opened(lesson="dimension", dimension_shown="true", dimension_class=named.key)
    assert not app.error and not app.warning and set(drawn(app)) >= DIMENSION
    size: Any = app.slider(key=f"dimension-{named.key}").value
    known = named.dimension(int(size))
    assert f"The dimension is {known}." in texts(app) and f"The closed form says {known}" in texts(app)


def own(text: str) -> AppTest:
    """The lesson on a matrix that somebody wrote."""
    app = opened(lesson="dimension", dimension_shown="true", dimension_class="own")
    app.text_area(key="dimension-text").set_value(text).run()
    assert not app.exception, [each.message for each in app.exception]
    return app


def test_a_class_somebody_wrote() -> None:
    yes = own("0,0\n0,1\n1,0\n1,1")
    assert "The dimension is 2." in texts(yes) and set(drawn(yes)) >= DIMENSION and not yes.error
    assert "Scale" not in [each.label for each in yes.select_slider]
    weighed = own("0.1 0.5\n0.3 0.5\n0.2 0.5")
    assert "The dimension is 1." in texts(weighed) and "at γ = 0.1: 0.2 for point 1" in texts(weighed)
    flat = own("0.4 0.5")
    assert "The dimension is 0." in texts(flat) and set(drawn(flat)) >= DIMENSION
    assert not any("0,0" in str(value) for value in yes.query_params.values())


def test_a_class_too_large_says_at_least_and_at_most(seed: int) -> None:
    weights = np.random.Generator(np.random.SFC64(seed)).random((200, 20)).round(2)
    app = own("\n".join(",".join(map(str, row)) for row in weights.tolist()))
    assert not app.error and set(drawn(app)) >= DIMENSION
    assert re.search(r"The dimension is at least 5 \(shown by the set\) and at most [678]\.", texts(app))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0,1\n0,7731", "Query 2, point 2: this is not a decimal number between 0 and 1."),
        ("0,1\n7731", "Query 2 has 1 numbers, the first one has 2."),
        ("", "Write at least one line"),
        ("0\n" * 513, "At most 512 queries"),
        ("<b>7731</b>", "Query 1, point 1"),
    ],
)
def test_what_is_no_class_gets_one_sentence(text: str, words: str) -> None:
    app = own(text)
    assert len(app.error) == 1 and words in app.error[0].value and "7731" not in app.error[0].value
    assert not drawn(app)


def test_a_class_somebody_brings_goes_before_the_text() -> None:
    app = opened(lesson="dimension", dimension_shown="true", dimension_class="own")
    app.file_uploader(key="dimension-file").set_value(("class.csv", b"0,0\n0,1\n1,0\n1,1\n", "text/csv")).run()
    assert "The dimension is 2." in texts(app) and "4 different queries" in texts(app) and not app.error
    app.file_uploader(key="dimension-file").set_value(("class.csv", b"\xff\xfe\x00", "text/csv")).run()
    assert len(app.error) == 1 and "not a text file" in app.error[0].value


@pytest.mark.parametrize(
    ("link", "said", "not_said"),
    [
        (
            {},
            ["far more than m = 20. ", "needs a β of at least 0.225"],
            ["With more rows the folded", "(1, 0)-distributional"],
        ),
        # Ten rows differ by ten at most: a loss of 1, and a β of 0.
        ({"population_n": "10"}, ["m = 20. With more rows", "(1, 0)-distributional privacy."], ["far more"]),
        ({"population_epsilon": "1"}, ["(1, 0)-distributional privacy."], ["needs a β"]),
    ],
    ids=["usual", "few rows", "large loss"],
)
def test_what_is_said_of_the_folded_ruler_is_true_of_its_settings(
    link: dict[str, str], said: list[str], not_said: list[str]
) -> None:
    page_text = texts(opened(lesson="population", population_shown="true", **link))
    assert all(each in page_text for each in said) and not any(each in page_text for each in not_said)


def test_net_mechanisms_are_not_said_to_have_distributional_privacy() -> None:
    page_text = texts(opened(lesson="population", population_shown="true", population_n="1000"))
    assert "Nor do net mechanisms have it at the ε" in page_text
    middle = float(np.median(net_samples.draw_pairs(rows=1000, points=8, pairs=60, seed=1).losses(0.1)))
    assert 1 < middle < 1.6  # of ε = 0.1
    assert (
        f"In half of all pairs its loss is **at least {rounded_down(middle)}**, {significant(middle / 0.1)} times ε."
        in page_text
    )
    assert f"1/(n + 1)² = {significant(1 / 1001**2)}, it implies differential privacy" in page_text


def test_which_epsilon_a_net_mechanism_needs_is_measured_and_why_rows_are_not_put_back() -> None:
    app = opened(lesson="population", population_shown="true", population_picture="Largest ε for a net mechanism")
    chart = drawn(app)["population_needed_chart"]
    for n in (10, 10_000):
        most = net_samples.draw_pairs(rows=n, points=8, pairs=60, seed=1).max_epsilon(loss=1.0, beta=0.05)
        assert f"{significant(most)} at n = {n:,}" in chart["sentence"]
    page_text = texts(app)
    assert "in only about $2^{-9999}$ of pairs" in page_text and "0.02% of pairs, more than 1/(n + 1)²" in page_text


def test_what_helps_a_histogram_is_told_with_its_price() -> None:
    page_text = texts(opened(lesson="histogram", histogram_shown="true"))
    words = r"Project.* total error is then ([\d.]+) instead of ([\d.]+)\. .* may stay empty: ([\d.]+), before"
    match = re.search(words, page_text, re.DOTALL)
    assert match
    projected, plain, spared = map(float, match.groups())
    # The same promise, 8 of 64 bars full, 1,000 rows, ε = 0.5: less than half the error of noise in every bar.
    assert plain == pytest.approx(minimax.geometric_risk(cells=64, rows=1000, epsilon=0.5), rel=0.005)
    assert spared == pytest.approx(minimax.geometric_risk(cells=8, rows=1000, epsilon=0.5), rel=0.005)
    assert spared < projected < plain / 2
    assert f"γ = {rounded_up(lone_row_chance(cells=64, n=1000))} of the data sets" in page_text
    few = texts(opened(lesson="histogram", histogram_shown="true", histogram_rows="50", histogram_cells="1024"))
    assert "no such guarantee is proved" in few


def test_data_without_empty_bars_are_not_called_easier() -> None:
    full = texts(opened(lesson="histogram", histogram_shown="true", histogram_held="64"))
    assert "With 64" not in full and "three things help" not in full
    assert "With all 64 non-empty bars: " in full and "All 64 bars hold rows here." in full
    link = {"histogram_rows": "50", "histogram_cells": "1024", "histogram_held": "1024"}
    few = texts(opened(lesson="histogram", histogram_shown="true", **link))
    assert "only 50 of 1,024 bars hold rows" in few, "as many as there are rows"


@pytest.mark.parametrize("relation", list(Neighbours))
def test_reconstruction_takes_either_relation(relation: Neighbours) -> None:
    link = {"vc_points": "16", "vc_mechanism": "identity", "vc_epsilon": "1", "vc_neighbours": str(relation)}
    app = opened(lesson="vc", vc_shown="true", **link)
    page_text = texts(app)
    assert not app.error and not app.warning and set(drawn(app)) == {"vc_recovered_chart"}
    assert "β = 0: 0.0596, or 0.05 simplified. The same proof for" in page_text
    assert f"1 ({relation.words}), from" in page_text


@pytest.mark.parametrize(("n", "epsilon"), [(1, 0.01), (11, 0.1), (101, 0.1)])
def test_no_measured_median_is_where_the_picture_says_that_none_can_be(n: int, epsilon: float) -> None:
    seen = [medians.measured_chances(n=n, epsilon=epsilon, seed=1, key=key) for key in medians.SEARCHED_ENTRIES]
    most = np.exp(median.any_private_stepwise(bits=np.array(medians.MEASURED_BITS), n=n, epsilon=epsilon))
    # Not by chance: the seed is fixed, and the ends of the intervals are compared.
    assert all((each.low <= most).all() for each in seen)
