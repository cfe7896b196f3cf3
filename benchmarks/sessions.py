"""Twenty and forty sessions on Play, each moving the privacy slider every two seconds: how long the server takes.

Each session speaks Streamlit's own protocol over its socket, so that no browser competes with the server for the
machine. An answer is complete when the script of the moved slider has finished. Moves made while another session's
first page is still under way are told apart: a first page is as much work as several moves, in the same process.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from pathlib import Path

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.typing import Origin, Subprotocol

from benchmarks.server import running_app

SESSIONS, MOVES, PAUSE = 20, 10, 2.0
ROOMS = (1, SESSIONS, 2 * SESSIONS)
QUERY = "epsilon={}"


async def _finished(socket: websockets.ClientConnection) -> None:
    while True:
        message = ForwardMsg.FromString(bytes(await socket.recv(decode=False)))
        if message.WhichOneof("type") == "script_finished":
            return


async def _session(
    address: str, number: int, *, moves: int, taken: list[float], openings: list[float], begun: list[float]
) -> None:
    target = address.replace("http", "ws") + "/_stcore/stream"
    async with websockets.connect(
        target, subprotocols=[Subprotocol("streamlit")], origin=Origin(address), max_size=None
    ) as socket:
        first = BackMsg()
        first.rerun_script.query_string = QUERY.format("1")
        first.rerun_script.page_name = ""
        await socket.send(first.SerializeToString())
        await _finished(socket)
        openings.append(time.perf_counter())
        await asyncio.sleep(PAUSE * number / SESSIONS)
        for move in range(moves):
            # A link with another epsilon: what a committed slider does on the server, controls included.
            message = BackMsg()
            message.rerun_script.query_string = QUERY.format(round(0.5 + 0.01 * (move + number), 2))
            message.rerun_script.page_name = ""
            message.rerun_script.is_history_navigation = True
            start = time.perf_counter()
            await socket.send(message.SerializeToString())
            await _finished(socket)
            seconds = time.perf_counter() - start
            taken.append(seconds)
            begun.append(start)
            await asyncio.sleep(max(0.0, PAUSE - seconds))


async def load(address: str, *, sessions: int, moves: int) -> tuple[list[float], list[float]]:
    """Seconds of every answer, and of those that no first page kept waiting."""
    taken: list[float] = []
    openings: list[float] = []
    begun: list[float] = []
    told = {"taken": taken, "openings": openings, "begun": begun}
    await asyncio.gather(*(_session(address, number, moves=moves, **told) for number in range(sessions)))
    return taken, [seconds for seconds, start in zip(taken, begun, strict=True) if start >= max(openings)]


def cpu_seconds(process: int) -> float:
    """That a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def p95(taken: list[float]) -> float:
    """The 95th percentile, in milliseconds."""
    return 1e3 * sorted(taken)[int(0.95 * (len(taken) - 1))]


def main() -> None:
    """Print how long answers take for one session and for rooms full, and what first pages and moves cost."""
    with running_app() as (address, process):
        asyncio.run(load(address, sessions=1, moves=2))  # what is public is computed once for everybody
        before = cpu_seconds(process)
        asyncio.run(load(address, sessions=SESSIONS, moves=0))
        page = (cpu_seconds(process) - before) / SESSIONS
        for sessions in ROOMS:
            before = cpu_seconds(process)
            taken, undisturbed = asyncio.run(load(address, sessions=sessions, moves=MOVES))
            used = cpu_seconds(process) - before - sessions * page
            goal = " (goal 300 ms)" if sessions == SESSIONS else ""
            print(
                f"{sessions} session(s), {len(taken)} moves: median {1e3 * statistics.median(taken):.0f} ms, "
                f"p95 {p95(taken):.0f} ms{goal}; without those beside a first "
                f"page ({len(taken) - len(undisturbed)}) p95 {p95(undisturbed or taken):.0f} ms; CPU of a move "
                f"{1e3 * used / len(taken):.0f} ms (goal 25), of a first page {1e3 * page:.0f} ms",
                flush=True,
            )


if __name__ == "__main__":
    main()
