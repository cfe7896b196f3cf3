"""The one worker of the process: it draws outside Streamlit's scripts, which end whenever somebody moves a control.

A script asks for a draw and looks whether it is done. Asked twice for the same, by two clicks or in two tabs, there is
one draw. Closing a tab changes nothing.
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
"""Seconds that a thread computes before another may, while somebody draws: a page that reads the ledger waits for its
turn some twenty times, and at Python's usual 5 ms that is a tenth of a second."""
NOT_BEGUN = "The draw could not begin. Nothing was charged or shown."
_worker = ThreadPoolExecutor(1, thread_name_prefix="release")
_under_way: dict[tuple[str, str], Future[Outcome]] = {}
_lock = Lock()


def submit(ledger: Ledger, dataset_id: str, request: Request, table: Table, by: Actor) -> Future[Outcome]:
    """Have a request drawn; one that is under way already is given back."""
    key = (dataset_id, request.digest)
    with _lock:
        future = _under_way.get(key)
        if future is None:
            future = _under_way[key] = _worker.submit(_draw, ledger, dataset_id, request, table, by)
    future.add_done_callback(partial(_remove, key))  # outside: it runs here and now where the draw is done already
    return future


def under_way(dataset_id: str, request: Request) -> Future[Outcome] | None:
    """The draw of a request, while there is one."""
    with _lock:
        return _under_way.get((dataset_id, request.digest))


def busy(dataset_id: str) -> bool:
    """Whether anything of a data set is under way in this process."""
    with _lock:
        return any(busy_id == dataset_id for busy_id, _ in _under_way)


def _remove(key: tuple[str, str], future: Future[Outcome]) -> None:
    with _lock:
        if _under_way.get(key) is future:  # and not a newer draw of the same, which a failed one may have had
            del _under_way[key]


def _draw(ledger: Ledger, dataset_id: str, request: Request, table: Table, by: Actor) -> Outcome:
    switch_interval = sys.getswitchinterval()
    sys.setswitchinterval(STEP)
    try:
        return release(ledger, dataset_id, request, table, by)
    except Exception:  # its words may quote a row; once something is charged, there is an outcome
        return Refused(sentence=NOT_BEGUN)
    except BaseException:  # what it left is in the ledger
        return Failed(sentence=DIED)
    finally:
        sys.setswitchinterval(switch_interval)
