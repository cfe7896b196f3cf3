"""Means by group of private rows that may not be shown: what the declaration alone says about their margins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Floats, exactly
from dpcore.queries.groups import GroupStatistics
from dplab.intervals.planned_margins import margin_of_mean
from dplab.intervals.released import noise_law
from pages.charts.component import draw_with_table, is_dark
from pages.charts.histogram import unit_of
from pages.charts.live import encode_states, live_line, live_states
from pages.charts.picture import Axis, Curve, Picture, Region
from pages.charts.words import confidence, short_numbers, significant
from pages.play.groups.form import GroupRequest
from pages.play.slider_states import KEY
from pages.shell.controls import log_stops
from pages.shell.private.promises import BADGE, ask_rows
from pages.shell.tasks.memory import remember
from pages.shell.theorem import theorem_card

POINTS = 60
"""Sizes of a group at which margins are computed."""
CHART = "promises"


def draw_theory(request: GroupRequest, *, head: DeltaGenerator) -> None:
    """Draw the margins that a group of any size can expect; no row is read.

    Args:
        request: of the page.
        head: container of the headline.
    """
    n = ask_rows(request.source, request.neighbours, named=request.nominal)
    epsilon = float(request.values["epsilon"])
    text, picture = margin_picture(request, epsilon, n=n)
    with head:
        live_line(text, key="headline")
    draw_with_table(picture, key=CHART, badge=BADGE, title="margins by the size of a group")
    mechanism, problem = request.mechanism(), request.problem(n)
    theorem_card(
        mechanism.accuracy(problem, request.beta),
        mechanism.guarantee(replace(problem, person_rows=request.source.person_rows)),
        n=n,
        covers="for each release",
        said=text + ".",
        mechanism=request.entry.references,
    )

    def encode() -> object:
        stops = log_stops(request.entry.controls()["epsilon"])
        states = [margin_picture(request, stop, n=n) for stop in stops]
        texts = {"headline": [text for text, _ in states], f"{CHART}_chart": [""] * len(stops)}
        pictures = {f"{CHART}_chart": [picture for _, picture in states]}
        return encode_states(pictures, texts, badge=BADGE, dark=is_dark())

    others = {name: value for name, value in request.values.items() if name != "epsilon"}
    about = f"{request.queries!r}|{request.neighbours}|{request.entry.key}|{others}|{request.beta}|{n}|{is_dark()}"
    live_states(remember(f"margins|{about}", encode), key=KEY)


def margin_picture(request: GroupRequest, epsilon: float, *, n: int) -> tuple[str, Picture]:
    """Return the headline, and margins of a group's mean against the group's size, at an ε and a public n."""
    problem, mechanism = request.problem(n), request.mechanism(epsilon)
    queries = request.queries
    column = queries.domain.columns[-1]
    people = np.unique(np.geomspace(1, n, POINTS).round()).astype(np.int64)
    margin, noise = margin_of_mean(queries), noise_law(mechanism, problem)
    largest = queries.scales[0].span
    one = margin.half_width(noise, people=1, level=request.level)
    expected: Floats = one / people  # a mean's margin falls in proportion to the group's rows

    def promised(size: int) -> float:
        declared: GroupStatistics = replace(queries, min_rows=size)
        return mechanism.accuracy(replace(problem, queries=declared), request.beta).value * largest

    guaranteed = np.array([promised(size) for size in people.tolist()])
    unit, level = f" {column.unit}" if column.unit else "", confidence(request.beta)
    smallest = queries.min_rows or max(1, n // queries.count)
    kind = f"of at least {smallest:,} people" if queries.min_rows else f"of {smallest:,} people (equal groups)"
    wide = one / smallest
    text = (
        f"At ε = {exactly(epsilon)}, the mean of a group {kind} has a margin of about ± {significant(wide)}{unit}"
        if wide < largest
        else f"At ε = {exactly(epsilon)}, nothing can be said about a group {kind}"
    )
    shown, served = expected <= largest, guaranteed <= largest
    picture = Picture(
        title="Margin of a group's mean",
        x=Axis(title="people in the group", log=True, low=1, high=max(2, n), form="~s"),
        y=Axis(title=unit_of(column, "margin"), log=True, low=one / n / 2, high=2 * largest, form="~g"),
        marks=[
            Region(role="vacuous", y=(largest, 2 * largest), label="nothing can be said", corner="top right"),
            Curve(
                role="theory", name="guaranteed, all groups at once", x=people,
                y=np.where(served, guaranteed, np.nan),
            ),
            Curve(
                role=f"mechanism:{request.entry.key}", name=f"predicted margin of the noise ({level})", dash="dash",
                x=people, y=np.where(shown, expected, np.nan),
            ),
        ],
        sentence=f"{text}. Orange: the error that the theorem guarantees for all groups at once, if every group has at "
        "least so many people.",
        table={
            "people": people.tolist(),
            "predicted margin": short_numbers(expected),
            "guaranteed error": short_numbers(guaranteed),
        },
        height=360,
    )  # fmt: skip
    return text, picture
