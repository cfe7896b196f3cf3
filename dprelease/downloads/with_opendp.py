"""A program that repeats the release from the rows with OpenDP alone, as an independent check by another library.

It exists for columns of numbers or labels and pairs of numbers, counted with discrete Laplace or Gaussian noise in
every cell or in named queries, and for quantiles and clipped means of a number, from a CSV with commas, a decimal point
and no code for missing values. It contains no name or label of the data: it reads those from the certificate. Trees and
windows have no such program, as OpenDP has no least squares with a known n. Nor have statistics by group: its counters
are sums of whole weights in several columns, which are not read here.
"""

from __future__ import annotations

import json

from dpcore.core.safe_csv import program_source
from dpcore.data.columns import Column, LabelAndRest, is_labels, is_number
from dpcore.data.dates import is_ages, is_dates
from dpcore.data.product import is_table
from dpcore.data.reading.format import USUAL
from dpcore.data.readings import Columns
from dpcore.mechanisms.histograms.gaussian import GaussianHistogram
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.mechanisms.ranges.named_queries import NamedQueries
from dpcore.mechanisms.robust.clipped_mean import ClippedMean
from dpcore.mechanisms.robust.counted_mean import CountedMean, weight
from dpcore.mechanisms.robust.exponential_median import ExponentialMedian
from dpcore.queries.ranges import Cells
from dpcore.randomness.secure import rounded_up
from dprelease.ledger.records import Stored
from dprelease.requests.parts import Request, RequestPart

Noise = dict[str, str | float | int]


def with_opendp(stored: Stored) -> bytes:
    """Return the program for a stored release; empty where no part of it has an equivalent."""
    request = Request.of(stored.body["request"])
    noises = {str(place): noise for place, part in enumerate(request.parts, 1) if (noise := noise_of(part))}
    if not noises or request.file_format != USUAL:
        return b""
    return PROGRAM.replace("NOISES", json.dumps(noises, indent=4)).replace("SAFE_CSV", program_source()).encode()


def noise_of(question: RequestPart) -> Noise:
    """Return the law and scale of the noise for OpenDP; empty where it has no equivalent."""
    reading, mechanism = question.reading, question.mechanism
    if not isinstance(reading, Columns) or not all(map(_is_written, reading.on.columns)) or is_table(reading.on):
        return {}
    shift = sum(question.neighbours.histogram_shift)
    if isinstance(mechanism, IdentityHistogram):
        return {"law": "laplace", "scale": rounded_up(shift / mechanism.epsilon)}
    if isinstance(mechanism, GaussianHistogram):
        return {"law": "gaussian", "scale": mechanism.sigma(question.problem)}
    if isinstance(mechanism, ExponentialMedian) and is_number(reading.on):
        moved, share = mechanism.sensitivity(question.neighbours), mechanism.share
        return {
            "law": "quantile",
            "scale": rounded_up(2 * moved / mechanism.epsilon),
            "moved": moved,
            "part": share.numerator,
            "of": share.denominator,
        }
    if isinstance(mechanism, NamedQueries):
        k = len(mechanism.ends(question.problem))
        totals = not isinstance(question.queries, Cells)
        return {"law": "named", "scale": rounded_up(k / mechanism.epsilon), "moved": k, "totals": int(totals)}
    if isinstance(mechanism, ClippedMean):
        furthest = reading.on.ordered - 1
        return {"law": "mean", "scale": rounded_up(furthest / mechanism.epsilon), "moved": furthest, "n": question.n}
    if isinstance(mechanism, CountedMean) and is_number(reading.on):
        return {
            "law": "counted",
            "scale": rounded_up(mechanism.sensitivity(question.problem) / mechanism.epsilon),
            "moved": mechanism.sensitivity(question.problem),
            "weight": weight(reading.on),
        }
    return {}


def _is_written(column: Column) -> bool:
    """Return whether the program can encode the column: numbers in cells of equal width, or plain labels."""
    if is_number(column):
        return not (is_dates(column) or is_ages(column) or column.cuts)
    return is_labels(column) and not (column.yes_no or isinstance(column, LabelAndRest))


PROGRAM = '''"""Makes the same release with OpenDP alone, beside certificate.json: python3 with_opendp.py DATA.csv

It needs the rows and samples new noise. Its output is another release, with the same privacy cost again.
"""

import csv
import json
import math
import re
import sys
import unicodedata
from bisect import bisect_right
from collections import Counter
from pathlib import Path

import opendp.prelude as dp

dp.enable_features("contrib")
HERE = Path(__file__).resolve().parent
# Question, counted from 1: the law of the noise, and its scale in rows.
NOISE = NOISES
SAFE_CSV


def line(on):
    """Return the encoding of a number: its cells, whether one is reserved for missing values, and a text's cell."""
    low, high = float(on.get("low", 0)), float(on.get("high", 1))
    bins = on.get("bins", 0)
    cells = bins or 2 ** on.get("bits", 10)
    decimals = 14 - math.ceil(math.log10(max(abs(low), abs(high))))
    grain = 10.0**decimals if 0 <= decimals <= 22 else 0.0
    grain *= (high - low) * grain >= 1000 * 2**16
    edges = [low + (high - low) * place / cells for place in range(cells + 1)]
    edges = [min(math.floor(edge * grain + 0.5) / grain if grain else edge, high) for edge in edges]
    edges[0], edges[-1] = low, high
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
        return min(bisect_right(edges, number) - 1, cells - 1)

    return cells, missing, cell, [low + (place + 0.5) * (high - low) / cells for place in range(cells)]


def categories(on):
    """Return the encoding of a label."""
    labels = on.get("labels", ["no", "yes"])
    places = {label: place for place, label in enumerate(labels)}
    missing = on.get("missing", True)
    other = len(labels) if missing else 0
    # In rows that a release wrote, a label that a spreadsheet would run starts with an apostrophe.
    return len(labels), missing, lambda text: places.get(text, places.get(unescape_formula(text), other)), labels


def pair(on):
    """Return the encoding of two columns: the second's cells for each of the first's."""
    one, other = (KINDS[each["type"]](each) for each in on["columns"])

    def cell(first, second):
        row, column = one[2](first), other[2](second)
        return row * other[0] + column if row < one[0] and column < other[0] else one[0] * other[0]

    return one[0] * other[0], one[1] or other[1], cell, [f"{a}, {b}" for a in one[3] for b in other[3]]


KINDS = {"Number": line, "Labels": categories, "Product": pair}


def kept(rows, data):
    """Select the first rows of each person in the file; all rows where rows are protected."""
    person, seen = data["person_column"], Counter()
    for row in rows:
        if person:
            if not row[person] or seen[row[person]] == data["unit"]["rows_a_person"]:
                continue
            seen[row[person]] += 1
        yield row


def counted(cells, size, *, law, scale, rows):
    """Return noisy counts of all cells, and their privacy cost by OpenDP for a person with this many rows."""
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
    """Return the cell with the largest noisy score: minus its rank error, times ``of``."""
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
    """Return noisy whole numbers, and their privacy cost at L1 sensitivity ``moved``."""
    laplace = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=scale)
    return laplace(values), laplace.map(moved)


def named(cells, size, *, scale, moved, totals, rows):
    """Return the rows of every cell from noisy counts of ``moved`` groups of cells, or from noisy running totals."""
    counts = Counter(cells)
    starts = [place * size // moved for place in range(moved + 1)]
    values = [sum(counts[cell] for cell in range(0 if totals else a, b)) for a, b in zip(starts, starts[1:])]
    values, cost = noisy(values, scale=scale, moved=moved * rows)
    if totals:
        values = [value - before for before, value in zip([0, *values], values)]
    widths = [b - a for a, b in zip(starts, starts[1:])]
    return [value / width for value, width in zip(values, widths) for _ in range(width)], cost


def mean(cells, size, *, scale, moved, n, rows):
    """Return the cell of the mean: the noisy sum of the cells' numbers over n, rounded."""
    (total,), cost = noisy([sum(cell for cell in cells if cell < size)], scale=scale, moved=moved * rows)
    return min(max((2 * total + n) // (2 * n), 0), size - 1), cost


def counted_mean(cells, size, *, scale, moved, weight, rows, points):
    """Return the mean and the number of rows from two noisy counters: their ratio and their sum."""
    ends = [2 * cell + 1 for cell in cells if cell < size]
    (low, high), cost = noisy([sum(weight - end for end in ends), sum(ends)], scale=scale, moved=moved * rows)
    if low + high <= 0:
        return "", 0, cost
    half = (points[1] - points[0]) / 2
    start, end = points[0] - half, points[-1] + half
    return start + (end - start) * min(max(high / (low + high), 0), 1), (low + high) / weight, cost


def main(path):
    certificate = json.loads((HERE / "certificate.json").read_text(encoding="utf-8"))
    data = certificate["data"]
    questions = certificate["request"]["parts"]
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(kept(csv.DictReader(file), data))
    most = data["unit"]["rows_a_person"]
    moved = 2 if data["relation"] == "replace_one" else most
    for place, noise in NOISE.items():
        reading = questions[int(place) - 1]["reading"]
        on = reading["on"]
        ordered, missing, cell, points = KINDS[on["type"]](on)
        cells, law = [cell(*(row[name] for name in reading["names"])) for row in rows], noise.pop("law")
        header = ("cell", "value", "rows")
        if law == "counted":
            *found, cost = counted_mean(cells, ordered, rows=most, points=points, **noise)
            told, header = [found], ("mean", "rows")
        elif law in ("quantile", "mean"):
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
            csv.writer(file).writerow(header[: len(told[0])])
            csv.writer(file).writerows([escape_formula(x) if type(x) is str else x for x in row] for row in told)
        measure = "epsilon" if law in ("laplace", "named", "mean", "counted") else "rho (zero-concentrated)"
        print(f"{name}: {measure} = {cost:.6g} by OpenDP's own account")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: python3 with_opendp.py DATA.csv")
    main(sys.argv[1])
'''
