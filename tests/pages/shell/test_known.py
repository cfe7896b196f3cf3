"""The picture of what is known before anybody looks at the data, and the words of the data in use."""

from __future__ import annotations

import dataclasses
import functools
import re

import numpy as np
import pytest

from dpcore import Intervals, Number, Problem, serving
from dpcore.core import Entry, Mechanism, describe_error
from dplab.limits.data_independent_summary import DataIndependentSummary, data_independent_summary, promised_error
from dplab.measure import finish
from pages.charts.picture import Curve, Dots, Picture, Rule, Wall
from pages.charts.words import guaranteed_rows, percent_up
from pages.shell.private.charts import TOP, draw_outlook
from pages.shell.private.data_in_use import escaped
from pages.shell.private.promises import Offer, headline
from tests.pages.picture_checks import whole

LINE = Number(low=0, high=64, bits=6, missing=True)
PROBLEM = Problem(domain=LINE, queries=Intervals(domain=LINE), n=2_000)
ENTRIES = {each.key: each for each in serving(PROBLEM.queries)}


def make(entry: Entry, epsilon: float) -> Mechanism:
    return entry.make(epsilon=epsilon)


@pytest.fixture(scope="module")
def found() -> DataIndependentSummary:
    makers = {key: functools.partial(make, entry) for key, entry in ENTRIES.items()}
    return finish(data_independent_summary(makers, PROBLEM, chosen="identity", beta=0.05))


def at(found: DataIndependentSummary, epsilon: float) -> Picture:
    promised = promised_error(make(ENTRIES["identity"], epsilon), PROBLEM, beta=0.05)
    titles = {key: entry.title for key, entry in ENTRIES.items()}
    return draw_outlook(found, titles=titles, chosen="identity", epsilon=epsilon, promised=promised, beta=0.05)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
def test_it_is_whole(found: DataIndependentSummary, epsilon: float) -> None:
    whole(at(found, epsilon))


def test_the_promise_is_theory_and_the_wall_impossible(found: DataIndependentSummary) -> None:
    picture = at(found, 0.5)
    promise = picture.one(Curve, role="theory")
    row = found.keys.index("identity")
    assert np.array_equal(promise.y, found.promised[row]) and np.array_equal(promise.x, found.epsilons)
    here = picture.one(Dots, role="theory")
    assert here.x == [0.5] and here.y == [found.promised[row][found.epsilons == 0.5][0]]
    wall = picture.one(Wall)
    assert found.lower_bound is not None
    low, seen = np.asarray(wall.y), np.asarray(found.lower_bound[1])
    assert wall.role == "impossible" and ((low == seen) | (seen < wall.end)).all()
    assert picture.one(Rule, role="ink").x == 0.5 and picture.y.rows == PROBLEM.n


def test_predictions_are_hollow_and_only_where_noise_is_the_same_on_all_data(found: DataIndependentSummary) -> None:
    picture = at(found, 1.0)
    predicted = [each for each in picture.find(Dots) if each.role.startswith("mechanism:")]
    known = {f"mechanism:{key}" for key, entry in ENTRIES.items() if entry.mechanism.data_independent}
    assert {each.role for each in predicted} == known and all(all(each.hollow) for each in predicted)
    assert all((np.asarray(each.y) <= TOP).all() for each in predicted)


def test_numbers_of_epsilon_stand_apart_on_a_phone(found: DataIndependentSummary) -> None:
    ticks = np.log10(at(found, 1.0).x.ticks)
    losses = np.log10(found.epsilons)
    inside = ticks[(ticks >= losses.min()) & (ticks <= losses.max())]
    least, widest = 200, 35  # pixels of the picture's inside, and of a number
    assert (np.diff(inside) * least / np.ptp(losses) > widest).all() and len(inside) > 3


def test_nothing_true_or_released_is_drawn(found: DataIndependentSummary) -> None:
    assert not {mark.role for mark in at(found, 1.0).marks} & {"true", "released"}


def test_every_stop_has_the_same_marks(found: DataIndependentSummary) -> None:
    kinds = [[(type(mark), mark.role, mark.name) for mark in at(found, epsilon).marks] for epsilon in (0.01, 1.0, 10.0)]
    assert kinds[0] == kinds[1] == kinds[2]


def test_a_share_of_a_range_counts_no_rows(found: DataIndependentSummary) -> None:
    titles = {key: entry.title for key, entry in ENTRIES.items()}
    picture = draw_outlook(
        dataclasses.replace(found, lower_bound=None), titles=titles, chosen="identity", epsilon=1.0, promised=0.1,
        beta=0.05, what="error of the mean", counted=False,
    )  # fmt: skip
    assert picture.y.rows == 0 and not picture.find(Wall) and "error of the mean" in picture.sentence


def test_names_of_files_are_no_markup() -> None:
    assert escaped("longitude × latitude, ° · ü") == "longitude × latitude, ° · ü", "no sign of Markdown's"
    told = escaped("[a](http://b) *c* :red[d] `e`.csv\n")
    assert not re.search(r"(?<!\\)[\[\]()*:`.]", told) and "\n" not in told


@pytest.mark.parametrize(
    ("promised", "said"),
    [
        (np.inf, "At ε = 0.5, Noisy counts guarantees no error on all data"),
        (1.0, "At ε = 0.5, the guaranteed error of Noisy counts, 100%, is no guarantee (100% or more)"),
        (0.2, "At ε = 0.5, whatever the data are, 95% of releases of Noisy counts have worst error of at most 20%"),
    ],
)
def test_a_promise_of_everything_or_of_no_number_is_said_to_be(
    found: DataIndependentSummary, promised: float, said: str
) -> None:
    titles = {key: "Noisy counts" for key in ENTRIES}
    picture = draw_outlook(found, titles=titles, chosen="identity", epsilon=0.5, promised=promised, beta=0.05)
    assert picture.sentence.startswith(said)


@pytest.mark.parametrize("epsilon", [0.01, 1.0])
def test_the_headline_is_the_promise_or_says_that_there_is_none(epsilon: float) -> None:
    makers = {key: functools.partial(make, entry) for key, entry in ENTRIES.items()}
    offer = Offer(
        about="test", problem=PROBLEM, makers=makers, titles={}, chosen="identity", epsilon=1.0, beta=0.05,
        of="interval", person_rows=0, covers="",
    )  # fmt: skip
    bound = make(ENTRIES["identity"], epsilon).accuracy(PROBLEM, 0.05)
    promised, told = bound.value, headline(offer, epsilon)
    if epsilon < 1:
        assert promised >= 1 and told == f"At ε = {epsilon:g}, no error is guaranteed for 2,000 rows"
    else:
        assert promised < 1
        start, end = (
            "At ε = 1, in 95% of releases the worst interval has an error of at most ",
            f": {guaranteed_rows(promised, 2_000)}",
        )
        number, _, unit = told.rpartition(": ")[2].partition(" of ")
        assert unit == "2,000 rows" and int(number) >= 2_000 * promised
        assert f"{number} rows ({percent_up(promised)} of n)" in describe_error(bound, n=2_000)
        assert told == f"{start}{percent_up(promised)}{end}"
        assert float(told.removeprefix(start).split("%")[0]) / 100 >= promised
