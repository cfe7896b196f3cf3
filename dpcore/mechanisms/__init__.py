"""The catalogue of mechanisms: every module below this folder that has ENTRIES; there is no other registry."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import lru_cache
from types import ModuleType

from dpcore.core import Entry, Mechanism, ParameterError, Queries


def _uncatalogued_mechanism(module: ModuleType) -> str | None:
    """Return the name of a mechanism that a module without ENTRIES defines, if any; helpers define none."""
    for name, value in vars(module).items():
        defined = inspect.isclass(value) and value.__module__ == module.__name__ and issubclass(value, Mechanism)
        if defined and not inspect.isabstract(value):
            return name
    return None


@lru_cache(maxsize=1)
def catalogue() -> tuple[Entry, ...]:
    """Return every entry of every module below this folder; modules come in the order of their first entry's key.

    Raises:
        ParameterError: a module defines a mechanism and no ENTRIES, or two entries share a key.
    """
    listed: list[tuple[Entry, ...]] = []
    for module in pkgutil.walk_packages(__path__, prefix=f"{__name__}."):
        loaded = importlib.import_module(module.name)
        entries: tuple[Entry, ...] = getattr(loaded, "ENTRIES", ())
        if entries:
            listed.append(entries)
        elif name := _uncatalogued_mechanism(loaded):
            raise ParameterError(f"{module.name} defines {name} and exposes no ENTRIES.")
    catalogued = tuple(entry for entries in sorted(listed, key=lambda entries: entries[0].key) for entry in entries)
    if len({entry.key for entry in catalogued}) != len(catalogued):
        raise ParameterError("Two mechanisms in the catalogue share a key.")
    return catalogued


def entry(key: str) -> Entry:
    """Return the entry with this key."""
    for each in catalogue():
        if each.key == key:
            return each
    raise ParameterError("No mechanism of the catalogue has this key.")


def serving(queries: Queries, *, releases: str = "data") -> tuple[Entry, ...]:
    """Return the entries that can release data (or another kind of release) for a query class."""
    return tuple(each for each in catalogue() if each.serves(queries) and each.mechanism.releases == releases)
