"""How near windows are to the least error, and whether least squares can reach 21 rows on 65,536 cells at ε = 1.

All errors are roots of the mean variance over all ranges at ε = 1, in rows, for continuous noise, where rows come and
go. If every scale took a part a of a cell's weights, and cost c/a^2, the best parts would cost (sum of c^(1/3))^3: so
the cube root of the mean square error grows by about as much from each size to the next. Searches over every entry of
the windows, from triangles, show by how much, and what that makes of 65,536 cells. No search proves that there is
nothing better. What is proved is the bound by singular values, far below: it holds for columns of length 1 in L2 too.

On 64 cells searches over all matrices, with weights below 0 and cells that no row measures alone, find nothing better
either. What does err less is other noise: density e^(-ε |A z|_1) for the noise z of all cells together hides a row as
well as independent noise on A x does. Here a Markov chain draws it, nearly, which would be no release; an exact way to
draw it is not known to us where windows overlap.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize

from dpcore.core import Floats
from dpcore.mechanisms.ranges.strategy import mean_square, mean_variance, windows

SIZES, MOST, GOAL = (64, 256, 1024), 65_536, 21.0
STEPS = {64: 1000, 256: 600, 1024: 400}
STARTS = 5
LINKS, FORGOTTEN = {64: 10_000, 256: 5000, 1024: 2000}, 300


def best(cells: int) -> tuple[Floats, float]:
    """Windows B (K, U) that a search over every entry finds, and the error."""
    triangles = windows(cells, prefixes=False, known=False)[0].toarray()

    def objective(entries: Floats) -> tuple[float, Floats]:
        value, gradient = mean_variance(entries.reshape(triangles.shape), prefixes=False, known=False)
        return value, gradient.ravel()

    start = 0.9 * triangles + 1e-3 * np.random.default_rng(0).random(triangles.shape)
    bounds = [(0, None)] * start.size
    options = {"maxiter": STEPS[cells], "maxcor": 20}
    found = minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return found.x.reshape(triangles.shape), math.sqrt(2 * found.fun)


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
    bounds, options = [(0, None)] * start.size, {"maxiter": 1000}
    found = minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return math.sqrt(2 * found.fun)


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


def main() -> None:
    """Print searches, what they make of 65,536 cells, the proved bound, and noise of all cells together."""
    cubes = []
    for cells in SIZES:
        measured, error = best(cells)
        cubes.append(error ** (2 / 3))
        joint, strays = together(measured)
        print(f"{cells:6,} cells: least squares {error:.3f}; noise together {joint:.3f} ± {strays:.3f}", flush=True)
    found = min(any_matrix(64, rows, seed) for rows in (68, 72, 80) for seed in range(STARTS))
    print(f"    64 cells, any matrix, of {3 * STARTS} searches: {found:.3f}")
    growth, left = np.diff(cubes), math.log(MOST / SIZES[-1], 4)
    print(f"growth of the cube root a fourfold size: {', '.join(f'{each:.3f}' for each in growth)}")
    for what, pace in (("as lately", growth[-1]), ("as at the least", growth.min())):
        print(f"{MOST:6,} cells, growing {what}: {(cubes[-1] + left * pace) ** 1.5:.2f}")
    needed = (GOAL ** (2 / 3) - cubes[-1]) / left
    print(f"{MOST:6,} cells: {GOAL:g} needs a growth of {needed:.3f}; proved: no less than {least(MOST):.2f}")


if __name__ == "__main__":
    main()
