"""Twenty sessions on Play, each moving the privacy slider every two seconds: how long the server takes to answer.

Each session speaks Streamlit's own protocol over its socket, so that no browser competes with the server for the
machine. An answer is complete when the script of the moved slider has finished.
"""

from __future__ import annotations

import asyncio
import statistics
import time

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.typing import Origin, Subprotocol

from benchmarks.server import running_app

SESSIONS, MOVES, PAUSE = 20, 10, 2.0
QUERY = "epsilon={}"


async def _finished(socket: websockets.ClientConnection) -> None:
    while True:
        message = ForwardMsg.FromString(bytes(await socket.recv(decode=False)))
        if message.WhichOneof("type") == "script_finished":
            return


async def _session(address: str, number: int, *, moves: int, taken: list[float]) -> None:
    target = address.replace("http", "ws") + "/_stcore/stream"
    async with websockets.connect(
        target, subprotocols=[Subprotocol("streamlit")], origin=Origin(address), max_size=None
    ) as socket:
        first = BackMsg()
        first.rerun_script.query_string = QUERY.format("1")
        first.rerun_script.page_name = ""
        await socket.send(first.SerializeToString())
        await _finished(socket)
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
            await asyncio.sleep(max(0.0, PAUSE - seconds))


async def load(address: str, *, sessions: int, moves: int) -> list[float]:
    """Seconds of every answer."""
    taken: list[float] = []
    await asyncio.gather(*(_session(address, number, moves=moves, taken=taken) for number in range(sessions)))
    return taken


def main() -> None:
    """Print the median and the 95th percentile for one session and for twenty."""
    with running_app() as (address, _):
        for sessions in (1, SESSIONS):
            taken = sorted(asyncio.run(load(address, sessions=sessions, moves=MOVES)))
            p95 = taken[int(0.95 * (len(taken) - 1))]
            print(
                f"{sessions} session(s), {len(taken)} moves: median {1e3 * statistics.median(taken):.0f} ms, "
                f"p95 {1e3 * p95:.0f} ms" + (" (goal 300 ms)" if sessions > 1 else "")
            )


if __name__ == "__main__":
    main()
