"""The worker thread of the process, which draws outside of Streamlit's scripts: any user input ends a script.

A script submits a draw and polls it. Submitting the same request twice, in one tab or two, is one draw.
"""

from __future__ import annotations

import sys
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from threading import Lock

from dpcore.data.reading.tables import Table
from dprelease.ledger.records import DIED, Actor, Busy, Failed, Refused, Stored
from dprelease.ledger.store import Ledger
from dprelease.release import release
from dprelease.requests.parts import Request

Outcome = Stored | Failed | Refused | Busy
STEP = 1e-4
"""Thread switch interval in seconds during a draw: a page that reads the ledger waits for some twenty switches,
which at Python's default of 5 ms take a tenth of a second."""
NOT_BEGUN = "The release could not start. Nothing was charged or shown."
_worker = ThreadPoolExecutor(1, thread_name_prefix="release")
_under_way: dict[tuple[str, str], Future[Outcome]] = {}
_lock = Lock()


def submit(ledger: Ledger, dataset_id: str, request: Request, table: Table, by: Actor) -> Future[Outcome]:
    """Submit a request, and return its future; the same request under way is not submitted again."""
    key = (dataset_id, request.digest)
    with _lock:
        future = _under_way.get(key)
        if future is None:
            future = _under_way[key] = _worker.submit(_draw, ledger, dataset_id, request, table, by)
    future.add_done_callback(
        partial(_remove, key)
    )  # outside of the lock: the callback runs at once if the draw is done
    return future


def under_way(dataset_id: str, request: Request) -> Future[Outcome] | None:
    """Return the future of a request's running draw, if any."""
    with _lock:
        return _under_way.get((dataset_id, request.digest))


def busy(dataset_id: str) -> bool:
    """Return True if a draw of a data set is running in this process."""
    with _lock:
        return any(busy_id == dataset_id for busy_id, _ in _under_way)


def _remove(key: tuple[str, str], future: Future[Outcome]) -> None:
    with _lock:
        if _under_way.get(key) is future:  # and not a newer draw of the same request after a failure
            del _under_way[key]


def _draw(ledger: Ledger, dataset_id: str, request: Request, table: Table, by: Actor) -> Outcome:
    switch_interval = sys.getswitchinterval()
    sys.setswitchinterval(STEP)
    try:
        return release(ledger, dataset_id, request, table, by)
    except Exception:  # its message may quote a row; nothing was charged, or there would be an outcome
        return Refused(sentence=NOT_BEGUN)
    except BaseException:  # the ledger has the interrupted attempt
        return Failed(sentence=DIED)
    finally:
        sys.setswitchinterval(switch_interval)
