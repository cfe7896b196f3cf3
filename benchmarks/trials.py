"""Trials per second of each mechanism against a loop over a peer's building blocks, in the same run.

The peers have no interval release; their equivalent is the same algorithm with their noise: one vector call for a
histogram (for each level of the recursive variant), and one scalar call for each comparison of a binary search.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from benchmarks.timing import interleaved, ratio
from dpcore import Dataset, Intervals, Line, Preview, Problem, Provenance, ProvenanceKind, entry
from dpcore.data.generators import generate
from dpcore.mechanisms.intervals.printed import recommended_tie_bits

TRIALS, BITS, ROWS, ALPHA = 1000, 10, 10_000, 0.1


def peers() -> dict[str, tuple[Callable[[np.ndarray, float], object], Callable[[float], object]]]:
    """Each peer's histogram release and its scalar noise, at a scale."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    vector, atom = dp.vector_domain(dp.atom_domain(T=int)), dp.atom_domain(T=int)
    found: dict[str, tuple[Callable[[np.ndarray, float], object], Callable[[float], object]]] = {}
    at_scale: dict[float, tuple[Callable[..., object], Callable[..., object]]] = {}

    def opendp(scale: float) -> tuple[Callable[..., object], Callable[..., object]]:
        if scale not in at_scale:
            at_scale[scale] = (
                dp.m.make_laplace(vector, dp.l1_distance(T=int), scale=scale),
                dp.m.make_laplace(atom, dp.absolute_distance(T=int), scale=scale),
            )
        return at_scale[scale]

    found["OpenDP"] = (
        lambda counts, scale: opendp(scale)[0](counts.tolist()),
        lambda scale: opendp(scale)[1](100),
    )
    try:
        from diffprivlib.mechanisms import Geometric
    except ImportError:
        print("diffprivlib is not installed here: only OpenDP is compared.")
        return found
    made: dict[float, Geometric] = {}

    def geometric(scale: float) -> Geometric:
        if scale not in made:
            made[scale] = Geometric(epsilon=1 / scale, sensitivity=1)
        return made[scale]

    found["diffprivlib"] = (
        lambda counts, scale: [geometric(scale).randomise(int(count)) for count in counts],
        lambda scale: geometric(scale).randomise(100),
    )
    return found


def main() -> None:
    """Print trials per second and ratios."""
    domain = Line(bits=BITS)
    records = generate("bimodal", n=ROWS, size=2**BITS, seed=1)
    dataset = Dataset(domain, records, Provenance(kind=ProvenanceKind.GENERATED, title="benchmark"))
    problem = Problem(domain=domain, queries=Intervals(domain=domain), n=ROWS)
    # Tie-breaking bits count in the depth of every search, the peers' too.
    depth = BITS + recommended_tie_bits(ALPHA)
    levels = math.ceil(math.log2(math.ceil(2 / ALPHA)))
    # (values, comparisons of a peer's loop in one trial, noise scale); a histogram is one call.
    loops = {
        "identity": (None, 2.0),
        "intervals-printed": (depth * math.ceil(8 / ALPHA), depth * math.ceil(8 / ALPHA)),
        "intervals-anchored": (BITS * math.ceil(2 / ALPHA), BITS * math.ceil(2 / ALPHA)),
        # A noisy max per level: noise on every one of 1,025 cuts, in one vector call where the peer has one.
        "intervals-recursive": (None, 4.0 * levels),
    }
    for key, (draws, scale) in loops.items():
        found = entry(key)
        mechanism = found.make(
            **({"alpha": ALPHA} if "alpha" in found.controls() else {}),
            **({"tie_bits": depth - BITS} if "tie_bits" in found.controls() else {}),
        )
        state = mechanism.prepare(dataset, problem)
        runs: dict[str, Callable[[], object]] = {
            "ours": lambda m=mechanism, s=state: m.run(s, Preview(1), trials=TRIALS)
        }
        for name, (histogram, noise) in peers().items():
            if draws is None:
                repeats = levels if key == "intervals-recursive" else 1
                runs[name] = lambda h=histogram, s=scale, r=repeats: [h(dataset.histogram, s) for _ in range(r)]
            else:
                runs[name] = lambda f=noise, k=draws, s=float(scale): [f(s) for _ in range(k)]
        taken = interleaved(runs, repeats=3)
        print(
            f"{found.title}: {TRIALS / taken['ours'].median:,.0f} trials a second, {TRIALS:,} in {taken['ours'].text()}"
        )
        for name in runs:
            if name != "ours":
                times = ratio(taken[name], taken["ours"], work_fast=TRIALS)
                print(f"  {times:,.0f} times a loop over {name} ({taken[name].text()} a trial)")


if __name__ == "__main__":
    main()
