"""dpcore: mechanisms of differential privacy with their promises, previews and proofs. Start at dpcore/README.md."""

from dpcore.core import (
    DataError,
    Dataset,
    Entry,
    Guarantee,
    Neighbours,
    ParameterError,
    Problem,
    Provenance,
    ProvenanceKind,
)
from dpcore.data.columns import Labels, Number
from dpcore.data.product import Product
from dpcore.data.readings import Columns, from_frame
from dpcore.data.twin import twin
from dpcore.mechanisms import catalogue, entry, serving
from dpcore.queries.ranges import Cells, Intervals, Rectangles, Thresholds
from dpcore.randomness import Account, Enumerate, Preview, Secure

__all__ = [
    "Account", "Cells", "Columns", "DataError", "Dataset", "Entry", "Enumerate", "Guarantee", "Intervals", "Labels",
    "Neighbours", "Number", "ParameterError", "Preview", "Problem", "Product", "Provenance", "ProvenanceKind",
    "Rectangles", "Secure", "Thresholds", "catalogue", "entry", "from_frame", "serving", "twin",
]  # fmt: skip
