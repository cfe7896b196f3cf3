"""Twenty and forty sessions on Play, each moving the slider of ε every two seconds: how long the server takes.

Each session speaks Streamlit's own protocol over its socket, so that no browser competes with the server for the
machine, and does what the browser does: it asks for the states of the stops, then lets the slider rest at one stop
after another. An answer is complete when the run of the moved slider has finished. Beside it stands what Streamlit
takes for a page that draws nothing and has as many elements as Play, in the same run of this benchmark.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.typing import Origin, Subprotocol

from benchmarks.timing import cpu_seconds, running_app

SESSIONS, MOVES, PAUSE = 20, 10, 2.0
ROOMS = (1, SESSIONS, 2 * SESSIONS)
GREEDY = ("mechanism=net&bits=14&n=1000000&trials=5000", "data=normal&bits=14&n=1000000&trials=5000&mechanism=gaussian")
"""Links of one session that take the server long, opened one after the other while the others move."""
SEEDS = itertools.count(2)
"""No link is opened twice with the same: what it shows would be there already."""
ELEMENTS = 60
TABS, SHARED = 30, "data=normal&bits=12&n=100000&trials=2000&mechanism=gaussian"
"""Sessions that open one link at the same moment."""
EMPTY = f"""import streamlit as st
st.number_input("ε", value=1.0, key="epsilon", bind="query-params")
for place in range({ELEMENTS}):
    st.slider(str(place), key=str(place)) if place % 5 == 0 else st.markdown(str(place))
"""


@dataclass
class Visitor:
    """One session, and what the server told it of the components that it uses."""

    socket: websockets.ClientConnection
    query: str = ""
    seen: dict[str, tuple[str, str, dict[str, Any]]] = field(default_factory=dict)

    async def open(self, query: str) -> float:
        """Open a link; seconds until the page is there."""
        self.query = query
        return await self._run(BackMsg())

    async def ask(self, component: str, event: str, value: Any) -> float:
        """Have a component send an event; seconds until the run that it starts is over."""
        widget, fragment, _ = self.seen[component]
        message = BackMsg()
        state, sent = (message.rerun_script.widget_states.widgets.add() for _ in range(2))
        state.id, state.json_value = widget, "{}"
        sent.id = f"$$STREAMLIT_INTERNAL_KEY_{widget}__events"
        sent.json_trigger_value = json.dumps([{"event": event, "value": value}])
        message.rerun_script.fragment_id = fragment
        return await self._run(message)

    async def _run(self, message: BackMsg) -> float:
        message.rerun_script.query_string = self.query
        start = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg.FromString(bytes(await self.socket.recv(decode=False)))
            if answer.WhichOneof("type") == "script_finished":
                return time.perf_counter() - start
            told = answer.delta.new_element.bidi_component
            if told.id:
                self.seen[told.id.rpartition("-")[2]] = told.id, answer.delta.fragment_id, json.loads(told.json or "{}")


@asynccontextmanager
async def visiting(address: str) -> AsyncIterator[Visitor]:
    """A session."""
    target = address.replace("http", "ws") + "/_stcore/stream"
    async with websockets.connect(
        target, subprotocols=[Subprotocol("streamlit")], origin=Origin(address), max_size=None
    ) as socket:
        yield Visitor(socket)


async def _session(address: str, number: int, *, moves: int, taken: list[float], ready: asyncio.Barrier) -> None:
    async with visiting(address) as visitor:
        await visitor.open("")
        await visitor.ask("live_states", "wanted", True)
        stops = visitor.seen["epsilon_slider"][2]["stops"]
        await ready.wait()  # a first page is as much work as several moves
        await asyncio.sleep(PAUSE * number / ready.parties)
        for move in range(moves):
            stop = stops[(7 * (number + move) + 3) % len(stops)]
            seconds = await visitor.ask("epsilon_slider", "rested", stop)
            assert f"ε = {stop:g}," in visitor.seen["headline"][2]["text"]
            taken.append(seconds)
            await asyncio.sleep(max(0.0, PAUSE - seconds))


async def load(address: str, *, sessions: int, moves: int, greedy: tuple[str, ...] = ()) -> list[float]:
    """Seconds of every answer; beside them, one more session may open links that take long."""
    taken: list[float] = []
    ready = asyncio.Barrier(sessions + bool(greedy))
    async with asyncio.TaskGroup() as group:
        every = [
            group.create_task(_session(address, number, moves=moves, taken=taken, ready=ready))
            for number in range(sessions)
        ]
        if greedy:
            other = group.create_task(_greed(address, greedy, ready=ready))
            await asyncio.wait(every)
            other.cancel()
    return taken


async def _greed(address: str, links: tuple[str, ...], *, ready: asyncio.Barrier) -> None:
    await ready.wait()
    for link in itertools.cycle(links):  # until it is cancelled
        async with visiting(address) as visitor:
            await visitor.open(f"{link}&seed={next(SEEDS)}")


async def reruns(address: str, *, moves: int) -> None:
    """Open a page and run it again, as often as a slider is moved."""
    async with visiting(address) as visitor:
        for move in range(moves):
            await visitor.open(f"epsilon={move + 1}")


async def at_once(address: str, *, tabs: int) -> None:
    """Open one link in so many sessions at the same moment; nobody has opened it before."""
    link = f"{SHARED}&seed={next(SEEDS)}"
    ready = asyncio.Barrier(tabs)

    async def tab() -> None:
        async with visiting(address) as visitor:
            await ready.wait()
            await visitor.open(link)

    async with asyncio.TaskGroup() as group:
        for _ in range(tabs):
            group.create_task(tab())


def megabytes(process: int) -> float:
    """That a process holds."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def p95(taken: list[float]) -> float:
    """The 95th percentile, in milliseconds."""
    return 1e3 * sorted(taken)[int(0.95 * (len(taken) - 1))]


def _floor() -> float:
    """CPU milliseconds of a page of Streamlit's own elements."""
    with tempfile.TemporaryDirectory() as folder:
        (script := Path(folder) / "empty.py").write_text(EMPTY, encoding="utf-8")
        with running_app(script) as (address, process):
            asyncio.run(reruns(address, moves=3))
            before = cpu_seconds(process)
            asyncio.run(reruns(address, moves=5 * MOVES))
            return 1e3 * (cpu_seconds(process) - before) / (5 * MOVES)


def main() -> None:
    """Print how long answers take for one session and for rooms full, and what first pages and moves cost."""
    print(f"  CPU of an empty page's rerun, {ELEMENTS} elements: {_floor():.0f} ms")
    with running_app() as (address, process):
        asyncio.run(load(address, sessions=1, moves=31))  # what is public is computed once for everybody
        for sessions in ROOMS:
            before, held = cpu_seconds(process), megabytes(process)
            asyncio.run(load(address, sessions=sessions, moves=0))
            page = (cpu_seconds(process) - before) / sessions
            before = cpu_seconds(process)
            taken = asyncio.run(load(address, sessions=sessions, moves=MOVES))
            used = cpu_seconds(process) - before - sessions * page
            goal = " (goal 300 ms)" if sessions == SESSIONS else ""
            print(
                f"  {sessions} session(s), {len(taken)} moves: median {1e3 * statistics.median(taken):.0f} ms, "
                f"p95 {p95(taken):.0f} ms{goal}; CPU of a move {1e3 * used / len(taken):.0f} ms (goal 25), of a first "
                f"page and its states {1e3 * page:.0f} ms; {(megabytes(process) - held) / (2 * sessions):.1f} MB a "
                f"session (load {os.getloadavg()[0]:.1f})",
                flush=True,
            )
        marks = [cpu_seconds(process)]
        for tabs in (1, TABS):
            asyncio.run(at_once(address, tabs=tabs))
            marks.append(cpu_seconds(process))
        one, all_of_them = marks[1] - marks[0], marks[2] - marks[1]
        print(
            f"  {TABS} tabs that open one link at once: {all_of_them:.1f} s of the server's CPU, one tab {one:.1f} s",
            flush=True,
        )
        alone, beside = (asyncio.run(load(address, sessions=5, moves=MOVES, greedy=links)) for links in ((), GREEDY))
        print(
            f"  5 sessions beside one that opens heavy links: median {1e3 * statistics.median(beside):.0f} ms, "
            f"p95 {p95(beside):.0f} ms (goal 500 ms); without it {1e3 * statistics.median(alone):.0f} and "
            f"{p95(alone):.0f} ms (load {os.getloadavg()[0]:.1f})"
        )


if __name__ == "__main__":
    main()
