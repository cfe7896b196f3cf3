"""The lesson on audits: every number is a program, pictures show what was counted, links audit what they name."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore import Neighbours, catalogue, entry
from dpcore.core import Entry
from dpcore.randomness import Preview
from dplab.audit.sampled import ROUND_SIZES, Audit, audit
from dplab.audit.settings import MAX_QUESTIONS, audit_setting
from dplab.audit.suspects import EPSILON, SUSPECTS
from dplab.measure import finish
from pages.charts.picture import Bars, Dots, Region, Rule, numbers
from pages.learn.audit import figure
from pages.learn.audit.lesson import ANSWERS, CHEAT, LINE_UP, VIEWS
from pages.shell.controls import audit_link
from tests.kit import searched
from tests.kit.statistics import clopper_pearson
from tests.pages.drawn_charts import drawn
from tests.pages.learn.test_page import opened, texts
from tests.pages.lessons import sound
from tests.pages.opening import DIRECTIONS, RANDOM_PRIVACY, run_with, switch_page
from tests.pages.opening import opened as page
from tests.pages.opening import sound as at_rest


def found(key: str, *, rounds: tuple[int, ...] = ROUND_SIZES[:3], epsilon: float = 1.0) -> Audit:
    (suspect,) = (each for each in SUSPECTS if each.key == key)
    return finish(audit(suspect.draw, epsilon=epsilon, seed=1, rounds=rounds, at_least=2))


def test_every_program_has_one_number_and_the_right_ones_are_not_first() -> None:
    assert sorted(LINE_UP) == list(range(len(SUSPECTS)))
    assert all(SUSPECTS[LINE_UP[place]].fault for place in (0, 1)), "the lesson opens on a cheat"


@pytest.mark.parametrize("key", ["wrong-sensitivity", "honest-counts"])
def test_what_is_shown_stands_against_the_claim(key: str) -> None:
    seen = found(key)
    shown = sound(figure.loss(seen, epsilon=1.0))
    dots, beyond = shown.one(Dots, role="released"), shown.one(Region, role="impossible")
    assert shown.one(Rule, role="theory").y == 1.0 and beyond.y is not None and beyond.y[0] == 1.0
    assert numbers(dots.y).tolist() == [look.epsilon for look in seen.rounds]
    assert numbers(dots.x).tolist() == np.cumsum([look.runs for look in seen.rounds]).tolist()
    assert shown.y.title == "lower bound on ε from each test"
    for look in seen.rounds:
        more, fewer = sorted(look.hits, reverse=True)
        share = seen.failure / 3  # of three rounds, for both ends
        least, _ = clopper_pearson(more, trials=look.counted, significance=share)
        _, most = clopper_pearson(fewer, trials=look.counted, significance=share)
        assert look.epsilon == pytest.approx(max(0.0, np.log(least / most)))
    assert bool(numbers(dots.y).max() > 1.0) is seen.refuted is (key == "wrong-sensitivity")
    assert seen.sentence in shown.sentence and beyond.y[1] > numbers(dots.y).max()


def test_bars_and_the_cut_are_those_of_the_last_look() -> None:
    seen = found("wrong-sensitivity")
    look = seen.rounds[-1]
    shown = sound(figure.scores(seen))
    a, b = (shown.one(Bars, name=f"data set {name}") for name in "AB")
    np.testing.assert_array_equal([numbers(a.value), numbers(b.value)], look.shares)
    assert shown.one(Rule, role="ink").x == look.event.cut
    beyond = numbers(a.start) >= look.event.cut if look.event.upward else numbers(a.end) <= look.event.cut
    more, fewer = (a, b) if look.event.upward else (b, a)
    assert numbers(more.value)[beyond].sum() > numbers(fewer.value)[beyond].sum()
    assert f"{look.hits[0]:,} on {'A' if look.event.upward else 'B'}" in shown.sentence


def test_before_it_is_run_there_are_axes_alone() -> None:
    assert not numbers(figure.loss(None, epsilon=0.5).one(Dots).y).size
    assert not any(numbers(bars.value).any() for bars in figure.scores(None).find(Bars))


@pytest.mark.parametrize("number", [1, 3, LINE_UP.index(0) + 1])
def test_a_program_is_judged_and_so_is_the_guess(number: int) -> None:
    app = opened(
        lesson="audit", audit_shown="true", audit_number=str(number), audit_guess=ANSWERS["broken"], audit_runs="10000"
    )
    suspect = SUSPECTS[LINE_UP[number - 1]]
    page_text = texts(app)
    if suspect.fault:
        assert suspect.fault in page_text and "Refuted: at least" in page_text and "Your guess was right." in page_text
    else:
        assert "Not refuted in 14,000 runs. This is not a proof." in page_text and "Your guess was wrong." in page_text
    assert not app.warning and not app.error


def test_nothing_of_the_verdict_is_told_before() -> None:
    page_text = texts(opened(lesson="audit", audit_number="2"))
    assert "efuted" not in page_text.replace("may refute", "") and not any(
        each.fault and each.fault in page_text for each in SUSPECTS
    )


def test_random_privacy_is_refuted_and_the_lesson_says_why() -> None:
    app = opened(lesson="audit", audit_shown="true", audit_of="sparse_histogram")
    page_text = texts(app)
    assert "Refuted as a guarantee for all data: at least" in page_text
    assert "Release therefore refuses mechanisms with a γ" in page_text
    # What it claims, of rows drawn at random, is possible with these dots.
    (chart,) = drawn(app).values()
    assert "if the claim is true" not in str(chart) and "impossible if the claim held for all data" in str(chart)
    assert ", not 1 (99.9%)" in page_text and "claimed for random rows: ε = 1" in str(chart)
    app = opened(lesson="audit", audit_shown="true")
    app.button[0].click().run()
    assert "Sparse histogram" in texts(app) and "Refuted as a guarantee for all data" in texts(app)


@pytest.mark.parametrize(
    "key", ["identity", "gaussian", "exponential_median", "halfspaces", "residual-planner", "weights"]
)
def test_a_mechanism_of_the_catalogue_stands(key: str) -> None:
    app = opened(lesson="audit", audit_shown="true", audit_of=key, audit_runs="10000", audit_picture=VIEWS[1])
    page_text = texts(app)
    assert "Not refuted in 14,000 runs. This is not a proof." in page_text
    assert set(drawn(app)) == {"audit_scores_chart"} and not app.error and not app.warning
    assert ("Exact result for two rows and all neighbouring data sets: its smallest ε is 1." in page_text) is (
        key == "identity"
    )


def test_a_link_audits_what_it_names() -> None:
    values = {"epsilon": 0.5, "delta": 1e-8}
    link = audit_link(entry("gaussian"), values, Neighbours.ADD_REMOVE_ONE)
    app = opened(**{name.replace("-", "_"): value for name, value in link.items()}, audit_shown="true")
    assert "ε = 0.5, δ = 1e-8 (add or remove one row)" in texts(app) and not app.warning


@pytest.mark.parametrize("each", catalogue(), ids=lambda each: each.key)
def test_every_mechanism_of_the_catalogue_can_be_linked(each: Entry) -> None:
    values = {name: getattr(each.make(), name) for name in each.controls()}
    of_added = each.key == "find_labels_optimal"  # where rows are replaced, it has no proof
    link = audit_link(each, values, Neighbours.ADD_REMOVE_ONE if of_added else Neighbours.REPLACE_ONE)
    app = opened(**{name.replace("-", "_"): value for name, value in link.items()})
    assert not app.warning and not app.error and CHEAT not in link.values()
    assert f"**{each.title}** at your settings" in texts(app)


def test_what_has_no_proof_gets_a_sentence() -> None:
    app = opened(lesson="audit", audit_of="sparse_histogram", neighbours="add or remove one row")
    assert len(app.error) == 1 and "replacing one of n rows" in app.error[0].value


def audited(app: AppTest, label: str) -> dict[str, str]:
    """What a page's link to the audit says."""
    (link,) = (each.proto for each in app.get("page_link") if each.proto.label == label)
    return {name: values[0] for name, values in parse_qs(link.query_string.lstrip("?")).items()}


PLAY: list[tuple[str, dict[str, str]]] = [
    ("conversation/page.py", {"ask": "median"}),
    (
        "play/page.py",
        {"mechanism": "gaussian", "delta": "1e-8", "neighbours": "add or remove one row", "card": "attack"},
    ),
    ("one_number/page.py", {"robust": "subsample-groups"}),
    ("tables/page.py", {}),
    ("tables/page.py", {"view": "All tables of k attributes"}),
    (DIRECTIONS, {}),
    (RANDOM_PRIVACY, {}),
]
"""Pages that show a mechanism, with settings in their links."""


@pytest.mark.parametrize(
    ("file", "settings"), [PLAY[0], *(pytest.param(*each, marks=pytest.mark.full) for each in PLAY[1:])]
)
def test_a_page_audits_what_is_chosen_there(file: str, settings: dict[str, str]) -> None:
    link = audited(page(file, epsilon="0.5", **settings), "Test this privacy claim")
    assert link["lesson"] == "audit" and link["epsilon"] == "0.5"
    if file == "play/page.py":
        assert link == audit_link(entry("gaussian"), {"epsilon": 0.5, "delta": 1e-8}, Neighbours.ADD_REMOVE_ONE)
    app = opened(**{name.replace("-", "_"): value for name, value in link.items()})
    assert f"**{entry(link['audit-of']).title}** at your settings" in texts(app) and not app.warning and not app.error


@pytest.mark.parametrize("file", [RANDOM_PRIVACY, pytest.param("conversation/page.py", marks=pytest.mark.full)])
def test_a_link_to_the_audit_is_followed_even_where_another_mechanism_was_audited_before(file: str) -> None:
    app = at_rest(opened(lesson="audit", audit_of="gaussian"))
    assert f"**{entry('gaussian').title}** at your settings" in texts(app)
    app.query_params.clear()
    link = audited(at_rest(switch_page(app, file).run()), "Test this privacy claim")
    app.query_params.clear()
    at_rest(switch_page(app, f"learn/page.py?{urlencode(link)}").run())
    assert f"**{entry(link['audit-of']).title}** at your settings" in texts(app) and link["audit-of"] != "gaussian"


def test_plan_audits_the_mechanism_of_a_question() -> None:
    app = page("plan/page.py")
    run_with(app, {"plan_preview": True})
    link = audited(app, "Test this privacy claim")
    assert link["lesson"] == "audit" and float(link["epsilon"]) > 0
    shown = opened(**{name.replace("-", "_"): value for name, value in link.items()})
    assert f"ε = {link['epsilon']}" in texts(shown) and not shown.warning


def test_it_can_be_presented() -> None:
    app = opened(lesson="audit", audit_shown="true", present="1")
    assert set(drawn(app)) == {"audit_loss_chart"} and not app.error
    assert app.slider(key="audit-number").value == 1


@pytest.mark.parametrize("key", ["weights", "median"])
def test_a_conversation_is_audited_by_its_first_questions(key: str) -> None:
    tried = audit_setting(entry(key), entry(key).make(questions=50), Neighbours.REPLACE_ONE)
    assert tried.draw(0, Preview(1), 3).shape == (3, 5 * MAX_QUESTIONS)
    assert "the first 6 queries of a conversation" in texts(opened(lesson="audit", audit_of=key))


def test_the_lesson_says_how_many_programs_there_are_and_how_runs_and_failures_are_shared() -> None:
    words = texts(opened(lesson="audit", audit_shown="true", audit_runs="10000"))
    assert "Fifteen programs claim ε = 1, but for some this is false." in words and "Is ε = 1 true?" in words
    assert EPSILON == 1 and [bool(each.fault) for each in SUSPECTS].count(True) == 13 == len(SUSPECTS) - 2
    own = texts(opened(lesson="audit", audit_shown="true", audit_runs="10000", audit_of="identity"))
    assert "Fifteen programs claim ε = 1;" in own
    assert (
        "A quarter of the runs orders the outcomes by likelihood ratio. A quarter chooses the cut, and half is counted"
        in words
    )
    assert all(look.counted * 2 == look.runs for look in found("honest-counts").rounds)
    assert "All tests together are wrong in at most 0.1% of cases." in words
    assert "one of them is wrong is at most 0.1%." in words
    assert "Each dot is a test with its own runs. All tests together are wrong with probability at most" in words
    failures = [found("honest-counts", rounds=ROUND_SIZES[:many]).failure for many in (2, 3)]
    assert failures == [0.001, 0.001]


def test_bounds_of_a_look_are_rounded_to_the_side_where_they_hold() -> None:
    seen = found("wrong-sensitivity")
    look = seen.rounds[-1]
    match = searched(r"The probabilities are at least ([\d.]+)% and at most ([\d.]+)%\.", figure.scores(seen).sentence)
    least, most = (float(each) / 100 for each in match.groups())
    assert 0.99 * look.more <= least <= look.more and look.fewer <= most <= 1.01 * look.fewer
    hover = figure.loss(seen, epsilon=1.0).one(Dots, role="released").hover
    assert hover is not None and len(hover) == len(seen.rounds)
    for text, each in zip(hover, seen.rounds, strict=True):
        counts, _, shown = text.partition(" hits, so ε is at least ")
        assert counts == f"{each.counted:,} counted runs: {each.hits[0]:,} against {each.hits[1]:,}"
        assert 0.99 * each.epsilon <= float(shown) <= each.epsilon
