"""What is drawn of a picture: valid Plotly, in the role's look, at its place, with labels that are only words."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from pages.charts.component import encode_handle
from pages.charts.palette import LIGHT
from pages.charts.picture import (
    Area,
    Axis,
    Band,
    Bars,
    Cloud,
    Curve,
    Dots,
    Frame,
    Handle,
    Heat,
    Mark,
    Outline,
    Picture,
    Region,
    Rule,
    Wall,
    Words,
)
from pages.charts.plotly import render

BADGE = "true: generated · released: simulated, preview sampler, seed 1"
HOSTILE = '<a href="javascript:alert(1)">%{x} <script>alert(1)</script></a> & "'
PLACES = np.array([1.0, 2.0, 4.0])


ACROSS, UP = Axis(title="x"), Axis(title="y")


def drawn(*marks: Mark, x: Axis = ACROSS, y: Axis = UP, **more: Any) -> Any:
    picture = Picture(title="A test", x=x, y=y, marks=marks, sentence="A test.", table={}, **more)
    return render(picture, badge=BADGE, dark=False)


EVERY: tuple[Mark, ...] = (
    Curve(role="theory", name="promised", x=PLACES, y=PLACES),
    Area(role="theory", name="area", x=PLACES, y=PLACES),
    Band(role="released", name="releases", x=PLACES, low=PLACES / 2, high=PLACES * 2),
    Dots(role="released", name="dots", x=PLACES, y=PLACES, low=PLACES / 2, high=PLACES, pick=["a", 1.5, ["b"]]),
    Bars(role="true", name="true", start=PLACES, end=PLACES + 1, value=PLACES),
    Region(role="impossible", y=(0.5, 1.0), label="impossible"),
    Wall(x=PLACES, y=PLACES / 4, end=0.1, label="wall"),
    Rule(role="ink", x=2.0, label="here"),
    Rule(role="theory", y=2.0, label="promise", dash="dash"),
    Words(role="released", text="words", x=2, y=3),
    Outline(role="theory", x=(1, 2), y=(1, 2)),
)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("dark", [False, True])
def test_every_kind_of_mark_is_valid_for_plotly_and_json(log: bool, dark: bool) -> None:
    axes = Axis(title="x", log=log), Axis(title="share", log=log, form=".3~p", rows=500)
    frame = Frame(label="2", sentence="Two.", marks={"promised": Curve(role="theory", x=PLACES, y=PLACES * 2)})
    handle = Handle(x=1, y=1, label="direction", follows="promised")
    picture = Picture(
        title="A test", x=axes[0], y=axes[1], marks=EVERY, sentence="A test.", table={}, frames=[frame], handle=handle
    )
    found = render(picture, badge=BADGE, dark=dark)
    layout = {name: value for name, value in found.layout.items() if name != "uirevision"}
    go.Figure(data=found.data, layout=layout)  # raises where a name or a value is not Plotly's
    json.dumps([found.data, found.layout, found.frames], allow_nan=False)
    assert found.frames[0]["traces"] == found.places["promised"]
    assert found.frames[0]["data"][0]["y"] == (PLACES * 2).tolist()


def test_maps_and_clouds_are_valid_too() -> None:
    heat = Heat(
        role="true",
        x=np.arange(4),
        y=np.arange(3),
        value=np.array([[0, 1, np.nan], [2, 3, 4]]),
        low=0,
        high=4,
        unit="rows",
        root=True,
    )
    found = drawn(heat)
    go.Figure(data=found.data, layout=found.layout)
    assert found.data[0]["z"] == [[0, 1, None], [2, 3, 4]]
    cloud = drawn(Cloud(role="true", name="rows", x=PLACES, y=PLACES, z=PLACES), space=("x", "y", "z"))
    go.Figure(data=cloud.data, layout=cloud.layout)


def test_what_a_mark_is_decides_its_colour() -> None:
    for role in ("true", "released", "theory", "impossible", "guess"):
        found = drawn(Curve(role=role, name=role, x=PLACES, y=PLACES))
        assert found.data[0]["line"]["color"] == LIGHT.roles[role]
    with pytest.raises(KeyError):
        drawn(Curve(role="true or released", x=PLACES, y=PLACES))


def test_words_on_a_logarithmic_axis_stand_where_rules_do() -> None:
    found = drawn(Rule(role="ink", x=100.0, label="here"), x=Axis(log=True, low=1, high=1000))
    assert found.layout["shapes"][0]["x0"] == 100 and found.layout["annotations"][0]["x"] == 2
    assert found.layout["xaxis"]["range"] == [0, 3]


def test_names_on_a_logarithmic_axis_keep_numbers_away_by_factors() -> None:
    low = Axis(log=True, form=".3~p", low=2e-6, high=1, named={2e-6: "0"})
    layout = drawn(Curve(role="theory", x=PLACES, y=PLACES), y=low).layout["yaxis"]
    assert layout["ticktext"] == ["0.001%", "0.01%", "0.1%", "1%", "10%", "100%", "0"]
    assert layout["tickvals"] == [1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 2e-6]


@pytest.mark.parametrize(("high", "step"), [(0.5, None), (2.0, 1), (1e9, 2), (0.05, "D2"), (0.009, None)])
def test_only_powers_of_ten_are_written_where_an_axis_has_many(high: float, step: int | str | None) -> None:
    axis = Axis(log=True, form=".3~p", low=1e-3, high=high)
    assert drawn(Curve(role="theory", x=PLACES, y=PLACES), y=axis).layout["yaxis"].get("dtick") == step


def test_marks_of_one_name_are_hidden_together() -> None:
    line = Curve(role="theory", name="promised", x=PLACES, y=PLACES, legend=False)
    dots = Dots(role="theory", name="promised", x=PLACES, y=PLACES)
    first, second = drawn(line, dots).data
    assert first["legendgroup"] == second["legendgroup"] == "promised"
    assert not first["showlegend"] and second["showlegend"]


def test_labels_are_words_and_never_markup() -> None:
    found = drawn(
        Curve(role="true", name=HOSTILE, x=PLACES, y=PLACES),
        Dots(role="true", name="d", x=PLACES, y=PLACES, hover=[HOSTILE] * 3),
        Words(role="ink", text=HOSTILE, x=1, y=1),
        x=Axis(title=HOSTILE),
        y=Axis(labels=(HOSTILE, "b")),
    )
    text = json.dumps([found.data, found.layout])
    assert "<script" not in text and "<a " not in text and "&lt;script" in text


def test_an_axis_of_rows_counts_whole_rows_and_moves_with_the_shares() -> None:
    found = drawn(Curve(role="released", name="error", x=PLACES, y=[0.0, 0.011, 0.02]), y=Axis(form=".3~p", rows=300))
    side = found.layout["yaxis2"]
    assert side["matches"] == "y" and side["ticktext"][:2] == ["0", "1"]
    assert np.allclose(np.array(side["tickvals"]) * 300, [int(text) for text in side["ticktext"]])
    assert found.data[0]["customdata"] == [0, pytest.approx(3.3), pytest.approx(6)]
    few = drawn(Curve(role="released", x=PLACES, y=[0.0, 0.5, 1.0]), y=Axis(rows=3, low=0, high=1)).layout["yaxis2"]
    assert few["ticktext"] == ["0", "1", "2", "3"], "no half rows"


def test_pointing_at_a_lying_bar_says_its_label_and_its_rows() -> None:
    curve = Curve(role="released", name="released", x=[12.0, np.nan, 3.0], y=[0.0, np.nan, 1.0])
    found = drawn(curve, x=Axis(title="rows", of=48), y=Axis(labels=("first", "second")))
    trace = found.data[0]
    assert trace["hovertext"][0] == "first" and trace["hovertext"][2] == "second"
    assert trace["customdata"] == [0.25, None, 0.0625] and "%{hovertext}" in trace["hovertemplate"]


def test_frames_send_only_what_changes() -> None:
    frames = [
        Frame(label=str(k), sentence="", marks={"r": Curve(role="released", name="r", x=PLACES, y=PLACES * k)})
        for k in (1, 2, 3)
    ]
    found = drawn(Curve(role="released", name="r", x=PLACES, y=PLACES), frames=frames)
    # The first state is sent as well: the others must find their way back to it.
    assert [frame["data"] for frame in found.frames] == [[{"y": (PLACES * k).tolist()}] for k in (1, 2, 3)]


def test_zoom_belongs_to_what_the_picture_is_about() -> None:
    one, same, other = (drawn(EVERY[0], about=about).layout["uirevision"] for about in ("a", "a", "b"))
    assert one == same != other


def test_many_labels_across_are_thinned_and_long_ones_cut() -> None:
    labels = tuple(f"{place} {'x' * 40}" for place in range(60))
    axis = drawn(EVERY[0], x=Axis(labels=labels)).layout["xaxis"]
    assert len(axis["ticktext"]) == 20 and axis["tickvals"][:2] == [0, 3] and axis["tickangle"] == -40
    assert max(map(len, axis["ticktext"])) == 20


def test_a_badge_of_two_lines_leaves_room_for_both() -> None:
    heat = Heat(role="true", x=[0, 1], y=[0, 1], value=np.ones((1, 1)), low=0, high=1, unit="rows")
    picture = Picture(title="", x=ACROSS, y=UP, marks=[heat], sentence="", table={})
    badge = BADGE + " · not protected: made by the data owner"
    short, long = (render(picture, badge=each, dark=False) for each in (BADGE, badge))
    lines = long.layout["title"]["text"].split("<br>")
    assert " ".join(lines) == badge and len(lines) == 2 and max(map(len, lines)) <= 64
    assert long.layout["margin"]["t"] - short.layout["margin"]["t"] == 14
    assert long.data[0]["colorbar"]["y"] < short.data[0]["colorbar"]["y"]
    assert [words["text"] for words in long.layout["annotations"]] == ["rows"]


def test_nothing_is_clipped_frames_included() -> None:
    taller = Frame(label="2", sentence="", marks={"r": Curve(role="released", x=PLACES, y=[0.0, 9.0, 70.0])})
    found = drawn(Curve(role="released", name="r", x=PLACES, y=PLACES), frames=[taller])
    low, high = found.layout["yaxis"]["range"]
    assert low <= 0 and high > 70


def test_impossible_is_hatched_and_vacuous_is_not() -> None:
    hatched, plain = drawn(Region(role="impossible", x=(0, 1)), Region(role="vacuous", x=(1, 2))).data
    assert hatched["fillpattern"]["shape"] == "/" and "fillpattern" not in plain


def test_the_badge_is_inside_the_picture() -> None:
    assert drawn(EVERY[0]).layout["title"]["text"] == BADGE


def test_a_bar_may_begin_elsewhere_than_at_zero_and_nothing_of_it_is_clipped() -> None:
    tall = Bars(role="theory", name="bias", start=[0.0], end=[1.0], base=[-0.5], value=[2.0])
    found = drawn(tall)
    assert (found.data[0]["base"], found.data[0]["y"]) == ([-0.5], [2.5])
    assert found.layout["yaxis"]["range"][0] < -0.5 and found.layout["yaxis"]["range"][1] > 2
    log = drawn(Bars(role="theory", start=[0], end=[1], base=[10], value=[1000], across=True), x=Axis(log=True))
    assert (log.data[0]["base"], log.data[0]["x"]) == ([10], [990]) and log.layout["xaxis"]["range"][0] > 0.5
    go.Figure(data=[*found.data, *log.data])


def test_labels_may_have_several_lines() -> None:
    labels = ("a <b>\nc", "25 to 40 years old\n40 to 50 hours a week", "x" * 21)
    ticks = drawn(EVERY[2], y=Axis(labels=labels)).layout["yaxis"]["ticktext"]
    assert ticks == ["a &lt;b&gt;<br>c", "25 to 40 years old<br>40 to 50 hours a we…", "x" * 19 + "…"]


def test_a_title_below_a_picture_has_lines_that_fit_a_phone() -> None:
    title = "worst error over 3,000 sampled queries, share of n (log)"
    lines = drawn(EVERY[0], x=Axis(title=title)).layout["xaxis"]["title"]["text"].split("<br>")
    assert " ".join(lines) == title and max(map(len, lines)) <= 44
    assert drawn(EVERY[0], x=Axis(title=title[:38])).layout["xaxis"]["title"]["text"] == title[:38]


def test_a_rule_may_end_below_words() -> None:
    found = drawn(Rule(role="theory", x=2.0, reach=0.9), Rule(role="ink", x=3.0))
    assert [shape["y1"] for shape in found.layout["shapes"]] == [0.9, 1]


def test_an_area_is_filled_and_reaches_as_far_as_its_corners() -> None:
    found = drawn(Area(role="theory", name="band", x=[0, 8, 8], y=[0, 0, 3], opacity=0.5))
    go.Figure(data=found.data, layout={key: found.layout[key] for key in ("xaxis", "yaxis", "clickanywhere")})
    (trace,) = found.data
    assert trace["fill"] == "toself" and trace["fillcolor"] == "rgba(184,92,0,0.5)"
    assert found.layout["xaxis"]["range"][1] > 8 and found.layout["yaxis"]["range"][1] > 3
    assert found.layout["clickanywhere"] is False
    assert drawn(Rule(role="ink", x=1), clicks=True).layout["clickanywhere"] is True


def test_what_goes_with_a_handle_is_told_by_its_traces() -> None:
    marks = (
        Band(role="released", name="releases", x=PLACES, low=PLACES, high=PLACES),
        Dots(role="true", name="here", x=PLACES, y=PLACES, hollow=[True] * 3),
        Dots(role="true", name="there", x=PLACES, y=PLACES),
        Curve(role="ink", name="arrow", x=[0, 1], y=[0, 0]),
    )
    handle = Handle(x=1, y=0, label="y", follows="arrow", turned=True, turns=("releases",), sides=("here", "there"))
    found = drawn(*marks, handle=handle)
    sent = encode_handle(handle, found)
    assert sent is not None
    assert (sent["follows"], sent["turns"], sent["sides"], sent["turned"]) == (4, [0, 1], [2, 3], True)
    assert found.data[2]["marker"]["color"] == "rgba(0,0,0,0)", "one colour, as the number of dots may change"


def test_space_is_turned_by_the_mouse() -> None:
    found = drawn(Cloud(role="true", name="rows", x=PLACES, y=PLACES, z=PLACES, shape="circle-open"))
    assert found.layout["scene"]["dragmode"] == "turntable"
    assert found.data[0]["marker"]["symbol"] == "circle-open"


def rooms(picture: Picture) -> dict[str, int]:
    """Pixels at each side of the picture."""
    margin: dict[str, int] = render(picture, badge="", dark=False).layout["margin"]
    return margin


def test_a_picture_has_the_room_that_its_axes_need_from_the_start() -> None:
    few = Picture(title="", sentence="", table={}, marks=(), x=Axis(title="x"), y=Axis(title="y", low=0, high=5))
    many = dataclasses.replace(few, y=Axis(title="y", low=0, high=500_000, form=","))
    hidden = dataclasses.replace(few, y=Axis(shown=False))
    rows = dataclasses.replace(few, y=Axis(title="y", low=0, high=1, rows=10_000))
    named = dataclasses.replace(few, y=Axis(title="y", labels=("a", "a name of many letters")))
    assert rooms(hidden)["l"] < rooms(few)["l"] < rooms(many)["l"] < rooms(named)["l"]
    assert rooms(rows)["r"] > rooms(few)["r"]
    bare = dataclasses.replace(few, x=Axis())
    two = dataclasses.replace(few, x=Axis(title="x", labels=("one", "one\nof two lines")))
    assert rooms(bare)["b"] < rooms(few)["b"] < rooms(two)["b"]
    heat = dataclasses.replace(
        few, marks=(Heat(role="true", name="h", x=[0, 1], y=[0, 1], value=[[1.0]], low=0, high=1, unit="rows"),)
    )
    assert rooms(heat)["t"] > rooms(few)["t"]
