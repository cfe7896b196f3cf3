"""The wall and what hangs on it: every lesson is there, makes its point by a number as it opens, and can be broken."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
from streamlit.testing.v1 import AppTest

from dplab.audit.suspects import SUSPECTS
from pages.charts.palette import DARK, LIGHT
from pages.learn.kit import SEEDED, Lesson
from pages.learn.overview import ACROSS, DRAWINGS, PAGE, PATH, split_rows
from pages.learn.view import LESSONS, OVERVIEW, TEACHERS
from tests import ROOT
from tests.cases import full_but
from tests.kit import searched
from tests.pages.drawn_charts import drawn
from tests.pages.opening import FILES, opened, sound, texts
from tests.pages.test_papers import LINES

LEARN = "learn/page.py"
SHORT = 250


def numbers_in(words: str) -> list[float]:
    """The numbers that are told in bold, in order."""
    bold = " ".join(re.findall(r"\*\*(.*?)\*\*", words))
    return [float(each.replace(",", "")) for each in re.findall(r"\d[\d,.]*\d|\d", bold)]


def lesson(key: str, **link: str) -> AppTest:
    """A lesson that has been revealed."""
    return sound(opened(LEARN, lesson=key, **{f"{key}-shown": "true"}, **link))


def told(app: AppTest) -> str:
    """What happens, as told beside the picture: the sentence with a badge that is no part of a theorem."""
    markdown_text = [each.value for each in app.markdown if "-badge[" in each.value and "**" in each.value]
    return markdown_text[0]


@pytest.mark.parametrize("key", LESSONS)
def test_a_lesson_opens_where_its_point_is_obvious(key: str) -> None:
    words, point = told(lesson(key)), LESSONS[key].point
    found = numbers_in(words)
    assert point and len(found) >= len(point), words
    for (least, most), number in zip(point, found, strict=False):
        assert math.isfinite(most - least) and least <= number <= most, f"{number}: {words}"


@pytest.mark.slow
@pytest.mark.parametrize("key", LESSONS)
def test_where_it_is_said_that_draws_are_seeded_a_link_reopens_the_same_picture(key: str) -> None:
    first = lesson(key)
    said = [each.help for each in first.number_input if each.key == "limits-seed"]
    if said == [SEEDED]:
        assert drawn(first) == drawn(lesson(key))
    assert SEEDED not in said or key not in ("low-bits", "audit")


@pytest.mark.slow
def test_where_nobody_finds_the_median_it_is_said_of_delta_0() -> None:
    words = told(lesson("median"))
    power = searched(
        r"no private method with δ = 0 is right about every value with probability above \*\*[\d.]+·\$10\^\{-(\d+)\}\$",
        words,
    )
    assert int(power[1]) > 10 and "The stable median, with δ = 1e-6" in words


def test_ten_rows_hide_the_sample_too_and_a_direction_s_promise_has_its_numbers() -> None:
    assert "It does not hide which sample was asked" in texts(lesson("population"))
    assert "It does here, up to a loss of 1, also hide which sample was asked" in texts(
        lesson("population", **{"population-n": "10"})
    )
    assert "so no error is guaranteed: answers have an error of up to **" in told(
        lesson("directions", **{"directions-gap": "0"})
    )
    promise = r"Guaranteed by one ε-private release, .* for all directions y with margin γ = [\d.]+: α = [\d.]+%\."
    assert re.search(promise, texts(lesson("directions")))


def test_random_privacy_says_2k_over_n_as_it_is_and_breaks_where_the_condition_fails() -> None:
    many = lesson("random", **{"random-figure": "figure-2", "random-grid-rows": "500"})
    assert "at most 2k/n = 1.6 (the paper). The sharper bound, for " in texts(many)
    few = lesson("random", **{"random-rows": "30000"})
    (button,) = (each for each in few.button if each.label)
    assert "both are the same" in texts(sound(button.click().run()))
    assert button.label == "γ = 1%, n = 500"
    assert [str(few.select_slider(key=f"random-{name}").value) for name in ("gamma", "rows")] == ["0.01", "500"]


def test_what_a_lesson_says_of_its_delta_and_its_degree_is_of_these() -> None:
    usual = lesson("odds")
    assert "δ" not in told(usual) and "ε is for replacing one row. If ε is for adding or removing" in texts(usual)
    badge = drawn(usual)["odds_belief_chart"]["layout"]["title"]["text"].replace("<br>", " ")
    assert "attacker knows all other rows, or rows are independent" in badge
    slack = lesson("odds", **{"odds-delta": "0.01"})
    assert "This holds for δ = 0. With probability up to δ = 0.01, a release may reveal everything" in told(slack)
    assert "a release at ε = 1 and δ = 0, how likely can the attacker think it, at most?" in texts(slack)
    # Degree 5 is enough for the distance; with noise, degree 6 is near with fewer rows.
    assert (
        "in the best degree (d = 64, ε = 1, δ = 1e-6), answers have an error this small from about 23,700,000 rows"
        in texts(lesson("polynomials"))
    )


CITED = [
    ("sparse-data", "", "Hall, Rinaldo and Wasserman (2013)", "Definition 1, equation 5 and Section 7"),
    ("directions", "Fewer dimensions", "Blum, Ligett and Roth (2013)", "Theorem 6.3 and Corollary 6.4"),
]


@pytest.mark.parametrize(("key", "view", "paper", "statements"), CITED)
def test_a_lesson_cites_statements_of_the_map_of_papers(key: str, view: str, paper: str, statements: str) -> None:
    """The card names them, and the map has each of them in that paper, at what this lesson shows."""
    assert f"{paper}, {statements}." in texts(lesson(key, **({f"{key}-picture": view} if view else {})))
    for each in re.split(", | and ", statements):
        name, number = each.split()
        assert any(
            re.search(rf"{name}s? ([\d.]+ and )*{number}(?![\d.]*\d)", what, re.IGNORECASE) for what, *_ in LINES[paper]
        ), each


def test_the_variants_of_the_line_up_are_those_of_the_paper_that_is_cited() -> None:
    assert "those of Lyu, Su and Li (2017)" in texts(lesson("audit", **{"audit-runs": "10000"}))
    gates = [each.fault for each in SUSPECTS if each.fault.startswith("A sparse-vector algorithm ")]
    assert sorted(re.findall(r"\(variant (\d) of Lyu, Su and Li\)", " ".join(gates))) == ["3", "4", "5", "6"]
    assert len(gates) == 4


def test_no_page_of_learn_can_reach_a_ledger_or_the_secure_sampler() -> None:
    """Nothing that is shown there costs privacy, and no draw is a private release; low-bits compares samplers."""
    assert "All data here are synthetic or public: this page spends no privacy" in texts(opened(LEARN))
    assert lesson("subset").number_input(key="limits-seed").help.endswith(" These are not private releases.")
    imported = dict[str, set[str]]()
    for top in ("pages/learn", "dplab/limits", "dplab/audit", "dplab/printed"):
        for file in (ROOT / top).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom):
                    names = {f"{node.module}.{each.name}" for each in node.names}
                    imported.setdefault(file.name, set()).update(names)
    every = set[str]().union(*imported.values())
    assert "dpcore.randomness.Preview" in every  # the names are those that the code imports
    assert not [
        each for each in every if re.search(r"ledger|\.Secure$|dprelease\.(release|engine)", each, re.IGNORECASE)
    ]


SLOW = ("dimension", "directions", "look-real", "subset", "vc")
"""Lessons that take a second or two for all their pictures."""


@pytest.mark.slow
@pytest.mark.parametrize("key", full_but(LESSONS, *list(LESSONS)[::3]))
def test_breaking_it_changes_what_is_told(key: str) -> None:
    app = lesson(key)
    before, link = texts(app), dict(app.query_params)
    breaks = [each for each in app.button if each.label]
    assert "**Change it.**" in before and len(breaks) == 1
    sound(breaks[0].click().run())
    assert texts(app) != before, link
    # The guess was about other settings.
    assert not re.search(r"(?<!efore, )(you guessed|the guess stood)|your guess", texts(app).lower())
    (back,) = (each for each in app.button if each.label == "Back")
    sound(back.click().run())
    assert texts(app) == before or key == "low-bits"  # its secure draws are never the same
    assert not [each for each in app.button if each.label == "Back"]
    assert app.latex and all("\\" in each.value for each in app.latex)


@pytest.mark.slow
@pytest.mark.parametrize("key", full_but(LESSONS, *[each for each in LESSONS if each not in SLOW][::3]))
def test_every_picture_of_a_lesson_can_be_presented(key: str) -> None:
    app = lesson(key)
    switch = [each for each in app.get("button_group") if each.key == f"{key}-picture"]
    titles = [option.content for option in switch[0].proto.options] if switch else [""]
    seen = set()
    for title in titles:
        shown = lesson(key, **({f"{key}-picture": title} if title else {}))
        assert not shown.warning
        (chart,) = drawn(shown)
        assert set(drawn(lesson(key, present="1", **({f"{key}-picture": title} if title else {})))) == {chart}
        seen.add(chart)
    assert len(seen) == len(titles)


def on_stage(block: Any, *, inside: bool = False) -> Iterator[Any]:
    """Elements that are drawn in the stage's place for its slider."""
    inside |= str(getattr(block.proto, "id", "")).endswith("presentation_slider")
    for each in block.children.values():
        if hasattr(each, "children"):
            yield from on_stage(each, inside=inside)
        elif inside:
            yield each


@pytest.mark.parametrize("key", [pytest.param(each, marks=[pytest.mark.full] * (each != "subset")) for each in LESSONS])
def test_the_slider_on_the_stage_moves_the_picture(key: str) -> None:
    app = lesson(key, present="1")
    assert "guess { display: none" in "".join(each.proto.body for each in app.get("html"))
    (before,) = drawn(app).values()
    slider = next(each for each in on_stage(app.main) if each.type in ("slider", "select_slider"))
    moved: Any
    if slider.key == f"{key}-epsilon_slider":
        moved = app.number_input(key=f"{key}-epsilon")  # which the slider mirrors
        value = 0.7 * moved.value
    elif slider.type == "slider":
        moved = app.slider(key=str(slider.key))
        value = moved.value + (1 if moved.value < moved.max else -1)
    else:
        moved = app.select_slider(key=str(slider.key))
        options = [each.replace(",", "") for each in moved.options[-4:]]
        value = next(each for each in options if float(each) != float(moved.value))
    moved.set_value(value)
    (after,) = drawn(sound(app.run())).values()
    assert (before["data"], before["layout"]) != (after["data"], after["layout"])


def test_who_moves_epsilon_makes_the_counts_private() -> None:
    app = lesson("attack-me")
    # Odds are limited where counts are private, and there alone.
    assert "With exact counts" in told(app) and "from the exact counts?" in texts(app)
    assert "The posterior odds are at most" not in texts(app)
    app.select_slider(key="attack-me-epsilon").set_value("0.1")
    assert "With noise at ε = 0.1" in told(sound(app.run()))
    assert "from the private counts?" in texts(app) and "The posterior odds are at most" in texts(app)
    app.selectbox(key="attack-me-counts").set_value("exact")
    assert "With exact counts" in told(sound(app.run()))


def test_the_wall_has_every_lesson_and_every_page_of_learn() -> None:
    app = sound(opened(LEARN))
    in_use, *links = [each.proto for each in app.get("page_link")]
    assert in_use.label.startswith("Public")
    path, links = links[: len(PATH)], links[len(PATH) :]
    for place, (key, link) in enumerate(zip(PATH, path, strict=True), 1):
        assert link.label.startswith(f"{place} · ") and link.query_string == f"lesson={key}"
    assert [each.label for each in links][: len(OVERVIEW)] == [each.question for each in OVERVIEW]
    for each, link in zip(OVERVIEW, links, strict=False):
        assert all(urlencode({name: value}) in link.query_string for name, value in each.address.items())
    assert {each.workbench for each in OVERVIEW if each.workbench} <= set(FILES)
    assert FILES[PAGE] == "learn"
    assert not drawn(app) and len({each.key for each in OVERVIEW}) == len(OVERVIEW)
    minutes = [f"{each.minutes} min{'' if each.show else ' · a table'}" for each in OVERVIEW]
    assert [each.value for each in app.caption if " min" in each.value] == minutes
    assert len(OVERVIEW) - len(LESSONS) == 1
    assert set(DRAWINGS) == {each.key for each in OVERVIEW}


def test_no_card_is_alone_in_a_further_row() -> None:
    for _, lessons in groupby(OVERVIEW, key=lambda each: each.group):
        group = list(lessons)
        rows = split_rows(group)
        assert [each for row in rows for each in row] == group and max(map(len, rows)) <= ACROSS
        assert len(rows) == 1 or min(map(len, rows)) > 1


def test_the_wall_starts_with_what_an_epsilon_is_and_has_every_lesson_after_what_it_needs() -> None:
    assert OVERVIEW[0].key == "odds"
    before: set[str] = set()
    for each in OVERVIEW:
        assert not [other.question for other in OVERVIEW if other.question in each.needs and other.key not in before]
        before.add(each.key)


def test_the_short_path_takes_45_minutes_in_the_order_of_the_wall_through_three_groups() -> None:
    path = [LESSONS[key] for key in PATH]
    assert sum(each.minutes for each in path) == 45 and sorted(path, key=OVERVIEW.index) == path
    assert {each.group for each in path} == {"What is guaranteed", "Attacks", "Limits"}, "as its sentence says"
    assert "**45-minute path**" in texts(sound(opened(LEARN)))
    for each in path:
        assert not [other for other in OVERVIEW if other.question in each.needs and other not in path]


@pytest.mark.parametrize("presented", [False, True], ids=["page", "presented"])
@pytest.mark.parametrize("key", full_but(LESSONS, "odds", list(LESSONS)[-1]))
def test_a_lesson_ends_in_a_link_to_the_next_of_the_wall(key: str, presented: bool) -> None:
    app = sound(opened(LEARN, lesson=key, **({"present": "1"} if presented else {})))
    following = OVERVIEW[OVERVIEW.index(LESSONS[key]) + 1]
    links = [each.proto for each in app.get("page_link") if each.proto.label == "Next lesson"]
    assert [each.help for each in links] == [following.question]
    address = following.address | ({"present": "1"} if presented else {})
    assert links[0].query_string == urlencode(address)


@pytest.mark.parametrize("each", OVERVIEW, ids=lambda each: each.key)
def test_a_card_has_a_small_drawing_that_both_themes_can_show(each: Lesson) -> None:
    text = DRAWINGS[each.key].read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("svg") and len(text) < 12_000
    colours = set(re.findall(r"#[0-9a-f]{6}", text))
    assert colours
    for colour in colours:
        assert min(contrast(colour, paper) for paper in (LIGHT.paper, DARK.paper)) >= 3, colour


def contrast(one: str, other: str) -> float:
    """How well two colours can be told apart (WCAG 2.1)."""

    def light(colour: str) -> float:
        channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_links_from_when_the_median_was_the_usual_lesson_open_it() -> None:
    app = sound(opened(LEARN, median_shown="true", median_bits="300"))
    assert set(drawn(app)) == {"median_success_chart"} and "2^300 grid points" in texts(app)
    assert not drawn(sound(opened(LEARN)))


def test_teachers_get_every_lesson_with_minutes_what_comes_before_and_three_questions() -> None:
    app = sound(opened(LEARN, lesson=TEACHERS))
    table = next(each.value for each in app.markdown if each.value.startswith("| lesson"))
    lines = table.split("\n")[2:]
    assert len(lines) == len(OVERVIEW)
    for each, line in zip(OVERVIEW, lines, strict=True):
        _, link, minutes, needs, asks, _ = (part.strip() for part in line.split("|"))
        assert link.startswith(f"[{each.question}](./learn")
        assert all(urlencode({name: value}) in link for name, value in each.address.items())
        assert 1 <= int(minutes) <= 15 and needs
        assert len(set(asks.split("<br>"))) == 3 and all(ask.endswith("?") for ask in asks.split("<br>"))
        assert (each.show is None) is ("table without a guess" in needs)
        assert (each.show is None) is (not each.point), "a lesson opens where its point is plain to see"
    assert "or a table" in texts(app)
    assert len(re.findall(r"\w+", texts(app).replace(table, ""))) < SHORT
