"""Engines as whoever runs the server names them: sections of settings, never typed into a page."""

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

WRONG = "The settings of this engine are wrong: the README says what they hold."
MEGABYTE = 1 << 20
DAY = 24 * 3600.0
"""Seconds that one question may take at most, whatever is set."""


@dataclass(frozen=True, kw_only=True)
class EngineConfiguration:
    """A table of an engine that may be chosen by its name.

    Attributes:
        name: safe to show.
        private: whether nothing of it may be shown.
        options: the settings; they may hold a password, and are in no repr.
    """

    name: str
    private: bool
    options: Mapping[str, Any]

    @override
    def __repr__(self) -> str:
        return f"<Offer: {self.name}>"

    def open(self, *, sealed: bool) -> EngineTable:
        """Connect, and ask for the columns; raises DataError with one sentence.

        Args:
            sealed: whether the table refuses every count: for all but the data's steward, where rows are private.
        """
        return open_table(engine_of(self.options), name=self.name, sealed=sealed)


def read_configurations(sections: Mapping[str, Any]) -> dict[str, EngineConfiguration]:
    """What may be chosen, by its key; rows are private unless their section says otherwise."""
    return {
        str(key): EngineConfiguration(
            name=clean_name(str(told.get("title", key))) or "table",
            private=told.get("private") is not False,
            options=told,
        )
        for key, told in sections.items()
        if isinstance(told, Mapping)
    }


def engine_of(told: Mapping[str, Any]) -> Engine:
    """The engine that a section is about; raises DataError with one sentence."""
    try:
        return _engine_of(dict(told))
    except DataError:
        raise
    except (KeyError, TypeError, ValueError):
        pass
    raise DataError(WRONG)


def _engine_of(told: dict[str, Any]) -> Engine:
    kind = told.pop("kind")
    for word in ("title", "private"):
        told.pop(word, None)
    usual = Allowance()
    allowance = Allowance(
        seconds=float(told.pop("seconds", usual.seconds)),
        answers=int(told.pop("answers", usual.answers)),
        memory_bytes=int(told.pop("megabytes", usual.memory_bytes // MEGABYTE)) * MEGABYTE,
        threads=int(told.pop("threads", usual.threads)),
    )
    if min(allowance.answers, allowance.memory_bytes, allowance.threads) <= 0 or not 0 < allowance.seconds <= DAY:
        raise ValueError  # a limit that is no number would be none
    if kind == "duckdb":
        return Embedded(allowance=allowance, path=Path(told.pop("path")), name=told.pop("table", ""), **told)
    if kind == "postgres":
        return Postgres(allowance=allowance, address=told.pop("address"), name=told.pop("table"), **told)
    if kind == "spark":
        settings = tuple((str(key), str(value)) for key, value in dict(told.pop("settings", {})).items())
        return Spark(
            allowance=allowance, name=told.pop("table"), master=told.pop("master", ""), settings=settings, **told
        )
    raise ValueError
