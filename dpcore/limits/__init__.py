"""Lower bounds on the error of every private mechanism, and the attacks behind them.

Bounds are about problems, not mechanisms: each returns a Bound of kind LOWER, or a small frozen dataclass whose witness
a test recomputes. Attacks take a Release or an answer oracle (a callable), never a Dataset; scoring an attack against
the truth is a separate function, because an attacker does not know it.

The bounds are in ``bounds``, the attacks and what they need in ``attacks``:

    chance                    change of a chance over several neighbouring steps; exact intervals
    bounds.median             no private median on a long line: bound and success curves
    bounds.walk               the hybrid walk behind it; medians by binary search in a release
    bounds.minimax            lower bound on the histogram risk
    bounds.distributional     a differentially private mechanism that reveals its population
    bounds.net_samples        how far apart the net mechanism's outputs are on two samples of one population
    bounds.odds               posterior odds of an attacker with a prior
    bounds.low_bits           the attack on floating-point Laplace noise
    bounds.packings           places for a few rows that the answers of a query class tell apart
    bounds.refusal            largest chances of an answer, and of a right answer
    bounds.rank               lower bound on the rows between a private median and the true one
    bounds.applicable         the lower bound on the worst error that applies to a problem
    attacks.halves            reconstructions of half a set: by a sort, by trying all; the two worlds of a swap
    attacks.vc                half of a shattered set, reconstructed from any accurate release
    attacks.fat_shattering    the same with real-valued queries
    attacks.group_counts      a mechanism that answers subset sums, to be attacked
    attacks.subset_sum        secret bits from noisy subset sums: least squares and linear programs
    attacks.curator           curators that answer the subset sums
    attacks.shattering        VC and fat-shattering dimensions of a class given as a matrix, with a set as
                              witness
    attacks.named_classes     classes whose dimension has a closed form
    attacks.class_text        a class that the user writes as text
    attacks.dimension_bounds  lower and upper bounds from a class's dimension
"""
