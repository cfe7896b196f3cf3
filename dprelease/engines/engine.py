"""An engine: it says which columns a table has, and counts cells. What it says otherwise is never passed on."""

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
from dpcore.core.problem import MAX_ROWS
from dprelease.engines.counts import Encoding, TableColumn

MAX_COLUMNS = 1_000
NOT_COUNTS = "The engine answered with something else than counts of cells."


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """What one question to an engine may cost.

    Attributes:
        seconds: that it may take.
        answers: rows of its answer: combinations of cells that hold somebody.
        memory_bytes: that an embedded engine may hold.
        threads: of an embedded engine.
    """

    seconds: float = 60.0
    answers: int = 1 << 20
    memory_bytes: int = 256 << 20
    threads: int = 2

    @property
    def too_slow(self) -> str:
        """The sentence."""
        return f"The engine took longer than {self.seconds:g} seconds."


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Engine(ABC):
    """A table that somebody else keeps. Its address, which may hold a password, is in no repr and no message.

    Attributes:
        allowance: of each question.
    """

    compiler: ClassVar[str]
    """The name of ibis' writer of its SQL."""
    place: ClassVar[str]
    """How it writes where a list stands that is handed over beside a query, with {} for its number, from 1."""
    allowance: Allowance = field(default_factory=Allowance)

    @property
    @abstractmethod
    def table(self) -> Sequence[str]:
        """The table's name, with what it is in before it."""

    @abstractmethod
    def described(self) -> list[tuple[str, str]]:
        """The table's columns, with the engine's words for their types. It may raise whatever its driver raises."""

    @abstractmethod
    def ask(self, query: str, texts: list[list[str]], *, width: int) -> Any:
        """The answer: rows of so many whole numbers, a list of tuples or an array.

        It may raise whatever its driver raises: ``counted`` keeps that to itself. It stops at the allowance.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of the connection."""

    def columns(self) -> list[TableColumn]:
        """Those that hold numbers, text, dates or truth values; raises DataError if there is no such table."""
        queries = driver("dprelease.engines.queries", extra="engines")
        found: list[TableColumn] = self.answered(lambda: queries.columns_of(self.compiler, self.described()))
        return found[:MAX_COLUMNS]

    def counted(self, parts: Sequence[Encoding], columns: Sequence[TableColumn]) -> tuple[Integers, Integers]:
        """The cells that hold a row, (m, parts), and how many rows, (m,).

        Raises:
            DataError: one sentence that shows nothing of what the engine said.
        """
        queries = driver("dprelease.engines.queries", extra="engines")
        expression, texts = queries.build_query(self.table, parts, columns, most=self.allowance.answers)
        query = queries.render_sql(expression, compiler=self.compiler, place=self.place)
        found = self.answered(lambda: self.ask(query, texts, width=len(parts) + 1))
        if not isinstance(found, list | np.ndarray):
            raise DataError(NOT_COUNTS)
        if len(found) > self.allowance.answers:
            raise DataError(
                f"More than {self.allowance.answers:,} combinations of cells hold somebody: declare fewer columns, or "
                "fewer cells of each."
            )
        return _checked(found, [part.size for part in parts])

    def answered(self, ask: Callable[[], Any]) -> Any:
        """What a question gives; whatever goes wrong becomes a sentence of ours, without a cause or a context."""
        late = threading.Event()
        try:
            with self._deadline(late):
                return ask()
        except DataError as error:
            sentence = self.allowance.too_slow if late.is_set() else str(error)
        except Exception:  # of drivers and engines: their messages quote records, queries and addresses
            sentence = self.allowance.too_slow if late.is_set() else "The engine could not answer."
        raise DataError(sentence)

    @contextmanager
    def _deadline(self, late: threading.Event) -> Iterator[None]:
        """Interrupt what takes too long, again and again: an interruption before the question is asked is lost."""
        done = threading.Event()

        def watch() -> None:
            wait = self.allowance.seconds
            while not done.wait(wait):
                late.set()
                wait = 1.0
                try:
                    self.interrupt()
                except Exception:  # it may be gone already
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
        """End a question that is under way in another thread, whatever the engine says to that."""


def driver(module: str, *, extra: str) -> Any:
    """A library that an engine needs, imported when it is first needed; raises DataError where the server has none."""
    try:
        return importlib.import_module(module)
    except ImportError:
        pass
    raise DataError(f"This server has no driver for this engine: whoever runs it can install the extra “{extra}”.")


def _checked(found: Any, sizes: Sequence[int]) -> tuple[Integers, Integers]:
    """Cells and counts, if that is what an answer holds."""
    numbers: Integers | None
    try:
        if isinstance(found, np.ndarray) and found.dtype.kind == "i":
            numbers = found.reshape(-1, len(sizes) + 1).astype(np.int64)
        else:
            whole = all(len(row) == len(sizes) + 1 and all(type(each) is int for each in row) for row in found)
            numbers = np.array(found, dtype=np.int64).reshape(-1, len(sizes) + 1) if whole else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is not None:
        cells, counts = numbers[:, :-1], numbers[:, -1]
        fits = (cells >= 0).all() and (cells < np.array(sizes)).all() and (counts >= 0).all()
        if fits and sum(counts.tolist()) <= MAX_ROWS:
            return cells, counts
    raise DataError(NOT_COUNTS)
