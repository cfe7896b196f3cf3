"""The Play page on one screen: controls, ε, one large picture with its menu, and cards that open in its place."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Dataset, Problem, State, exactly
from dpcore.data.generators import GENERATORS
from dpcore.data.product import is_map
from dpcore.data.sources import Generated
from dpcore.randomness import Preview
from dplab.measure import ErrorReport, measure
from dplab.recipe import Recipe
from pages.charts.live import live_line
from pages.data.picker import HOME, ROW_CHOICES
from pages.data.summary import log_scale
from pages.play.cards import ALL, DATA, OTHERS, WRONG, ask_card, draw_attacks, open_for_target
from pages.play.comparison import draw_tradeoff, private_parameters, problem_key
from pages.play.controls import at_epsilon, read_recipe
from pages.play.data_independent import data_independent_summary
from pages.play.details import draw_code, draw_figure, draw_why, why_popover
from pages.play.fragments import rerun_whole_page, run_as_fragment
from pages.play.groups.form import GroupRequest
from pages.play.groups.view import show_groups
from pages.play.pictures import BAND, PINNED_WORST, EpsilonView, View, build_epsilon_view
from pages.play.pin import Pinned, ask_pinned, pin_button
from pages.play.query import brush_callback, read_query, show_answer
from pages.play.slider_states import SliderStops, send_states
from pages.play.target import ask_target, draw_needed
from pages.play.weights import draw_sizes, draw_weights
from pages.shell.addresses import app_pages
from pages.shell.links import in_link
from pages.shell.presentation import allow_in_presentation, is_presenting, presentation_place, set_title
from pages.shell.releasable import keep_shown
from pages.shell.state import set_controls
from pages.shell.status import may_show
from pages.shell.status import rail as place_of_rail
from pages.shell.tasks.shared import share_part, share_value, share_with_progress

MAX_SECONDS = 10.0
"""Maximum time for the previewed releases."""
STYLE = (Path(__file__).resolve().parent / "play.css").read_text(encoding="utf-8")


def show_play() -> None:
    """Draw the controls and their results."""
    set_title("What does privacy cost?")
    controls_place = place_of_rail()
    st.html(f"<style>{STYLE}</style>")
    with controls_place:
        recipe = read_recipe()
        settings_place, links_place = st.container(), st.container(gap=None)
    if recipe is None:
        return
    if isinstance(recipe, GroupRequest):
        show_groups(recipe, links=links_place)
        return
    source = recipe.source
    if not may_show(source):
        head, recipe = _bar(recipe, can_pin=False)
        data_independent_summary(recipe, head=head, settings=settings_place)
        return
    dataset = share_value(recipe, f"dataset|{source.key}", source.dataset)
    problem = recipe.problem(dataset)
    with settings_place:
        pinned_recipe = ask_pinned(recipe, problem.queries)
        view = _view(recipe, dataset)
        target = ask_target(problem.n)
        open_for_target(target)
    key, state = _prepare(recipe, dataset, problem)
    if pinned_recipe is not None:
        _, pinned_state = _prepare(pinned_recipe, dataset, problem)
        report = _report(pinned_recipe, dataset, pinned_state)
        titles = {"title": pinned_recipe.entry.title, "beside": recipe.entry.title}
        view = dataclasses.replace(view, pinned=Pinned(key=repr(pinned_recipe), report=report, **titles))
    stops = SliderStops(recipe=recipe, dataset=dataset, state=state, view=view, key=f"stops|{key}")
    run_as_fragment(recipe, lambda: _at_epsilon(stops, target))
    links_place.page_link(app_pages()["release"], label="Release it")
    send_states(stops)


def _prepare(recipe: Recipe, dataset: Dataset, problem: Problem) -> tuple[str, State]:
    """Return the cache key of a recipe without ε, and the mechanism's prepared state."""
    key = f"{recipe.source.key}|{problem_key(recipe, problem)}|{recipe.entry_key}|{private_parameters(recipe)}"
    return key, share_value(recipe, f"state|{key}", lambda: recipe.mechanism().prepare(dataset, problem))


def _report(recipe: Recipe, dataset: Dataset, state: State) -> ErrorReport:
    """Return the errors of a recipe's releases, or of the first ones within the time limit."""
    return share_with_progress(
        recipe,
        f"report|{recipe.source.key}|{recipe!r}",
        lambda: measure(
            recipe.mechanism(),
            dataset,
            state,
            Preview(recipe.seed),
            trials=recipe.trials,
            beta=recipe.beta,
            seconds=MAX_SECONDS,
        ),
        label="Sampling releases.",
        is_partial=lambda report: report.trials < recipe.trials,
    )


def _bar(recipe: Recipe, *, can_pin: bool) -> tuple[DeltaGenerator, Recipe]:
    """Draw ε above the pictures; return the container of the headline and the recipe at this ε."""
    with presentation_place("slider"):
        bar = st.container(key="epsilon_bar")
    head = bar.container()
    beside = partial(pin_button, recipe) if can_pin and not is_presenting() else lambda: None
    recipe = at_epsilon(recipe, bar, beside=beside)
    keep_shown(recipe)
    return head, recipe


def _at_epsilon(stops: SliderStops, target: float | None) -> None:
    """Draw the part of the page that depends on ε."""
    head, recipe = _bar(stops.recipe, can_pin=True)
    source, dataset = recipe.source, stops.dataset
    report = stops.report(recipe) or _report(recipe, dataset, stops.state)
    if report.trials < recipe.trials:
        st.caption(
            f"These are the first {report.trials:,} of {recipe.trials:,} releases. Sampling stopped after "
            f"about {MAX_SECONDS:.0f} seconds."
        )
    key = f"shown|{stops.every}|{stops.view!r}|{report.trials}|{dict(recipe.values).get('epsilon')}"
    epsilon_view = share_part(recipe, key, lambda: build_epsilon_view(dataset, report, stops.view, beta=recipe.beta))
    with head:
        generated = isinstance(source.origin, Generated)
        live_line(
            epsilon_view.headline, key="headline", can_drag="epsilon" in dict(recipe.values),
            rows=report.problem.n if generated and recipe.nominal is None else 0, row_stops=ROW_CHOICES,
            on_rows=rerun_whole_page(lambda rows: set_controls({"n": exactly(rows)})),
        )  # fmt: skip
    _pictures(recipe, stops, report, epsilon_view, target)
    if recipe.weights is not None:
        draw_weights(recipe.weights, download=not source.provenance.is_private)
        draw_sizes(recipe, dataset, report.problem)


def _view(recipe: Recipe, dataset: Dataset) -> View:
    """Draw the controls of the query and of the display, and return their values."""
    query = read_query(dataset.domain)
    clean = st.toggle(
        "Round to valid counts", key=in_link("clean"), bind="query-params",
        help="Rounds the release to whole, non-negative counts that add up to n. This is post-processing, which costs "
        "no privacy.",
    )  # fmt: skip
    log = not is_map(dataset.domain) and log_scale(dataset, key="log")
    origin = recipe.source.origin
    view = View(clean=clean, log=log, query=query)
    if isinstance(origin, Generated) and (shape := GENERATORS.get(origin.shape)):
        cycling = {*st.query_params} == {*HOME}
        view = dataclasses.replace(view, column=shape.column, records=shape.records, cycling=cycling)
    return view


def _pictures(
    recipe: Recipe, stops: SliderStops, report: ErrorReport, epsilon_view: EpsilonView, target: float | None
) -> None:
    """Draw the picture of the open card, below it the query's answer and the theorem, and the cards."""
    dataset, view, badge = stops.dataset, stops.view, stops.badge
    download = not dataset.provenance.is_private
    *upper, worst = (key for key in epsilon_view.pictures if key != PINNED_WORST)
    worst_of_both = [key for key in epsilon_view.pictures if key in (PINNED_WORST, worst)]
    place = st.container(key="picture")
    row = st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center", key="asked")
    card = DATA if is_presenting() else ask_card()

    def code(key: str) -> None:
        draw_code(dataclasses.replace(recipe, trials=report.trials), stops.state, key)

    def draw_picture(key: str) -> None:
        picture = epsilon_view.pictures[key]
        draw_figure(
            picture, key=key, badge=badge, caption=epsilon_view.captions[key], download=download, code=code,
            on_brush=rerun_whole_page(brush_callback(dataset.domain)) if picture.brush else None,
            encoded_charts=epsilon_view.drawn,
        )  # fmt: skip

    def draw_in_columns(keys: Sequence[str]) -> None:
        for column, key in zip(st.columns(len(keys)), keys, strict=True):
            with column:
                draw_picture(key)

    def draw_others() -> None:
        if target is None:
            draw_tradeoff(recipe, dataset, report, badge=badge, code=code)
        else:
            draw_needed(recipe, dataset, target, badge=badge, code=code)

    with place, st.container(key="upper" if card == ALL else "alone"):
        if card in (DATA, ALL):
            draw_in_columns([key for key in upper if card == ALL or key != BAND])
        elif card == WRONG:
            draw_in_columns([*worst_of_both, *(key for key in upper if key == BAND)])
        elif card == OTHERS:
            draw_others()
        else:
            draw_attacks(recipe)
    if card == ALL:
        left, right = place.columns([3, 5])
        with left:
            for key in worst_of_both:
                draw_picture(key)
        with right:
            draw_others()
    if card not in (DATA, ALL):
        allow_in_presentation(upper[0])  # which a presentation draws, whatever stands in its place here
    with row:
        with st.container(width="stretch"):
            if card in (DATA, ALL) or view.query is not None:
                show_answer(view.query, recipe, dataset, stops.state, epsilon_view.frames, n=report.problem.n)
        why_popover(lambda: draw_why(recipe, report))
