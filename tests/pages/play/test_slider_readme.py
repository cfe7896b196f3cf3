"""README names the mechanisms whose pictures follow the slider as the app opens, and those which are drawn at rest."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dpcore.mechanisms import serving
from dplab.measure import finish
from dplab.recipe import DEFAULT_RECIPE
from pages.play.pictures import View
from pages.play.slider_states import encode_stops, stop_reports
from tests import ROOT

SAID = re.compile(
    r"slider updates these mechanisms' charts while you drag:\s(.*?)\.\sThose of\s(.*?)\sare updated when you release",
    re.DOTALL,
)


def named(words: str) -> set[str]:
    """Titles between semicolons, however the lines are broken."""
    return set(" ".join(words.split()).split("; "))


@pytest.mark.full
def test_readme_says_whose_pictures_follow_the_slider() -> None:
    dataset = DEFAULT_RECIPE.source.dataset()
    problem, view = DEFAULT_RECIPE.problem(dataset), View(clean=False, log=False, query=None)
    follows: dict[bool, set[str]] = {True: set(), False: set()}
    for entry in serving(problem.queries):
        recipe = replace(DEFAULT_RECIPE, entry_key=entry.key, values=(("epsilon", 1.0),))
        state = recipe.mechanism().prepare(dataset, problem)
        result = finish(stop_reports(recipe, dataset, state))
        sent = finish(encode_stops(result, dataset, view, beta=recipe.beta, badge="true", dark=False))
        follows[sent is not None].add(entry.title)
    said = SAID.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert said and follows == {True: named(said[1]), False: named(said[2])}
