"""Ask without a browser: questions one at a time, an analyst, refusals, new conversations, and private data refused."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpcore import Cells, Intervals, Number, Preview, Problem, Thresholds
from dpcore.core import Queries
from dpcore.data.bundled import bundled
from dpcore.data.columns import is_number
from dpcore.data.reading.tables import read_table
from dpcore.data.sources import Source
from dpcore.mechanisms import entry, serving
from dpcore.mechanisms.online.conversation import Transcript
from dpcore.mechanisms.online.interactive import Interactive
from dpcore.mechanisms.online.previews import preview_conversations
from dpcore.queries.linear import LinearQueries, generated
from pages.charts.words import percent_up
from pages.conversation import worst_error
from pages.conversation.charts import answers_over_time
from pages.conversation.controls import spread_questions
from pages.shell.tasks import shared
from tests.kit.sources import own
from tests.pages import opening
from tests.pages.data.test_page import everything
from tests.pages.drawn_charts import drawn
from tests.pages.opening import run_with, sound, texts, visitor

SAID, WRONG, BELIEF, MAP, REFUSALS = (f"ask_{name}_chart" for name in ("said", "wrong", "belief", "map", "refusals"))


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, nothing is given up."""
    monkeypatch.setattr(worst_error, "MAX_SECONDS", float("inf"))


def opened(**link: str) -> AppTest:
    """The page, opened by a link."""
    return opening.opened("conversation/page.py", **link)


def uploaded(*, private: bool, digest: str = "d1") -> Source:
    """Somebody's own column."""
    rows = "\n".join(str(value % 100) for value in range(0, 3500, 7))
    table = read_table(f"income\n{rows}\n".encode(), name="incomes.csv")
    domain = Number(low=0, high=100, bits=5, missing=True)
    return own(table, "income", on=domain, private=private, digest=digest)


def press(app: AppTest, key: str) -> AppTest:
    """Press a button; nothing goes wrong."""
    return sound(app.button(key=key).click().run())


def metrics(app: AppTest) -> list[str]:
    """Free, paid, refused, price."""
    return [metric.value for metric in app.metric]


def earnings() -> tuple[Problem, Source]:
    source = bundled("earnings", "earnings", bits=10)
    dataset = source.dataset()
    assert is_number(dataset.domain)
    return Problem(domain=dataset.domain, queries=Thresholds(domain=dataset.domain), n=dataset.n), source


def test_more_questions_than_were_promised_get_a_sentence() -> None:
    app = press(sound(opened(**{"ask-questions": "50"})), "ask_50")
    assert not app.warning
    press(app, "ask_one")
    assert "for the first 50" in app.warning[0].value


def test_one_question_then_the_next() -> None:
    app = sound(opened())
    assert metrics(app) == ["0", "0 of 20", "0", "ε = 1"]
    assert set(drawn(app)) == {BELIEF, MAP}
    assert "No query was asked yet" in texts(app)
    assert "If these 60 queries were asked now" in texts(app)
    press(app, "ask_one")
    problem, source = earnings()
    mechanism = entry("median").make(epsilon=1.0, alpha=0.1, updates=20, questions=500)
    assert isinstance(mechanism, Interactive)
    conversation = mechanism.open(mechanism.prepare(source.dataset(), problem), Preview(1))
    first = conversation.ask(511)  # at most 50 dollars
    assert first.paid[0]
    assert metrics(app) == ["0", "1 of 20", "0", "ε = 1"]
    assert f"The answer, **{100 * first.rows[0] / problem.n:.3g}%**, is the true value plus noise." in texts(app)
    assert set(drawn(app)) >= {SAID, WRONG, BELIEF, MAP}
    # The very same question again: what was learnt is guessed, and free.
    press(app, "ask_one")
    again = conversation.ask(511)
    assert not again.paid[0]
    assert metrics(app) == ["1", "1 of 20", "0", "ε = 1"]
    assert f"The guess, **{100 * again.rows[0] / problem.n:.3g}%**, had a small enough error" in texts(app)


@pytest.mark.parametrize("key", [pytest.param("median", marks=pytest.mark.full), "weights"])
def test_weighted_sums_are_asked_and_answered(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Roth (2010), Theorem 6: the page's answer is that of the mechanism for the same class and seed."""
    monkeypatch.setattr(worst_error, "MAX_SECONDS", 0.0)
    link = {"ask": key, "ask-questions-about": "linear", "ask-weights": "ramps", "data": "penguins.body_mass_g"}
    app = press(sound(opened(**link)), "ask_one")
    source = bundled("penguins", "body_mass_g")
    dataset = source.dataset()
    queries = generated("ramps", queries=200, domain=dataset.domain, seed=1)
    problem = Problem(domain=dataset.domain, queries=queries, n=dataset.n)
    mechanism = entry(key).make(epsilon=1.0, alpha=0.1, updates=20, questions=500)
    assert isinstance(mechanism, Interactive)
    answer = mechanism.open(mechanism.prepare(dataset, problem), Preview(1)).ask(0)
    truth = float(queries.answer(dataset.histogram[None], np.array([0]))[0, 0]) / dataset.n
    told = f"{100 * float(answer.rows[0]) / dataset.n:.3g}%"
    assert f"**{told}**" in texts(app) and f"True: {100 * truth:.3g}%" in texts(app) and "query 1" in texts(app)
    assert len(app.selectbox(key="ask-weights").options) == 4
    before = app.session_state["talk"]
    sound(app.selectbox(key="ask-weights").set_value("waves").run())
    assert app.session_state["talk"] is not before, "other weights are another conversation"


@pytest.mark.full
@pytest.mark.parametrize("key", ["median", "weights"])
def test_an_analyst_asks_500_and_the_promise_holds(key: str) -> None:
    app = sound(opened(ask=key))
    press(app, "ask_500")
    problem, source = earnings()
    dataset = source.dataset()
    mechanism = entry(key).make(epsilon=1.0, alpha=0.1, updates=20, questions=500)
    free, paid, declined, _ = metrics(app)
    assert int(free) + int(paid.split(" of ")[0]) == 500
    assert int(paid.split(" of ")[0]) <= 10
    assert declined == "0"
    # The same setting and seed in code give the same conversation, up to the analyst's stock of searches.
    transcript = mechanism.run(mechanism.prepare(dataset, problem), Preview(1))
    assert isinstance(transcript, Transcript)
    assert int(transcript.free.sum()) == int(free)
    bound = mechanism.accuracy(problem, 0.05)
    assert f"The guaranteed error is {percent_up(bound.value)}." in texts(app)
    errors = np.abs(transcript.errors(dataset.histogram))
    assert f"The largest error so far is {100 * errors.max():.3g}%" in texts(app)
    press(app, "ask_50")
    assert "550 queries" in texts(app)


def test_when_updates_run_out_it_refuses_clearly() -> None:
    app = sound(opened(**{"ask-updates": "1", "ask": "weights"}))
    press(app, "ask_50")
    assert metrics(app)[1] == "1 of 1"
    assert int(metrics(app)[2]) > 0
    assert app.error[0].value.startswith("**Refused.** The only update has been used, so query ")
    press(app, "ask_again")
    assert metrics(app) == ["0", "0 of 1", "0", "ε = 1"]
    assert not app.error
    assert "A new conversation began" in app.info[0].value


@pytest.mark.full
def test_other_settings_begin_a_new_conversation_and_say_so() -> None:
    app = press(sound(opened()), "ask_50")
    sound(app.number_input(key="alpha").set_value(0.2).run())
    assert metrics(app)[:3] == ["0", "0 of 20", "0"]
    assert (
        "The settings changed, so a new conversation began. The last conversation, of 50 queries, is deleted."
        in texts(app)
    )
    press(app, "ask_one")
    assert "settings changed" not in texts(app)
    # Another analyst goes on with the same conversation.
    sound(app.selectbox(key="ask-analyst").set_value("sweeping").run())
    press(app, "ask_50")
    assert "51 queries" in texts(app)


def test_the_analyst_who_asks_is_the_one_that_is_described() -> None:
    line = sound(opened())
    cells = sound(opened(**{"data": "penguins.flipper_length_mm", "ask-questions-about": "cells"}))
    for key in ("ask_50", "ask_500"):
        assert line.button(key=key).help.endswith("each query depends on the last answer.")
        assert cells.button(key=key).help == "Asks evenly spread queries, independent of the answers.", (
            "cells have no order"
        )


@pytest.mark.parametrize("missing", [False, True])
def test_the_highest_threshold_counts_all_that_are_not_missing(missing: bool) -> None:
    domain = Number(low=0, high=8, bins=8, missing=missing)
    counts = np.arange(1, domain.size + 1)
    (highest,) = Thresholds(domain=domain).answer(counts[None, :], np.array([domain.ordered - 1])).ravel()
    assert highest == counts[: domain.ordered].sum() == counts.sum() - (counts[-1] if missing else 0)


@pytest.mark.parametrize("queries", [Thresholds, Intervals, Cells, LinearQueries])
def test_two_mechanisms_hold_conversations_about_every_class(queries: type[Queries]) -> None:
    domain = bundled("penguins", "flipper_length_mm").domain
    asked = generated("bumps", queries=5, domain=domain, seed=1) if queries is LinearQueries else queries(domain=domain)
    assert [each.key for each in serving(asked, releases="conversation")] == ["median", "weights"]


@pytest.mark.full
def test_both_mechanisms_are_compared_and_code_is_shown() -> None:
    app = opened(**{"data": "adult.age", "ask-updates": "30"})
    run_with(app, {"ask_both_open": True, "ask_code_open": True})
    lines = [line for line in texts(app).split("\n") if line.startswith("| M")]
    assert [line.split(" | ")[0] for line in lines] == ["| Median mechanism", "| Multiplicative weights"]
    for line in lines:
        free, paid, declined = (int(cell) for cell in line.split(" | ")[1:4])
        assert free + paid + declined == 500
    code = app.code[0].value
    scope: dict[str, object] = {}
    exec(code, scope)  # the page's own words
    assert "conversation" in scope


@pytest.mark.full
@pytest.mark.parametrize(
    "link",
    [
        {"data": "pets.species", "ask": "weights", "alpha": "0.05"},
        {"data": "pets.zip_code"},
        {"data": "census.income", "ask-questions-about": "intervals", "ask": "weights"},
        {"data": "skewed", "bits": "14", "n": "300000", "ask": "median"},
        {"data": "penguins.flipper_length_mm", "ask-questions-about": "cells", "ask": "median"},
    ],
    ids=lambda link: link["data"],
)
def test_other_data_and_questions(link: dict[str, str]) -> None:
    app = press(press(sound(opened(**link)), "ask_one"), "ask_50")
    assert "51 queries" in texts(app)
    # What was said, how wrong, what is believed, the map; and refusals where there are any.
    assert set(drawn(app)) >= {SAID, WRONG, BELIEF, MAP}
    assert (REFUSALS in drawn(app)) is ("used all their updates" in texts(app))
    assert all(chart["download"] for chart in drawn(app).values()), "public data only"


def test_an_interval_is_what_the_slider_says() -> None:
    app = sound(opened(**{"ask-questions-about": "intervals", "ask": "weights"}))
    slider = next(each for each in app.slider if each.key and each.key.startswith("ask_at"))
    slider.set_range(12.5, 25.0)
    press(app, "ask_one")
    assert "`12.5 to 25`:" in texts(app)
    _, source = earnings()
    queries = Intervals(domain=source.on(Number))
    truth = queries.answer(source.dataset().histogram[None], np.array([queries.index(128, 255)]))[0, 0]
    assert f"True: {100 * truth / 61_395:.3g}%" in texts(app)


def test_questions_spread_over_a_class_are_prefixes() -> None:
    _, source = earnings()
    for queries in (Thresholds(domain=source.on(Number)), Intervals(domain=source.on(Number))):
        indices, places = spread_questions(queries, 60)
        first, last = queries.ends(indices)
        assert len(indices) == len(places) == 60
        assert not first.any()
        assert places[-1] == 100
        assert last[-1] == 1023


def test_the_wall_is_told_with_who_may_pass_it() -> None:
    app = sound(opened(ask="weights", **{"ask-questions": "50"}))
    assert (
        "Take a mechanism that answers 50 such queries, each asked after the previous answer, on 1,024 cells"
        in texts(app)
    )
    assert (
        "With 20 updates this mechanism may refuse (more updates would share one ε). Its guarantee "
        "covers answered queries only, so the lower bound does not apply to it"
    ) in texts(app)
    assert "None of 50 conversations refused a query. With 95% confidence" in texts(app)
    app = sound(opened(ask="weights", alpha="0.5", **{"ask-questions": "50", "ask-updates": "50"}))
    assert "this mechanism never refuses, so the lower bound applies to it" in texts(app)


def test_long_conversations_wait_to_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "_results", shared.SharedCache(size=9))
    monkeypatch.setattr(worst_error, "MAX_SECONDS", -1.0)
    app = sound(opened(ask="weights"))
    assert set(drawn(app)) == {BELIEF}
    assert "so they start only when you press the button" in texts(app)
    assert not shared._results.results, "another session may find more time"
    sound(app.toggle(key="ask_long").set_value(True).run())
    assert MAP in drawn(app)
    assert "in 100 conversations have an error above" in texts(app) or "every conversation has an error above" in texts(
        app
    )


@pytest.mark.parametrize("own_rows", [False, True])
def test_whole_conversations_are_held_once_for_everybody_and_about_own_rows_by_each_session(
    own_rows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "_results", shared.SharedCache(size=9))
    held: list[int] = []

    def counted(*asked: Any, **named: Any) -> Any:
        held.append(1)
        return preview_conversations(*asked, **named)

    monkeypatch.setattr(worst_error, "preview_conversations", counted)
    for visit in (1, 2):
        app = visitor("conversation/page.py")
        app.query_params["ask-questions"] = "50"
        if own_rows:
            app.session_state["upload"] = uploaded(private=False)
            app.query_params["data"] = "my-file"
        assert MAP in drawn(sound(app.run()))
        assert len(held) == (visit if own_rows else 1)
    assert bool(shared._results.results) != own_rows


def test_private_conversations_are_refused_whoever_asks() -> None:
    app = run_with(visitor("conversation/page.py"), {"upload": uploaded(private=True), "data": "my-file"})
    for on in (False, True):
        sound(app.toggle(key="steward_choice").set_value(on).run())
        assert "If queries depend on earlier answers, Release refuses it" in texts(app) and set(drawn(app)) == {
            "promises_chart"
        }
        assert "A conversation about private rows spends their budget." in texts(app)
        assert (
            "no mechanism that must answer every query can guarantee less than about"
            in drawn(app)["promises_chart"]["sentence"]
        )
        assert "Lower bound, if every query is answered" in [each.label for each in app.metric]
        assert "ask_one" not in [each.key for each in app.button] and "talk" not in app.session_state


def test_the_browser_is_not_told_the_digest_of_a_stand_in() -> None:
    stand_in = uploaded(private=False, digest="e3b0c44298fc")
    app = run_with(visitor("conversation/page.py"), {"upload": stand_in, "data": "my-file"})
    shown = everything(app)
    assert "How many rows are below" in shown and "e3b0c44298fc" not in shown
    assert "50 queries" in texts(press(app, "ask_50")), "it may be asked"


def test_the_file_holds_the_conversation() -> None:
    problem, source = earnings()
    mechanism = entry("weights").make(updates=3, questions=20)
    assert isinstance(mechanism, Interactive)
    dataset = source.dataset()
    transcript = mechanism.run(mechanism.prepare(dataset, problem), Preview(1))
    truth = problem.queries.answer(dataset.histogram[None], transcript.query_indices[0])[0] / dataset.n
    file = io.StringIO(answers_over_time(transcript, truth=truth).frame().to_csv(index=False))
    rows = pd.read_csv(file)
    assert list(rows) == ["question", "asked", "kind", "guess", "answer", "true answer", "error"]
    assert rows["question"].tolist() == list(range(1, 21))
    assert set(rows["kind"]) == {"free", "paid", "refused"}
    assert (rows["answer"].isna() == (rows["kind"] == "refused")).all()


def test_where_no_lower_bound_is_known_the_map_says_so() -> None:
    """Of weighted sums asked one after the other none is known; of thresholds one is."""
    link = {"ask-questions": "20", "ask-updates": "4", "alpha": "0.5"}
    for kind, known in (("linear", False), ("thresholds", True)):
        app = sound(opened(ask="weights", **link, **{"ask-questions-about": kind}))
        assert not app.warning and MAP in drawn(app)
        told = texts(app)
        assert ("No lower bound is known here." in told) is not known
        assert ("Hatched: impossible (lower bound) for a mechanism that must answer every query." in told) is known
