# Generated from _async/event_stream.py by scripts/unasync.py; do not edit.
"""The log of a run as it is written, across lost connections."""

from __future__ import annotations

import math
from types import TracebackType
from typing import Iterator, Callable, Generic, Optional, Type, TypeVar

import httpx
from pydantic import BaseModel
from typing_extensions import Protocol

from .._answers import read_part
from .._errors import (
    APIConnectionError,
    APIError,
    APIResponseValidationError,
    APIStatusError,
    APITimeoutError,
    MillwrightError,
    media_type,
)
from .._exchange import Attempt, Idle, Outgoing, shown_answer
from .._logging import logger
from .._options import RUN_ENDS
from .._outages import Outage, is_loss
from .._redaction import hidden_json
from .._sse import EVENT_BYTES_MAX, EventTooLarge, ServerSentEvent, ServerSentEventDecoder
from .exchange import Exchange
from .scopes import close_at_any_rate, time_limit

T = TypeVar("T")

_STREAM_TYPE = "text/event-stream"


class Numbered(Protocol):
    """An entry of a log."""

    seq: int


Event = TypeVar("Event", bound=Numbered)


class _State(BaseModel):
    state: str


class EventStream(Generic[Event]):
    """Iterates the entries of a run's log, each once and in order, until the run has ended.

    A connection that is lost is made again behind the last entry. Iterating raises the last error where the service
    stays away, APIStatusError where it refuses, APIResponseValidationError for what is no entry. Close it, or use it
    in a `with` block, when it is left before its end.
    """

    run_state: Optional[str]
    """The run's state as the service said it last; None before it said one."""
    last_seq: int
    """`seq` of the last entry that was given out, or what the stream began behind."""

    def __init__(
        self,
        exchange: Exchange,
        outgoing: Callable[[int], Outgoing],
        event: Type[Event],
        *,
        after: int,
        reconnect_timeout: float,
    ) -> None:
        """`outgoing`: the request behind an entry; its limits are those of the stream: seconds without a byte, and in all."""
        self.run_state = None
        self.last_seq = after
        self._exchange = exchange
        self._outgoing = outgoing
        self._event = event
        self._reconnect_timeout = reconnect_timeout
        self._deadline: Optional[float] = None
        self._connection: Optional[_Connection] = None
        self._is_closed = False
        self._outage: Optional[Outage] = None
        self._connections = 0
        self._is_read = False

    def __iter__(self) -> Iterator[Event]:
        """Raises MillwrightError where the stream was read before."""
        if self._is_read:
            raise MillwrightError("an event stream can be read once; ask for another, with after=events.last_seq")
        self._is_read = True
        return _Entries(self)

    def __next__(self) -> Event:
        while not self._is_closed:
            try:
                event = self._next()
            except (APIConnectionError, APIStatusError) as error:
                self._pause_or_raise(error)
            except BaseException:
                self.close()
                raise
            else:
                if event is None:
                    break
                return event
        self.close()
        raise StopIteration

    def close(self) -> None:
        """Closes the connection; iterating ends."""
        self._is_closed = True
        self._disconnect()

    def __enter__(self) -> EventStream[Event]:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def _next(self) -> Optional[Event]:
        """The next new entry; None behind the last one. Raises what the connection ended with."""
        if self._connection is None:
            self._connection = self._connected()
        connection = self._connection
        while True:
            came = connection.next()
            if came is None:
                if self.run_state in RUN_ENDS:
                    return None
                raise APIConnectionError(f"{connection.attempt.outgoing.host}: the stream of events ended before the run")
            event = self._taken(connection, came)
            if event is not None:
                return event

    def _connected(self) -> _Connection:
        clock = self._exchange.clock
        outgoing = self._outgoing(self.last_seq)
        if self._deadline is None:
            self._deadline = clock.now() + outgoing.limits.total_timeout
        self._connections += 1
        attempt = Attempt(outgoing, self._connections, self._deadline, clock.now)
        request = attempt.request(self._exchange.http)
        # The dictionary that the transport looks into for each phase.
        request.extensions["timeout"] = Idle(outgoing.limits, self._deadline - clock.now())
        response = self._exchange.open(attempt, request)
        connection = _Connection(self._exchange, attempt, response, self._deadline)
        try:
            connection.check()
        except BaseException:
            close_at_any_rate(response)
            raise
        return connection

    def _taken(self, connection: _Connection, came: ServerSentEvent) -> Optional[Event]:
        """Notes what an event says; answers the entry that it is, if it is a new one."""
        if came.event == "state":
            state = connection.read(_State, came.data).state
            if state != self.run_state:
                self._outage = None
            self.run_state = state
            return None
        if not came.id:
            return None
        event = connection.read(self._event, came.data)
        if event.seq <= self.last_seq:
            return None
        self.last_seq = event.seq
        self._outage = None
        return event

    def _pause_or_raise(self, error: APIError) -> None:
        # Signs of life alone, but over a long time: that was a good connection.
        if self._connection is not None and self._connection.lived_seconds >= self._reconnect_timeout:
            self._outage = None
        self._disconnect()
        pause = self._pause(error)
        if pause is None:
            self.close()
            raise error
        logger.info("the stream of events was lost, again behind %d in %d ms", self.last_seq, round(pause * 1000))
        try:
            self._exchange.clock.sleep(pause)
        except BaseException:
            self.close()
            raise

    def _pause(self, error: APIError) -> Optional[float]:
        """Seconds until the next connection; None where there is none."""
        if not is_loss(error):
            return None
        clock = self._exchange.clock
        if self._outage is None:
            self._outage = Outage(clock, self._reconnect_timeout)
        pause = self._outage.next_pause(error)
        deadline = math.inf if self._deadline is None else self._deadline
        return None if pause is None or clock.now() + pause >= deadline else pause

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            close_at_any_rate(connection.response)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} behind {self.last_seq}, {self.run_state}>"


class _Entries(Generic[Event]):
    """What a loop over a stream goes through."""

    def __init__(self, stream: EventStream[Event]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        return self._stream.__next__()


class _Connection:
    """One answer of the service, and the events in it."""

    def __init__(self, exchange: Exchange, attempt: Attempt, response: httpx.Response, deadline: float) -> None:
        self.attempt = attempt
        self.response = response
        #: How long something came.
        self.lived_seconds = 0.0
        self._exchange = exchange
        self._deadline = deadline
        self._decoder = ServerSentEventDecoder()
        self._events: Iterator[ServerSentEvent] = iter(())
        self._chunks: Optional[Iterator[bytes]] = None

    def check(self) -> None:
        """Raises APIStatusError, or APIResponseValidationError for what is no stream."""
        response = self.response
        if not response.is_success:
            raise self._exchange.refusal(self.attempt, response)
        kind = media_type(response)
        if kind != _STREAM_TYPE:
            raise self._invalid(f"the answer is no stream of events ({kind})", "a stream of events")

    def read(self, cast_to: Type[T], data: str) -> T:
        """What is in an event. Raises APIResponseValidationError."""
        outgoing = self.attempt.outgoing
        try:
            return read_part(cast_to, data, self.response, outgoing.label)
        except APIResponseValidationError:
            pass
        shown = hidden_json(data.encode("utf-8"), outgoing.spellings).decode("utf-8")
        return read_part(cast_to, shown, shown_answer(outgoing, self.response), outgoing.label)

    def next(self) -> Optional[ServerSentEvent]:
        """The next event; None where the connection ended as it should. Raises APIConnectionError."""
        while True:
            try:
                event = next(self._events, None)
            except EventTooLarge:
                raise self._invalid(
                    f"an event is longer than {EVENT_BYTES_MAX // 1024 // 1024} MiB", "an event of 16 MiB at most"
                ) from None
            if event is not None:
                return event
            chunk = self._chunk()
            if chunk is None:
                return None
            self._events = self._decoder.feed(chunk)

    def _chunk(self) -> Optional[bytes]:
        if self._chunks is None:
            self._chunks = self.response.iter_bytes().__iter__()
        limits = self.attempt.outgoing.limits
        self._check_deadline()
        try:
            with time_limit(min(limits.silence, self._deadline - self.attempt.now())):
                chunk = self._chunks.__next__()
            self._check_deadline()
            self.lived_seconds = self.attempt.now() - self.attempt.begun
            return chunk
        except StopIteration:
            return None
        except (httpx.TimeoutException, TimeoutError) as caught:
            lost = self._exchange.lost(self.attempt, self.response.request, caught)
            self._check_deadline()
            raise lost from caught
        except httpx.RequestError as caught:
            raise self._exchange.lost(self.attempt, self.response.request, caught) from caught

    def _check_deadline(self) -> None:
        if self.attempt.now() >= self._deadline:
            outgoing = self.attempt.outgoing
            raise APITimeoutError(outgoing.host, "total_timeout", outgoing.limits.total_timeout)

    def _invalid(self, words: str, expected: str) -> APIResponseValidationError:
        return APIResponseValidationError(
            f"{self.attempt.outgoing.label}: {words}",
            response=shown_answer(self.attempt.outgoing, self.response),
            pointer="",
            expected=expected,
        )
