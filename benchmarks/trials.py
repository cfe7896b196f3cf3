"""Noise; and trials per second of each mechanism against a loop over a peer's building blocks, in the same run.

The peers have no interval release; their equivalent is the same algorithm with their noise: one vector call for a
histogram (for each level of the recursive variant), and one scalar call for each comparison of a binary search.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from benchmarks.timing import interleaved, ratio
from dpcore import Dataset, Intervals, Line, Preview, Problem, Provenance, ProvenanceKind, Secure, entry
from dpcore.data.generators import generate
from dpcore.mechanisms.intervals.printed import recommended_tie_bits
from dpcore.randomness import GaussianCounts, NoisyCounts

CELLS, TRIALS, BITS, ROWS, ALPHA = 1024, 1000, 10, 10_000, 0.1


def noise() -> None:
    """Print the preview's noise against raw exponential draws, and one secure release."""
    counts = np.zeros((1, CELLS), dtype=np.int64)
    preview, secure = Preview(1), Secure()
    raw = np.random.Generator(np.random.SFC64(1))
    buffer = np.empty(CELLS * TRIALS)

    def two_exponentials() -> None:
        raw.standard_exponential(out=buffer)
        raw.standard_exponential(out=buffer)

    taken = interleaved(
        {
            "preview": lambda: preview.draw(NoisyCounts(counts, epsilon=1.0, sensitivity=2), TRIALS),
            "two exponentials": two_exponentials,
            "gaussian": lambda: preview.draw(GaussianCounts(counts, sigma=7.0, shift=(1, 1)), TRIALS),
            "secure": lambda: secure.draw(NoisyCounts(counts, epsilon=1.0, sensitivity=2), 1),
        },
        repeats=9,
    )
    share = 1 / ratio(taken["two exponentials"], taken["preview"])
    print(f"preview, {CELLS * TRIALS:,} discrete Laplace draws: {taken['preview'].text()}")
    print(f"  two raw exponential draws each: {taken['two exponentials'].text()}; preview/raw = {share:.2f} (goal 1.3)")
    print(f"preview, as many discrete Gaussian draws: {taken['gaussian'].text()}")
    print(f"one secure release of {CELLS:,} cells: {taken['secure'].text()} (goal 50 ms)")


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
    """Print noise, trials per second and ratios."""
    noise()
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
        for name, (histogram, draw) in peers().items():
            if draws is None:
                repeats = levels if key == "intervals-recursive" else 1
                runs[name] = lambda h=histogram, s=scale, r=repeats: [h(dataset.histogram, s) for _ in range(r)]
            else:
                runs[name] = lambda f=draw, k=draws, s=float(scale): [f(s) for _ in range(k)]
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
