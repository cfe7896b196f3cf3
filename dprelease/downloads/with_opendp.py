"""A program that repeats the release from the rows with OpenDP alone, as an independent check by another library.

Its text is the template ``with_opendp.py.txt``. It exists for columns of numbers or labels and pairs of numbers,
counted with discrete Laplace or Gaussian noise in every cell or in named queries, and for quantiles and clipped means
of a number, from a CSV with commas, a decimal point and no code for missing values. It contains no name or label of the
data: it reads those from the certificate. Trees and windows have no such program, as OpenDP has no least squares with a
known n. Nor have statistics by group: its counters are sums of whole weights in several columns, which are not read
here.
"""

from __future__ import annotations

import json
from pathlib import Path
from string import Template

from dpcore.core.safe_csv import program_source
from dpcore.data.columns import Column, is_labels, is_number
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
PROGRAM = Template(Path(__file__).with_name("with_opendp.py.txt").read_text(encoding="utf-8"))


def with_opendp(stored: Stored) -> bytes:
    """Return the program for a stored release; empty where no part of it has an equivalent."""
    request = Request.of(stored.body["request"])
    noises = {str(place): noise for place, part in enumerate(request.parts, 1) if (noise := noise_of(part))}
    if not noises or request.file_format != USUAL:
        return b""
    return PROGRAM.substitute(noises=json.dumps(noises, indent=4), safe_csv=program_source()).encode()


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
    return is_labels(column) and not (column.yes_no or column.label_of_share)
