"""Means by group on Play: what is drawn of each group, what is hidden, how many intervals miss, and private tables."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore import Preview, entry
from dpcore.core import Dataset, Neighbours, Problem, Provenance, ProvenanceKind
from dpcore.data.bundled import bundled
from dpcore.data.columns import Labels, Number
from dpcore.data.product import Product
from dpcore.data.reading.tables import read_table
from dpcore.data.readings import Columns
from dpcore.data.samples import load_sample, sample
from dpcore.data.sources import Source, Uploaded, generated_rows
from dpcore.mechanisms.grouped.counters import GroupCounters
from dpcore.mechanisms.grouped.release import GroupRelease, GroupState
from dpcore.queries.groups import GroupStatistics
from dplab.intervals.group_means import released_means, true_means
from dplab.intervals.released import interval
from pages.charts.picture import Bars, Curve, Dots, Rule
from pages.data.upload import SessionFile
from pages.play.groups.figure import (
    FEW,
    FRAMES,
    GUARANTEED,
    MAX_LINES,
    NOISE,
    SAMPLING,
    SILENT,
    GroupsView,
    group_picture,
    headline,
    misses_picture,
)
from pages.play.groups.form import group_columns
from pages.play.slider_states import BROWSER_READY
from pages.shell.controls import log_stops
from tests.kit.chance.numbers import has_number
from tests.pages.drawn_charts import component, drawn, sent_states
from tests.pages.drawn_charts import headline as drawn_headline
from tests.pages.opening import run_with, sound, texts, visitor

ADULT = {"data": "adult.hours_per_week", "queries": GroupStatistics.key}
BY_TWO = {**ADULT, "by": "relationship", "by-second": "race"}
LINE = Number(high=16, bins=16, missing=True, unit="h")
TABLE = Product(
    names=("region", "hours"), columns=(Labels(labels=("north", "south", "east", "nowhere")), LINE)
)  # fmt: skip
SIZES = (400, 60, 12, 0)
"""Rows of each region: nobody lives nowhere."""


def started(**link: str) -> AppTest:
    """Play with a link; few releases are previewed, at ε = 1, unless it says more."""
    app = visitor("play/page.py")
    app.query_params.update({"trials": "100", "epsilon": "1", **link})
    return sound(app.run())


def prepared(*, epsilon: float, degree: int = 2, min_rows: int = 0, seed: int = 1) -> tuple[GroupCounters, GroupState]:
    """The mechanism, and the counters of rows in each region."""
    groups = np.repeat(np.arange(4), SIZES)
    hours = np.random.default_rng(seed).binomial(15, 0.4, len(groups))
    provenance = Provenance(kind=ProvenanceKind.GENERATED, title="regions")
    dataset = Dataset(TABLE, np.stack([groups, hours], axis=1).astype(np.int64), provenance)
    queries = GroupStatistics(domain=TABLE, degree=degree, min_rows=min_rows)
    problem = Problem(domain=TABLE, queries=queries, n=dataset.n, neighbours=Neighbours.ADD_REMOVE_ONE)
    mechanism = GroupCounters(epsilon=epsilon)
    return mechanism, mechanism.prepare(dataset, problem)


def view_of(mechanism: GroupCounters, state: GroupState, *, hide_below: int) -> GroupsView:
    people, means = true_means(state)
    queries = state.problem.queries
    assert isinstance(queries, GroupStatistics)
    return GroupsView(
        queries=queries, number="hours (h)", true_people=people, true_means=means,
        bound=mechanism.accuracy(state.problem, 0.05), hide_below=hide_below, beta=0.05,
    )  # fmt: skip


def bars(mark: Curve) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Low and high end of each group's line, (K, 2)."""
    return np.asarray(mark.x, dtype=np.float64).reshape(-1, 3)[:, :2]


def test_the_page_shows_each_declared_group_with_its_true_mean_and_the_link_holds_the_groups() -> None:
    app = started(**BY_TWO, **{"groups-guess": "5"})
    assert not app.warning and not app.error
    assert set(drawn(app)) == {"groups_chart"}, "what happens is not shown before it is asked for"
    chart = drawn(app)["groups_chart"]
    assert "true: bundled" in chart["layout"]["title"]["text"] and "simulated" in chart["layout"]["title"]["text"]
    names = chart["layout"]["yaxis"]["ticktext"]
    adult = sample("adult")
    labels = [adult.column(name).on.cell_names for name in ("relationship", "race")]
    assert len(names) == 6 * 5 and names[0] == f"{labels[0][0]}, {labels[1][0]}" and len(chart["frames"]) == FRAMES
    [true] = [trace for trace in chart["data"] if trace.get("name") == "true mean"]
    table = load_sample("adult")
    inside = (table.labels("relationship", labels[0]) == 0) & (table.labels("race", labels[1]) == 0)
    hours = table.numbers("hours_per_week")[inside]
    assert true["x"][0] == pytest.approx(float(np.floor(hours).mean()) + 0.5, abs=1e-2), "at the middles of cells"
    assert app.query_params["by-second"] == "race" and app.slider(key="groups-guess").value == 5
    sound(app.selectbox(key="by").set_value("income").run())
    assert app.query_params["by"] == "income"
    assert len(drawn(app)["groups_chart"]["layout"]["yaxis"]["ticktext"]) == 2 * 5
    assert "Release it" in [each.proto.label for each in app.get("page_link")]


def test_the_headline_is_the_margin_of_the_middle_group() -> None:
    app = started(**ADULT, by="race", sampling="false")
    source = bundled("adult", "race", "hours_per_week")
    columns = group_columns(bundled("adult", "hours_per_week"))
    assert columns is not None and source.columns == ("race", "hours_per_week")
    rows = columns.source(("race",))
    dataset = rows.dataset()
    queries = GroupStatistics(domain=rows.on(Product))
    problem = Problem(domain=rows.domain, queries=queries, n=dataset.n)
    mechanism = entry("group-counters").make(epsilon=1.0)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(1), trials=100)
    widths = interval(mechanism, release, "mean").half_width[0, :5]
    match = re.fullmatch(
        r"At ε = 1, half of the 5 group means have a margin of at most ± ([\d.]+) hours", drawn_headline(app)
    )
    assert match and float(match[1]) == pytest.approx(float(np.median(widths)), rel=5e-3)


def test_groups_are_offered_of_a_number_beside_labels_alone() -> None:
    assert group_columns(bundled("cities", "latitude")) is None, "cities have no labels"
    assert group_columns(bundled("adult", "sex")) is None
    assert group_columns(bundled("pets", "license_issue_date")) is None
    assert group_columns(generated_rows("bimodal", n=100, bits=4)) is None
    persons = group_columns(bundled("medical", "mdvis"))
    assert persons is not None and set(persons.titles) == {"female"}
    app = started(queries=GroupStatistics.key)
    assert len(app.warning) == 1 and "groups_chart" not in drawn(app) and "data_chart" in drawn(app)


def test_a_person_with_several_rows_is_protected_as_a_person() -> None:
    app = started(data="medical.mdvis", queries=GroupStatistics.key, **{"person-rows": "2"})
    run_with(app, {"why_open": True})
    assert "ε = 2 (add or remove one person; per person with at most 2 rows), for each release" in texts(app)


def test_the_bars_are_the_proved_interval_and_the_wider_one_of_the_population() -> None:
    mechanism, state = prepared(epsilon=1.0)
    release = mechanism.run(state, Preview(3), FRAMES)
    released, view = released_means(mechanism, release, level=0.95), view_of(mechanism, state, hide_below=0)
    picture = group_picture(view, released)
    proved, said = interval(mechanism, release, "mean"), ~released.noise.says_nothing[0, :4]
    assert said[0] and not said[3]
    np.testing.assert_allclose(bars(picture.one(Curve, name=NOISE))[said, 0], proved.low[0, :4][said])
    np.testing.assert_allclose(bars(picture.one(Curve, name=NOISE))[said, 1], proved.high[0, :4][said])
    wide = picture.one(Bars, name=SAMPLING)
    width = np.asarray(wide.value) - np.asarray(wide.base)
    assert (width[:2] > 1.05 * 2 * proved.half_width[0, :2]).all() and (width[said] > 0).all()
    only_noise, small = prepared(epsilon=1.0, degree=1)
    means = released_means(only_noise, only_noise.run(small, Preview(3), 1), level=0.95)
    assert means.sampling is None and not group_picture(view_of(only_noise, small, hide_below=0), means).find(
        Bars, name=SAMPLING
    )


def test_nothing_can_be_said_about_a_group_without_people() -> None:
    mechanism, state = prepared(epsilon=1.0)
    releases = mechanism.run(state, Preview(5), 20)
    silent = interval(mechanism, releases, "mean").says_nothing[:, 3]
    assert silent.mean() > 0.9, "noise alone is rarely taken for people"
    with_people = int(np.flatnonzero(silent & (releases.statistics()["rows"][:, 3] > 0))[0])
    released = released_means(mechanism, releases.part(with_people, with_people + 1), level=0.95)
    picture = group_picture(view_of(mechanism, state, hide_below=0), released)
    np.testing.assert_array_equal(bars(picture.one(Curve, name=SILENT))[3], [0, 16])
    assert np.isnan(np.asarray(picture.one(Dots, name="released mean").x)[3]) and "too few" not in picture.sentence
    assert "Nothing can be said about 1" in picture.sentence and picture.table["note"][3] == SILENT
    assert np.isnan(bars(picture.one(Curve, name=SILENT))[0]).all(), "of 400 people something can be said"


def test_groups_are_hidden_by_the_released_number_of_people_alone() -> None:
    mechanism, state = prepared(epsilon=0.3)
    released = released_means(mechanism, mechanism.run(state, Preview(2), 60), level=0.95)
    view = view_of(mechanism, state, hide_below=20)
    hidden = view.few(released)
    np.testing.assert_array_equal(hidden, released.people < 20)
    small = hidden[:, 2]
    assert small.any() and not small.all(), "12 people are hidden in some releases, and in some they are not"
    other = replace(view, true_people=view.true_people + 1000, true_means=view.true_means[::-1])
    np.testing.assert_array_equal(other.few(released), hidden)
    trial = int(np.flatnonzero(small)[0])
    cut = released_means(mechanism, mechanism.run(state, Preview(2), 60).part(trial, trial + 1), level=0.95)
    picture = group_picture(view, cut)
    assert np.isfinite(np.asarray(picture.one(Dots, name=FEW).x)[2]) and picture.table["note"][2] == FEW
    assert np.isnan(bars(picture.one(Curve, name=NOISE))[2]).all() and picture.table["released mean"][2] is None


def test_the_guaranteed_error_is_drawn_of_groups_of_the_declared_size_and_holds() -> None:
    mechanism, state = prepared(epsilon=2.0, degree=1, min_rows=50)
    release = mechanism.run(state, Preview(4), 400)
    released, view = released_means(mechanism, release, level=0.95), view_of(mechanism, state, hide_below=0)
    line = group_picture(view, released).one(Curve, role="theory", name=GUARANTEED)
    ends = bars(line)
    assert np.isfinite(ends[:2]).all() and np.isnan(ends[2:]).all(), "12 people and none are fewer than 50"
    inside = (released.means[:, :2] >= ends[:2, 0]) & (released.means[:, :2] <= ends[:2, 1])
    assert inside.all(axis=1).mean() >= 0.95
    undeclared, same = prepared(epsilon=2.0, degree=1)
    nothing = group_picture(view_of(undeclared, same, hide_below=0), released).one(Curve, name=GUARANTEED)
    assert np.isnan(bars(nothing)).all() and not nothing.legend


def test_how_many_intervals_miss_is_counted_over_the_releases() -> None:
    app = started(**BY_TWO, **{"groups-shown": "true", "trials": "200"})
    assert set(drawn(app)) == {"groups_chart", "misses_chart"}
    chart = drawn(app)["misses_chart"]
    match = re.match(
        r"All 30 intervals hold in (\d+) of these 20 releases, and in (\d+)% of 200 releases. "
        r"A single interval holds in ([\d.]+)% of them.",
        chart["sentence"],
    )
    assert match is not None
    columns = group_columns(bundled("adult", "hours_per_week"))
    assert columns is not None
    rows = columns.source(("relationship", "race"))
    dataset = rows.dataset()
    queries = GroupStatistics(domain=rows.on(Product), degree=2)
    mechanism = entry("group-counters").make(epsilon=1.0)
    state = mechanism.prepare(dataset, Problem(domain=rows.domain, queries=queries, n=dataset.n))
    assert isinstance(state, GroupState)
    release, people = mechanism.run(state, Preview(1), 200), true_means(state)[0]
    assert isinstance(release, GroupRelease)
    held = interval(mechanism, release, "mean").contains(true_means(state)[1])[:, people > 0]
    assert held.shape == (200, 30), "no one is outside the declared labels, and no group is empty"
    whole = np.asarray(held.all(axis=1))
    assert int(match[1]) == whole[:20].sum() and int(match[2]) == round(100 * whole.mean())
    assert whole.mean() < 0.5 < 0.93 < held.mean(), "32 intervals hold together far more rarely than each one"
    [missing] = [trace for trace in chart["data"] if trace.get("name") == "some miss"]
    assert missing["y"] == (~held[:20]).sum(axis=1).tolist() and "99.83%" in chart["caption"]
    assert match[0] in texts(app) and "The slider was at 20." in texts(app)


def test_intervals_of_a_higher_level_hold_together() -> None:
    mechanism, state = prepared(epsilon=1.0)
    view = view_of(mechanism, state, hide_below=0)
    together, each = np.ones((200, 5), dtype=np.bool_), np.ones((200, 5), dtype=np.bool_)
    each[::4, 1] = False
    assert "All 3 intervals hold in 20 of these 20" in misses_picture(view, together, frames=20).sentence
    found = misses_picture(view, each, frames=20)
    assert "All 3 intervals hold in 15 of these 20 releases, and in 75% of 200" in found.sentence
    assert found.one(Rule, role="theory").y == pytest.approx(0.05 * 3) and sum(found.table["intervals that miss"]) == 5


def test_the_picture_that_follows_the_slider_is_the_one_that_is_drawn_at_rest() -> None:
    app = started(**ADULT, by="race", epsilon="0.5")
    assert component(app, "live_states") == {"asks": True}
    app.session_state[BROWSER_READY] = True
    states = sent_states(sound(app.run()))
    stops = log_stops(entry("group-counters").controls()["epsilon"])
    place, pool, chart = stops.index(0.5), states["pool"], drawn(app)["groups_chart"]
    assert states["texts"]["headline"][place] == drawn_headline(app) and len(states["texts"]["headline"]) == len(stops)
    traces = states["charts"]["groups_chart"][place]["data"]
    assert len(traces) == len(chart["data"])
    for (same, moving), trace in zip(traces, chart["data"], strict=True):
        sent = pool[same] | {name: pool[index] for name, index in moving.items()}
        assert sent == {name: trace[name] for name in sent}


def test_where_most_groups_are_silent_the_headline_says_so() -> None:
    mechanism, state = prepared(epsilon=0.01)
    released = released_means(mechanism, mechanism.run(state, Preview(1), 1), level=0.95)
    said = headline(view_of(mechanism, state, hide_below=0), released, at="0.01")
    assert said == "At ε = 0.01, nothing can be said about half of the 4 groups or more"


SECRET, ROWS = 7717, 8997
CSV = "island,pay\n" + "".join(f"{'ABC'[i % 3]},{SECRET if i % 2 else 3}\n" for i in range(ROWS))


def private_table(**state: Any) -> tuple[AppTest, SessionFile]:
    """Play with a private table of labels and a number, both declared, and the number in use."""
    origin = Uploaded(table=read_table(CSV.encode(), name="own.csv", header=True), private=True, digest="d1")
    held = SessionFile(origin=origin, turn=3)
    app = visitor("play/page.py")
    declared = {"0-kind": "category", "0-labels": "A\nB\nC", "1-from": "0", "1-to": "10000", "1-bins": 10_000}
    source = Source(origin=origin, reading=Columns(names=("pay",), on=Number(high=10_000, bins=10_000, missing=True)))
    told = {"file": held, "upload": source, "data": "my-file", "queries": GroupStatistics.key}
    told |= {f"{held.prefix}{name}": value for name, value in declared.items()}
    for name, value in {**told, **state}.items():
        app.session_state[name] = value
    app.query_params.update({"data": "my-file", "epsilon": "1"})
    return sound(app.run()), held


def test_of_a_private_table_margins_follow_from_the_declaration_until_its_owner_asks() -> None:
    app, held = private_table()
    assert not app.error and set(drawn(app)) == {"promises_chart"} == set(sent_states(app)["charts"])
    assert "dataset|" not in repr(app.session_state.get("memory", ())), "the file was not even read"
    sent = json.dumps([*drawn(app).values(), sent_states(app)]) + texts(app)
    assert not has_number(sent, SECRET) and not has_number(sent, ROWS)
    assert "theory: no values of your data" in texts(app) and "± " in drawn_headline(app)
    assert app.selectbox(key=f"{held.prefix}by").value == "island"
    sound(app.toggle(key="steward_choice").set_value(True).run())
    chart = drawn(app)["groups_chart"]
    assert not chart["download"] and "made by the data owner" in chart["layout"]["title"]["text"]
    [true] = [trace for trace in chart["data"] if trace.get("name") == "true mean"]
    assert true["x"] == pytest.approx([(SECRET + 3) / 2 + 0.5] * 3, abs=10)
    link = " ".join(f"{name}={app.query_params[name]}" for name in app.query_params)
    assert "island" not in link and "pay" not in link
    sound(app.toggle(key="steward_choice").set_value(False).run())
    assert set(drawn(app)) == {"promises_chart"}, "switching off takes all back"


def test_mock_data_with_the_same_columns_have_groups_too() -> None:
    app, _ = private_table(twin=True)
    chart = drawn(app)["groups_chart"]
    assert chart["layout"]["yaxis"]["ticktext"] == ["A", "B", "C"] and "true: " in chart["layout"]["title"]["text"]
    assert not has_number(texts(app), SECRET) and not app.error


def test_the_code_gives_the_intervals_of_the_first_release() -> None:
    app, _ = private_table(twin=True)
    app.session_state["groups_chart_more"] = True
    code = sound(app.run()).code[0].value
    names: dict[str, Any] = {}
    exec(compile(code, "snippet", "exec"), names)
    [noise] = [trace for trace in drawn(app)["groups_chart"]["data"] if trace.get("name") == NOISE]
    shown = np.array(noise["x"], dtype=np.float64).reshape(-1, 3)[:, :2]
    found = np.stack([names["means"].low[0, :3], names["means"].high[0, :3]], axis=1)
    np.testing.assert_allclose(shown, found, rtol=1e-3)


def test_of_a_private_table_the_margin_is_the_predicted_one() -> None:
    app, held = private_table(**{"sampling": False})
    match = re.fullmatch(
        r"At ε = 1, the mean of a group of ([\d,]+) people \(equal groups\) has a margin of about ± ([\d.,]+)",
        drawn_headline(app),
    )
    assert match and int(match[1].replace(",", "")) == 10_000 // 4, "three islands and a cell for other values"
    # To first order log(1/0.05) noises of scale 2/ε rows (replace one row), at a mean at a bound.
    assert float(match[2].replace(",", "")) == pytest.approx(2 * np.log(20) * 10_000 / 2_500, rel=0.01)
    sound(app.number_input(key="smallest-group").set_value(1_000).run())
    assert "a group of at least 1,000 people has a margin of about ± 59.9" in drawn_headline(app)
    [theory] = [each for each in drawn(app)["promises_chart"]["data"] if each.get("name", "").startswith("guaranteed")]
    queries = GroupStatistics(
        domain=Product(
            names=("island", "pay"),
            columns=(Labels(labels=("A", "B", "C")), Number(high=10_000, bins=10_000, missing=True)),
        ),
        min_rows=10_000,
    )
    bound = GroupCounters(epsilon=1.0).accuracy(Problem(domain=queries.domain, queries=queries, n=10_000), 0.05)
    assert theory["y"][-1] == pytest.approx(bound.value * 10_000, rel=1e-3)
    sound(app.number_input(key="epsilon").set_value(0.001).run())
    assert drawn_headline(app).startswith("At ε = 0.001, nothing can be said about a group of at least 1,000")
    assert held.private


def test_groups_beyond_the_screen_are_in_the_table() -> None:
    columns = (Labels(labels=tuple(map(str, range(40)))), LINE)
    table = Product(names=("zip", "hours"), columns=columns)
    rows = np.stack([np.arange(40).repeat(50), np.full(2000, 3)], axis=1)
    dataset = Dataset(table, rows, Provenance(kind=ProvenanceKind.GENERATED, title="zip"))
    problem = Problem(domain=table, queries=GroupStatistics(domain=table), n=2000)
    mechanism = GroupCounters(epsilon=5.0)
    state = mechanism.prepare(dataset, problem)
    released = released_means(mechanism, mechanism.run(state, Preview(1), 1), level=0.95)
    picture = group_picture(view_of(mechanism, state, hide_below=0), released)
    assert picture.y.labels == tuple(map(str, range(MAX_LINES)))
    assert picture.caption == "Bars are 95% intervals. 8 more groups are in the table."
    assert len(picture.table["group"]) == 41, "and the group of other values"
