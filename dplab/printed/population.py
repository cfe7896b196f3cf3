"""From a sample to its population, with and without privacy: Blum, Ligett and Roth (2013), sections 1.2 and 3.

Without privacy, n rows drawn from a population answer every query of a class C within √(ln(2|C|/β)/(2n)) of the
population, except with chance β: Hoeffding's inequality for each query, and a sum over all. With privacy, the net
mechanism answers every query within √(ln(2|C|)/(2m)) + 2/(εn)·ln(C(|X| + m - 1, m)/β) of the sample's answer, at the
best m. Both added up, each with half of β, are the distance of the released data from the population.

The paper states orders, ln|X| · v/(α³ε) beside v/α², and so a price of privacy of ln|X|/(αε). Here are the constants.

Notation (paper): cells = |X|; queries = |C|; dimension = VC dimension v; points = m; alpha = α; beta = δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpcore.core import Floats, ParameterError
from dpcore.core.bisection import least_whole
from dplab.printed.lines import PrintedLine, PrintedTable

REFERENCE = "Blum, Ligett and Roth (2013)"
MAX_BITS = 12
GRID: Floats = np.unique(np.geomspace(1, 1e9, 5000).round())
"""Numbers of points m that are tried first."""


@dataclass(frozen=True, kw_only=True)
class ClassSize:
    """Public sizes of a class of queries.

    Attributes:
        title: of the class.
        cells: size of the universe, |X|.
        queries: number of queries, |C|.
        dimension: its VC dimension, v.
        sides: points of a net by the order of the line, times α: ½ or 1; 0 where there is no order.
    """

    title: str
    cells: int
    queries: int
    dimension: int
    sides: float = 0.0


CLASSES: dict[str, Callable[[int], ClassSize]] = {
    "intervals": lambda bits: ClassSize(
        title="all intervals of a line", cells=2**bits, queries=2**bits * (2**bits + 1) // 2, dimension=2, sides=1.0
    ),
    "thresholds": lambda bits: ClassSize(
        title="all thresholds of a line", cells=2**bits, queries=2**bits, dimension=1, sides=0.5
    ),
    "conjunctions": lambda bits: ClassSize(
        title="all conjunctions of attributes", cells=2**bits, queries=2**bits, dimension=bits
    ),
    "parities": lambda bits: ClassSize(
        title="all parities of attributes", cells=2**bits, queries=2**bits, dimension=bits
    ),
}
"""Classes by their number of bits: cells of a line, or yes/no attributes."""


def sample_error(queries: int, rows: Floats | int, *, beta: float) -> Floats:
    """Return the largest distance of a sample's answers from the population's, at these numbers of rows."""
    error: Floats = np.sqrt(math.log(2 * queries / beta) / (2 * np.asarray(rows, dtype=np.float64)))
    return error


def sample_rows(queries: int, *, alpha: float, beta: float) -> int:
    """Return the rows of a sample that answer every query within alpha of the population, ln(2|C|/β)/(2α²).

    >>> sample_rows(1024 * 1025 // 2, alpha=0.1, beta=0.05)
    843
    """
    if not (queries >= 1 and 0 < alpha < 1 and 0 < beta < 1):
        raise ParameterError("A sample needs a class, and α and β between 0 and 1.")
    return math.ceil(math.log(2 * queries / beta) / (2 * alpha**2))


@dataclass(frozen=True, kw_only=True)
class Nets:
    """The net mechanism for a class, at every number of points m; by the order of the line, or for any class."""

    size: ClassSize
    ordered: bool = False

    def resolution(self, points: Floats) -> Floats:
        """Return the error within which some m points answer every query, whatever the data."""
        if self.ordered:
            return self.size.sides / points
        return np.sqrt(math.log(2 * self.size.queries) / (2 * points))

    def log_databases(self, points: Floats) -> Floats:
        """Return ln of the number of databases of m points."""
        from scipy.special import gammaln

        logs: Floats = gammaln(self.size.cells + points) - gammaln(points + 1) - gammaln(self.size.cells)
        return logs

    def rows(self, *, alpha: float, epsilon: float, beta: float) -> tuple[int, int]:
        """Return the fewest rows with a guaranteed error of at most alpha, and the points m of that net."""

        def needed(points: Floats) -> Floats:
            room = np.maximum(alpha - self.resolution(points), 1e-300)
            rows: Floats = 2 / (epsilon * room) * (self.log_databases(points) - math.log(beta))
            return rows

        grid = GRID
        while True:  # around the best of a grid, until all whole numbers are tried
            best = int(np.argmin(needed(grid)))
            low, high = grid[max(0, best - 1)], grid[min(best + 1, len(grid) - 1)]
            if high - low <= len(GRID):
                break
            grid = np.unique(np.linspace(low, high, len(GRID)).round())
        points = np.arange(low, high + 1)
        rows = needed(points)
        return math.ceil(rows.min()), int(points[np.argmin(rows)])

    def error(self, rows: Floats, *, epsilon: float, beta: float) -> Floats:
        """Return the guaranteed error at these numbers of rows (R,), at the best m of a fine grid for each."""
        cost = 2 / epsilon * (self.log_databases(GRID) - math.log(beta))
        return np.array([(self.resolution(GRID) + cost / n).min() for n in rows.tolist()])


def population_rows(size: ClassSize, *, alpha: float, epsilon: float, beta: float) -> int:
    """Return the rows from which the released data are within alpha of the population: sample and choice together."""
    nets = Nets(size=size)

    def within(rows: int) -> bool:
        grid = np.array([rows], dtype=np.float64)
        sampled = sample_error(size.queries, grid, beta=beta / 2)
        return bool((sampled + nets.error(grid, epsilon=epsilon, beta=beta / 2))[0] <= alpha)

    low, high = 0, 1
    while not within(high):
        low, high = high, 2 * high
    return least_whole(within, low, high)


@dataclass(frozen=True, kw_only=True, eq=False)
class PopulationErrors:
    """Errors against the number of rows, (K,) each.

    Attributes:
        rows: n.
        sampled: of a sample about its population, without privacy.
        private: of the net mechanism about the sample.
        both: of the net mechanism about the population.
        ordered: of the net by the order of the line, about the population; None where there is no order.
        needed: rows for α without and with privacy.
    """

    rows: Floats
    sampled: Floats
    private: Floats
    both: Floats
    ordered: Floats | None
    needed: tuple[int, int]


def population_errors(name: str, *, bits: int, alpha: float, epsilon: float, beta: float) -> PopulationErrors:
    """Return both errors along numbers of rows around those that alpha needs."""
    size = _class(name, bits)
    nets = Nets(size=size)
    needed = sample_rows(size.queries, alpha=alpha, beta=beta), nets.rows(alpha=alpha, epsilon=epsilon, beta=beta)[0]
    rows = np.geomspace(max(10, needed[0] / 30), 30 * needed[1], 60).round()
    half = sample_error(size.queries, rows, beta=beta / 2)
    ordered = Nets(size=size, ordered=True) if size.sides else None
    return PopulationErrors(
        rows=rows,
        sampled=sample_error(size.queries, rows, beta=beta),
        private=nets.error(rows, epsilon=epsilon, beta=beta),
        both=half + nets.error(rows, epsilon=epsilon, beta=beta / 2),
        ordered=half + ordered.error(rows, epsilon=epsilon, beta=beta / 2) if ordered is not None else None,
        needed=needed,
    )


def _class(name: str, bits: int) -> ClassSize:
    """Return a class of the list; raises ParameterError for another, or for a size that is not shown."""
    if name not in CLASSES or not 1 <= bits <= MAX_BITS:
        raise ParameterError(f"The class must be one of {', '.join(CLASSES)}, on 1 to {MAX_BITS} bits.")
    return CLASSES[name](bits)


def population_table(name: str, *, bits: int, alpha: float, epsilon: float, beta: float) -> PrintedTable:
    """Return the rows for α without privacy, with it, and about the population, beside the paper's orders."""
    size = _class(name, bits)
    nets = Nets(size=size)
    sampled = sample_rows(size.queries, alpha=alpha, beta=beta)
    private, points = nets.rows(alpha=alpha, epsilon=epsilon, beta=beta)
    log_cells, v = math.log(size.cells), size.dimension
    lines = [
        PrintedLine(
            what="rows of a sample, no privacy, order v/α² (section 1.2)",
            printed=v / alpha**2,
            holds=sampled,
            why=f"ln(2·|C|/β)/(2α²): Hoeffding for each of {size.queries:,} queries",
        ),
        PrintedLine(
            what="rows with privacy, order v·ln|X|/(α³ε) (Theorem 3.10)",
            printed=v * log_cells / (alpha**3 * epsilon),
            holds=private,
            why=f"about the sample's answers, for any class of this size; best at m = {points:,} points",
        ),
        PrintedLine(
            what="times as many rows, order ln|X|/(αε) (after Theorem 3.10)",
            printed=log_cells / (alpha * epsilon),
            holds=private / sampled,
            why="the price of privacy, by these two theorems",
        ),
        PrintedLine(
            what="rows with privacy, about the population",
            printed=None,
            holds=population_rows(size, alpha=alpha, epsilon=epsilon, beta=beta),
            why="α is shared by sample and choice, and β too",
        ),
    ]
    if size.sides:
        ordered = Nets(size=size, ordered=True)
        least, few = ordered.rows(alpha=alpha, epsilon=epsilon, beta=beta)
        lines.append(
            PrintedLine(
                what="rows with privacy, by the order of the line",
                printed=None,
                holds=least,
                why=f"about the sample; {few:,} points do",
            )
        )
    return PrintedTable(
        title=f"Sample to population: {size.title}",
        lines=tuple(lines),
        reference=f"{REFERENCE}, sections 1.2 and 3, Theorem 3.10; Hoeffding (1963)",
        link={"lesson": "dimension", "dimension-class": name, f"dimension-{name}": f"{min(bits, 8)}"},
    )


def open_table(*, attributes: int, width: int, alpha: float, epsilon: float, beta: float) -> PrintedTable:
    """Return what section 8 asks, with numbers: conjunctions and parities of yes/no attributes.

    The net mechanism needs few rows and weighs every database of its net, which is no polynomial in n. Polynomials
    of a low degree answer conjunctions in less time. A parity of k attributes changes sign k times as its number of
    ones goes from 0 to k, so a polynomial in that number that is within less than ½ has degree k.
    """
    from dplab.printed.polynomials import least_degree

    size = _class("conjunctions", attributes)
    nets = Nets(size=size)
    rows, points = nets.rows(alpha=alpha, epsilon=epsilon, beta=beta)
    log10_databases = float(nets.log_databases(np.array([float(points)]))[0]) / math.log(10)
    degree = least_degree(width=min(width, attributes), gamma=alpha / 2).degree
    k = min(width, attributes)
    return PrintedTable(
        title="Open questions: conjunctions and parities",
        lines=(
            PrintedLine(
                what="VC dimension of all conjunctions, of all parities (Definition 2.6)",
                printed=None,
                holds=attributes,
                why=f"both have {size.queries:,} queries, one for each set of attributes",
            ),
            PrintedLine(
                what="rows that the net mechanism needs for α, order d·ln|X|/(α³ε) (Theorem 3.10)",
                printed=attributes * math.log(size.cells) / (alpha**3 * epsilon),
                holds=rows,
                why="the same for both: only |C| and |X| count",
            ),
            PrintedLine(
                what="time: databases that it weighs (section 8)",
                printed=None,
                holds=log10_databases,
                why=f"all of m = {points:,} points: n to the power {log10_databases / math.log10(rows):,.0f}",
                power=True,
                printed_words="asked: polynomial in n",
            ),
            PrintedLine(
                what=f"degree of a polynomial for a conjunction of {k}, within α/2",
                printed=None,
                holds=degree,
                why="Thaler, Ullman and Vadhan (2012) answer conjunctions by counts of so few attributes",
            ),
            PrintedLine(
                what=f"degree of a polynomial for a parity of {k}, within less than ½",
                printed=None,
                holds=k,
                why="it changes sign k times, so polynomials do not help: such a count has all k attributes",
            ),
        ),
        reference=f"{REFERENCE}, section 8; Thaler, Ullman and Vadhan (2012); Ullman and Vadhan (2011): synthetic rows "
        "for conjunctions of two are hard",
        link={"cube-attributes": f"{attributes}", "width": f"{k}"},
    )
