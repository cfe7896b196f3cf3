"""The handout: every lesson with its text, its pictures as SVG and its formula; nothing in it leaves the file."""

from __future__ import annotations

import ast
import re
import xml.etree.ElementTree as ElementTree
from html import escape
from html.parser import HTMLParser

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.charts.axes import axis_range
from pages.charts.picture import Axis, Bars, Curve, Dots, Heat, Mark, Picture, Rule, Wall
from pages.learn.lecture import guesses, handout, plan
from pages.learn.lecture.drawing import svg
from pages.learn.lecture.formula import mathml
from pages.learn.lecture.records import LessonRecord
from pages.learn.lecture.rooms import GuessQuestion
from pages.learn.pictures import hide_measured
from pages.learn.view import LESSONS
from tests import ROOT
from tests.cases import full_but
from tests.pages.learn.test_page import opened


def lecture(*keys: str, **link: str) -> AppTest:
    """The plan of a lecture."""
    return opened(lesson="lecture", lecture=".".join(keys), **link)


def printed(*keys: str) -> tuple[str, list[LessonRecord]]:
    """The handout of these lessons, as the button makes it, and what was collected."""
    app = lecture(*keys)
    app.button[[each.label for each in app.button].index("Make the handout")].click().run()
    assert not app.exception and not app.error and not app.warning
    records = app.session_state["lecture_handout"].records
    assert [each.proto.label for each in app.get("download_button")] == ["Download the handout (HTML)"]
    return handout.handout([(LESSONS[key], each) for key, each in zip(keys, records, strict=True)]), records


def drawn(text: str) -> ElementTree.Element:
    """The SVG, which is well-formed and has finite numbers alone."""
    assert not re.search(r"nan|inf\b|None", re.sub(r"<(title|tspan)[^>]*>.*?</\1>", "", text))
    return ElementTree.fromstring(text)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", full_but(LESSONS, *list(LESSONS)[::3]))
def test_a_lesson_s_question_comes_first_and_its_result_on_the_last_pages(lesson: str) -> None:
    text, [record] = printed(lesson)
    questions, results = text.split('<div class="results">')
    assert record.intro and record.question and record.result and record.formula and record.reference
    assert handout.inline(record.question) in questions
    for each in LESSONS[lesson].class_questions:
        assert escape(each) in questions
    assert handout.paragraphs(record.result) in results and handout.paragraphs(record.result) not in questions
    assert record.before is not None and record.after is not None
    assert "hidden until" in record.before.sentence and "hidden until" not in record.after.sentence
    assert questions.count("<svg") == results.count("<svg") == 1
    hidden, shown = (drawn(re.findall(r"<svg.*?</svg>", part, re.DOTALL)[0]) for part in (questions, results))
    assert len(list(hidden.iter())) < len(list(shown.iter())), "curves and dots come with the result"
    assert "you guessed ____" in text.lower() or "you guessed" not in text.lower()
    assert "badge[" not in text and "**" not in text and "<code>\\" not in text


class Addresses(HTMLParser):
    """Whatever a browser would load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "link", "iframe", "img", "object", "embed", "base", "a", "form", "image", "use"):
            self.found.append(tag)
        self.found += [f"{name}={value}" for name, value in attrs if name.startswith("on") or ":" in (value or "")]


def test_nothing_in_a_handout_is_loaded_or_run() -> None:
    text, _ = printed("odds", "attack-me")
    parser = Addresses()
    parser.feed(text)
    assert parser.found == [] and "http" not in text and "@import" not in text
    assert set(re.findall(r"url\(([^)]*)\)", text)) <= {f"#{each}" for each in re.findall(r'id="([^"]+)"', text)}
    assert len(re.findall(r'id="([^"]+)"', text)) == len(set(re.findall(r'id="([^"]+)"', text)))


def test_a_handout_has_the_lessons_initial_settings_and_nobody_s_answers() -> None:
    """Sixteen answers that a teacher typed stay in their session."""
    app = lecture("attack-me")
    app.session_state["attack-me-bits"] = [1, 2]
    app.session_state["attack-me-counts"] = "noisy"
    app.button[[each.label for each in app.button].index("Make the handout")].click().run()
    [record] = app.session_state["lecture_handout"].records
    [usual] = printed("attack-me")[1]
    assert record.result == usual.result and "with exact counts" in record.result.lower()
    assert record.after is not None and usual.after is not None and record.after.table == usual.after.table


def test_a_hostile_text_stays_text() -> None:
    assert handout.inline("<script>x</script> **<b>**") == "&lt;script&gt;x&lt;/script&gt; <strong>&lt;b&gt;</strong>"
    assert mathml(r"\text{<b>}") == "<math><mrow><mtext>&lt;b&gt;</mtext></mrow></math>"
    assert mathml("}{").startswith("<math>") and mathml("{") == "<code>{</code>" and mathml("^") == "<code>^</code>"


def formulas() -> list[str]:
    """Every formula that a lesson names."""
    found = []
    for path in (ROOT / "pages" / "learn").glob("*/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "theorem":
                found += [node.args[0].value] if isinstance(node.args[0], ast.Constant) else []
    return [str(each) for each in found]


def test_every_formula_of_the_lessons_is_written_without_a_script() -> None:
    assert len(formulas()) > 15
    for each in formulas():
        ElementTree.fromstring(mathml(each, block=True).replace("&nbsp;", " "))
        assert "<code>" not in mathml(each), each
    assert mathml(r"\tfrac12") == "<math><mrow><mfrac><mn>1</mn><mn>2</mn></mfrac></mrow></math>"
    assert mathml(r"\min_x a_1^2").startswith("<math><mrow><munder><mi>min</mi><mi>x</mi></munder><msubsup>")


LOGARITHMIC = Axis(low=1, high=100, log=True)


def picture(*marks: Mark, y: Axis = LOGARITHMIC) -> Picture:
    return Picture(title="t", marks=marks, sentence="a < b", table={}, x=Axis(low=0, high=10), y=y)


def test_marks_are_where_the_axes_say() -> None:
    shown = picture(
        Dots(role="released", name="dots", x=[0, 5, 10], y=[1, 10, 100], low=[1, 5, 100], high=[1, 20, 100]),
        Rule(role="ink", x=5, label="here"),
    )
    root = drawn(svg(shown, badge="badge & more", key="k"))
    polygon = root.find("clipPath/polygon")
    assert polygon is not None
    box = [float(each) for each in re.findall(r"[\d.]+", polygon.attrib["points"])]
    left, top, right, bottom = box[0], box[1], box[2], box[5]
    circles = [(float(each.attrib["cx"]), float(each.attrib["cy"])) for each in root.iter("circle")][:3]
    np.testing.assert_allclose(
        circles, [(left, bottom), ((left + right) / 2, (top + bottom) / 2), (right, top)], atol=0.1
    )
    rule = [each.attrib["points"] for each in root.iter("polyline") if each.attrib["points"].count(",") == 2]
    middle = f"{(left + right) / 2:g}"
    assert any(points.startswith(f"{middle},") and points.split()[1].startswith(f"{middle},") for points in rule)
    texts = ["".join(each.itertext()) for each in root.iter("text")]
    assert "here" in texts and "badge & more" in texts and "dots" in texts
    assert root.findtext("title") == "a < b"


def test_gaps_steps_walls_bars_and_shades_are_drawn() -> None:
    gap = drawn(svg(picture(Curve(role="theory", x=[0, 1, 2, 3], y=[2, np.nan, 2, 2])), badge="", key="k"))
    lines = [each.attrib["points"].count(",") for each in gap.iter("polyline") if each.attrib["stroke"] == "#b85c00"]
    assert lines == [1, 2]
    step = drawn(svg(picture(Curve(role="theory", x=[0, 5], y=[1, 100], step=True)), badge="", key="k"))
    assert [
        each.attrib["points"].count(",") for each in step.iter("polyline") if each.attrib["stroke"] == "#b85c00"
    ] == [3]
    wall = drawn(svg(picture(Wall(x=[0, 10], y=[10, 10], end=100, label="no")), badge="", key="k"))
    assert wall.find(".//pattern") is not None and wall.find("g/polygon") is not None
    bars = picture(Bars(role="released", start=[0, 5], end=[5, 10], value=[10, 40]), y=Axis(low=0, high=100))
    heights = [float(each.attrib["height"]) for each in drawn(svg(bars, badge="", key="k")).iter("rect")]
    assert heights[1] == pytest.approx(4 * heights[0], rel=0.01)
    heat = Heat(role="true", x=[0, 5, 10], y=[0, 1], value=np.array([[0.0, np.nan]]), low=0, high=1, unit="share")
    cells = drawn(svg(picture(heat, y=Axis(low=0, high=1)), badge="", key="k"))
    assert len(list(cells.iter("rect"))) == 1 + 17, "one cell, and its scale"


QUESTION = GuessQuestion(lesson="odds", text="?", label="Your guess, percent", values=tuple(range(101)))
ANSWERS = GuessQuestion(lesson="audit", text="?", label="Your guess", values=(0, 1), names=("true", "false"))
STOPS = GuessQuestion(lesson="median", text="?", label="Your guess, in bits", values=(1, 10, 1000))
MANY = GuessQuestion(
    lesson="median", text="?", label="Your guess, in bits", values=tuple(2.0**each for each in range(30))
)


@pytest.mark.parametrize(
    ("question", "values", "answer", "place"),
    [
        (QUESTION, [0, 4, 5, 100], 23.2, 23.2),
        (ANSWERS, [0, 1, 1], 1, 1),
        (STOPS, [10], 505, 1.5),
        (MANY, [8.0], 8, 3),
        (QUESTION, [], None, None),
    ],
)
def test_the_class_s_histogram_counts_every_guess_beside_the_result(
    question: GuessQuestion, values: list[float], answer: float | None, place: float | None
) -> None:
    shown = guesses.histogram(question, values, answer)
    bars = shown.one(Bars)
    assert np.sum(bars.value) == len(values)
    if values:
        at = values[0] if question is QUESTION else question.values.index(values[0])
        [bar] = [
            index for index, start in enumerate(np.asarray(bars.start)) if start <= at < start + np.diff(bars.start)[0]
        ]
        assert np.asarray(bars.value)[bar] >= 1
    rules = [each.x for each in shown.find(Rule)]
    assert rules == ([] if place is None else [place]) and f"{len(values)} guesses" in shown.sentence
    low, high = axis_range(shown.x, shown.marks, across=True)
    assert low <= np.min(bars.start) and high >= np.max(bars.start)
    drawn(svg(shown, badge="", key="k", width=240, dark=True))


def test_a_result_is_hidden_in_the_first_pages_whatever_the_picture() -> None:
    record = LessonRecord()
    curve = Curve(role="theory", name="answer", x=[0, 1], y=[23, 23])
    record.add_picture(picture(curve, Rule(role="guess", y=50, label="your guess")), badge="b")
    assert record.before is not None and record.after is not None
    assert not record.before.find(Curve) and record.after.find(Curve) and not record.after.find(Rule)
    assert hide_measured(record.after).sentence == record.before.sentence


def test_plan_is_named_once() -> None:
    assert plan.LECTURE not in LESSONS and "." not in "".join(LESSONS)
