"""Both figures of the random-privacy paper: `python -m benchmarks.random_dp_figures --epsilon 1 --gamma 0.1`.

Hall, Rinaldo and Wasserman (2013), section 8. Prints the losses as CSV; with `--folder` it also writes the pictures, as
Plotly figures in JSON. Seeded: the same command gives the same numbers, those of the Sparse histograms page with the
same settings.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from pathlib import Path

from dplab.sparse import LossFigure, grid_example, line_example, simulate
from pages.charts.plotly import render
from pages.learn.random_privacy.charts import PRIVATE, RANDOM, losses, panel


def pictures(found: LossFigure, *, number: int, badge: str, folder: Path) -> None:
    """The three histograms of a figure and its losses, each in a file of its own."""
    top = int(max(counts.max() for counts in (found.histogram, found.private[0], found.random[0])))
    drawn = {
        name: panel(counts=counts, name=name, top=top, grid=number == 2)
        for name, counts in (("true", found.histogram), (PRIVATE, found.private[0]), (RANDOM, found.random[0]))
    }
    drawn["losses"] = losses(simulations=found, projected=True)
    for name, picture in drawn.items():
        figure = render(picture, badge=badge, dark=False)
        path = folder / f"figure-{number}-{name.replace(' ', '-')}.json"
        path.write_text(json.dumps({"data": figure.data, "layout": figure.layout}), encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    """One line per simulation; means and times go to the error stream."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--gamma", type=float, default=0.1)
    parser.add_argument("--condition", choices=("sharper", "paper"), default="sharper")
    parser.add_argument("--rows", type=int, default=3000, help="of the second figure; the paper does not say")
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="an existing folder for the pictures")
    chosen = parser.parse_args(arguments if arguments is not None else [])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["figure", "simulation", "dp_loss", "random_dp_loss", "dp_loss_before", "random_dp_loss_before"])
    for number, histogram in enumerate((line_example(), grid_example(chosen.rows)), start=1):
        start = time.perf_counter()
        found = simulate(
            histogram,
            epsilon=chosen.epsilon,
            gamma=chosen.gamma,
            condition=chosen.condition,
            seed=chosen.seed,
            times=chosen.simulations,
        )
        taken = 1000 * (time.perf_counter() - start)
        if chosen.folder:
            badge = f"true: generated · simulated, preview sampler, seed {chosen.seed}"
            pictures(found, number=number, badge=badge, folder=chosen.folder)
        columns = (found.private_loss, found.random_loss, found.private_noise, found.random_noise)
        for simulation, row in enumerate(zip(*columns, strict=True)):
            out.writerow([number, simulation, *(f"{loss:.6g}" for loss in row)])
        means = ", ".join(f"{column.mean():.4g}" for column in columns)
        spared = "empty cells spared" if found.spared else "condition not met"
        print(f"figure {number}: mean losses {means} ({spared}, {taken:.0f} ms)", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
