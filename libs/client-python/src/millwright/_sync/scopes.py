"""What waiting needs where it cannot be cancelled. Written by hand for both clients."""

from __future__ import annotations

import math
import threading
from contextlib import contextmanager
from time import monotonic
from typing import Any, Iterator, Optional

import httpx

#: What is written under one look at the clock.
_WRITTEN_BYTES = 64 * 1024


class _Limit(threading.local):
    """When what this thread waits for has to be over."""

    ends = math.inf


_limit = _Limit()


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TimeoutError, or what httpx has in its place, from what is read and written inside when the time is over; math.inf: never.

    That is so for a client of `with_time_limits`. Another one has the limits of httpx, each for one look at a
    connection, and what is checked between the parts of a body.
    """
    former = _limit.ends
    _limit.ends = min(former, monotonic() + seconds)
    try:
        yield
    finally:
        _limit.ends = former


def with_time_limits(http: httpx.Client) -> httpx.Client:
    """The same client, whose connections keep to `time_limit` however steadily the other side drips: httpx has limits for one look each only."""
    transports: Any = [http._transport, *http._mounts.values()]
    for transport in transports:
        pool: Any = getattr(transport, "_pool", None)
        if hasattr(pool, "_network_backend"):
            pool._network_backend = _TimelyBackend(pool._network_backend)
    return http


def close_at_any_rate(response: httpx.Response) -> None:
    """Lets the connection go."""
    response.close()


class _TimelyBackend:
    """Makes connections that keep to the limit of their thread."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def connect_tcp(self, *where: Any, timeout: Optional[float] = None, **how: Any) -> _TimelyStream:
        return _TimelyStream(self._backend.connect_tcp(*where, timeout=_within(timeout), **how))

    def connect_unix_socket(self, *where: Any, timeout: Optional[float] = None, **how: Any) -> _TimelyStream:
        return _TimelyStream(self._backend.connect_unix_socket(*where, timeout=_within(timeout), **how))

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


class _TimelyStream:
    """One connection."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: Optional[float] = None) -> Any:
        return self._stream.read(max_bytes, timeout=_within(timeout))

    def write(self, buffer: bytes, timeout: Optional[float] = None) -> None:
        for place in range(0, len(buffer), _WRITTEN_BYTES):
            self._stream.write(buffer[place : place + _WRITTEN_BYTES], timeout=_within(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(self, ssl_context: Any, server_hostname: Optional[str] = None, timeout: Optional[float] = None) -> _TimelyStream:
        return _TimelyStream(self._stream.start_tls(ssl_context, server_hostname, _within(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _within(timeout: Optional[float]) -> Optional[float]:
    """What is left, if it is less. Raises TimeoutError where nothing is."""
    if _limit.ends == math.inf:
        return timeout
    left = _limit.ends - monotonic()
    if left <= 0:
        raise TimeoutError
    return left if timeout is None else min(timeout, left)
