"""Encode domains, readings and query classes as JSON and decode them: a mapping with the type and non-default fields.

A field with its default value is left out, so that a field added in a later version changes no digest. Numbers that
may have fractions are written as decimal text; JSON numbers are accepted, too.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Collection, Iterator, Mapping, Set
from typing import Any

from dpcore.core import Domain, Neighbours, ParameterError, Queries, exactly
from dpcore.data.columns import LabelAndRest, Labels, Number
from dpcore.data.dates import Ages, Dates
from dpcore.data.declarations import Capped, DeclaredColumn, DeclaredTable
from dpcore.data.lists import ListColumns
from dpcore.data.predicates import Predicate
from dpcore.data.product import Product
from dpcore.data.reading.format import DEFAULT_FORMATS, USUAL, Format
from dpcore.data.readings import Coded, Columns, Measure, Several, Vectors, YesNo
from dpcore.data.sphere import Halfspaces
from dpcore.data.unlisted.texts import LabelCounts, TextColumn
from dpcore.queries.at_least import AtLeast
from dpcore.queries.boxes import RangeBoxes
from dpcore.queries.groups import GroupQuantiles, GroupStatistics
from dpcore.queries.hypotheses import Hypotheses
from dpcore.queries.inputs import Inputs
from dpcore.queries.linear import LinearQueries
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import Cells, Intervals, Rectangles, Thresholds
from dprelease.ledger.records import is_words
from dprelease.sizes import MAX_WORDS

CODEC_TYPES: Mapping[str, type] = {
    kind.__name__: kind
    for kind in (
        *(Number, Ages, Dates, Labels, LabelAndRest, Product),
        *(DeclaredColumn, DeclaredTable, Capped, Format),
        *(Columns, YesNo, Several, Vectors, Coded, Measure, Predicate, ListColumns, TextColumn),
        *(Thresholds, Intervals, Rectangles, Cells, LinearQueries, AtLeast, Marginals, Halfspaces, RangeBoxes, Inputs),
        *(GroupStatistics, GroupQuantiles, Hypotheses, LabelCounts),
    )
}
"""Types that a request may contain. Every field of such a type must be public."""
FREE_TEXTS = {"code"}
"""Fields that are not part of a request's meaning."""


NAME_FIELDS = {"column", "name", "names", "otherwise", "person", "rules", "unit", "variables"}
"""Fields with names from users, which must be printable; labels are values of the data and are kept as they are."""


Fields = dict[str, tuple[dataclasses.Field[Any], Any]]
"""Fields of a type with their hints, by their names in a document."""


def fields_of(kind: type, *, left_out: Collection[str]) -> Fields:
    """Return the fields of a dataclass, but for those that a document does not have, or has in another form."""
    hints, fields = typing.get_type_hints(kind), (f for f in dataclasses.fields(kind) if f.init)
    return {f.name: (f, hints[f.name]) for f in fields if f.name not in left_out}


def _codec_fields(kind: type) -> Fields:
    """Return the fields of one of the CODEC_TYPES; a query class takes its domain from the reading."""
    return fields_of(kind, left_out=FREE_TEXTS | ({"domain"} if issubclass(kind, Queries) else set()))


def encode_fields(value: Any, fields: Fields) -> dict[str, Any]:
    """Encode fields of a value; those at their defaults are left out."""
    values = {name: (getattr(value, field.name), field, hint) for name, (field, hint) in fields.items()}
    return {name: _encode_value(v, hint) for name, (v, field, hint) in values.items() if v != _default(field)}


def decode_fields(document: Any, fields: Fields, what: str, *, others: Set[str]) -> dict[str, Any]:
    """Decode the values of fields by the fields' names; those at their defaults may be left out.

    Args:
        document: a mapping with these fields.
        fields: result of ``fields_of``.
        what: name of the mapping in messages.
        others: further fields that the mapping needs, which are not decoded.

    Raises:
        ParameterError: one sentence on what is unknown, missing or of another type.
    """
    needed = {name for name, (field, _) in fields.items() if _default(field) is dataclasses.MISSING}
    check_fields(document, what, needed | others, optional=fields.keys())
    stated = {name: each for name, each in fields.items() if name in document}
    return {field.name: _read(document[name], hint, f"{what}'s {name}") for name, (field, hint) in stated.items()}


def encode(value: Any) -> dict[str, Any]:
    """Encode a value of one of the CODEC_TYPES as a document.

    Raises:
        ParameterError: the type is not in CODEC_TYPES.

    >>> encode(Columns(names=("age",), on=Number(high=128, bits=7)))
    {'type': 'Columns', 'names': ['age'], 'on': {'type': 'Number', 'high': '128', 'bits': 7}}
    """
    if CODEC_TYPES.get(type(value).__name__) is not type(value):
        raise ParameterError(f"{type(value).__name__} cannot be part of a request.")
    return {"type": type(value).__name__} | encode_fields(value, _codec_fields(type(value)))


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _encode_value(value: Any, hint: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return encode(value)
    if isinstance(value, tuple | list):
        return [_encode_value(each, each_hint) for each, each_hint in zip(value, _items(hint, len(value)), strict=True)]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, bool | str):
        return value
    if {float, str} <= {*typing.get_args(hint)}:
        return {"number": exactly(value)}
    return exactly(value) if float in (hint, *typing.get_args(hint)) else int(value)


def decode(document: Any, kind: type, *, domain: Domain | None = None) -> Any:
    """Decode a value of a type or of one of its subtypes.

    Args:
        document: result of ``encode``.
        kind: expected type.
        domain: domain for a query class.

    Raises:
        ParameterError: one sentence on what is unknown, missing or out of range.
    """
    if not isinstance(document, Mapping):
        raise ParameterError(f"A {kind.__name__} must be a mapping with a type.")
    named = document.get("type")
    decoded_type = CODEC_TYPES.get(named) if isinstance(named, str) else None
    if decoded_type is None or not issubclass(decoded_type, kind):
        known = ", ".join(name for name, each in CODEC_TYPES.items() if issubclass(each, kind))
        raise ParameterError(f"The type of a {kind.__name__} must be one of {known}.")
    values = decode_fields(document, _codec_fields(decoded_type), decoded_type.__name__, others={"type"})
    if issubclass(decoded_type, Queries):
        if domain is None or not decoded_type.fits(domain):
            raise ParameterError(f"{named} is not possible on this domain.")
        values["domain"] = domain
    instance = decoded_type(**values)
    of_its_value = isinstance(instance, Predicate) and instance == dataclasses.replace(instance, name="")
    for name in NAME_FIELDS & set(values):
        if not of_its_value and not all(each == "" or is_words(each) for each in _texts(values[name])):
            raise ParameterError(f"{named}'s {name} must be at most {MAX_WORDS} printable characters.")
    return instance


def _read(value: Any, hint: Any, what: str) -> Any:
    if _is_union(hint):
        return _read_one_of(value, typing.get_args(hint), what)
    if typing.get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise ParameterError(f"{what} must be a list.")
        items = list(_items(hint, len(value)))
        if len(items) != len(value):
            raise ParameterError(f"{what} must be a list of {len(items)}.")
        return tuple(_read(each, each_hint, what) for each, each_hint in zip(value, items, strict=True))
    if hint is float:
        return decode_number(value, what)
    if hint is bytes:
        return _bytes(value, what)
    if hint in (int, bool, str):
        if type(value) is not hint:
            words = {int: "an integer", bool: "true or false", str: "a string"}
            raise ParameterError(f"{what} must be {words[hint]}.")
        return value
    return decode(value, hint)


def _texts(value: Any) -> Iterator[str]:
    """Iterate over the texts of a field, which is a text or nested tuples of texts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _texts(each)


def _read_one_of(value: Any, hints: tuple[Any, ...], what: str) -> Any:
    if float in hints and isinstance(value, Mapping):
        if set(value) != {"number"}:
            raise ParameterError(f"{what} must be a string or a number.")
        return decode_number(value["number"], what)
    if float in hints and (str not in hints or isinstance(value, int | float)):
        return decode_number(value, what)
    for plain in {str, int, bool} & {*hints}:  # the alternative is None, the default, which is left out
        return _read(value, plain, what)
    named = value.get("type") if isinstance(value, Mapping) else None
    decoded_type = CODEC_TYPES.get(named) if isinstance(named, str) else None
    for hint in hints:
        if decoded_type is not None and isinstance(hint, type) and issubclass(decoded_type, hint):
            return decode(value, hint)
    raise ParameterError(f"{what} must be one of {', '.join(hint.__name__ for hint in hints)}.")


def encode_format(settings: Format) -> dict[str, Any]:
    """Return the document's entry for the file format; empty for the default format."""
    return {} if settings == USUAL else {"file_format": encode(settings)}


def decode_format(document: Mapping[str, Any]) -> Format:
    """Return the file format of a document; raises ParameterError for an invalid one."""
    settings: Format = decode(document["file_format"], Format) if "file_format" in document else USUAL
    return settings


def canonical_format(settings: Format) -> Format:
    """Return the canonical settings for a request: ``Format()`` where the default reads a file in the same way.

    A header in the first row is the default, so the request for such a file keeps its digest.
    """
    if settings.header:
        settings = dataclasses.replace(settings, header=None)
    return USUAL if settings in DEFAULT_FORMATS else settings


def check_format(document: Mapping[str, Any], what: str, expected: str) -> None:
    """Check a document's format; raises ParameterError for another, with its own sentence for an older one."""
    named, (name, _, version) = document.get("format"), expected.partition("/")
    if named in [f"{name}/{number}" for number in range(1, int(version))]:
        raise ParameterError(
            f"This {what} has the format “{named}” of an older program. Create it again in the format “{expected}”."
        )
    if named != expected:
        raise ParameterError(f"A {what}'s format must be “{expected}”.")


def check_fields(document: Any, what: str, needed: Set[str], *, optional: Set[str] = frozenset()) -> None:
    """Check a mapping's fields; raises ParameterError for one that is missing or unknown."""
    if not isinstance(document, Mapping):
        raise ParameterError(f"{what} must be a mapping.")
    for name in sorted(set(document) - needed - optional):
        raise ParameterError(f"{what} has no field “{name[:40]}”.")
    for name in sorted(needed - document.keys()):
        raise ParameterError(f"{what} needs the field “{name}”.")


def decode_relation(value: Any) -> Neighbours:
    """Decode a neighbouring relation; raises ParameterError for an unknown one."""
    if value not in list(Neighbours):
        raise ParameterError(f"The neighbouring relation must be one of {', '.join(Neighbours)}.")
    return Neighbours(value)


def decode_number(value: Any, what: str) -> float:
    """Decode a finite number from a JSON number or decimal text; raises ParameterError for anything else."""
    if (isinstance(value, str) and len(value) <= 40 and "_" not in value) or type(value) in (int, float):
        try:
            parsed = float(value)
        except (ValueError, OverflowError):
            parsed = math.nan
        if math.isfinite(parsed):
            return parsed + 0.0  # one spelling of zero, without a sign
    raise ParameterError(f"{what} must be a finite number.")


def _bytes(value: Any, what: str) -> bytes:
    try:
        return bytes.fromhex(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{what} must be bytes in hexadecimal.") from None


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (types.UnionType, typing.Union)


def _items(hint: Any, length: int) -> Iterator[Any]:
    """Return the types of a tuple's items."""
    args = typing.get_args(hint)
    yield from [args[0]] * length if args[1:] == (...,) else args
