"""The walls: what no private mechanism can do, and the attacks that find them.

Bounds are about problems, not mechanisms: each returns a Bound of kind LOWER, or a small frozen dataclass whose witness
a test recomputes. Attacks take a Release or an answer oracle (a callable), never a Dataset; scoring an attack against
the truth is a separate function, because whoever attacks does not know it.

The bounds are in ``bounds``, the attacks and what they need in ``attacks``:

    chance                    what ε lets a chance do over several steps; exact intervals
    bounds.median             no private median on a long line: bound and success curves
    bounds.walk               the hybrid walk behind it; medians by binary search in a release
    bounds.minimax            the histogram risk nobody can beat
    bounds.distributional     a mechanism that is differentially private and betrays its population
    bounds.net_samples        how far apart the net mechanism's outputs are on two samples of one population
    bounds.odds               what an ε means to someone who already suspects you
    bounds.low_bits           the attack on floating-point Laplace noise
    bounds.packings           places for a few rows that the answers of a query class tell apart
    bounds.refusal            how often anybody must refuse who is never wrong, and how often nobody is right
    bounds.rank               rows between a private median and the true one that nobody can promise
    bounds.applicable         the bound on the worst error that a problem's promises must respect
    attacks.halves            reconstructions of half a set: by a sort, by trying all; the two worlds of a swap
    attacks.vc                half of a shattered set, reconstructed from any accurate release
    attacks.fat_shattering    the same with real-valued queries
    attacks.group_counts      a mechanism that answers subset sums, to be attacked
    attacks.subset_sum        secret bits from noisy subset sums: least squares and linear programs
    attacks.curator           who answers the subset sums
    attacks.shattering        VC and fat-shattering dimensions of a class given as a matrix, with the set that shows
    them attacks.named_classes     classes whose dimension has a closed form
    attacks.class_text       a class that somebody wrote down
    attacks.dimension_bounds             what a dimension forbids and buys
"""
