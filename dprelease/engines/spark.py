"""Spark, by pyspark: on this machine (a master such as "local[2]"), or on a cluster that its settings name."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dprelease.engines.dialects import Dialect, TableColumn, Values
from dprelease.engines.engine import MOST_COLUMNS, Engine, driver
from dprelease.engines.portable import (
    DATE,
    DECIMAL,
    DOUBLE,
    INSTANT,
    SINGLE,
    TEXT,
    TIME,
    TRUTH,
    WHOLE,
    Portable,
)  # fmt: skip

KINDS = {
    "tinyint": WHOLE, "smallint": WHOLE, "int": WHOLE, "bigint": WHOLE, "float": SINGLE, "double": DOUBLE,
    "boolean": TRUTH, "date": DATE, "timestamp_ntz": TIME, "timestamp": INSTANT, "string": TEXT,
}  # fmt: skip
GROUP = "dpscope"
TALKERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Loggers of pyspark that write an engine's whole message, records and all, where the server writes."""


class SparkWords(Portable):
    """Spark 4."""

    words = "STRING"
    whole = "INT"

    def name(self, text: str) -> str:
        """Backticks doubled."""
        return "`" + text.replace("`", "``") + "`"

    def place(self, key: str, kind: str) -> str:
        """A named parameter."""
        return f":{key}"

    def text(self, column: TableColumn) -> str:
        """Cast, and trimmed; an instant says that it is in UTC."""
        text = f"CAST({self.name(column.name)} AS STRING)"
        text = f"concat({text}, '+00')" if column.kind == INSTANT else text
        return f"nullif(trim(BOTH ' \\t\\n' FROM {text}), '')"

    def matches(self, text: str, pattern: str) -> str:
        """To the very end: a dollar sign would stop before a last line's."""
        return f"{text} RLIKE r'^(?:{pattern})\\z'"

    def inner(self, text: str, pattern: str) -> str:
        """What stands in brackets; empty where nothing fits."""
        return f"regexp_extract({text}, r'{pattern}', 1)"

    def cast(self, text: str, kind: str) -> str:
        """Tried; a number beyond the largest is none."""
        if kind == WHOLE:
            return f"try_cast({text} AS INT)"
        return self._bounded(f"try_cast({text} AS DOUBLE)")

    def _bounded(self, number: str) -> str:
        """NaN is above all numbers here."""
        return f"CASE WHEN abs({number}) <= {self.real(1.7976931348623157e308)} THEN {number} END"

    def finite(self, column: TableColumn) -> str:
        """As they are, but for those that are not finite."""
        number = f"CAST({self.name(column.name)} AS DOUBLE)"
        return number if column.kind in (WHOLE, DECIMAL) else self._bounded(number)

    def stripped(self, text: str) -> str:
        """Other white space than blanks, too."""
        return f"trim(BOTH ' \\t\\n\\r\\u000b\\u000c' FROM {text})"

    def days(self, text: str) -> str:
        """Tried."""
        return f"datediff(try_cast({text} AS DATE), DATE'1970-01-01')"

    def of_day(self, field: str, day: str) -> str:
        """Of the date that is so many days on."""
        return f"{field}(date_add(DATE'1970-01-01', CAST({day} AS INT)))"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Spark(Engine):
    """A table of Spark, or a folder of Parquet files that it can reach.

    Attributes:
        name: of a table in its catalogue, or an address such as "/data/people" or "s3a://…" of Parquet files.
        master: that runs the work; empty for what Spark's own settings say.
        settings: of Spark.
    """

    dialect: ClassVar[Dialect] = SparkWords()
    name: str
    master: str = "local[2]"
    settings: tuple[tuple[str, str], ...] = ()
    _held: list[Any] = field(default_factory=list, init=False)

    def _session(self) -> Any:
        """One a process, as Spark has it. It logs nothing: its messages quote records."""
        if not self._held:
            sql = driver("pyspark.sql", extra="spark")
            builder = sql.SparkSession.builder.appName("dpscope")
            told = {
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
            for key, value in told.items():
                builder = builder.config(key, value)
            session = (builder.master(self.master) if self.master else builder).getOrCreate()
            session.sparkContext.setLogLevel("OFF")
            for talker in TALKERS:
                logging.getLogger(talker).disabled = True
            self._held.append(session)
        return self._held[0]

    @property
    def table(self) -> str:
        """Files, or a table of the catalogue."""
        if "/" in self.name:
            return "dpscope_" + "".join(f"{byte:02x}" for byte in self.name.encode())[-60:]
        return ".".join(map(self.dialect.name, self.name.split(".")))

    def columns(self) -> list[TableColumn]:
        """Those that hold numbers, text, dates or truth values."""
        found = self.answered(self._described)
        kinds = [(name, DECIMAL if kind.startswith("decimal") else KINDS.get(kind, "")) for name, kind in found]
        return [TableColumn(name=name, kind=kind) for name, kind in kinds if kind][:MOST_COLUMNS]

    def _described(self) -> list[tuple[str, str]]:
        session = self._session()
        if "/" in self.name:
            files = session.read.option("recursiveFileLookup", "true").parquet(self.name)
            files.createOrReplaceTempView(self.table)
        return [(str(name), str(kind)) for name, kind in session.table(self.table).dtypes]

    def ask(self, query: str, values: Values, *, width: int) -> Any:
        """Rows of whole numbers."""
        session = self._session()
        session.sparkContext.setJobGroup(GROUP, "counts", interruptOnCancel=True)
        return [tuple(row) for row in session.sql(query, args=dict(values)).collect()]

    def interrupt(self) -> None:
        """Cancel the jobs."""
        for session in self._held:
            session.sparkContext.cancelJobGroup(GROUP)

    def close(self) -> None:
        """The session is the process's."""
        self._held.clear()
