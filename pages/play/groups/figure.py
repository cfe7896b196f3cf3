"""The mean of every group in one release, with its intervals: one line for each group; releases can be played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.core import Booleans, Bound, Floats, Integers
from dpcore.queries.groups import GroupStatistics
from dplab.intervals.group_means import GroupMeans, declared_groups
from pages.charts.axes import MARGIN
from pages.charts.picture import Axis, Bars, Curve, Dots, Frame, Mark, Picture, Rule
from pages.charts.words import confidence, printable_labels, short_numbers, significant

MAX_LINES = 32
"""Groups on the screen, at most; the table has all of them."""
AROUND, LINE = 130, 14
"""Pixels around the lines of the groups, and of one line, at least."""
MIN_HEIGHT, MISSES_HEIGHT, MISSES_TICKS = 300, 250, 5
FRAMES = 8
"""Releases that can be played: their intervals take time at each stop of the slider."""
HALF = 0.34
"""Half the thickness of the wide bars, in lines."""
NOISE_WIDTH = 3.0
NOISE, SAMPLING, GUARANTEED = "noise", "noise and sampling", "guaranteed error"
SILENT, FEW = "nothing can be said", "too few people"


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupsView:
    """The statistics, true values and bound that the picture of groups shows besides the releases.

    Attributes:
        queries: the statistics of the groups.
        number: name of the number, with its unit.
        true_people: rows of every group, (groups,): not private.
        true_means: their means, (groups,): not private.
        bound: guaranteed error of all means, a share of the range.
        hide_below: released number of people below which a group is hidden.
        beta: one less the level of the intervals.
    """

    queries: GroupStatistics
    number: str
    true_people: Floats
    true_means: Floats
    bound: Bound
    hide_below: int
    beta: float

    @property
    def groups(self) -> Integers:
        """The declared groups in their order, (K,): reserved cells form groups that only the table has."""
        return declared_groups(self.queries)

    @property
    def populated(self) -> Integers:
        """The declared groups that have a true mean: not private."""
        return self.groups[self.true_people[self.groups] > 0]

    @property
    def shown(self) -> Integers:
        """The groups on the screen."""
        return self.groups[:MAX_LINES]

    @property
    def ends(self) -> tuple[float, float]:
        """The declared bounds of the number."""
        scale = self.queries.scales[0]
        return scale.low, scale.high

    @property
    def unit(self) -> str:
        """The number's unit after a space; empty without one."""
        column = self.queries.domain.columns[self.queries.numbers[0]]
        return f" {column.unit}" if column.unit else ""

    def names(self, groups: Integers) -> list[str]:
        """Return the printable names of groups."""
        return printable_labels(self.queries.describe(int(group)) for group in groups)

    def few(self, released: GroupMeans) -> Booleans:
        """Return which groups are hidden, (T, groups): by the released number of people alone."""
        return released.people < self.hide_below

    def silent(self, released: GroupMeans) -> Booleans:
        """Return the other groups of which nothing can be said, (T, groups)."""
        return released.noise.says_nothing & ~self.few(released)

    def margin(self, released: GroupMeans) -> float:
        """Return the median over the declared groups of the noise's margin in the first release; infinity for none."""
        hidden = (self.few(released) | self.silent(released))[0]
        widths = np.where(hidden, np.inf, released.noise.half_width[0])[self.groups]
        return float(np.quantile(widths, 0.5, method="higher"))


def headline(view: GroupsView, released: GroupMeans, *, at: str) -> str:
    """Return the headline: the margin that half of the groups keep."""
    margin = view.margin(released)
    if not np.isfinite(margin):
        return f"At ε = {at}, nothing can be said about half of the {len(view.groups):,} groups or more"
    return (
        f"At ε = {at}, half of the {len(view.groups):,} group means have a margin of at most "
        f"± {significant(margin)}{view.unit}"
    )


def group_picture(view: GroupsView, released: GroupMeans) -> Picture:
    """Return the picture of the first release, with the next ones as frames."""
    shown, names = view.shown, view.names(view.shown)
    low, high = _axis_ends(view, released)
    middle = (low + high) / 2
    states = [_marks(view, released, trial, names, middle) for trial in range(min(FRAMES, len(released.means)))]
    sentences = [_sentence(view, released, trial) for trial in range(len(states))]
    frames = [
        Frame(label=f"release {trial + 1} of {len(states)}", sentence=sentence, marks=marks)
        for trial, (marks, sentence) in enumerate(zip(states, sentences, strict=True))
    ]
    left_out = len(view.groups) - len(shown)
    return Picture(
        title="Mean of each group",
        x=Axis(title=f"mean of {view.number}", low=low, high=high, grid=True),
        y=Axis(labels=tuple(names), letters=40),
        marks=[*states[0].values(), *_fixed(view, names)],
        sentence=sentences[0],
        table=_table(view, released),
        caption=f"Bars are {confidence(view.beta)} intervals."
        + f" {left_out:,} more groups are in the table." * bool(left_out),
        height=max(MIN_HEIGHT, AROUND + LINE * len(names)),
        frames=frames,
        about=f"{view.number}|{len(names)}",
        legend_right=False,
    )


def _axis_ends(view: GroupsView, released: GroupMeans) -> tuple[float, float]:
    """Return the ends of the axis: those of all intervals that say something, and of the true means."""
    trials = slice(0, FRAMES)
    hidden = (view.few(released) | view.silent(released))[trials][:, view.shown]
    interval = released.noise if released.sampling is None else released.sampling
    ends = [
        np.where(hidden, np.nan, end[trials][:, view.shown])
        for end in (interval.low, interval.high, released.noise.low, released.noise.high)
    ]
    every = np.concatenate([*(end.reshape(-1) for end in ends), view.true_means[view.shown]])
    known = every[np.isfinite(every)]
    low, high = view.ends
    if not len(known) or not known.min() < known.max():
        return low, high
    free = MARGIN * float(known.max() - known.min())
    return max(low, float(known.min()) - free), min(high, float(known.max()) + free)


def _bar(
    name: str, low: Floats, high: Floats, *, width: float, dash: str = "", role: str = "released", legend: bool = True
) -> Curve:
    """Return a horizontal line for each group (K,), from its low to its high end; none at NaN."""
    gap = np.full(len(low), np.nan)
    places = np.where(np.isnan(low), np.nan, np.arange(len(low)))
    return Curve(
        role=role, name=name, dash=dash, width=width, legend=legend,
        x=np.stack([low, high, gap], axis=1).reshape(-1), y=np.stack([places, places, gap], axis=1).reshape(-1),
    )  # fmt: skip


def _marks(view: GroupsView, released: GroupMeans, trial: int, names: Sequence[str], middle: float) -> dict[str, Mark]:
    """Return the marks of one release, by name; hidden groups are marked at the middle of the axis."""
    shown, level = view.shown, confidence(view.beta)
    few, silent = view.few(released)[trial, shown], view.silent(released)[trial, shown]
    hidden, places = few | silent, np.arange(len(shown), dtype=np.float64)

    def said(values: Floats) -> Floats:
        return np.where(hidden, np.nan, values[trial, shown])

    noise, low, high = released.noise, *view.ends
    means, people = said(released.means), released.people[trial, shown]
    marks: list[Mark] = []
    if released.sampling is not None:
        starts, stops = said(released.sampling.low), said(released.sampling.high)
        bars = Bars(
            role="released", name=SAMPLING, across=True, opacity=0.3,
            start=places - HALF, end=places + HALF, base=starts, value=stops,
        )  # fmt: skip
        marks.append(bars)
    marks += [
        _bar(NOISE, said(noise.low), said(noise.high), width=NOISE_WIDTH),
        Dots(
            role="released", name="released mean", x=means, y=places, size=8,
            hover=[
                f"{name}: mean {significant(mean)}{view.unit}, {significant(start)} to {significant(stop)} "
                f"(noise, {level}), {count:,.0f} released people"
                for name, mean, start, stop, count in zip(
                    names, means, noise.low[trial, shown], noise.high[trial, shown], people, strict=True
                )
            ],
        ),
        _bar(SILENT, np.where(silent, low, np.nan), np.where(silent, high, np.nan), width=1.5, dash="dot"),
        Dots(
            role="quiet", name=FEW, shape="x", size=7,
            x=np.where(few, middle, np.nan), y=places,
            hover=[f"{name}: {FEW}, released {count:,.0f}" for name, count in zip(names, people, strict=True)],
        ),
    ]  # fmt: skip
    return {mark.name: mark for mark in marks}


def _fixed(view: GroupsView, names: Sequence[str]) -> list[Mark]:
    """Return what does not depend on the release: the true means, and the guaranteed error around them."""
    means, places = view.true_means[view.shown], np.arange(len(names), dtype=np.float64)
    low, high = view.ends
    # The theorem is about groups of the declared size: of smaller ones it says nothing.
    smallest = view.queries.min_rows if view.bound.value < 1 else 0
    served = (view.true_people[view.shown] >= smallest) & (smallest > 0)
    reach = np.where(served, view.bound.value * (high - low), np.nan)
    return [
        _bar(
            GUARANTEED, np.maximum(low, means - reach), np.minimum(high, means + reach), width=1.5, role="theory",
            legend=bool(served.any()),
        ),
        Dots(
            role="true", name="true mean", shape="line-ns", size=7, x=means, y=places,
            hover=[
                f"{name}: true mean {significant(mean)}{view.unit}"
                for name, mean in zip(names, means.tolist(), strict=True)
            ],
        ),
    ]  # fmt: skip


def _sentence(view: GroupsView, released: GroupMeans, trial: int) -> str:
    """Return the sentence on one release."""
    groups = view.groups
    few = int(view.few(released)[trial, groups].sum())
    silent = int(view.silent(released)[trial, groups].sum())
    said = len(groups) - few - silent
    text = f"{said:,} of {len(groups):,} groups have a released mean with an interval of level {confidence(view.beta)}."
    if few:
        text += f" {few:,} are hidden: fewer than {view.hide_below} released people."
    if silent:
        text += f" Nothing can be said about {silent:,}: they may have no people."
    return text


def _table(view: GroupsView, released: GroupMeans) -> dict[str, list[Any]]:
    """Return the numbers of the first release, of all groups."""
    groups = np.arange(view.queries.count)
    few, silent = view.few(released)[0], view.silent(released)[0]

    def column(values: Floats) -> list[Any]:
        return short_numbers(np.where(few, np.nan, values[0]))

    table: dict[str, list[Any]] = {
        "group": view.names(groups),
        "released people": short_numbers(released.people[0]),
        "released mean": column(released.means),
        "noise, from": column(released.noise.low),
        "noise, to": column(released.noise.high),
    }
    if released.sampling is not None:
        table["noise and sampling, from"] = column(released.sampling.low)
        table["noise and sampling, to"] = column(released.sampling.high)
    table["note"] = [FEW if hidden else SILENT if nothing else "" for hidden, nothing in zip(few, silent, strict=True)]
    table["true people"], table["true mean"] = short_numbers(view.true_people), short_numbers(view.true_means)
    return table


def misses_picture(view: GroupsView, covered: Booleans, *, frames: int) -> Picture:
    """Return how many intervals miss the true mean in each of the first releases, from (T, groups) over all of them."""
    groups = len(view.populated)
    missed = groups - covered[:frames, view.populated].sum(axis=1)
    trial, whole = np.arange(1.0, frames + 1), missed == 0
    top = max(2, int(missed.max()))
    return Picture(
        title="Intervals that miss the true mean",
        x=Axis(title="release", low=0.4, high=frames + 0.6, ticks=tuple(float(at) for at in range(1, frames + 1, 3))),
        y=Axis(
            title="intervals that miss", low=-0.4, high=1.25 * top,
            ticks=tuple(float(at) for at in range(0, top + 1, -(-top // MISSES_TICKS))),
        ),
        marks=[
            Bars(role="released", name="some miss", start=trial - 0.4, end=trial + 0.4, value=missed),
            Dots(
                role="released", name="all hold", size=9, hollow=[True] * frames,
                x=np.where(whole, trial, np.nan), y=np.zeros(frames),
                hover=[f"release {place}: all {groups:,} intervals hold" for place in range(1, frames + 1)],
            ),
            Rule(role="theory", y=view.beta * groups, label=f"at most {significant(view.beta * groups)} expected"),
        ],
        sentence=misses_sentence(view, covered, frames=frames),
        table={"release": list(range(1, frames + 1)), "intervals that miss": missed.tolist()},
        height=MISSES_HEIGHT,
        about=f"misses|{groups}",
    )  # fmt: skip


def misses_sentence(view: GroupsView, covered: Booleans, *, frames: int) -> str:
    """Return how many of the shown releases, and what share of all, have intervals that all hold."""
    covered = covered[:, view.populated]
    whole = np.asarray(covered.all(axis=1))
    return (
        f"All {covered.shape[1]:,} intervals hold in {int(whole[:frames].sum())} of these {frames} releases, and in "
        f"{whole.mean():.0%} of {len(covered):,} releases. A single interval holds in {covered.mean():.1%} of them."
    )
