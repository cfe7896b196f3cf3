"""Spark through pyspark: on this machine (a master such as "local[2]") or on a cluster."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from typing_extensions import override

from dprelease.engines.engine import Engine, driver

GROUP = "dpscope"
TALKERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Loggers of pyspark that write an engine's complete messages, which may quote records, to the server's log."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Spark(Engine):
    """A table of Spark, or a folder of Parquet files that it can reach.

    Attributes:
        name: a table in its catalogue, or an address such as "/data/people" or "s3a://…" of Parquet files.
        master: Spark master; empty for that of Spark's own settings.
        settings: settings of Spark.
    """

    compiler: ClassVar[str] = "PySparkCompiler"
    place: ClassVar[str] = ":p{}"
    name: str
    master: str = "local[2]"
    settings: tuple[tuple[str, str], ...] = ()
    _sessions: list[Any] = field(default_factory=list, init=False)

    def _session(self) -> Any:
        """Return the session, one per process. Its log is off, as messages quote records."""
        if not self._sessions:
            sql = driver("pyspark.sql", extra="spark")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a newer pandas than pyspark expects: it is not used here
                driver("ibis.backends.pyspark", extra="spark")
                _ = driver("ibis", extra="engines").pyspark  # loads options that the compiler needs
            builder = sql.SparkSession.builder.appName("dpscope")
            settings = {
                "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
                "spark.ui.enabled": "false",
                "spark.ui.showConsoleProgress": "false",
                "spark.driver.host": "127.0.0.1",
                "spark.driver.bindAddress": "127.0.0.1",
                "spark.sql.ansi.enabled": "true",
                "spark.sql.session.timeZone": "UTC",
                "spark.sql.shuffle.partitions": str(2 * self.allowance.threads),
                "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
                **dict(self.settings),
            }
            for key, value in settings.items():
                builder = builder.config(key, value)
            session = (builder.master(self.master) if self.master else builder).getOrCreate()
            session.sparkContext.setLogLevel("OFF")
            for talker in TALKERS:
                logging.getLogger(talker).disabled = True
            self._sessions.append(session)
        return self._sessions[0]

    @override
    @property
    def table(self) -> Sequence[str]:
        """Name of the view of the files, or of the table in the catalogue."""
        if "/" in self.name:
            return ("dpscope_" + "".join(f"{byte:02x}" for byte in self.name.encode())[-60:],)
        return self.name.split(".")

    @override
    def described(self) -> list[tuple[str, str]]:
        session = self._session()
        if "/" in self.name:
            files = session.read.option("recursiveFileLookup", "true").parquet(self.name)
            files.createOrReplaceTempView(*self.table)
        table = session.table(".".join("`" + each.replace("`", "``") + "`" for each in self.table))
        return [(str(name), str(kind)) for name, kind in table.dtypes]

    @override
    def ask(self, query: str, texts: list[list[str]], *, width: int) -> Any:
        session = self._session()
        session.sparkContext.setJobGroup(GROUP, "counts", interruptOnCancel=True)
        given = {f"p{number}": labels for number, labels in enumerate(texts, 1)}
        return [tuple(row) for row in session.sql(query, args=given).collect()]

    @override
    def interrupt(self) -> None:
        for session in self._sessions:
            session.sparkContext.cancelJobGroup(GROUP)

    @override
    def close(self) -> None:
        self._sessions.clear()
