"""Ranges and prefixes: errors of windows, root and tree, the time to find them, to release, and to solve for a target.

Errors are roots of the mean variance over all queries at ε = 1, in rows, times what continuous Laplace noise has; on
more than 1,024 cells over a thousand queries drawn at random. Beside them, on few cells, the best of several searches
over all entries of a matrix with a row for every 16 cells (McKenna, Miklau, Hay and Machanavajjhala 2018).

`python -m benchmarks range_limits`: how near windows are to the least error, and whether least squares can reach 21
rows on 65,536 cells at ε = 1, where rows come and go. If every scale took a part a of a cell's weights, and cost
c/a^2, the best parts would cost (sum of c^(1/3))^3: so the cube root of the mean square error grows by about as much
from each size to the next. Searches over every entry of the windows, from triangles, show by how much, and what that
makes of 65,536 cells. No search proves that there is nothing better. What is proved is the bound by singular values,
far below: it holds for columns of length 1 in L2 too.

On 64 cells searches over all matrices, with weights below 0 and cells that no row measures alone, find nothing better
either. What does err less is other noise: density e^(-ε |A z|_1) for the noise z of all cells together hides a row as
well as independent noise on A x does. Here a Markov chain draws it, nearly, which would be no release; an exact way to
draw it is not known to us where windows overlap.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize

from benchmarks.timing import interleaved, ratio
from dpcore import Dataset, Intervals, Neighbours, Number, Preview, Problem, Provenance, ProvenanceKind, Thresholds
from dpcore.core import Floats
from dpcore.mechanisms import entry
from dpcore.mechanisms.ranges.estimates import Estimate
from dpcore.mechanisms.ranges.mean_error import mean_square, mean_variance
from dpcore.mechanisms.ranges.root import Triangle, spectrum
from dpcore.mechanisms.ranges.strategy import strategy, windows
from dpcore.mechanisms.ranges.weighted_tree import WeightedTree
from dpcore.mechanisms.ranges.windows import Windows
from dpcore.randomness import NoisyCounts
from dplab.solve import promised_epsilon

SIZES = (64, 256, 1024, 4096, 16_384, 65_536)
MAX_EXACT = 1024
QUERIES = 1000
STARTS = 3
STEPS = 4096
MOST, GOAL, TRIES = SIZES[-1], 21.0, 5
SEARCH_STEPS = {64: 1000, 256: 600, 1024: 400}
LINKS, FORGOTTEN = {64: 10_000, 256: 5000, 1024: 2000}, 300


def queries(cells: int, *, prefixes: bool) -> Floats:
    """All prefixes or ranges, or some at random, as rows over the cells and the reserved one."""
    if cells <= MAX_EXACT and prefixes:
        first, last = np.zeros(cells, dtype=np.int64), np.arange(cells)
    else:
        count = min(QUERIES, cells * (cells + 1) // 2)
        first, last = np.sort(np.random.default_rng(1).integers(0, cells, (2, count)), axis=0)
    first = first * (not prefixes)
    place = np.arange(cells + 1)
    inside: Floats = ((place >= first[:, None]) & (place <= last[:, None])).astype(np.float64)
    return inside


def deviation(solver: Estimate, cells: int, *, prefixes: bool, known: bool) -> float:
    """Root of the mean variance, in rows."""
    rows = queries(cells, prefixes=prefixes)
    mean = np.mean([(solver.shares(part) ** 2).sum(axis=1).mean() for part in np.array_split(rows, 10)])
    return math.sqrt(2 * mean) * (2 if known else 1)


def search(
    objective: Callable[[Floats], tuple[float, Floats]], start: Floats, *, steps: int = 1000, kept: int = 10
) -> tuple[Floats, float]:
    """Entries of at least 0 that a search finds from a start, and the error; ``kept`` steps tell it the curvature."""
    options = {"maxiter": steps, "maxcor": kept}
    bounds = [(0, None)] * start.size
    found = minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return found.x, math.sqrt(2 * found.fun)


def searched(cells: int, *, prefixes: bool, known: bool) -> float:
    """The least error that STARTS searches from random matrices find."""
    shape = (cells // 16, cells)

    def objective(entries: Floats) -> tuple[float, Floats]:
        value, gradient = mean_variance(entries.reshape(shape), prefixes=prefixes, known=known)
        return value, gradient.ravel()

    found = [search(objective, np.random.default_rng(start).random(shape))[1] for start in range(STARTS)]
    return min(found) * (2 if known else 1)


def main() -> None:
    """Print errors and times."""
    strategy(16, prefixes=True, known=True, steps=STEPS)  # imports what it needs
    print("cells; prefixes or ranges; n public: error in rows at ε = 1 (best of searches over all weights); seconds")
    for cells in SIZES:
        for prefixes in (True, False):
            for known in (False, True):
                started = time.perf_counter()
                plan = strategy(cells, prefixes=prefixes, known=known, steps=STEPS)
                taken = time.perf_counter() - started
                error = deviation(Estimate(plan, spare=1, known=known), cells, prefixes=prefixes, known=known)
                other = f" ({searched(cells, prefixes=prefixes, known=known):.2f})" if cells <= 256 else ""
                what = f"{cells:6,} {'prefixes' if prefixes else 'ranges':8} {'public' if known else 'private':7}"
                print(f"{what}: {error:.2f}{other}; {taken:.2f} s", flush=True)
    for kind in (Thresholds, Intervals):
        releases(kind)
    for key in ("identity", "gaussian", "windows", "root"):
        solved(key)
    for cells, prefixes, known in product((64, 256, 1024), (True, False), (False, True)):
        equalised(Triangle, cells, prefixes=prefixes, known=known)
    for cells, prefixes, known in product((1024, MOST), (True, False), (False, True)):
        equalised(WeightedTree, cells, prefixes=prefixes, known=known)


def solved(key: str) -> None:
    """Print how long the least epsilon for a target takes by its promise, once what sizes alone decide is known."""
    domain = Number(bits=10)
    queries = Intervals(domain=domain)
    problem = Problem(domain=domain, queries=queries, n=50_000, neighbours=Neighbours.REPLACE_ONE)
    targets = iter(np.linspace(0.02, 0.03, 6).tolist())  # each another: noise that was found before is remembered
    told: dict[str, Any] = {"beta": 0.05, "values": {}}
    promised_epsilon(entry(key), problem, target=0.015, **told)
    taken = interleaved(
        {"solved": lambda: promised_epsilon(entry(key), problem, target=next(targets), **told)}, repeats=5
    )
    print(f"least ε for a promised target on 1,024 cells, {key}: {taken['solved'].text()}", flush=True)


def equalised(kind: type[Triangle | WeightedTree], cells: int, *, prefixes: bool, known: bool) -> None:
    """Print the error for noise as wide as a neighbour's move, beside the bound where a row comes or goes.

    By theory the tree's is 3.553 for prefixes and 4.248 for ranges on 1,024 cells, where a row comes or goes.
    """
    started = time.perf_counter()
    found = kind(cells, spare=1, prefixes=prefixes, known=known, steps=1024)
    taken = time.perf_counter() - started
    move = found.shift(Neighbours.REPLACE_ONE if known else Neighbours.ADD_REMOVE_ONE) / found.steps
    if prefixes:
        first, last = np.zeros(cells, dtype=np.int64), np.arange(cells)
    elif cells <= MAX_EXACT:
        first, last = np.triu_indices(cells)
    else:
        first, last = np.sort(np.random.default_rng(1).integers(0, cells, (2, MOST)), axis=0)
    parts = zip(np.array_split(first, cells // 64), np.array_split(last, cells // 64), strict=True)
    error = move * math.sqrt(np.concatenate([found.squares(*ends) for ends in parts]).mean())
    count = cells if prefixes else cells * (cells + 1) / 2
    least = spectrum(cells, prefixes=prefixes)[1].sum() / math.sqrt(cells * count)
    what = f"{cells:6,} {'prefixes' if prefixes else 'ranges':8} {'public' if known else 'private':7}"
    beside = "" if known else f", {error / least:.3f} times the bound"
    print(f"{kind.__name__}, {what}: {error:.3f} moves{beside}; {taken:.2f} s")


def releases(kind: type[Thresholds | Intervals]) -> None:
    """Print how long a thousand releases take, beside their noise."""
    domain = Number(bits=10)
    rows = np.random.default_rng(1).integers(0, 1024, 10_000)
    data = Dataset(domain, rows, Provenance(kind=ProvenanceKind.GENERATED, title="benchmark"))
    problem = Problem(domain=domain, queries=kind(domain=domain), n=len(rows), neighbours=Neighbours.REPLACE_ONE)
    mechanism, preview = Windows(), Preview(1)
    state = mechanism.prepare(data, problem)
    values = np.zeros((1, mechanism.run(state, preview, 1).measured.shape[1]), dtype=np.int64)
    taken = interleaved(
        {
            "releases": lambda: mechanism.run(state, preview, 1000).histogram(),
            "noise": lambda: preview.draw(NoisyCounts(values, epsilon=1.0, sensitivity=2 * STEPS), 1000),
        },
        repeats=7,
    )
    print(f"1,000 releases on 1,024 cells, {kind.key}: {taken['releases'].text()}")
    print(f"  their noise alone: {taken['noise'].text()}; ratio {ratio(*taken.values()):.2f} (goal 5)")


def best(cells: int) -> tuple[Floats, float]:
    """Windows B (K, U) that a search over every entry finds, and the error."""
    triangles = windows(cells, prefixes=False, known=False)[0].toarray()

    def objective(entries: Floats) -> tuple[float, Floats]:
        value, gradient = mean_variance(entries.reshape(triangles.shape), prefixes=False, known=False)
        return value, gradient.ravel()

    start = 0.9 * triangles + 1e-3 * np.random.default_rng(0).random(triangles.shape)
    found, error = search(objective, start, steps=SEARCH_STEPS[cells], kept=20)
    return found.reshape(triangles.shape), error


def any_matrix(cells: int, rows: int, seed: int) -> float:
    """The error that a search over matrices (rows, U) of either sign finds, columns divided by their sums of sizes."""
    random, shape = np.random.default_rng(seed), (2, rows, cells)
    mean = mean_square(np.eye(cells), prefixes=False)

    def objective(entries: Floats) -> tuple[float, Floats]:
        above, below = entries.reshape(shape)
        column = (above + below).sum(axis=0)
        measured = (above - below) / column
        inverse = np.linalg.inv(measured.T @ measured)
        slope = -2 * measured @ inverse @ mean @ inverse
        shared = (slope * measured).sum(axis=0)
        gradient = np.stack([slope - shared, -slope - shared]) / column
        return float((mean * inverse).sum()), gradient.ravel()

    start = random.random(shape) * np.array([0.5, 0.05])[:, None, None]
    start[0, :cells] = np.eye(cells) + 0.05 * start[0, :cells]
    return search(objective, start)[1]


def together(measured: Floats) -> tuple[float, float]:
    """Error of noise with density e^(-|A z|_1), and its standard error over parts of the chain.

    Each Laplace factor is a normal one of random width: given the widths z is normal, given z they are independent.
    """
    column, cells = 1 + measured.sum(axis=0), measured.shape[1]
    heights, random = measured / column, np.random.default_rng(0)
    noise, squares = random.laplace(size=cells) * column, []
    for _ in range(LINKS[cells]):
        sizes = np.abs(np.concatenate([noise / column, heights @ noise]))
        widths = random.wald(1 / np.maximum(sizes, 1e-9), 1.0)
        own, theirs = widths[:cells] / column**2, widths[cells:]
        drawn = np.sqrt(own) * random.normal(size=cells)
        drawn = (drawn + heights.T @ (np.sqrt(theirs) * random.normal(size=len(theirs)))) / own
        inside = np.diag(1 / theirs) + (heights / own) @ heights.T
        noise = drawn - heights.T @ np.linalg.solve(inside, heights @ drawn) / own
        squares.append(float(noise @ mean_square(noise[:, None], prefixes=False)[:, 0]))
    parts = np.array([part.mean() for part in np.array_split(squares[FORGOTTEN:], 20)])
    error = math.sqrt(parts.mean())
    return error, float(parts.std() / math.sqrt(20) / 2 / error)


def least(cells: int) -> float:
    """The error that no matrix has: columns are no longer in L2 than in L1, and `root.py` has the best for L2."""
    angle = np.pi * np.arange(1, cells + 1) / (2 * (cells + 1))
    return math.sqrt(2) * float((math.sqrt(cells + 1) / (2 * np.sin(angle))).sum()) / cells / math.sqrt((cells + 1) / 2)


def limits() -> None:
    """Print searches, what they make of 65,536 cells, the proved bound, and noise of all cells together."""
    cubes = []
    for cells in SEARCH_STEPS:
        measured, error = best(cells)
        cubes.append(error ** (2 / 3))
        joint, strays = together(measured)
        print(f"{cells:6,} cells: least squares {error:.3f}; noise together {joint:.3f} ± {strays:.3f}", flush=True)
    found = min(any_matrix(64, rows, seed) for rows in (68, 72, 80) for seed in range(TRIES))
    print(f"    64 cells, any matrix, of {3 * TRIES} searches: {found:.3f}")
    growth, left = np.diff(cubes), math.log(MOST / max(SEARCH_STEPS), 4)
    print(f"growth of the cube root a fourfold size: {', '.join(f'{each:.3f}' for each in growth)}")
    for what, pace in (("as lately", growth[-1]), ("as at the least", growth.min())):
        print(f"{MOST:6,} cells, growing {what}: {(cubes[-1] + left * pace) ** 1.5:.2f}")
    needed = (GOAL ** (2 / 3) - cubes[-1]) / left
    print(f"{MOST:6,} cells: {GOAL:g} needs a growth of {needed:.3f}; proved: no less than {least(MOST):.2f}")


if __name__ == "__main__":
    main()
