"""Interface of an engine, which lists a table's columns and counts cells. Its messages are never passed on."""

from __future__ import annotations

import importlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dpcore.core import DataError, Integers
from dpcore.core.sizes import MAX_ROWS
from dprelease.engines.counts import Encoding, TableColumn

MAX_COLUMNS = 1_000
NOT_COUNTS = "The engine's answer is not a table of counts."


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """Limits of one query to an engine.

    Attributes:
        seconds: time limit.
        answers: largest number of rows of its answer, which are the occupied combinations of cells.
        memory_bytes: memory limit of an embedded engine.
        threads: threads of an embedded engine.
    """

    seconds: float = 60.0
    answers: int = 1 << 20
    memory_bytes: int = 256 << 20
    threads: int = 2

    @property
    def too_slow(self) -> str:
        """Error message for a query that exceeded the time limit."""
        return f"The engine took longer than {self.seconds:g} seconds."


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Engine(ABC):
    """A table outside this process. Its address, which may hold a password, is in no repr and no message.

    Attributes:
        allowance: limits of each query.
    """

    compiler: ClassVar[str]
    """Name of the ibis compiler of its SQL."""
    place: ClassVar[str]
    """Placeholder of a list parameter in its SQL, with {} for the parameter's number, from 1."""
    allowance: Allowance = field(default_factory=Allowance)

    @property
    @abstractmethod
    def table(self) -> Sequence[str]:
        """Name of the table, qualified by database and catalog."""

    @abstractmethod
    def described(self) -> list[tuple[str, str]]:
        """Return the table's columns with the engine's type names. It may raise any error of its driver."""

    @abstractmethod
    def ask(self, query: str, texts: list[list[str]], *, width: int) -> Any:
        """Return the answer: rows of ``width`` whole numbers, as a list of tuples or an array.

        It may raise any error of its driver, which ``counted`` hides. It stops at the limits of the allowance.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connection to the engine."""

    def columns(self) -> list[TableColumn]:
        """Return the columns of numbers, text, dates or truth values; raises DataError if there is no such table."""
        queries = driver("dprelease.engines.queries", extra="engines")
        columns: list[TableColumn] = self.answered(lambda: queries.columns_of(self.compiler, self.described()))
        return columns[:MAX_COLUMNS]

    def counted(self, parts: Sequence[Encoding], columns: Sequence[TableColumn]) -> tuple[Integers, Integers]:
        """Count the rows: the occupied combinations of cells, (m, parts), and the rows in each, (m,).

        Raises:
            DataError: one sentence without anything from the engine's message.
        """
        queries = driver("dprelease.engines.queries", extra="engines")
        expression, texts = queries.build_query(self.table, parts, columns, max_rows=self.allowance.answers)
        query = queries.render_sql(expression, compiler=self.compiler, place=self.place)
        answer = self.answered(lambda: self.ask(query, texts, width=len(parts) + 1))
        if not isinstance(answer, list | np.ndarray):
            raise DataError(NOT_COUNTS)
        if len(answer) > self.allowance.answers:
            raise DataError(
                f"More than {self.allowance.answers:,} combinations of cells are non-empty. Declare fewer "
                "columns or fewer cells per column."
            )
        return _checked(answer, [part.size for part in parts])

    def answered(self, ask: Callable[[], Any]) -> Any:
        """Run a query; any error becomes a DataError with our own sentence, without a cause or a context."""
        late = threading.Event()
        try:
            with self._deadline(late):
                return ask()
        except DataError as error:
            sentence = self.allowance.too_slow if late.is_set() else str(error)
        except Exception:  # the messages of drivers and engines quote records, queries and addresses
            sentence = self.allowance.too_slow if late.is_set() else "The engine could not answer."
        raise DataError(sentence)

    @contextmanager
    def _deadline(self, late: threading.Event) -> Iterator[None]:
        """Interrupt a query that takes too long, repeatedly: an interruption before the query starts has no effect."""
        done = threading.Event()

        def watch() -> None:
            wait = self.allowance.seconds
            while not done.wait(wait):
                late.set()
                wait = 1.0
                try:
                    self.interrupt()
                except Exception:  # the connection may be closed already
                    continue

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()

    @abstractmethod
    def interrupt(self) -> None:
        """Stop a query that runs in another thread."""


def driver(module: str, *, extra: str) -> Any:
    """Import a library that an engine needs; raises DataError where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        pass
    raise DataError(f"This server has no driver for this engine. Its administrator can install the extra “{extra}”.")


def _checked(answer: Any, sizes: Sequence[int]) -> tuple[Integers, Integers]:
    """Return the cells and counts of an answer; raises DataError if it holds anything else."""
    numbers: Integers | None
    try:
        if isinstance(answer, np.ndarray) and answer.dtype.kind == "i":
            numbers = answer.reshape(-1, len(sizes) + 1).astype(np.int64)
        else:
            whole = all(len(row) == len(sizes) + 1 and all(type(each) is int for each in row) for row in answer)
            numbers = np.array(answer, dtype=np.int64).reshape(-1, len(sizes) + 1) if whole else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is not None:
        cells, counts = numbers[:, :-1], numbers[:, -1]
        fits = (cells >= 0).all() and (cells < np.array(sizes)).all() and (counts >= 0).all()
        if fits and sum(counts.tolist()) <= MAX_ROWS:
            return cells, counts
    raise DataError(NOT_COUNTS)
