"""The nouns of dpcore: what a record can be, what is asked, what is released, and what is promised.

Nothing here computes; the numerics live on the floors above (``domains``, ``queries``, ``randomness``,
``mechanisms``). ``dpcore/README.md`` is the map.
"""

from dpcore.core.basics import Booleans, DataError, Floats, Integers, ParameterError
from dpcore.core.blocks import Blocks, finish, going_on, may_stop, paused, scaled, stoppable
from dpcore.core.mechanism import Entry, Mechanism, PureMechanism
from dpcore.core.parameters import EPSILON_STOPS, Parameter, alpha_param, delta_param, epsilon_param, param
from dpcore.core.problem import Dataset, Domain, Problem, Provenance, ProvenanceKind, Queries
from dpcore.core.promises import (
    Assumption,
    Bound,
    BoundKind,
    Guarantee,
    Neighbours,
    exactly,
    for_persons,
    per_person,
    rounded_down,
    rounded_up,
)
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

__all__ = [
    "EPSILON_STOPS",
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
    "Entry",
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
    "delta_param",
    "epsilon_param",
    "exactly",
    "finish",
    "for_persons",
    "going_on",
    "may_stop",
    "param",
    "paused",
    "per_person",
    "rounded_down",
    "rounded_up",
    "scaled",
    "stoppable",
]
