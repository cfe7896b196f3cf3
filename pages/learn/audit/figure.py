"""Pictures of the audit: the ε shown by runs against the claim, and the outcomes on both data sets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpcore.core import exactly, rounded_down
from dplab.audit.sampled import ROUND_SIZES, Audit
from pages.charts.picture import Axis, Bars, Dots, Picture, Region, Rule
from pages.charts.words import percent, percent_down, percent_up
from pages.learn.pictures import lesson_picture


def loss(audit: Audit | None, *, epsilon: float, at_random: bool = False) -> Picture:
    """Return the lower bound on ε of each look; a true claim keeps all of them below it.

    Args:
        audit: None before the first run.
        epsilon: claimed.
        at_random: whether the claim is only about randomly sampled rows, which these runs cannot refute.
    """
    batches = () if audit is None else audit.rounds
    shown_epsilons = [batch.epsilon for batch in batches]
    top = max(1.8 * epsilon, 1.3 * max(shown_epsilons, default=0.0))  # room for the label above the dots
    runs = np.cumsum([batch.runs for batch in batches])
    impossible, claimed = "impossible if the claim is true", "claimed"
    if at_random:
        impossible, claimed = "impossible if the claim held for all data", "claimed for random rows"
    verdict = "" if audit is None else audit.sentence_for_all if at_random else audit.sentence
    return lesson_picture(
        title="ε shown by the test, and ε claimed",
        x=Axis(
            title="runs on each data set", log=True, low=0.7 * ROUND_SIZES[0], high=2 * sum(ROUND_SIZES), form="~s",
            ticks=(1e3, 1e4, 1e5, 1e6),
        ),
        y=Axis(title="lower bound on ε from each test", low=0, high=top, form="~g"),
        marks=[
            Region(role="impossible", y=(epsilon, top), label=impossible, corner="top right"),
            Rule(role="theory", y=epsilon, label=f"{claimed}: ε = {exactly(epsilon)}", below=True),
            Dots(
                role="released", name="shown by a test", x=runs, y=shown_epsilons, size=11, legend=False,
                hover=[
                    f"{batch.counted:,} counted runs: {batch.hits[0]:,} against {batch.hits[1]:,} hits, so "
                    f"ε is at least {rounded_down(batch.epsilon)}"
                    for batch in batches
                ],
            ),
        ],
        sentence="" if audit is None else f"{verdict} Each dot is a test with its own runs. All tests together are "
                                          f"wrong with probability at most {percent_up(audit.failure)}.",
    )  # fmt: skip


def scores(audit: Audit | None) -> Picture:
    """Return the scores of the last look's runs on both data sets, with the cut that defines the event."""
    last = None if audit is None else audit.rounds[-1]
    edges = np.linspace(-1, 1, 3) if last is None else last.edges
    shares = np.zeros((2, len(edges) - 1)) if last is None else last.shares
    top = 1.15 * max(0.1, float(shares.max()))
    marks = [
        Bars(
            role=role, name=f"data set {name}", start=edges[:-1], end=edges[1:], value=share, opacity=0.75,
            hover=[f"data set {name}: {percent(float(each))} of the runs" for each in share],
        )
        for role, name, share in zip(("other-0", "other-1"), "AB", shares, strict=True)
    ]  # fmt: skip
    picture = lesson_picture(
        title="Outcomes on both data sets",
        x=Axis(title="← more likely B · estimated log-likelihood ratio · more likely A →", form="~g"),
        y=Axis(title="share of runs", low=0, high=top, form=".0%"),
        marks=[*marks, *([] if last is None else [Rule(role="ink", x=last.event.cut, label="cut")])],
        sentence="" if last is None else _counted(last.event.upward, last.hits, last.counted, last.more, last.fewer),
    )
    table = {"score from": edges[:-1].tolist(), "to": edges[1:].tolist()}
    return replace(picture, table=table | {"A": shares[0].tolist(), "B": shares[1].tolist()})


def _counted(upward: bool, hits: tuple[int, int], counted: int, more: float, fewer: float) -> str:
    """Return the counts beyond the cut, and the bounds on their probabilities, as a sentence."""
    first, second, side = ("A", "B", "right") if upward else ("B", "A", "left")
    return (
        f"Hits lie to the {side} of the cut or on it: {hits[0]:,} on {first}, {hits[1]:,} on {second}, of "
        f"{counted:,} counted runs each. The probabilities are at least {percent_down(more)} and at most "
        f"{percent_up(fewer)}."
    )
