"""Means by group on the Play page: their picture, which follows ε, and how many intervals miss the true mean."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Booleans, describe_error, exactly
from dpcore.mechanisms.grouped.release import GroupState
from dpcore.randomness import Preview
from dplab.intervals.group_means import intervals_hold, released_means, true_means
from dplab.intervals.interval import level_each
from dplab.recipe import snippet
from pages.charts.component import is_dark
from pages.charts.histogram import unit_of
from pages.charts.live import encode_states, live_line
from pages.charts.picture import Picture
from pages.charts.words import confidence
from pages.play.controls import ask_epsilon
from pages.play.details import draw_figure, why_popover
from pages.play.fragments import run_as_fragment
from pages.play.groups.figure import FRAMES, GroupsView, group_picture, headline, misses_picture, misses_sentence
from pages.play.groups.form import GroupRequest
from pages.play.groups.theory import draw_theory
from pages.play.slider_states import send_when_ready
from pages.shell.controls import audit_link, log_stops
from pages.shell.links import in_link
from pages.shell.presentation import allow_in_presentation, presentation_place
from pages.shell.tasks.shared import share_part, share_value, share_with_progress
from pages.shell.theorem import theorem_card

CHART, MISSES = "groups_chart", "misses_chart"
MAX_PRESENTED = 6
"""Groups of a picture that can be presented: a presentation has no room for the names of more."""
PLACE = "Mean by group"
RELEASES = 20
"""Releases of the guess."""
MAX_INTERVALS = 12_000
"""Intervals that the share of releases without a miss is computed from, at most."""
MIN_TRIALS = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupWork:
    """The rows of a request, counted: what the pictures at every ε start from.

    Attributes:
        request: at any ε.
        state: the counters of every group, without noise.
        key: cache key of the problem and the mechanism's other parameters.
    """

    request: GroupRequest
    state: GroupState
    key: str

    @property
    def trials(self) -> int:
        """Number of releases whose intervals are compared with the true means."""
        groups = max(1, self.request.queries.count)
        return max(MIN_TRIALS, min(self.request.trials, MAX_INTERVALS // groups))

    def picture(self, epsilon: float) -> tuple[str, Picture]:
        """Return the headline and the picture at an ε."""
        request, mechanism = self.request, self.request.mechanism(epsilon)
        # As many as are compared with the true means, so that the first ones are the same in both pictures.
        release = mechanism.run(self.state, Preview(request.seed), self.trials).part(0, FRAMES)
        released = released_means(mechanism, release, level=request.level)
        view = self.view(epsilon)
        return headline(view, released, at=exactly(epsilon)), group_picture(view, released)

    def view(self, epsilon: float) -> GroupsView:
        """Return what the pictures show besides the releases."""
        request = self.request
        people, means = true_means(self.state)
        return GroupsView(
            queries=request.queries,
            number=unit_of(request.queries.domain.columns[-1], request.queries.domain.names[-1]),
            true_people=people,
            true_means=means,
            bound=request.mechanism(epsilon).accuracy(self.state.problem, request.beta),
            hide_below=request.hide_below,
            beta=request.beta,
        )

    def covered(self, epsilon: float) -> Generator[float, None, Booleans]:
        """Return which intervals hold the true mean, (T, groups); yields the fraction done."""
        request = self.request
        return intervals_hold(
            request.mechanism(epsilon), self.state, Preview(request.seed), trials=self.trials, level=request.level
        )


def show_groups(request: GroupRequest, *, links: DeltaGenerator) -> None:
    """Draw the pictures of means by group; of private rows that may not be shown, what holds without them.

    Args:
        request: of the page, at any ε.
        links: container of the links to other pages.
    """
    if not request.may_show():
        head, request = _bar(request)
        draw_theory(request, head=head)
        return
    dataset = share_value(request, f"dataset|{request.source.key}", request.source.dataset)
    problem = request.problem(dataset.n)
    others = sorted((name, value) for name, value in request.values.items() if name != "epsilon")
    about = f"{request.source.key}|{problem.n}|{request.neighbours}|{request.queries!r}"
    key = f"{about}|{request.entry.key}|{others}|{request.seed}|{request.beta}|{request.hide_below}|{request.trials}"
    state = share_value(request, f"groups|{about}", lambda: request.mechanism().prepare(dataset, problem))
    work = GroupWork(request=request, state=state, key=key)
    run_as_fragment(request, lambda: _at_epsilon(work, links))

    def encode() -> Any:
        dark = is_dark()
        return share_with_progress(request, f"stops|{key}|{dark}", lambda: _encode_stops(work, dark=dark), label="")

    send_when_ready(request, encode)


def _bar(request: GroupRequest) -> tuple[DeltaGenerator, GroupRequest]:
    """Draw ε above the pictures; return the container of the headline and the request at this ε."""
    with presentation_place("slider"):
        bar = st.container(key="epsilon_bar")
    head = bar.container()
    with bar:
        epsilon = ask_epsilon(request.entry.controls()["epsilon"], default=float(request.values["epsilon"]))
    request = replace(request, values={**request.values, "epsilon": epsilon})
    request.keep(PLACE)
    return head, request


def _encode_stops(work: GroupWork, *, dark: bool) -> Generator[float, None, Any]:
    """Return the encoded pictures of every stop of the slider; yields the fraction done."""
    stops, states = log_stops(work.request.entry.controls()["epsilon"]), []
    for place, stop in enumerate(stops):
        states.append(work.picture(stop))
        yield (place + 1) / len(stops)
    pictures = [picture for _, picture in states]
    texts = {"headline": [text for text, _ in states], CHART: [picture.caption for picture in pictures]}
    return encode_states({CHART: pictures}, texts, badge=work.request.badge(), dark=dark)


def _at_epsilon(work: GroupWork, links: DeltaGenerator) -> None:
    """Draw the part of the page that depends on ε."""
    head, request = _bar(work.request)
    epsilon = float(request.values["epsilon"])
    text, picture = share_part(request, f"groups|{work.key}|{epsilon}", lambda: work.picture(epsilon))
    with head:
        live_line(text, key="headline")
    left, right = st.columns([3, 2])

    def code(_: str) -> None:
        _code(work, request)

    if len(work.view(epsilon).shown) <= MAX_PRESENTED:
        allow_in_presentation(CHART)
    with left:
        draw_figure(
            picture, key=CHART, badge=request.badge(), download=not request.private, code=code,
            title="means of the groups",
        )  # fmt: skip
    with right:
        _misses(work, request, epsilon, code)
    with st.container(horizontal=True, vertical_alignment="center", key="asked"):
        why_popover(lambda: _why(work, request))
    with links:
        query = audit_link(request.entry, request.values, request.neighbours)
        st.page_link("learn/page.py", label="Test this privacy claim", query_params=query)
        st.page_link("release/page.py", label="Release it")


def _misses(work: GroupWork, request: GroupRequest, epsilon: float, code: Callable[[str], None]) -> None:
    """Ask for a guess, and draw how many intervals of the first releases miss once it is revealed."""
    view = work.view(epsilon)
    groups = len(view.populated)
    st.markdown(
        f"**Guess first.** Each interval holds the true mean in at least {confidence(request.beta)} of releases. "
        f"In how many of {RELEASES} releases do the intervals of all {groups:,} groups hold?"
    )
    guess = st.slider("Your guess", 0, RELEASES, RELEASES, key=in_link("groups-guess"), bind="query-params")
    if not st.toggle("Show what happens", key=in_link("groups-shown"), bind="query-params"):
        return
    label = "Comparing intervals with true means."
    covered = share_with_progress(request, f"covered|{work.key}|{epsilon}", lambda: work.covered(epsilon), label=label)
    st.markdown(f"{misses_sentence(view, covered, frames=RELEASES)} The slider was at {guess}.")
    picture = misses_picture(view, covered, frames=RELEASES)
    together = level_each(request.level, independent=max(1, groups))
    draw_figure(
        picture, key=MISSES, badge=request.badge(), download=not request.private, code=code,
        title="intervals that miss",
        caption=f"For all {groups:,} at once, each interval needs a level of {together:.2%}.",
    )  # fmt: skip


def _why(work: GroupWork, request: GroupRequest) -> None:
    """Draw the mechanism's description, how to read the bars, and the theorem."""
    st.markdown(request.entry.story)
    st.markdown(
        "**Thin bar:** an interval for the mean of these rows, proved from the noise alone. **Wide bar:** an interval "
        "for the people whom the rows were sampled from, by a normal approximation."
    )
    mechanism, problem = request.mechanism(), work.state.problem
    bound, smallest = mechanism.accuracy(problem, request.beta), request.queries.min_rows
    said = ""
    if smallest:
        given = f"If every group has at least {smallest:,} people"
        of_range = request.queries.domain.columns[-1].describe_distance
        said = describe_error(bound, n=problem.n, given=given, subject="no mean", of_range=of_range, bold=True)
    theorem_card(
        bound,
        mechanism.guarantee(replace(problem, person_rows=request.source.person_rows)),
        n=problem.n,
        covers="for each release",
        said=said,
        mechanism=request.entry.references,
        opened=True,
    )


def _code(work: GroupWork, request: GroupRequest) -> None:
    """Draw the code that gives the same first release and its intervals."""
    queries = request.queries
    arguments = f"numbers={queries.numbers!r}, degree={queries.degree}, min_rows={queries.min_rows}"
    text = snippet(
        request.source,
        request.entry.key,
        request.values,
        neighbours=request.neighbours,
        n=request.nominal,
        queries=f"GroupStatistics(domain=dataset.domain, {arguments})",
        imports=["from dpcore.queries.groups import GroupStatistics", "from dplab.intervals.released import interval"],
        then=[
            f"sampler = dpcore.Preview({request.seed})  # simulated: not private",
            f"release = mechanism.run(state, sampler, trials={work.trials}).part(0, 1)",
            f'means = interval(mechanism, release, "mean", level={request.level!r})',
            "for group in range(queries.count):",
            "    low, high = means.low[0, group], means.high[0, group]",
            '    print(f"{queries.describe(group)}: {low:.4g} to {high:.4g}")',
            "print(mechanism.guarantee(problem).sentence())",
        ],
    )
    st.code(text, language="python")
