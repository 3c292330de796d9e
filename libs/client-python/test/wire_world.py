"""A clock that stands still unless somebody waits, and transports that answer what a case says."""

from __future__ import annotations

import ssl
from typing import Any, AsyncIterator, Dict, Iterator, List, NamedTuple, Optional, Sequence, Union

import httpx
from wire_cases import Answer, Connection, Fault, body_of, instant

Step = Union[Answer, Fault, Connection]

#: Wall clock at the begin of every case.
BEGAN_AT = instant("2026-11-22T10:00:00.000Z").timestamp()


class Sent(NamedTuple):
    """One request."""

    at: float
    """Seconds since the case began."""
    method: str
    url: httpx.URL
    headers: Dict[str, str]
    body: bytes


class World(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Clock and transport at once, for both kinds of client."""

    def __init__(
        self, steps: Sequence[Step], chance: float = 0, began_at: float = BEGAN_AT, cut_every: Optional[int] = None
    ) -> None:
        self.sent: List[Sent] = []
        self.left = list(steps)
        self.passed = 0.0
        self._chance = chance
        self._began_at = began_at
        self._cut_every = cut_every

    @property
    def clock(self) -> Any:
        return Clock(self)

    @property
    def async_clock(self) -> Any:
        return AsyncClock(self)

    def now(self) -> float:
        return self.passed

    def time(self) -> float:
        return self._began_at + self.passed

    def random(self) -> float:
        return self._chance

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._note(request, request.read())
        return self._answer(request)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._note(request, await request.aread())
        return self._answer(request)

    def _note(self, request: httpx.Request, body: bytes) -> None:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.sent.append(Sent(self.passed, request.method, request.url, headers, body))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        assert self.left, "the case has no further answer"
        step = self.left.pop(0)
        if isinstance(step, Fault):
            return self._failed(step, request)
        if isinstance(step, Connection):
            content = step.text.encode("utf-8") + b"x" * step.fill
            return self._streamed(content, step.ends, request, "text/event-stream")
        self.passed += step.takes
        headers = {**({"content-type": "application/json"} if step.has("json_value") else {}), **step.headers}
        return httpx.Response(step.status, headers=headers, stream=Pieces(self, request, body_of(step), "end", None))

    def _failed(self, step: Fault, request: httpx.Request) -> httpx.Response:
        if step.fault == "refuse":
            raise httpx.ConnectError("[Errno 111] Connection refused", request=request)
        if step.fault == "cut_headers":
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.", request=request)
        if step.fault == "no_tls":
            cause = ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number")
            cause.reason = "WRONG_VERSION_NUMBER"
            raise httpx.ConnectError("wrong version number", request=request) from cause
        if step.fault == "no_http":
            raise httpx.RemoteProtocolError("illegal status line: bytearray(b'SSH-2.0-x')", request=request)
        if step.fault == "hang":
            self.hang(request)
        ends = "break" if step.fault == "cut_body" else "hang"
        return self._streamed(b'{"run_id":"0191f7a2-00', ends, request, "application/json")

    def _streamed(self, content: bytes, ends: str, request: httpx.Request, kind: str) -> httpx.Response:
        stream = Pieces(self, request, content, ends, self._cut_every)
        return httpx.Response(200, headers={"content-type": kind}, stream=stream)

    def hang(self, request: httpx.Request) -> None:
        """Waits as long as the client lets it."""
        limit = request.extensions["timeout"].get("read")
        assert limit is not None, "the client would wait for ever"
        self.passed += limit
        raise httpx.ReadTimeout("timed out", request=request)


class Clock:
    def __init__(self, world: World) -> None:
        self._world = world
        self.now, self.time, self.random = world.now, world.time, world.random

    def sleep(self, seconds: float) -> None:
        self._world.passed += seconds


class AsyncClock:
    def __init__(self, world: World) -> None:
        self._world = world
        self.now, self.time, self.random = world.now, world.time, world.random

    async def sleep(self, seconds: float) -> None:
        self._world.passed += seconds


class Pieces(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body in pieces, which ends, breaks or stays open behind the last one."""

    def __init__(self, world: World, request: httpx.Request, content: bytes, ends: str, cut_every: Optional[int]) -> None:
        self._world = world
        self._request = request
        self._content = content
        self._ends = ends
        self._cut_every = cut_every or max(len(content), 1)

    def __iter__(self) -> Iterator[bytes]:
        for place in range(0, len(self._content), self._cut_every):
            yield self._content[place : place + self._cut_every]
        if self._ends == "break":
            raise httpx.RemoteProtocolError("peer closed connection without sending complete message body", request=self._request)
        if self._ends == "hang":
            self._world.hang(self._request)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self:
            yield piece
