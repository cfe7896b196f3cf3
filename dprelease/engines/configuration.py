"""Engines in the server's configuration: sections of settings, which are never typed into a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typing_extensions import override

from dpcore.core import DataError
from dpcore.data.reading.intake import clean_name
from dprelease.engines.embedded import Embedded
from dprelease.engines.engine import Allowance, Engine
from dprelease.engines.postgres import Postgres
from dprelease.engines.spark import Spark
from dprelease.engines.tables import EngineTable, open_table

WRONG = "The settings of this engine are wrong. The README describes them."
MEGABYTE = 1 << 20
DAY = 24 * 3600.0
"""Largest time limit of one query in seconds, whatever the configuration says."""


@dataclass(frozen=True, kw_only=True)
class EngineConfiguration:
    """A table of an engine that the user may select by its name.

    Attributes:
        name: name that is safe to show.
        private: whether the rows are private, so that no true value is shown.
        options: the settings; they may hold a password and are in no repr.
    """

    name: str
    private: bool
    options: Mapping[str, Any]

    @override
    def __repr__(self) -> str:
        return f"<Offer: {self.name}>"

    def open(self, *, sealed: bool) -> EngineTable:
        """Connect and read the columns; raises DataError with one sentence.

        Args:
            sealed: whether the table refuses every count: for all users but the data owner, where rows are private.
        """
        return open_table(engine_of(self.options), name=self.name, sealed=sealed)


def read_configurations(sections: Mapping[str, Any]) -> dict[str, EngineConfiguration]:
    """Return the tables that users may select, by key; rows are private unless their section says otherwise."""
    return {
        str(key): EngineConfiguration(
            name=clean_name(str(options.get("title", key))) or "table",
            private=options.get("private") is not False,
            options=options,
        )
        for key, options in sections.items()
        if isinstance(options, Mapping)
    }


def engine_of(options: Mapping[str, Any]) -> Engine:
    """Make the engine of a section; raises DataError with one sentence."""
    try:
        return _engine_of(dict(options))
    except DataError:
        raise
    except (KeyError, TypeError, ValueError):
        pass
    raise DataError(WRONG)


def _engine_of(options: dict[str, Any]) -> Engine:
    kind = options.pop("kind")
    for word in ("title", "private"):
        options.pop(word, None)
    usual = Allowance()
    allowance = Allowance(
        seconds=float(options.pop("seconds", usual.seconds)),
        answers=int(options.pop("answers", usual.answers)),
        memory_bytes=int(options.pop("megabytes", usual.memory_bytes // MEGABYTE)) * MEGABYTE,
        threads=int(options.pop("threads", usual.threads)),
    )
    if min(allowance.answers, allowance.memory_bytes, allowance.threads) <= 0 or not 0 < allowance.seconds <= DAY:
        raise ValueError  # NaN would be no limit
    if kind == "duckdb":
        return Embedded(allowance=allowance, path=Path(options.pop("path")), name=options.pop("table", ""), **options)
    if kind == "postgres":
        return Postgres(allowance=allowance, address=options.pop("address"), name=options.pop("table"), **options)
    if kind == "spark":
        settings = tuple((str(key), str(value)) for key, value in dict(options.pop("settings", {})).items())
        return Spark(
            allowance=allowance,
            name=options.pop("table"),
            master=options.pop("master", ""),
            settings=settings,
            **options,
        )
    raise ValueError
