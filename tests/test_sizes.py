"""What a link, a plan, a request or a declaration names is weighed before any of it is made."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import comb
from typing import Any

import numpy as np
import pytest

from dpcore import Neighbours, Problem
from dpcore.core import MAX_BYTES, MAX_PRICED_ROWS, Guarantee, ParameterError, check_memory, per_person
from dpcore.core.sizes import MAX_ATTRIBUTES, MAX_DIMENSIONS, MAX_ROWS
from dpcore.data.columns import Labels, Number
from dpcore.data.predicates import correlated_domain
from dpcore.data.product import Product
from dpcore.data.readings import Columns, Measure, Vectors
from dpcore.data.sphere import Sphere
from dpcore.data.twin import MockData, bytes_per_row, draw_mock_records, max_mock_rows
from dpcore.mechanisms import catalogue
from dpcore.mechanisms.marginals.plans import direct_plan
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.marginals.preview import direct_answers
from dpcore.mechanisms.tables.cliques import CliqueTypes
from dpcore.mechanisms.tables.counting import SMALLER, count_tables
from dpcore.mechanisms.tables.plan import clique_types_of
from dpcore.mechanisms.tables.rows_release import check_rows
from dpcore.queries.at_least import AtLeast
from dpcore.queries.attribute_sets import MAX_WIDTH
from dpcore.queries.groups import GroupStatistics
from dpcore.queries.linear import generated
from dpcore.queries.marginals import Marginals
from dpcore.randomness import Account, Preview, Secure, SubsampleVotes, secure
from dpcore.randomness.gates import EnumeratedGate, gate_budget
from dpcore.randomness.laws import gaussian_masses
from dprelease.certificate import unreleasable
from dprelease.ledger.units import Price
from dprelease.requests.parts import Request
from pages.learn.view import LESSONS, PRINTED
from tests import ROOT
from tests.cases import full_but
from tests.kit.ledgers import request_of
from tests.pages.largest_controls import KEPT, numbers
from tests.pages.opening import opened, sound
from tests.pages.test_inventory import LISTED

ADD_REMOVE, REPLACE = Neighbours.ADD_REMOVE_ONE, Neighbours.REPLACE_ONE
MEBIBYTE = 1 << 20
LITTLE = 24 * MEBIBYTE
"""Bytes that a refusal, or work on a few numbers, may take; modules that are imported on the way are among them."""


def peak_of(work: Callable[[], Any]) -> int:
    """Bytes that some work holds at most; what it raises is raised."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_what_fits_is_not_refused_and_what_does_not_is_in_one_sentence() -> None:
    check_memory(MAX_BYTES / 8, what="A table", smaller="take fewer cells")
    with pytest.raises(ParameterError) as refused:
        check_memory(MAX_BYTES / 8 + 1, what="A table", smaller="take fewer cells")
    assert str(refused.value) == "A table would take 1,024 MiB of memory: take fewer cells."


@pytest.mark.parametrize("neighbours", Neighbours, ids=str)
@pytest.mark.parametrize("width", [7, MAX_WIDTH])
def test_noise_on_marginals_takes_no_memory_for_the_counts_that_are_moved(width: int, neighbours: Neighbours) -> None:
    """The link that took 9.5 GiB: seven of 64 attributes that may be negated, answered directly."""
    domain = correlated_domain(MAX_ATTRIBUTES)
    queries = AtLeast(domain=domain, width=width, least=width, signed=True)
    problem = Problem(domain=domain, queries=queries, n=1000, neighbours=neighbours)
    mechanism = PolynomialMarginals(epsilon=1.0, delta=1e-6, noise="gaussian")
    plan, account = direct_plan(problem, mechanism.budget), Account(Preview(1))
    moved = comb(MAX_ATTRIBUTES, width) * (2 if neighbours is REPLACE else 1)
    truth = np.zeros(10)

    def answer() -> None:
        mechanism.plan(problem)
        direct_answers(plan, truth, n=1000, sampler=account)

    assert peak_of(answer) < LITTLE + 32 * 10 * plan.parts[0]
    assert account.charges[-1].squared_shift == moved > 10**8


def test_a_law_is_weighed_before_it_is_listed() -> None:
    """A second link: the audit of the equalised root at the largest steps and the least epsilon asked for 14.4 GiB."""

    def list_law(sigma: float) -> None:
        with pytest.raises(ParameterError, match=r"^The exact law of Gaussian noise would take .* take a larger eps"):
            gaussian_masses(sigma)

    assert peak_of(lambda: list_law(5e5)) < LITTLE
    budget = gate_budget(epsilon=4e-6, updates=1, answers=0.0)

    def list_threshold() -> None:
        with pytest.raises(ParameterError, match=r"^The exact law of a noisy threshold would take"):
            EnumeratedGate(lambda laws, symbols: symbols, (0, 1), budget, sensitivity=1, trials=1)

    assert peak_of(list_threshold) < LITTLE


def attributes(columns: int, cells: int) -> Product:
    kind = Labels(labels=tuple(map(str, range(cells))), missing=False)
    return Product(names=tuple(f"c{place}" for place in range(columns)), columns=(kind,) * columns)


def request_for(columns: int, cells: int, ways: int, *, key: str = "residual-planner", n: int = 1000) -> Request:
    domain = attributes(columns, cells)
    return request_of(
        reading=Columns(names=domain.names, on=domain),
        queries=Marginals(domain=domain, ways=ways),
        n=n,
        neighbours=ADD_REMOVE,
        entry_key=key,
    )


TOO_LARGE = {
    "sets of attributes": lambda: request_for(64, 2, 5),
    "lines of tables": lambda: request_for(20, 2, 10),
    "lines of direct tables": lambda: request_for(64, 16, 4, key="direct-tables"),
    "lines of Fourier tables": lambda: request_for(20, 2, 10, key="fourier-tables"),
    "synthetic rows": lambda: request_for(4, 2, 2, key="whole-table", n=MAX_ROWS),
}


@pytest.mark.parametrize("which", TOO_LARGE)
def test_a_request_that_is_too_large_is_refused_before_anything_is_charged_or_made(which: str) -> None:
    request = TOO_LARGE[which]()
    refused = []
    assert peak_of(lambda: refused.append(unreleasable(request))) < LITTLE
    assert (" MiB of memory: " in refused[0] or " minutes, and a request may take at most " in refused[0]) and refused[
        0
    ].endswith(".")
    assert which != "lines of tables" or "lines of all tables would take" in refused[0], "their sets take less"
    with pytest.raises(ParameterError, match=" MiB of memory: "):
        for part in request.parts:
            part.mechanism.check_size(part.problem)
    assert unreleasable(request_for(4, 2, 2, key=request.parts[0].entry_key)) == ""


def test_tables_are_weighed_before_they_are_counted() -> None:
    rows = np.zeros((3, 20), dtype=np.uint16)
    with pytest.raises(ParameterError, match="cells of all tables would take"):
        next(count_tables(rows, (3, *[2] * 19), ways=10))
    with pytest.raises(ParameterError, match="sets of up to 5 attributes would take"):
        clique_types_of((2,) * 64, 5)


WIDE = Vectors(measures=tuple(Measure(column=f"v{place}") for place in range(MAX_DIMENSIONS)))


def test_made_up_rows_are_weighed_and_a_rehearsal_takes_as_many_as_fit() -> None:
    many = MockData(n=1_000_000)
    assert (
        peak_of(lambda: _refused(lambda: many.dataset(WIDE, many.provenance), "Mock data of 1,000,000 rows")) < LITTLE
    )
    domain = WIDE.domain
    assert isinstance(domain, Sphere) and max_mock_rows(domain) == MAX_BYTES // (32 * MAX_DIMENSIONS)


def _refused(work: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        work()


@pytest.mark.parametrize("domain", [Sphere(dimensions=20), correlated_domain(24), attributes(6, 30), Number(bits=8)])
def test_made_up_rows_take_no_more_than_is_counted(domain: Any) -> None:
    n = 40_000
    assert peak_of(lambda: draw_mock_records(domain, n=n, seed=1)) <= n * bytes_per_row(domain) + 4 * MEBIBYTE


@pytest.mark.parametrize("rows", [MAX_PRICED_ROWS + 1, 10**18, 10**400], ids=["more", "many", "no float"])
def test_rows_of_a_person_are_bounded_before_a_sum_runs_over_them(rows: int) -> None:
    guarantee = Guarantee(epsilon=1e-9, delta=1e-18, neighbours=ADD_REMOVE)
    with pytest.raises(ParameterError, match="A person's rows must be a number of at most"):
        per_person(guarantee, rows)
    with pytest.raises(ParameterError, match="The maximum rows per person must be between 1 and"):
        Price.of(guarantee, rows_a_person=rows)
    with pytest.raises(ParameterError, match="The maximum rows per person must be between 1 and"):
        Price.concentrated(guarantee, rows_a_person=rows)


def test_a_question_that_is_asked_again_and_again_takes_its_weights_once() -> None:
    domain = Number(bits=10)
    queries, histogram = generated("bumps", queries=4, domain=domain, seed=1), np.arange(domain.size)[None] * 1.0
    again = np.resize(np.arange(4), 100_000)
    found: list[Any] = []
    assert peak_of(lambda: found.append(queries.answer(histogram, again))) < LITTLE < 8 * len(again) * domain.size
    np.testing.assert_allclose(found[0], queries.answer(histogram, np.arange(4))[:, again], rtol=1e-12)


def test_secure_noise_is_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secure, "AT_ONCE", 7)
    counts = np.arange(20)[None]
    assert Secure().laplace(counts, scale=1e-3, trials=2).tolist() == [list(range(20))] * 2
    assert Secure().gaussian(counts, sigma=1e-3, trials=1).tolist() == [list(range(20))]


class Low:
    """Whether a subsample has a row in the first cell."""

    answers = 2

    def answer(self, counts: Any) -> Any:
        return (counts[:, 0] > 0).astype(np.int64)

    def law(self, counts: Any, *, rows: int) -> Any:
        return np.array([0.5, 0.5])


def test_subsamples_of_a_large_table_hold_no_row_of_it() -> None:
    """Forty thousand million rows that a database counts, a quarter of them in the first cell."""
    votes = SubsampleVotes(np.array([10**10, 3 * 10**10]), Low(), rows=1, times=4000)
    found: list[Any] = []
    assert peak_of(lambda: found.append(Secure().draw(votes, 1))) < LITTLE
    assert 800 < found[0][0, 1] < 1200


LOUD = {"epsilon": "0.001", "delta": "1e-12"}
"""The widest noise of the link grammar."""
CUBE = {"cube": "generated", "cube-rows": "1000", "cube-attributes": "64", "negated": "true"}
PLANE = {"data": "clouds", "sides": "6"}
WEIGHTED = {"data": "skewed", "queries": "linear"}
LINES = (
    "hierarchy", "windows", "tree-windows", "root", "intervals-anchored", "intervals-printed", "intervals-recursive",
    "net", "net-flip", "net-alpha", "mwem", "named-queries", "gaussian", "sparse_histogram",
    "projected_histogram",
)  # fmt: skip
DIRECTIONS, RANDOM = ({"lesson": lesson, "view": "data"} for lesson in ("directions", "random"))
"""Links of the own-data views of two lessons."""
LINKS: dict[str, tuple[str, dict[str, str]]] = {
    "marginals by Gaussian noise": (
        "tables/page.py", CUBE | {"width": "7", "counts-if": "all", "marginal-noise": "gaussian"},
    ),
    "thresholds of attributes": ("tables/page.py", CUBE | {"width": "7", "counts-if": "some"}),
    "marginals by Laplace noise": (
        "tables/page.py", CUBE | {"width": "12", "counts-if": "some", "marginals-polynomial-method": "direct"},
    ),
    "tables": ("tables/page.py", {"view": "All tables of k attributes", "tables-k": "3"}),
    "lists": ("tables/page.py", {"view": "Decision lists"}),
    "boxes": ("tables/page.py", {"view": "Boxes"}),
    "private rule": ("tables/page.py", CUBE | {"view": "A private rule"}),
    "private rule of a matrix": ("tables/page.py", {"view": "A private rule", "rule-kind": "table"}),
    "two hospitals": ("learn/page.py", {"lesson": "population", "view": "data"}),
    "subset sums": ("learn/page.py", {"lesson": "subset", "view": "data"}),
    "audit": (
        "learn/page.py", {"lesson": "audit", "audit-of": "root", "audit-shown": "true", "root-steps": "4096"},
    ),
    **{
        f"lesson {key}": ("learn/page.py", {"lesson": key, f"{key}-shown": "true"})
        for key in (*LESSONS, PRINTED)
        if key != "audit"
    },
    "ask again": (
        "learn/page.py", {"lesson": "attack-me", "attack-me-shown": "true", "attack-me-picture": "Ask again"},
    ),
    **{
        f"printed, {key}": ("learn/page.py", {"lesson": "printed", "printed-shown": "true", "printed-system": key})
        for key in (
            *("nets", "population", "open", "intervals", "rectangles"),
            *("halfspaces", "weights", "stability", "random"),
        )
    },
    "line-up": ("learn/page.py", {"lesson": "audit", "audit-shown": "true"}),
    "directions": ("learn/page.py", DIRECTIONS | {"vectors": "generated"}),
    "random privacy": ("learn/page.py", RANDOM),
    "random privacy of a grid": ("learn/page.py", RANDOM | {"sparse": "figure-2"}),
    "random privacy of rows": ("learn/page.py", RANDOM | {"sparse": "data", "data": "skewed"}),
    **{
        f"one number, {key}": ("one_number/page.py", {"data": "skewed", "robust": key})
        for key in ("stable_median", "smooth-median", "subsample_median", "subsample-near", "unbounded_mean")
    },
    **{
        f"one column, {key}": ("one_number/page.py", {"data": data, "robust": key})
        for key, data in (
            ("subsample-groups", "earnings.earnings"), ("subsample_larger", "penguins.species"),
            ("subsample_commonest", "adult.sex"),
        )
    },
    **{
        f"conversation, {key}, {about}": (
            "conversation/page.py",
            {"data": "skewed", "ask": key, "ask-questions-about": about},
        )
        for key, about in (("median", "thresholds"), ("weights", "intervals"), ("weights", "linear"))
    },
    **{
        f"ranges, {key}": ("play/page.py", {"data": "skewed", "queries": "intervals", "mechanism": key})
        for key in LINES
    },
    **{
        f"rectangles, {key}": ("play/page.py", PLANE | {"queries": "rectangles", "mechanism": key})
        for key in ("rectangles", "net-walk")
    },
    "weighted sums": ("play/page.py", WEIGHTED),
    "means by group": ("play/page.py", {
        "data": "adult.hours_per_week", "queries": GroupStatistics.key, "by": "relationship", "by-second": "race",
        "groups-shown": "true",
    }),
    "a public n": ("play/page.py", {"data": "bimodal", "neighbours": ADD_REMOVE.words}),
    **{
        f"weighted sums, {key}": ("play/page.py", WEIGHTED | {"mechanism": key})
        for key in ("linear-net", "net-walk", "answers-net", "dual-query")
    },
    **{f"shapes, {key}": ("data/page.py", {"way": "Generated", "shape": key}) for key in ("skewed", "clouds")},
    "plan": ("plan/page.py", {}),
}  # fmt: skip
MEGABYTES = 2500


SECONDS = 150
"""Of the processor, that a walk may use, over twice what one needed here; a busy machine waits much longer."""
SLOW = {"conversation, median, thresholds"}
"""Links whose page is drawn once with its controls at their largest: 10,000 questions in turn about a million rows."""
ONCE = 100
"""Seconds of the processor after which such a walk is ended: twice what drawing the page once needed."""


def largest(page: str, link: dict[str, str], *, seconds: int = SECONDS) -> dict[str, Any]:
    """What a page says of itself once all its controls are at their largest, in a process with a ceiling of memory."""
    told = [f"{name}={value}" for name, value in (LOUD | link).items()]
    ran = subprocess.run(
        [sys.executable, "-m", "tests.pages.largest_controls", page, str(MEGABYTES), str(seconds), *told],
        cwd=ROOT, capture_output=True, text=True, timeout=5 * SECONDS,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-2000:]
    found: dict[str, Any] = json.loads(ran.stdout.strip().splitlines()[-1])
    return found | {"log": ran.stderr[-2000:]}


OF_A_NUMBER = ("whole", "stops", "slider", "number_input", "select_slider")
SHOWN = re.compile(r"\b(?:slider|number_input|select_slider) (\S+)$")
NO_SIZE = (
    "-guess", "alpha", "gamma", "margin", "beta", "quantile", "prior", "scale", "noise", "gap", "bias", "uneven",
    "angle", "tilt", "delta", "ask-from", "ask-to", "plan_total", "first", "second",
)  # fmt: skip
"""How the names of controls end that hold a number and no size: shares, angles, bounds, places."""
ASKED_AS = {"median": "ask", "weights": "ask"}
"""Mechanisms whose parameters are asked under another name than their own."""


def declared() -> Iterator[str]:
    """Names that the pages' own code gives to controls of a number which stand in the link."""
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in (ROOT / "pages").rglob("*.py"))
    for call in (each for tree in trees for each in ast.walk(tree) if isinstance(each, ast.Call)):
        named = getattr(call.func, "id", "")
        key = next((each.value for each in call.keywords if each.arg == "key"), None)
        if isinstance(call.func, ast.Attribute) and isinstance(key, ast.Call):  # of Streamlit's own: in_link("name")
            named, key = call.func.attr, key.args[0]
        if named in OF_A_NUMBER and isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value


def sizes() -> set[str]:
    """Names of all controls that hold a size, of pages, lessons and mechanisms."""
    shown = (each for kind, names in LISTED.items() if kind.endswith(".py") or kind == "lessons" for each in names)
    found = {*declared(), *(match[1] for each in shown if (match := SHOWN.search(each)))}
    for entry in catalogue():
        whole = [name for name, each in entry.controls().items() if each.integer]
        found |= {f"{ASKED_AS.get(entry.key, entry.key)}-{name}" for name in whole}
    return {each for each in found if not each.endswith(("_slider", *KEPT, *NO_SIZE))}


def asked_by(page: str, link: dict[str, str]) -> set[str]:
    """Names of the controls that a walk by this link moves: those that the page shows as it opens."""
    coarse = {"bits": "4"} if link.get("data") in ("skewed", "bimodal") else {}  # opened sooner, with the same controls
    app = sound(opened(page, **(link | coarse)))
    assert not [each.value for each in app.warning if each.value.startswith("In the link, ")], "the page asked for"
    return set(numbers(app))


@pytest.mark.full
def test_every_size_that_a_link_may_name_is_moved_by_a_walk() -> None:
    moved = set[str]().union(*(asked_by(page, LOUD | link) for page, link in LINKS.values()))
    assert sizes() - moved == set()


@pytest.mark.slow
@pytest.mark.parametrize("link", full_but(LINKS, "marginals by Gaussian noise", "audit"))
def test_no_page_with_its_controls_at_their_largest_takes_more_memory_than_there_is(link: str) -> None:
    found = largest(*LINKS[link], seconds=ONCE if link in SLOW else SECONDS)
    assert found["moved"] and not found["raised"] and "MemoryError" not in found["log"], found
    assert found["peak"] < MEGABYTES, found
    assert found["runs"] and (not found["ended"] or link in SLOW), found


def test_the_memory_of_a_walk_is_its_own_and_not_that_of_the_process_that_starts_it() -> None:
    """The control: before, a walk that took little failed if the tests before it had taken much."""
    held = np.ones(128 * MEBIBYTE, dtype=np.uint8)
    code = "from tests.pages.largest_controls import peak\nprint(peak())"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert 1 < int(ran.stdout) < held.nbytes // MEBIBYTE


def test_a_walk_that_is_ended_by_time_says_so() -> None:
    """The control: before, it counted as one that raised nothing."""
    found = largest(*LINKS["conversation, median, thresholds"], seconds=5)  # it takes ten times as long
    assert found["ended"]


def test_the_ceiling_of_the_walk_ends_what_takes_more() -> None:
    """The control: two and a half gibibytes cannot be had in the process that opens the pages."""
    script = (
        f"from tests.pages.largest_controls import limit_memory as limit; limit({MEGABYTES}); bytes({MEGABYTES} << 20)"
    )
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode != 0 and "MemoryError" in ran.stderr


def refused(make: Callable[[], object], advice: str) -> bool:
    """Whether it takes too much memory, in a sentence that advises this."""
    try:
        make()
    except ParameterError as problem:
        assert str(problem).endswith(f": {advice}.")
        return True
    return False


def test_what_is_advised_where_memory_is_short_takes_less() -> None:
    table = Product.coded({f"a{place}": 4 for place in range(64)})
    few, coarse = Product.coded({f"a{place}": 4 for place in range(10)}), [2] * 60
    bytes_of = {len(domain.names): bytes_per_row(domain) for domain in (table, few)}
    assert bytes_of[10] < bytes_of[64], "a twin of fewer columns"

    def rows(domain: Product, n: int) -> None:
        check_rows(Problem(domain=domain, queries=Marginals(domain=domain, ways=2), n=n))

    advice = "take a smaller n or fewer columns"
    assert refused(lambda: rows(table, 10**6), advice)
    assert not refused(lambda: rows(table, 10**3), advice) and not refused(lambda: rows(few, 10**6), advice)
    advice = "take smaller tables or fewer columns"
    assert refused(lambda: CliqueTypes(sizes=(2,) * 64, ways=5), advice)
    assert not refused(lambda: CliqueTypes(sizes=(2,) * 64, ways=2), advice)
    assert not refused(lambda: CliqueTypes(sizes=(2,) * 12, ways=5), advice)

    def tables(sizes: Sequence[int], ways: int) -> None:
        for _ in count_tables(np.zeros((1, len(sizes)), dtype=np.uint16), tuple(sizes), ways=ways):
            pass

    assert refused(lambda: tables([256] * 60, 3), SMALLER)
    for sizes, ways in (([256] * 60, 1), ([256] * 3, 2), (coarse, 3)):
        assert not refused(partial(tables, sizes, ways), SMALLER)
