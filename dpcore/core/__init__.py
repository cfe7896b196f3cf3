"""The types of dpcore: domains, data sets, queries, mechanisms, releases and guarantees.

Nothing here computes but ``bisection``; the numerics live on the floors above (``domains``, ``queries``,
``randomness``, ``mechanisms``). ``dpcore/README.md`` is the map.
"""

from dpcore.core.basics import (
    Booleans,
    DataError,
    Floats,
    Integers,
    ParameterError,
    is_visible,
    printable,
    read_number,
    read_whole_number,
)
from dpcore.core.blocks import Blocks, cancellable, checkpoint, finish, keep_running_while, paused, scaled
from dpcore.core.bounds import Assumption, Bound, BoundKind, ErrorUnit, describe_error
from dpcore.core.guarantees import Guarantee, Neighbours, exactly, per_person, rounded_down, rounded_up, rows_up
from dpcore.core.mechanism import Entry, Mechanism, PureMechanism
from dpcore.core.parameters import EPSILON_STOPS, Parameter, alpha_param, delta_param, epsilon_param, param
from dpcore.core.problem import Dataset, Domain, DomainType, Problem, Provenance, ProvenanceKind, Queries
from dpcore.core.release import (
    NOTHING,
    DataRelease,
    HistogramRelease,
    HistogramState,
    PointsRelease,
    Release,
    State,
    ValueRelease,
)
from dpcore.core.sizes import MAX_BYTES, MAX_PRICED_ROWS, check_memory

__all__ = [
    "EPSILON_STOPS",
    "MAX_BYTES",
    "MAX_PRICED_ROWS",
    "NOTHING",
    "Assumption",
    "Blocks",
    "Booleans",
    "Bound",
    "BoundKind",
    "DataError",
    "DataRelease",
    "Dataset",
    "Domain",
    "DomainType",
    "Entry",
    "ErrorUnit",
    "Floats",
    "Guarantee",
    "HistogramRelease",
    "HistogramState",
    "Integers",
    "Mechanism",
    "Neighbours",
    "Parameter",
    "ParameterError",
    "PointsRelease",
    "Problem",
    "Provenance",
    "ProvenanceKind",
    "PureMechanism",
    "Queries",
    "Release",
    "State",
    "ValueRelease",
    "alpha_param",
    "cancellable",
    "check_memory",
    "checkpoint",
    "delta_param",
    "describe_error",
    "epsilon_param",
    "exactly",
    "finish",
    "is_visible",
    "keep_running_while",
    "param",
    "paused",
    "per_person",
    "printable",
    "read_number",
    "read_whole_number",
    "rounded_down",
    "rounded_up",
    "rows_up",
    "scaled",
]
