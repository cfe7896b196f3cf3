"""The catalogue: every module of this folder is a mechanism and exposes ENTRIES; there is no other registry."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache

from dpcore.core import Entry, ParameterError, Queries


@lru_cache(maxsize=1)
def catalogue() -> tuple[Entry, ...]:
    """Every entry of every module in this folder, by module name; a module without ENTRIES is an error."""
    entries: list[Entry] = []
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda found: found.name):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        if not getattr(loaded, "ENTRIES", ()):
            raise ParameterError(f"dpcore/mechanisms/{module.name}.py exposes no ENTRIES.")
        entries.extend(loaded.ENTRIES)
    keys = [entry.key for entry in entries]
    if len(set(keys)) != len(keys):
        raise ParameterError("Two mechanisms in the catalogue share a key.")
    return tuple(entries)


def entry(key: str) -> Entry:
    """The entry with this key."""
    for found in catalogue():
        if found.key == key:
            return found
    raise ParameterError("No mechanism of the catalogue has this key.")


def serving(queries: Queries, *, releases: str = "data") -> tuple[Entry, ...]:
    """The entries that can release data (or another kind of release) for a query class."""
    return tuple(found for found in catalogue() if found.serves(queries) and found.mechanism.releases == releases)
