"""Both figures of the random-privacy paper as CSV: `python -m benchmarks.random_dp_figures --epsilon 1 --gamma 0.1`.

Hall, Rinaldo and Wasserman (2013), section 8. Seeded: the same command prints the same numbers, and they are those of
the Sparse histograms page with the same settings.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time

from dpcore import Preview
from dpcore.mechanisms.sparse_histogram import grid_example, line_example, loss_figure


def main(arguments: list[str] | None = None) -> None:
    """One line per simulation; means and times go to the error stream."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--gamma", type=float, default=0.1)
    parser.add_argument("--condition", choices=("sharper", "paper"), default="sharper")
    parser.add_argument("--rows", type=int, default=3000, help="of the second figure; the paper does not say")
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments if arguments is not None else [])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["figure", "simulation", "dp_loss", "random_dp_loss", "dp_loss_before", "random_dp_loss_before"])
    for number, histogram in enumerate((line_example(), grid_example(chosen.rows)), start=1):
        start = time.perf_counter()
        found = loss_figure(
            histogram, epsilon=chosen.epsilon, gamma=chosen.gamma, condition=chosen.condition,
            sampler=Preview(chosen.seed), simulations=chosen.simulations,
        )  # fmt: skip
        taken = 1000 * (time.perf_counter() - start)
        columns = (found.private_loss, found.random_loss, found.private_noise, found.random_noise)
        for simulation, row in enumerate(zip(*columns, strict=True)):
            out.writerow([number, simulation, *(f"{loss:.6g}" for loss in row)])
        means = ", ".join(f"{column.mean():.4g}" for column in columns)
        spared = "empty cells spared" if found.spared else "condition not met"
        print(f"figure {number}: mean losses {means} ({spared}, {taken:.0f} ms)", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
