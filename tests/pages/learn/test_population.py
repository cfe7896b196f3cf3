"""The lesson on populations: chances read off the picture are the exact law's and the pairs'."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.core import Floats
from dpcore.limits.bounds import distributional, net_samples, odds
from dplab.limits.split_samples import split_losses
from dplab.measure import finish
from pages.charts.picture import Curve, Picture, Rule, numbers
from pages.charts.words import significant
from pages.learn.population import figure
from pages.learn.population.lesson import without_replacement
from tests.pages.drawn_charts import drawn
from tests.pages.lessons import sound
from tests.pages.opening import HOSPITALS, texts, visitor
from tests.pages.opening import sound as sound_page
from tests.pages.uploads import uploaded

NET = np.array([0.5, 4.0, 5.0])


def picture(*, epsilon: float = 0.1, net: Floats = NET, guess: float = 0.0) -> Picture:
    apart = distributional.separation(n=10_000, epsilon=epsilon)
    return sound(figure.separation(folded=apart, net=net, n=10_000, limit=0.275, guess=guess))


def read(curve: Curve, loss: float) -> float:
    """The chance above a loss: the height of the last step that begins before it."""
    assert curve.step
    return float(numbers(curve.y)[np.flatnonzero(numbers(curve.x) < loss)[-1]])


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("net", [NET, np.linspace(1, 60, 30)], ids=["short", "long"])
def test_a_chance_read_off_the_picture_is_that_of_the_loss(epsilon: float, net: Floats) -> None:
    shown = picture(epsilon=epsilon, net=net)
    apart = distributional.separation(n=10_000, epsilon=epsilon)
    folded, beside = shown.one(Curve, role="theory"), shown.one(Curve, role="mechanism:net")
    for loss in (0.6 * epsilon, 1.0, 1.3, 1.99, 4.5, 30.0):
        assert read(folded, loss) == pytest.approx(apart.loss_reaches(loss), abs=1e-9), loss
        assert read(beside, loss) == pytest.approx(float((net >= loss).mean())), loss
    # Long losses take equal factors: at loss 1 there is still something to see.
    assert shown.x.log == (net.max() > figure.LONG)


def test_rules_sentence_and_table_say_the_same() -> None:
    shown = picture(guess=0.25)
    assert shown.one(Rule, role="ink").x == 0.1 and shown.one(Rule, role="quiet").x == 1.0
    assert shown.one(Rule, role="guess").y == 0.25
    assert "27.5% of all pairs have a privacy loss of 1 or more (you guessed 25%)" in shown.sentence
    assert "Half of 3 pairs of net-mechanism outputs have at least 4." in shown.sentence
    rows = list(zip(shown.table["what"], shown.table[shown.x.title], shown.table["chance"], strict=True))
    assert [row[1:] for row in rows if row[0].startswith("net")] == [
        (0.5, 1.0),
        (4.0, pytest.approx(2 / 3)),
        (5.0, pytest.approx(1 / 3)),
    ]
    folded = {loss: chance for name, loss, chance in rows if name == "folded count"}
    assert folded[0.0] == pytest.approx(1) and folded[1.0] == pytest.approx(0.275, abs=1e-3)
    curve = shown.one(Curve, role="theory")
    assert curve.hover is not None and len(curve.hover) == len(numbers(curve.x))
    # Where the curve falls after a loss, pointing at it says the chance of that loss.
    assert curve.hover[int(np.argmin(np.abs(numbers(curve.x) - 1)))] == "folded count 1: 27.5%"


def test_losses_that_occur_and_how_often() -> None:
    apart = distributional.separation(n=1000, epsilon=0.1)
    losses, chances = apart.chances()
    assert len(losses) == apart.modulus and losses[-1] == pytest.approx(0.1 * (apart.modulus - 1))
    assert chances.tolist() == [apart.loss_reaches(float(loss)) for loss in losses]
    few, _ = apart.chances(limit=5)
    assert len(few) == 5 and few[-1] == losses[-1]
    found, share = net_samples.reaching(np.array([2.0, 1.0, 2.0, 3.0]))
    assert found.tolist() == [1, 2, 3] and share.tolist() == [1, 0.75, 0.25]


def test_who_says_whether_the_sample_is_one_database_tells_its_neighbours_apart_for_certain() -> None:
    assert "publish whether its sample is one database D*. This is not differentially private." in without_replacement(
        100
    )
    sample = (0, 1, 0)
    neighbours = [other for other in product(range(2), repeat=3) if sum(np.array(other) != sample) == 1]
    right = [((sample == sample) + (other != sample)) / 2 for other in neighbours]
    assert len(neighbours) == 3 and set(right) == {1.0}
    # No ε that can be printed, and no δ below 1, allows that.
    assert all(odds.best_guess(0.5, epsilon=epsilon, delta=0.999) < 1 for epsilon in (0.01, 1.0, 10.0, 30.0))


def with_private_halves() -> AppTest:
    """The two hospitals about a private column."""
    app = visitor(HOSPITALS)
    app.session_state["upload"] = uploaded(private=True)
    app.session_state["data"] = "my-file"
    return sound_page(app.run())


def test_halves_of_private_rows_are_compared_for_their_owner_alone() -> None:
    app = with_private_halves()
    assert not drawn(app) and "how their halves differ would reveal them" in app.info[0].value
    sound_page(app.toggle(key="steward_choice").set_value(True).run())
    (chart,) = drawn(app).values()
    assert not chart["download"] and "not protected: made" in texts(app)


def test_two_hospitals_show_the_loss_of_halves_of_the_data_in_use() -> None:
    """The header's loss is that of the module at these settings.

    The scores of an output on both halves differ. A loss is ε/2m times the furthest that a difference lies from some
    mean of all of them. That mean moves with ε, so the loss per ε may double or halve, but not more.
    """
    losses = []
    for epsilon in ("0.01", "0.1"):
        app = visitor(HOSPITALS)
        app.query_params["hospital-epsilon"] = epsilon
        app.query_params["hospital-points"] = "2"
        words = texts(sound_page(app.run()))
        memory = app.session_state["memory"]
        (dataset,) = (value for key, value in memory.items() if key.startswith("dataset|"))
        splits = split_losses(
            dataset.records, cells=dataset.domain.size, ordered=True, points=2, epsilon=float(epsilon), splits=100,
            seed=1,
        )  # fmt: skip
        of_module = finish(splits).quantile(0.05)
        (header,) = (each.value for each in app.header if "splits the loss" in each.value)
        assert header.split(" is ")[1].startswith(f"at most {significant(of_module)}, ")
        losses.append(of_module)
        assert "Definition 7.2" in words and "can refute it and never prove it" in words
    assert 5 * losses[0] <= losses[1] <= 20 * losses[0] and losses[1] > 3 * 0.1
