"""YAML of strangers as mappings, lists and texts: no value is anything but text, no alias and no tag is followed."""

from __future__ import annotations

from typing import Any

from dpcore.core import DataError
from dpcore.core.sizes import MAX_DOCUMENT_DEPTH, MAX_YAML_CHARACTERS


def parse_yaml(text: str) -> dict[str, Any]:
    """Return the mapping of a YAML text, every key and every plain value as a text.

    The events of PyYAML's safe parser are put together here, so that no constructor runs and nothing is copied that an
    alias repeats.

    >>> parse_yaml("age: {type: int, lower: 0}")
    {'age': {'type': 'int', 'lower': '0'}}

    Raises:
        DataError: the text is too long, too deep, no YAML mapping, names a key twice, or has
            aliases or tags.
    """
    if len(text) > MAX_YAML_CHARACTERS:
        raise DataError(f"A description in YAML may have at most {MAX_YAML_CHARACTERS:,} characters.")
    import yaml

    builder, problem = _Builder(), ""
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            builder.take(event, type(event).__name__)
    except yaml.YAMLError:
        problem = "The description is not YAML."
    if problem:
        raise DataError(problem)
    if len(builder.documents) != 1 or not isinstance(builder.documents[0], dict):
        raise DataError("The description must be one YAML mapping.")
    return builder.documents[0]


class _Builder:
    """Puts events together: containers that are open, and of each mapping the key whose value comes next."""

    def __init__(self) -> None:
        self.documents: list[Any] = []
        self._open: list[dict[str, Any] | list[Any]] = []
        self._keys: list[str | None] = []

    def take(self, event: Any, kind: str) -> None:
        """Take the next event, whose class has this name."""
        if kind == "AliasEvent" or getattr(event, "tag", None):
            raise DataError("The description has aliases or tags of YAML, which are not read.")
        if kind in ("MappingStartEvent", "SequenceStartEvent"):
            if len(self._open) >= MAX_DOCUMENT_DEPTH:
                raise DataError(f"The description nests lists or mappings more than {MAX_DOCUMENT_DEPTH} deep.")
            container: dict[str, Any] | list[Any] = {} if kind.startswith("Mapping") else []
            self._add(container)
            self._open.append(container)
            self._keys.append(None)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._open.pop()
            self._keys.pop()
        elif kind == "ScalarEvent":
            if any("\ud800" <= each <= "\udfff" for each in event.value):  # half a character, by an escape
                raise DataError("The description is no UTF-8 text.")
            self._add(event.value)

    def _add(self, value: Any) -> None:
        """Put a value where it belongs: into the open list, under the key of the open mapping, or as that key."""
        inner = self._open[-1] if self._open else self.documents
        if isinstance(inner, list):
            inner.append(value)
        elif self._keys[-1] is not None:
            inner[self._keys[-1]] = value
            self._keys[-1] = None
        elif not isinstance(value, str) or value in inner:
            raise DataError("The keys of a description must be texts, each named once.")
        else:
            self._keys[-1] = value
