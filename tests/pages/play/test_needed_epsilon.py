"""The ε that mechanisms need: where dots stand, in which role, where a click goes, and what is said of the rest."""

from __future__ import annotations

import re

from dplab.solve import ConfirmedEpsilon, Need
from pages.charts.picture import Dots, Region, numbers
from pages.play.figures.needed_epsilon import MAX_LINES, needed_epsilon
from pages.play.target import ranking_caption
from tests.pages.reports import check

NEEDS = [
    Need(key="one", promised=2.0, simulated=ConfirmedEpsilon(epsilon=0.5, failures=30, releases=1200)),
    Need(key="two", promised=0.9, simulated=None, slow=True),
    Need(key="three", promised=None, simulated=None),
]
TITLES = {"one": "First", "two": "Second", "three": "Third"}


def test_promised_and_simulated_stand_in_their_roles_on_their_mechanism_s_line() -> None:
    picture = needed_epsilon(NEEDS, titles=TITLES, target=0.01, beta=0.05, impossible=0.1, aims={"two"})
    check(picture)
    promised, simulated = picture.one(Dots, role="theory"), picture.one(Dots, role="released")
    assert (numbers(promised.x).tolist(), numbers(promised.y).tolist()) == ([2.0, 0.9], [0, 1])
    assert (numbers(simulated.x).tolist(), numbers(simulated.y).tolist()) == ([0.5], [0])
    assert picture.y.labels == ("First", "Second"), "the third reaches it at no ε"
    assert promised.pick == [{"key": "one", "epsilon": 2.0}, {"key": "two", "epsilon": 0.9, "alpha": 0.01}]
    wall = picture.one(Region)
    assert wall.role == "impossible" and wall.x == (0.001, 0.1)


def test_the_suggested_stands_first_and_who_cannot_has_no_line() -> None:
    many = [Need(key=f"k{place}", promised=1.0 + place, simulated=None) for place in range(20)]
    titles = {need.key: need.key for need in [*NEEDS, *many]} | TITLES
    for needs, advised, first in (
        (NEEDS, "two", ("Second", "First")),
        (NEEDS, "three", ("Third", "First", "Second")),
        ([*NEEDS, *many], "k19", ("k19", "First", "Second")),
    ):
        picture = needed_epsilon(
            needs, titles=titles, target=0.01, beta=0.05, impossible=0.1, aims=set(), advised=advised
        )
        check(picture)
        assert picture.y.labels is not None and picture.y.labels[: len(first)] == first
        assert len(picture.y.labels) in (len(first), MAX_LINES) and picture.height <= 270, "one screen"
        assert len(picture.table["mechanism"]) == len(needs) and "First needs the smallest ε: 0.5" in picture.sentence


def test_the_sentence_names_the_least_those_who_cannot_and_the_wall() -> None:
    sentence = needed_epsilon(NEEDS, titles=TITLES, target=0.01, beta=0.05, impossible=0.1, aims=set()).sentence
    assert "worst error of 1%, except in 5% of releases, First needs the smallest ε: 0.5 (rounded up" in sentence
    assert "not reach it up to ε = 20: Third." in sentence
    assert "impossible (lower bound) below ε = 0.1, on all data." in sentence
    nobody = needed_epsilon(NEEDS[2:], titles=TITLES, target=0.01, beta=0.05, impossible=0, aims=set())
    check(nobody)
    assert "First needs the smallest ε: 0.5 (rounded up; simulated on these data only)" in sentence
    promised = needed_epsilon(NEEDS[1:], titles=TITLES, target=0.01, beta=0.05, impossible=0.1, aims=set()).sentence
    assert "Second needs the smallest ε: 0.9 (rounded up; guaranteed)" in promised and "simulated" not in promised
    assert nobody.sentence.startswith("No mechanism shown here reaches") and not nobody.find(Region)


def test_the_caption_counts_all_without_a_line() -> None:
    many = [Need(key=f"k{place}", promised=1.0 + place, simulated=None) for place in range(20)]
    for found, advised in (
        (NEEDS, "two"),
        (NEEDS, "three"),
        ([*many, *NEEDS[2:]], "k19"),
        ([*many, *NEEDS[2:]], "three"),
    ):
        titles = {need.key: need.key for need in found}
        lines = needed_epsilon(
            found, titles=titles, target=0.01, beta=0.05, impossible=0, aims=set(), advised=advised
        ).y.labels
        assert lines is not None
        counted = sum(map(int, re.findall(r"(\d+) more", ranking_caption(found, advised=advised))))
        assert len(lines) + counted == len(found)
