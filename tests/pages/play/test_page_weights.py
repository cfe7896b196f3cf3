"""Weighted sums on Explore: classes made by chance, a reader's matrix, and what is wrong with one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.queries.linear import LinearQueries
from tests.pages.drawn_charts import drawn
from tests.pages.opening import MAIN, run_with, sound


def opened(**link: str) -> AppTest:
    """Explore asking weighted sums, opened by a link."""
    app = AppTest.from_file(MAIN, default_timeout=600)
    for name, value in {"queries": "linear", "bits": "3", "card": "all", **link}.items():
        app.query_params[name] = value
    return run_with(app, {"why_open": True})


def uploaded(app: AppTest, text: str) -> AppTest:
    return sound(app.file_uploader(key="weights_file").upload("asked.csv", text.encode()).run())


def test_a_class_made_by_chance_is_asked_and_the_link_holds_it() -> None:
    app = opened(mechanism="linear-net", weights="waves", weight_queries="30")
    assert "30 weighted sums of 8 cells" in drawn(app)["weights_chart"]["sentence"]
    assert not app.warning
    assert app.slider(key="weight_queries").value == 30
    assert app.selectbox(key="weights").value == "waves"
    assert any("30 weighted sums" in each.value for each in app.markdown)
    before = set(app.session_state["memory"])
    sound(app.selectbox(key="linear-net-proof").set_value("paper").run())
    assert any("linear:30 waves" in key and "paper" in key for key in set(app.session_state["memory"]) - before)


@pytest.mark.full
def test_a_link_out_of_range_gets_a_sentence() -> None:
    assert any("number of queries" in each.value for each in opened(weight_queries="1000000").warning)
    assert any("not one of the choices of “Weights”" in each.value for each in opened(weights="heavy").warning)


@pytest.mark.parametrize("begins", ["", "\ufeff"], ids=["plain", "marked"])  # a spreadsheet marks what it saves
def test_a_matrix_is_asked_as_it_is_and_its_code_reads_it_whatever_stands_between_its_numbers(
    begins: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = opened(weights="matrix", mechanism="linear-net")
    assert not drawn(app) and "8 cells" in app.info[0].value
    rows = np.linspace(0, 1, 24).reshape(3, 8)
    for between in (",", "\t", " ", ";", ", "):
        matrix = begins + "\n".join(between.join(f"{value:.3f}" for value in row) for row in rows)
        uploaded(app, matrix)
        assert "weights_chart" in drawn(app) and any("3 weighted sums" in each.value for each in app.markdown)
        [*_, queries] = (held for key, held in app.session_state["memory"].items() if key.startswith("weights|"))
        assert isinstance(queries, LinearQueries)
        Path("asked.csv").write_text(matrix, encoding="utf-8")
        names = {"np": np, "LinearQueries": LinearQueries, "dataset": SimpleNamespace(domain=queries.domain)}
        assert eval(queries.code, names).packed == queries.packed
        assert (queries.units == 1000 * rows.round(3)).all()


@pytest.mark.full
@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"queries": "linear", "mechanism": "linear-net", "bits": "4"}, "Uses 7 of 10 points: "),
        ({"queries": "linear", "mechanism": "linear-net", "bits": "4", "linear-net-points": "7"}, ""),
        ({"queries": "linear", "mechanism": "linear-net", "bits": "2"}, ""),
        ({"queries": "intervals", "mechanism": "net-flip", "bits": "6"}, "Uses 4 of 20 points: "),
        ({"queries": "intervals", "mechanism": "net", "bits": "6"}, ""),
    ],
)
def test_fewer_points_than_asked_for_are_told(link: dict[str, str], words: str) -> None:
    app = opened(n="1000", trials="100", **link)
    captions = [each.value for each in app.caption if "points: the mechanism enumerates every database" in each.value]
    assert [each.startswith(words) for each in captions] == [True] * bool(words)
    used = {
        len(state.net.candidates.points[0])
        for key, state in app.session_state["memory"].items()
        if key.startswith("state|") and state.net.candidates is not None
    }
    if words:
        assert f"Uses {used.pop()} of " in captions[0]


@pytest.mark.full
def test_a_net_of_the_papers_size_says_what_is_drawn_of_it() -> None:
    link = {"queries": "intervals", "mechanism": "net-alpha", "bits": "10", "n": "1000", "trials": "100"}
    app = opened(**link, **{"net-alpha-sizing": "queries"})
    (captions,) = (each.value for each in app.caption if each.value.startswith("Uses "))
    assert captions.endswith("of 1,318 points: exact sampling from larger databases is slow, and these achieve α.")


def test_a_walk_is_not_counted_among_those_that_promise() -> None:
    app = opened(bits="4", mechanism="linear-net")
    # Identity, net, MWEM, DualQuery and small databases; the walk, Gaussian and projected answers are not pure.
    assert " 5 pure ε mechanisms are compared." in drawn(app)["tradeoff_chart"]["sentence"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0,1\n1,0", "one column for each of 8 cells"),
        ("0.5," * 9, "on 8 points"),
        ("0,0,0,0,0,0,0,1.7654", "not a decimal number between 0 and 1"),
        ("0,0,0,0,0,0,0,nan", "not a decimal number between 0 and 1"),
        ("a,b,c,d,e,f,g,Rumpelstilzchen", "not a decimal number between 0 and 1"),
        ("0,1,0,1,0,1,0,1\n0,1", "Query 2 has 2 numbers"),
        ("", "at least one line"),
    ],
)
def test_a_matrix_that_cannot_be_asked_gets_one_sentence(text: str, sentence: str) -> None:
    app = uploaded(opened(weights="matrix"), text)
    assert [sentence in each.value for each in app.error] == [True]
    assert not drawn(app)
    assert not any(word in app.error[0].value for word in ("1.7654", "Rumpelstilzchen"))


def test_the_page_claims_no_privacy_for_a_walk() -> None:
    for points, claimed in (("20", False), ("2", True)):
        app = opened(mechanism="net-walk", **{"net-walk-points": points})
        assert any("no privacy guarantee" in each.value for each in app.warning) is not claimed
        assert any("for each release" in each.value for each in app.markdown) is claimed


def test_the_error_by_size_is_drawn_on_request() -> None:
    app = opened(bits="4", mechanism="answers-net", n="1000", trials="100")
    assert "sizes_chart" not in drawn(app)
    app = sound(app.toggle(key="sizes").set_value(True).run())
    said = drawn(app)["sizes_chart"]["sentence"]
    assert "all databases of at most 7 points can be listed here" in said and "231 points have" in said
    assert "stand in for Theorem 5" in said
