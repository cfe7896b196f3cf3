"""What all sessions share: every cache is named here with its reason, and none holds what a reader brought."""

from __future__ import annotations

import ast
import dataclasses
import functools
import gc
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import dpcore
import pages
from dpcore import Labels, Neighbours, Number, Preview, Problem, catalogue
from dpcore.core import Dataset, Entry, Provenance, ProvenanceKind, Queries
from dpcore.data.lists import DecisionLists
from dpcore.data.product import Product
from dpcore.data.sphere import Halfspaces, Sphere
from dpcore.limits.bounds.applicable import lower_bound, lower_curve
from dpcore.mechanisms.marginals.bounds import between
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals as MarginalRelease
from dpcore.queries.at_least import AtLeast
from dpcore.queries.boxes import RangeBoxes
from dpcore.queries.inputs import Inputs
from dpcore.queries.linear import LinearQueries
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import classes_for
from tests import ROOT
from tests.kit.problems import tiny_mechanism

PLAN = "a plan: budgets, sizes and the public n, no names"
SIZES = "sizes alone"
NOISE = "a law of noise: budgets and sizes alone"
SAMPLE = "a sample that everybody is shown"
CACHES = {
    "dpcore.mechanisms.halfspaces.directions:directions": SIZES,
    "dpcore.mechanisms.halfspaces.directions:reach": SIZES,
    "dpcore.mechanisms.marginals.bounds:_allowed": PLAN,
    "dpcore.mechanisms.marginals.bounds:_touching": SIZES,
    "dpcore.mechanisms.marginals.bounds:corners": PLAN,
    "dpcore.mechanisms.marginals.list_polynomials:_patterns": SIZES,
    "dpcore.mechanisms.marginals.list_polynomials:program": PLAN,
    "dpcore.mechanisms.marginals.list_polynomials:subsets": SIZES,
    "dpcore.mechanisms.marginals.list_polynomials:whole_coefficients": PLAN,
    "dpcore.mechanisms.marginals.noise:joint_factor": NOISE,
    "dpcore.mechanisms.marginals.noise:least_sigma": NOISE,
    "dpcore.mechanisms.marginals.plans:numbered_plan": PLAN,
    "dpcore.mechanisms.marginals.polynomials:_binomials": SIZES,
    "dpcore.mechanisms.marginals.polynomials:minimax": SIZES,
    "dpcore.mechanisms.marginals.release:_terms": PLAN,
    "dpcore.mechanisms.ranges.halving:least_scale": NOISE,
    "dpcore.mechanisms.net.linear:sampled_resolution": SIZES,
    "dpcore.mechanisms.ranges.hierarchy:tree": SIZES,
    "dpcore.mechanisms.ranges.root:longest_move": SIZES,
    "dpcore.mechanisms.ranges.root:transform": SIZES,
    "dpcore.mechanisms.ranges.root:worst_square": SIZES,
    "dpcore.mechanisms.ranges.strategy:strategy": SIZES,
    "dpcore.mechanisms.ranges.tree_windows:worst_queries": SIZES,
    "dpcore.mechanisms.ranges.estimates:estimate": SIZES,
    "dpcore.mechanisms.ranges.estimates:mean_squares": SIZES,
    "dpcore.mechanisms.ranges.strategy:identity_strategy": SIZES,
    "dpcore.mechanisms.ranges.windows:worst_query": SIZES,
    "dpcore.queries.attribute_sets:_binomials": SIZES,
    "dpcore.queries.attribute_sets:places": SIZES,
    "dpcore.mechanisms:catalogue": "the catalogue",
    "dpcore.mechanisms.marginals.decision_list_release:numbered_list_plan": PLAN,
    "dpcore.mechanisms.online.slack:gate_slack": NOISE,
    "dpcore.privacy.composition:gaussian_sigma": NOISE,
    "dpcore.privacy.gaussian_vectors:sigma_of_draw": NOISE,
    "dpcore.privacy.persons:least_epsilon": NOISE,
    "dpcore.randomness.answers:answer_table": NOISE,
    "dpcore.randomness.answers:every_chance": NOISE,
    "dpcore.randomness.laws:gaussian_masses": NOISE,
    "dpcore.mechanisms.histograms.optimal_labels:noise_weights": NOISE,
    "dpcore.randomness.preview:_laplace_offset": NOISE,
    "dpcore.mechanisms.tables.consistency:_cached_levels": SIZES,
    "dpcore.mechanisms.tables.direct_and_fourier:fourier_gaussian": PLAN,
    "dpcore.mechanisms.grouped.planned:counter_plan": PLAN,
    "dpcore.mechanisms.tables.direct_and_fourier:fourier_laplace": PLAN,
    "dpcore.mechanisms.tables.chosen_pairs:chosen_pairs": PLAN,
    "dpcore.mechanisms.tables.plan:clique_types_of": SIZES,
    "dpcore.mechanisms.tables.plan:residual_plan": PLAN,
    "dpcore.mechanisms.tables.plan:draws_of": PLAN,
    "dpcore.mechanisms.tables.shape_groups:shape_groups_of": SIZES,
    "dpcore.data.samples:load_sample": SAMPLE,
    "dpcore.mechanisms.robust.smooth_median:ladder": NOISE,
    "dpcore.mechanisms.subsamples.near:smallest_cap": PLAN,
    "dpcore.mechanisms.subsamples.subsampling:calibrated_plan": PLAN,
    "dpcore.mechanisms.subsamples.subsampling:min_subsamples": PLAN,
    "dpcore.mechanisms.subsamples.subsampling:subsamples_with_a_row": PLAN,
    "pages.charts.palette:visible_opacity": "colours of the theme and opacities",
    "pages.charts.roles:_mechanism_places": "a place for each mechanism of the catalogue",
    "pages.charts.script:_content": "the chart library and our own script, compressed",
    "dplab.intervals.released:_half_widths_of": "noise of public seeds: budgets, sizes and a request's digest",
    "dplab.printed.random:figure_2_losses": SIZES,
    "dplab.printed.random:quantile_spreads": SIZES,
    "dplab.printed.weights:fitted_error": "rows made up from a seed",
    "dplab.utility.inference:population": SAMPLE,
    "pages.data.shapes:shape_picture": "pictures of generated shapes",
    "pages.learn.random_privacy.warning:pet_names": SAMPLE,
    "pages.shell.addresses:app_pages": "the pages of the app",
}
"""Every function whose results are kept for all sessions, and why it may be; nothing of a file, a label or a row."""
GROWING = {
    "dprelease.ledger.stores.schema_shape:_expected": "definitions of a ledger's tables, by the version of a server",
    "dpcore.data.reading.scratch:_mine": "folders of private files, which are removed when the process ends",
    "pages.release.worker:_under_way": "draws under way, by random name and digest; each leaves when it is done",
    "pages.learn.lecture.rooms:_rooms": "rooms of class guesses, weakly: their teachers' sessions keep them",
    "pages.release.shared_rows:_shared": "rows that a steward shares with analysts, weakly: one session keeps them",
    "pages.shell.tasks.jobs:_unfinished": "work that a session still owns, weakly: it ends with its session",
    "pages.shell.tasks.shared:_results": "releases of generated and bundled data, which are public",
    "pages.shell.tasks.shared:_parts": "errors, walls and pictures of generated and bundled data, which are public",
    "pages.shell.session:_awaited": "work that a closed tab's file is kept for, while it is under way",
    "pages.shell.server.streamlit_internals:_session_locks": "locks of sessions, weakly: their runs keep them",
    "pages.shell.session:_last_connected": "when a session with a file was last connected; the file itself only weakly",
}
"""Containers of a module that start empty, to be filled while the app runs."""
MINE = ("dpcore", "dplab", "dprelease", "pages", "benchmarks")
"""Packages whose caches are judged."""
KEEPERS = {"lru_cache", "cache", "cache_data", "cache_resource"}
CACHE = type(catalogue)


def sources() -> Iterator[tuple[str, ast.Module]]:
    """Every module of the app, parsed, by name."""
    files = [path for folder in MINE for path in sorted((ROOT / folder).rglob("*.py"))]
    for path in [*files, ROOT / "app.py", ROOT / "launch.py", ROOT / "run.py"]:
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        yield name, ast.parse(path.read_text(encoding="utf-8"))


def kept_in(tree: ast.AST) -> set[str]:
    """Names of functions and variables whose definition says that results are kept."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if any(_keeps(decorator) for decorator in node.decorator_list):
                found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _keeps(node.value):
            found |= _targets(node)
    return found


def growing_in(tree: ast.Module) -> set[str]:
    """Variables of the module and of its classes that start as an empty container, and those declared global."""
    found = set()
    for body in (tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))):
        for node in body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _starts_empty(node.value):
                found |= _targets(node)
    return found | {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}


def _keeps(expression: ast.expr) -> bool:
    return any(
        (isinstance(part, ast.Name) and part.id in KEEPERS)
        or (isinstance(part, ast.Attribute) and part.attr in KEEPERS)
        for part in ast.walk(expression)
    )


def _starts_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        called = value.func.id if isinstance(value.func, ast.Name) else getattr(value.func, "attr", "")
        made = called in {"dict", "list", "set", "deque", "defaultdict", "OrderedDict", "Counter", "SharedCache"}
        return called.startswith("Weak") or (made and not value.args)
    return (isinstance(value, ast.Dict) and not value.keys) or (isinstance(value, ast.List) and not value.elts)


def _targets(node: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {target.id for target in targets if isinstance(target, ast.Name)}


@pytest.mark.slow
def test_every_cache_is_named_with_its_reason() -> None:
    modules = list(sources())
    assert {f"{name}:{kept}" for name, tree in modules for kept in kept_in(tree)} == set(CACHES)
    assert {f"{name}:{grown}" for name, tree in modules for grown in growing_in(tree)} == set(GROWING)


def test_a_new_cache_is_found_however_it_is_written() -> None:
    text = """
import functools, streamlit as st
kept: dict[str, int] = {}
also = functools.lru_cache(maxsize=3)(len)
@functools.cache
def one(): global counted
@st.cache_data(ttl=3)
def two():
    inner = cache(len)
class Three:
    seen = WeakValueDictionary()
    @lru_cache
    def four(self): ...
"""
    tree = ast.parse(text)
    assert kept_in(tree) == {"also", "one", "two", "inner", "four"}
    assert growing_in(tree) == {"kept", "counted", "seen"}


def caches() -> list[Any]:
    """Every cache there is in the process that belongs to the app: also one that is made while it runs."""
    for package in map(importlib.import_module, MINE):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            lacks_ibis = module.name == "dprelease.engines.queries" and importlib.util.find_spec("ibis") is None
            if module.name.rpartition(".")[2] not in pages.SCRIPTS and not lacks_ibis:
                importlib.import_module(module.name)
    return [each for each in gc.get_objects() if isinstance(each, CACHE) and each.__module__.split(".")[0] in MINE]


def held(cache: Any) -> Iterator[Any]:
    """Whatever can be reached from a cache's keys and results."""
    seen: set[int] = set()
    waiting = [cache]
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, type | ModuleType | FunctionType):
            continue
        seen.add(id(found))
        yield found
        waiting.extend(gc.get_referents(found))


SECRET = "Q7secret"
PLANTED = 7919
"""Rows in one cell of every data set below: no size, budget or grid is this number."""


def tells(found: Any) -> bool:
    """Whether something is, or is made of, a secret label, a reader's weights, or a count of rows."""
    if isinstance(found, str):
        return SECRET in found
    if isinstance(found, bytes):
        return WEIGHTS.packed in found
    if isinstance(found, np.ndarray):
        return bool(np.isin(found, PLANTED).any()) or any(np.array_equal(found, one) for one in OWN)
    return isinstance(found, int | float) and found == PLANTED


def named(place: int) -> str:
    return f"{SECRET} {place}"


LABELS = Labels(labels=tuple(map(named, range(6))), missing=True)
MATRIX = np.random.Generator(np.random.PCG64(5)).random((9, 6))
WEIGHTS = LinearQueries.of(MATRIX, domain=LABELS, name=SECRET, code=SECRET)
OWN = (MATRIX, MATRIX.T, WEIGHTS.units, WEIGHTS.units.T)
LINE = Number(bits=4, unit=SECRET)
PROVENANCE = Provenance(kind=ProvenanceKind.PRIVATE, title=SECRET, source=SECRET)


def questions() -> list[Queries]:
    """Every kind of question, on domains whose names are secret."""
    side = Number(bits=2, unit=SECRET)
    pairs = Product.map(side, side, names=(named(0), named(1)))
    column = Labels(labels=LABELS.labels[:2], missing=False)
    attributes = Product(names=tuple(map(named, range(3))), columns=(column,) * 3)
    listed: list[Queries] = [
        kind(domain=domain)
        for domain in (LABELS, LINE, pairs, Product.map(Labels(labels=LABELS.labels), side, names=("group", "number")))
        for kind in classes_for(domain)[:1]
    ]
    lists = DecisionLists(names=tuple(map(named, range(3))), rules=2)
    return [
        *listed,
        WEIGHTS,
        AtLeast(domain=Product.yes_no([*map(named, range(5))]), width=3, least=2),
        Inputs(domain=lists),
        Marginals(domain=attributes, ways=2),
        RangeBoxes(domain=attributes),
        Halfspaces(domain=Sphere(dimensions=2)),
    ]


def rows_of(queries: Queries) -> Dataset:
    """PLANTED rows in one place and a few in another."""
    domain = queries.domain
    width = {DecisionLists: 5, Sphere: 2}.get(
        type(domain), None if domain.listed else len(getattr(domain, "names", ()))
    )
    rows = np.zeros((PLANTED + 100,) if width is None else (PLANTED + 100, width), dtype=np.int64)
    if isinstance(domain, DecisionLists):
        rows[:, 1] = 1  # a variable stands in one rule only
    (rows if rows.ndim == 1 else rows[:, -1])[:100] = 1
    return Dataset(domain, rows, PROVENANCE)


def release(entry: Entry, queries: Queries, neighbours: Neighbours) -> None:
    """Everything a page asks of a mechanism."""
    dataset = rows_of(queries)
    n = dataset.n if neighbours is Neighbours.REPLACE_ONE else 8000
    problem = Problem(domain=queries.domain, queries=queries, n=n, neighbours=neighbours)
    mechanism = tiny_mechanism(entry)  # what is cached has the same keys, and is sooner there
    guarantee = mechanism.guarantee(problem)
    mechanism.accuracy(problem, 0.05)
    released = mechanism.run(mechanism.prepare(dataset, problem), Preview(1), 2)
    released.outcomes()
    lower_bound(problem, guarantee, beta=0.05)
    lower_curve(problem, mechanism, epsilons=(0.1, 1.0), beta=0.05)
    if isinstance(mechanism, MarginalRelease) and isinstance(queries, AtLeast):
        plan = dataclasses.replace(mechanism, method="minimax", degree=1).plan(problem)
        between(np.ones((len(plan.noise), 2, 3)), plan, queries, n=problem.n, beta=0.05)


@pytest.mark.slow
def test_no_cache_holds_what_a_reader_brought() -> None:
    """All mechanisms that serve them, both relations; the positive control is a cache of a domain."""
    for cache in caches():
        cache.cache_clear()  # of other tests' problems, some of which have as many cells as are planted here
    served = 0
    for queries in questions():
        for entry in catalogue():
            if not entry.serves(queries):
                continue
            for neighbours in Neighbours:
                try:
                    entry.make().guarantee(
                        Problem(domain=queries.domain, queries=queries, n=8000, neighbours=neighbours)
                    )
                except dpcore.ParameterError:
                    continue
                release(entry, queries, neighbours)
                served += 1
    assert served > 2 * len(catalogue())
    filled = [cache for cache in caches() if cache.cache_info().currsize]
    assert len(filled) > 15
    guilty = {f"{each.__module__}:{each.__qualname__}" for each in filled if any(map(tells, held(each)))}
    assert not guilty


@pytest.mark.slow
@pytest.mark.parametrize("what", [LABELS, WEIGHTS, LINE, np.array([1, PLANTED]), {"n": [PLANTED]}, MATRIX.T.copy()])
def test_a_cache_that_holds_it_is_caught(what: Any) -> None:
    @functools.lru_cache
    def keep(place: int) -> Any:
        return what

    keep(0)
    assert keep in caches() or keep.__module__ == __name__
    assert any(map(tells, held(keep)))
    assert not any(map(tells, held(functools.lru_cache(len))))
