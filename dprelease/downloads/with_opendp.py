"""A program that makes the same release with OpenDP alone, from the rows: the second opinion of another library.

It is given for columns of numbers or labels and pairs of numbers, counted with discrete Laplace or Gaussian noise in
every cell or in named queries, and for quantiles and clipped means of a number. It names no column or label: those it
reads from the certificate. Trees and windows have none: least squares with a known n is not OpenDP's.
"""

from __future__ import annotations

import json

from dpcore.data.domains import Categories, Grid, Line
from dpcore.data.readings import Columns
from dprelease.ledger.records import Stored
from dpcore.mechanisms.histograms.gaussian import GaussianHistogram
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.mechanisms.ranges.named import NamedQueries
from dpcore.mechanisms.robust.clipped_mean import ClippedMean
from dpcore.mechanisms.robust.exponential_median import ExponentialMedian
from dpcore.queries.ranges import Cells
from dpcore.randomness.secure import rounded_up
from dprelease.requests.joint import asked_of
from dprelease.requests.single import Request

Noise = dict[str, str | float | int]


def with_opendp(stored: Stored) -> bytes:
    """The program for a stored release; empty where no question of it has an equivalent."""
    requests = asked_of(stored.body["request"]).parts
    noises = {str(place): noise for place, part in enumerate(requests, 1) if (noise := noise_of(part))}
    if not noises:
        return b""
    return PROGRAM.replace("NOISES", json.dumps(noises, indent=4)).encode()


def noise_of(request: Request) -> Noise:
    """Which noise of which scale OpenDP has to draw; empty where it has no equivalent."""
    reading, mechanism = request.reading, request.mechanism
    if not isinstance(reading, Columns) or type(reading.on) not in (Line, Categories, Grid):
        return {}
    shift = sum(request.neighbours.histogram_shift)
    if isinstance(mechanism, IdentityHistogram):
        return {"law": "laplace", "scale": rounded_up(shift / mechanism.epsilon)}
    if isinstance(mechanism, GaussianHistogram):
        return {"law": "gaussian", "scale": mechanism.sigma(request.problem)}
    if isinstance(mechanism, ExponentialMedian) and isinstance(reading.on, Line):
        moved, share = mechanism.sensitivity(request.neighbours), mechanism.share
        return {
            "law": "quantile",
            "scale": rounded_up(2 * moved / mechanism.epsilon),
            "moved": moved,
            "part": share.numerator,
            "of": share.denominator,
        }
    if isinstance(mechanism, NamedQueries):
        k = len(mechanism.ends(request.problem))
        totals = not isinstance(request.queries, Cells)
        return {"law": "named", "scale": rounded_up(k / mechanism.epsilon), "moved": k, "totals": int(totals)}
    if isinstance(mechanism, ClippedMean):
        furthest = reading.on.ordered - 1
        return {"law": "mean", "scale": rounded_up(furthest / mechanism.epsilon), "moved": furthest, "n": request.n}
    return {}


PROGRAM = '''"""Makes the same release with OpenDP alone: python3 with_opendp.py DATA.csv, beside certificate.json.

It needs the rows, and it draws fresh noise: what it writes is another release, which costs what the first one did.
"""

import csv
import json
import math
import sys
from bisect import bisect_right
from collections import Counter
from pathlib import Path

import opendp.prelude as dp

dp.enable_features("contrib")
HERE = Path(__file__).resolve().parent
# Question, counted from 1: the law of the noise, and its scale in rows.
NOISE = NOISES


def line(on):
    """Cells of a number: how many, whether one is reserved for what does not fit, and the cell of a text."""
    low, high = float(on.get("low", 0)), float(on.get("high", 1))
    bins = on.get("bins", 0)
    cells = bins or 2 ** on.get("bits", 10)
    edges = [min(low + (high - low) * place / cells, high) for place in range(cells + 1)]
    missing, clamp = on.get("missing", False), on.get("clamp", True)

    def cell(text):
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or (not clamp and not low <= number <= high):
            if missing:
                return cells
            number = low
        number = min(max(number, low), high)
        found = bisect_right(edges, number) - 1 if bins else math.floor((number - low) / (high - low) * cells)
        return min(found, cells - 1)

    return cells, missing, cell, [low + (place + 0.5) * (high - low) / cells for place in range(cells)]


def categories(on):
    """The same of a label."""
    labels = on.get("labels", ["no", "yes"])
    places = {label: place for place, label in enumerate(labels)}
    missing = on.get("missing", True)
    return len(labels), missing, lambda text: places.get(text, len(labels) if missing else 0), labels


def pair(on):
    """The same of two numbers: the second's cells for each of the first's."""
    one, other = (line(on.get(name, {"bits": 5})) for name in ("first", "second"))

    def cell(first, second):
        row, column = one[2](first), other[2](second)
        return row * other[0] + column if row < one[0] and column < other[0] else one[0] * other[0]

    return one[0] * other[0], one[1] or other[1], cell, [f"{a}, {b}" for a in one[3] for b in other[3]]


KINDS = {"Line": line, "Grid": pair}


def kept(rows, data):
    """Of each person the first rows in the file; all rows where rows are protected."""
    person, seen = data["person_column"], Counter()
    for row in rows:
        if person:
            if not row[person] or seen[row[person]] == data["unit"]["rows_a_person"]:
                continue
            seen[row[person]] += 1
        yield row


def counted(cells, size, *, law, scale, rows):
    """Counts of all cells with noise, and what OpenDP says that this costs whoever has so many rows."""
    laplace = law == "laplace"
    count = dp.t.make_count_by_categories(
        dp.vector_domain(dp.atom_domain(T="i32")),
        dp.symmetric_distance(),
        list(range(size)),
        null_category=False,
        MO="L1Distance<i64>" if laplace else "L2Distance<f64>",
        TOA="i64",
    )
    noisy = count >> (dp.m.then_laplace(scale) if laplace else dp.m.then_gaussian(scale))
    return noisy(cells), noisy.map(rows)


def quantile(cells, size, *, scale, moved, part, of, rows):
    """The cell whose score wins with Gumbel noise: minus the rows by which it misses the quantile, times of."""
    counts = Counter(cells)
    total = sum(counts[place] for place in range(size))
    scores, upto = [], 0
    for place in range(size):
        below, upto = upto, upto + counts[place]
        scores.append(-max(of * below - part * total, part * total - of * upto, 0))
    race = dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T="i64")),
        dp.linf_distance(T="i64"),
        dp.zero_concentrated_divergence(),
        scale=scale,
    )
    return race(scores), race.map(moved * rows)


def noisy(values, *, scale, moved):
    """Whole numbers with noise, and what this costs whoever moves all of them together by so much."""
    laplace = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=scale)
    return laplace(values), laplace.map(moved)


def named(cells, size, *, scale, moved, totals, rows):
    """Rows of every cell from as many groups of cells: their counts with noise, or running totals at their ends."""
    counts = Counter(cells)
    starts = [place * size // moved for place in range(moved + 1)]
    values = [sum(counts[cell] for cell in range(0 if totals else a, b)) for a, b in zip(starts, starts[1:])]
    values, cost = noisy(values, scale=scale, moved=moved * rows)
    if totals:
        values = [value - before for before, value in zip([0, *values], values)]
    widths = [b - a for a, b in zip(starts, starts[1:])]
    return [value / width for value, width in zip(values, widths) for _ in range(width)], cost


def mean(cells, size, *, scale, moved, n, rows):
    """The cell of the mean: the sum of the cells' numbers with noise, over n, rounded."""
    (total,), cost = noisy([sum(cell for cell in cells if cell < size)], scale=scale, moved=moved * rows)
    return min(max((2 * total + n) // (2 * n), 0), size - 1), cost


def main(path):
    certificate = json.loads((HERE / "certificate.json").read_text(encoding="utf-8"))
    data = certificate["data"]
    requests = certificate["request"].get("parts", [certificate["request"]])
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(kept(csv.DictReader(file), data))
    most = data["unit"]["rows_a_person"]
    moved = 2 if data["relation"] == "replace_one" else most
    for place, noise in NOISE.items():
        reading = requests[int(place) - 1]["data"]["reading"]
        on = reading["on"]
        ordered, missing, cell, points = KINDS.get(on["type"], categories)(on)
        cells, law = [cell(*(row[name] for name in reading["names"])) for row in rows], noise.pop("law")
        if law in ("quantile", "mean"):
            chosen, cost = {"quantile": quantile, "mean": mean}[law](cells, ordered, rows=most, **noise)
            told = [(chosen, points[chosen])]
        else:
            if law == "named":
                counts, cost = named(cells, ordered, rows=most, **noise)
                counts += [0] * missing
            else:
                counts, cost = counted(cells, ordered + missing, law=law, scale=noise["scale"], rows=moved)
            told = list(zip(range(len(counts)), [*points, ""], counts))
        name = f"with-opendp-{place}.csv"
        with open(HERE / name, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("cell", "value", "rows")[: len(told[0])], *told])
        measure = "epsilon" if law in ("laplace", "named", "mean") else "rho (zero-concentrated)"
        print(f"{name}: {measure} = {cost:.6g} by OpenDP's own account")


if __name__ == "__main__":
    main(sys.argv[1])
'''
