"""Numbers of Blum, Ligett and Roth (2013): nets, intervals, halfspaces."""

from __future__ import annotations

import math

import numpy as np

from dpcore.core import Problem
from dpcore.data.columns import Number
from dpcore.mechanisms import entry
from dpcore.mechanisms.halfspaces.printed import printed
from dpcore.mechanisms.intervals.printed import corrected_rows, printed_rows
from dpcore.mechanisms.net.resolution import by_queries
from dpcore.queries.ranges import Intervals
from dplab.printed.lines import ORDER, PrintedLine, PrintedTable, log10_choose

REFERENCE = "Blum, Ligett and Roth (2013)"


def net_table(*, bits: int, alpha: float, epsilon: float, beta: float) -> PrintedTable:
    """Return the table of the net mechanism for all intervals of 2^bits cells: half of α each for net and choice."""
    size, half = 2**bits, alpha / 2
    queries = size * (size + 1) // 2
    sampled = math.ceil(math.log(2 * queries) / (2 * alpha**2))
    points, points_at_half = math.ceil(1 / alpha - 1e-9), math.ceil(1 / half - 1e-9)
    tuples = by_queries(queries, half) * math.log10(size)
    multisets = log10_choose(size + points_at_half - 1, points_at_half)

    def rows(log10_net: float) -> float:
        return 2 / (epsilon * half) * (log10_net * math.log(10) + math.log(1 / beta))

    return PrintedTable(
        title="Nets: all intervals of a line",
        lines=(
            PrintedLine(
                what="points m of the net for α, ln|C|/α² (Lemma 3.7)",
                printed=by_queries(queries, alpha),
                holds=sampled,
                why=f"Hoeffding's constant; for intervals ⌈1/α⌉ = {points} points do, whatever the data",
            ),
            PrintedLine(
                what="databases in the net for α/2, |X|^m (Theorem 3.6)",
                printed=tuples,
                holds=multisets,
                why=f"order does not matter, and {points_at_half} points are enough for α/2",
                power=True,
            ),
            PrintedLine(
                what="rows needed for α (Property 3.4)",
                printed=rows(tuples),
                holds=rows(multisets),
                why="half of α for the net, half for the choice",
            ),
            PrintedLine(
                what="points by the VC dimension, v·ln(1/α)/α² (Lemma 3.8)",
                printed=None,
                holds=points,
                why="an order of magnitude; intervals have v = 2",
                printed_words=ORDER,
            ),
        ),
        reference=f"{REFERENCE}, Section 3, Theorems 3.6 and 3.10",
        link={
            "queries": "intervals",
            "bits": f"{bits}",
            "mechanism": "net",
            "net-points": str(points_at_half),
            "epsilon": f"{epsilon:g}",
            "beta": f"{beta:g}",
        },
    )


def interval_table(*, bits: int, alpha: float, epsilon: float, beta: float) -> PrintedTable:
    """Return the table of the interval release, at the n of its theorem and at the n that its proof needs."""
    printed_n, corrected_n = (
        rows(depth=bits, epsilon=epsilon, alpha=alpha, beta=beta) for rows in (printed_rows, corrected_rows)
    )
    domain = Number(bits=bits)
    problem = Problem(domain=domain, queries=Intervals(domain=domain), n=printed_n)
    anchored = entry("intervals-anchored").make(epsilon=epsilon, alpha=alpha).accuracy(problem, beta)
    blocks, block = math.ceil(8 / alpha), alpha / 6
    noise = bits * blocks / (epsilon * printed_n)
    return PrintedTable(
        title="Intervals by private binary search",
        lines=(
            PrintedLine(
                what="rows needed for α (Theorem 4.3)",
                printed=printed_n,
                holds=corrected_n,
                why="the proof needs every noise below α²/36: a factor of 36/α² more",
            ),
            PrintedLine(
                what="noise of a comparison at the printed n, a share of n",
                printed=block**2,
                holds=noise,
                why=f"what the proof needs, and the actual value; a block holds {block:.3g} of n",
            ),
            PrintedLine(
                what="rows when quantiles are searched one by one",
                printed=None,
                holds=anchored.rows_needed,
                why="errors do not accumulate; guaranteed for the same α and β",
            ),
        ),
        reference=f"{REFERENCE}, Section 4, Algorithm 2 and Theorem 4.3",
        link={
            "queries": "intervals",
            "bits": f"{bits}",
            "mechanism": "intervals-anchored",
            "epsilon": f"{epsilon:g}",
            "alpha": f"{alpha:g}",
            "beta": f"{beta:g}",
        },
    )


def _inner_product_by_squares(*, sign: int) -> float:
    """Return ¼(‖x + y‖² + sign·‖x − y‖²) of two orthogonal unit vectors."""
    x, y = np.eye(2)
    return float(((x + y) @ (x + y) + sign * (x - y) @ (x - y)) / 4)


def halfspace_table(*, dimensions: int, margin: float, alpha: float, epsilon: float, beta: float) -> PrintedTable:
    """Return the table of ReleaseHalfspaces for rows in this many dimensions."""
    numbers = printed(margin=margin, alpha=alpha, dimensions=dimensions, beta=beta, epsilon=epsilon)
    return PrintedTable(
        title="Halfspaces with a margin",
        lines=(
            PrintedLine(
                what="dimensions T after a projection",
                printed=numbers.dimensions,
                holds=dimensions,
                why="if T is larger than d, do not project",
            ),
            PrintedLine(
                what="projections m", printed=numbers.projections, holds=1, why="without a projection one is enough"
            ),
            PrintedLine(
                what="directions |U| (Claim 6.7)",
                printed=numbers.log10_directions,
                holds=numbers.log10_directions_both_signs,
                why="coordinates lie between −1 and 1: 2^T times as many",
                power=True,
            ),
            PrintedLine(
                what="rows needed (Theorem 6.9)",
                printed=numbers.log10_rows,
                holds=None,
                why="“polynomial for constant margin and α” is true, and this is the polynomial. The error in "
                "the next line is in its proof; Bernstein's bound repairs it.",
                power=True,
                holds_words="the same",
            ),
            PrintedLine(
                what="ln of the probability that the noise of some direction exceeds α/4, printed m (proof of "
                "Theorem 6.9)",
                printed=numbers.log_noise_chance(hoeffding=8),
                holds=numbers.log_noise_chance(hoeffding=32),
                why="noise within [−1, 1] has range 2: 2·e^(−mα²/32), not 2·e^(−mα²/8). Bernstein's bound, with the "
                f"noise's variance, gives −{-numbers.log_noise_chance_by_variance:,.0f}",
            ),
            PrintedLine(
                what="⟨x, y⟩ of orthogonal unit vectors, ¼(‖x + y‖² + ‖x − y‖²) (proof of Corollary 6.4)",
                printed=_inner_product_by_squares(sign=1),
                holds=_inner_product_by_squares(sign=-1),
                why="the second line's + should be −",
            ),
        ),
        reference=f"{REFERENCE}, Section 6, Corollary 6.4, Claim 6.7 and Theorem 6.9",
        link={
            "lesson": "directions",
            "view": "data",
            "vectors": "generated",
            "vector-dimensions": f"{dimensions}",
            "vector-margin": f"{margin:g}",
            "margin": f"{margin:g}",
            "alpha": f"{alpha:g}",
            "epsilon": f"{epsilon:g}",
        },
    )
