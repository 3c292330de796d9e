"""Event streams around their events: left early, limited, idle. What is in them is in the wire cases."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Callable, Iterator, List

import httpx
import pytest
from fake_time import AsyncFakeClock, FakeClock
from millwright import APIConnectionError, APITimeoutError, AsyncMillwright, Millwright, MillwrightError


def entry(seq: int) -> bytes:
    data = {"seq": seq, "event_type": "stdout", "occurred_at": "2026-11-22T10:00:00Z", "run_id": "r", "payload": {}}
    return f"id: {seq}\nevent: stdout\ndata: {json.dumps(data)}\n\n".encode()


def state(name: str) -> bytes:
    return f'event: state\ndata: {{"state": "{name}"}}\n\n'.encode()


class Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """Parts of a body; a number is a silence of so many seconds, an error breaks the connection."""

    def __init__(self, clock: FakeClock, parts: List[Any]) -> None:
        self._clock = clock
        self._parts = parts
        self.is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        for part in self._parts:
            if isinstance(part, bytes):
                yield part
            elif isinstance(part, float):
                self._clock.passed += part
            else:
                raise part

    async def __aiter__(self) -> Any:
        for part in self:
            yield part

    def close(self) -> None:
        self.is_closed = True

    async def aclose(self) -> None:
        self.is_closed = True


class Following:
    """A client whose streams get these connections, one behind the other."""

    def __init__(self, kind: str, *connections: List[Any]) -> None:
        self.clock = FakeClock() if kind == "sync" else AsyncFakeClock()
        self.bodies = [Body(self.clock, parts) for parts in connections]
        self.requests: List[httpx.Request] = []
        transport: Any = httpx.MockTransport(self._answer)
        if kind == "sync":
            self.client: Any = Millwright(api_key="mw_x", http_client=httpx.Client(transport=transport), _clock=self.clock)
        else:
            http = httpx.AsyncClient(transport=transport)
            self.client = AsyncMillwright(api_key="mw_x", http_client=http, _clock=self.clock)  # type: ignore[arg-type]

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        body = self.bodies[len(self.requests) - 1]
        return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, stream=body)

    def read(self, stream: Any, use: Callable[[List[int]], bool] = lambda seen: True) -> List[int]:
        """The entries of a stream while `use` is content with them."""
        if isinstance(self.client, AsyncMillwright):
            return asyncio.run(self._read_async(stream, use))
        seen: List[int] = []
        with stream:
            for event in stream:
                seen.append(event.seq)
                if not use(seen):
                    break
        return seen

    async def _read_async(self, stream: Any, use: Callable[[List[int]], bool]) -> List[int]:
        seen: List[int] = []
        async with stream:
            async for event in stream:
                seen.append(event.seq)
                if not use(seen):
                    break
        return seen


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_stream_that_is_left_closes_its_connection(kind: str) -> None:
    following = Following(kind, [entry(1) + entry(2), entry(3)])
    stream = following.client.agent.runs.events("r")
    assert following.requests == []
    assert following.read(stream, lambda seen: len(seen) < 2) == [1, 2]
    assert following.bodies[0].is_closed and stream.last_seq == 2
    with pytest.raises(MillwrightError, match="can be read once; ask for another, with after=events.last_seq"):
        following.read(stream)


def test_every_connection_is_closed(kind: str) -> None:
    following = Following(kind, [entry(1), httpx.ReadError("gone")], [entry(2)], [entry(1) + entry(3), state("FAILED")])
    stream = following.client.agent.runs.events("r")
    assert following.read(stream) == [1, 2, 3]
    assert [body.is_closed for body in following.bodies] == [True] * 3
    assert [request.headers.get("last-event-id") for request in following.requests] == [None, "1", "2"]
    assert (stream.run_state, stream.last_seq, following.clock.pauses) == ("FAILED", 3, [0.5, 0.5])


def test_signs_of_life_over_a_long_time_count(kind: str) -> None:
    alive = [b": there\n\n", 30.0] * 10
    lost = httpx.ReadError("gone")
    following = Following(kind, [entry(1), lost], [*alive, lost], [*alive, lost], [*alive, state("SUCCEEDED")])
    assert following.read(following.client.agent.runs.events("r")) == [1]
    assert following.clock.pauses == [0.5] * 3


def test_a_limit_for_the_whole(kind: str) -> None:
    following = Following(kind, [entry(1), 30.0, entry(2), 31.0, httpx.ReadTimeout("late")])
    seen: List[int] = []
    with pytest.raises(APITimeoutError, match=r"within 60 s \(total_timeout\)"):
        following.read(following.client.agent.runs.events("r", total_timeout=60), lambda so_far: bool(seen.append(so_far[-1])) or True)
    assert seen == [1, 2] and following.bodies[0].is_closed and len(following.requests) == 1


def test_silence_is_measured_by_the_limit_of_an_attempt(kind: str) -> None:
    following = Following(kind, [state("SUCCEEDED")])
    following.read(following.client.agent.runs.events("r", timeout=5, after=3))
    request = following.requests[0]
    assert request.extensions["timeout"].get("read") == 5
    assert (request.headers["accept"], request.headers["last-event-id"], request.url.query) == ("text/event-stream", "3", b"after=3")


def test_an_end_that_is_no_end_any_more(kind: str) -> None:
    following = Following(kind, [state("FAILED") + entry(1) + state("QUEUED")], [entry(2) + state("SUCCEEDED")])
    assert following.read(following.client.agent.runs.events("r")) == [1, 2]


def test_giving_up(kind: str) -> None:
    following = Following(kind, [entry(1)], *[[] for _ in range(9)])
    with pytest.raises(APIConnectionError, match="the stream of events ended before the run"):
        following.read(following.client.agent.runs.events("r", reconnect_timeout=3))
    assert following.clock.pauses == [0.5, 1.0]


def test_how_long_it_is_tried_when_nothing_is_said(kind: str) -> None:
    following = Following(kind, [entry(1)], *[[] for _ in range(20)])
    with pytest.raises(APIConnectionError):
        following.read(following.client.agent.runs.events("r"))
    assert following.clock.passed <= 60 < following.clock.passed + 8
    patient = Following(kind, [entry(1)], *[[] for _ in range(20)], [state("FAILED")])
    assert patient.read(patient.client.agent.runs.events("r", reconnect_timeout=None)) == [1]
    assert patient.clock.passed > 120


def test_the_last_error_where_a_pause_would_end_behind_the_limit(kind: str) -> None:
    following = Following(kind, [entry(1), httpx.ReadError("gone")], [])
    with pytest.raises(APIConnectionError, match="the stream of events ended before the run") as lost:
        following.read(following.client.agent.runs.events("r", total_timeout=1.5))
    assert not isinstance(lost.value, APITimeoutError)
    assert following.clock.pauses == [0.5]


def test_an_end_counts_also_behind_a_break(kind: str) -> None:
    following = Following(kind, [entry(1) + state("SUCCEEDED"), httpx.ReadError("gone")], [])
    assert following.read(following.client.agent.runs.events("r")) == [1]
    assert len(following.requests) == 2


def test_what_is_unfit_is_told_before_anything_is_sent(kind: str) -> None:
    following = Following(kind)
    with pytest.raises(MillwrightError, match="run_id"):
        following.client.agent.runs.events("..")
    with pytest.raises(MillwrightError, match="reconnect_timeout"):
        following.client.agent.runs.events("r", reconnect_timeout=0)
