"""What an exchange is about: the request to be sent, as often as needed, and the decisions between its attempts. Without any sending."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple, TypeVar, Union

import httpx

from . import _retries
from ._connections import causes_of, connection_error
from ._errors import (
    APIConnectionError,
    APIResponseValidationError,
    APIStatusError,
    APITimeoutError,
    bare_request,
    status_error,
)
from ._redaction import hidden, hidden_bytes, hidden_json
from ._requests import Headers, Limits
from ._retries import pause_before_retry

T = TypeVar("T")

#: Problems are a few kilobytes; whatever answers in the service's place may go on for ever.
ERROR_BYTES_MAX = 256 * 1024
#: A phase that begins at the very end of its time still gets a moment, for 0 means something else to a socket.
_MOMENT_SECONDS = 0.001


class Outgoing:
    """A request that is ready to be sent."""

    __slots__ = ("method", "url", "host", "label", "headers", "content", "limits", "is_retried", "signed", "spellings", "shown_url", "is_keyed")

    def __init__(
        self,
        method: str,
        url: httpx.URL,
        host: str,
        label: str,
        headers: Headers,
        content: Optional[bytes],
        limits: Limits,
        *,
        is_retried: Callable[[int, Mapping[str, str]], bool] = _retries.is_retried,
        signed: Optional[Callable[[], Headers]] = None,
        spellings: Tuple[str, ...] = (),
        shown_url: Optional[httpx.URL] = None,
        is_keyed: bool = False,
    ) -> None:
        """
        Args:
            host, label: For messages; the label is method and path with its `{names}`.
            signed: Headers that are made anew for each attempt.
            spellings: Those of a secret that no log and no error may hold, whoever repeats it.
            shown_url: What stands there for an address that holds this secret.
            is_keyed: Whether the key of the client is among the headers.
        """
        self.method = method
        self.url = url
        self.host = host
        self.label = label
        self.headers = headers
        self.content = content
        self.limits = limits
        self.is_retried = is_retried
        self.signed = signed
        self.spellings = spellings
        self.shown_url = url if shown_url is None else shown_url
        self.is_keyed = is_keyed

    def refusal(self, response: httpx.Response, time: float) -> APIStatusError:
        """The error for an answer whose status is no success. `response`: read, as it may be shown. `time`: seconds since 1970."""
        return status_error(response, label=self.label, time=time, is_keyed=self.is_keyed)


class Answer(NamedTuple):
    """A success, and what it took."""

    response: httpx.Response
    retries: int
    seconds: float
    outgoing: Outgoing

    def read(self, read: Callable[[httpx.Response], T]) -> T:
        """What `read` makes of it. Its APIResponseValidationError holds nothing of the secret that the answer may repeat."""
        try:
            return read(self.response)
        except APIResponseValidationError:
            pass
        return read(self.shown())

    def shown(self) -> httpx.Response:
        """What an error may keep of it."""
        return shown_answer(self.outgoing, self.response)


class Attempt:
    """One request and its answer, in one time limit."""

    __slots__ = ("outgoing", "number", "begun", "ends", "is_last_of_call", "now", "is_body_read_apart")

    def __init__(self, outgoing: Outgoing, number: int, deadline: float, now: Callable[[], float]) -> None:
        """`number`: from 1. `deadline`: of the whole call, by `now`."""
        self.outgoing = outgoing
        self.number = number
        self.now = now
        self.begun = now()
        ends = self.begun + outgoing.limits.timeout
        self.is_last_of_call = deadline < ends
        self.ends = deadline if self.is_last_of_call else ends
        #: Whether the head has come and somebody reads the body in a time of his own: only silence counts.
        self.is_body_read_apart = False

    @property
    def seconds_left(self) -> float:
        """math.inf: without a limit."""
        return self.ends - self.now()

    def request(self, http: Union[httpx.Client, httpx.AsyncClient]) -> httpx.Request:
        """The request of this attempt."""
        outgoing = self.outgoing
        headers = outgoing.headers if outgoing.signed is None else {**outgoing.headers, **outgoing.signed()}
        sent: Any = {name: value for name, value in headers.items() if value is not None}
        request = http.build_request(
            outgoing.method,
            outgoing.url,
            headers=sent,
            content=outgoing.content,
            extensions={"timeout": TimeLeft(self)},
        )
        if outgoing.url is not outgoing.shown_url:
            request.url = outgoing.url  # httpx has made a copy, which does not keep the secret of an address to itself
        elif http.params:
            # What a custom client adds to every query would otherwise take the place of ours.
            request.url = outgoing.url.copy_with(params=http.params.merge(outgoing.url.params))
        if len(sent) < len(headers):
            for name in headers:
                if headers[name] is None:
                    request.headers.pop(name, None)
        return request

    def failure(self, caught: Exception) -> APIConnectionError:
        """The error for what httpx, or the time limit, ended this attempt with."""
        if isinstance(caught, (httpx.TimeoutException, TimeoutError)):
            limits = self.outgoing.limits
            phase = _phase_of(caught) if limits.phases is not None else None
            if phase is not None and self.now() < self.ends:
                return APITimeoutError(self.outgoing.host, "timeout", getattr(limits.phases, phase))
            if self.is_body_read_apart:
                return APITimeoutError(self.outgoing.host, "timeout", limits.silence)
            if self.is_last_of_call:
                return APITimeoutError(self.outgoing.host, "total_timeout", limits.total_timeout)
            return APITimeoutError(self.outgoing.host, "timeout", limits.silence)
        return connection_error(self.outgoing.host, caught)


_PHASES = {
    httpx.ConnectTimeout: "connect",
    httpx.ReadTimeout: "read",
    httpx.WriteTimeout: "write",
    httpx.PoolTimeout: "pool",
}


def _phase_of(caught: Exception) -> Optional[str]:
    """The phase whose own limit was reached."""
    return next((phase for kind, phase in _PHASES.items() if isinstance(caught, kind)), None)


class TimeLeft(Dict[str, Optional[float]]):
    """The time limits that httpx knows, one for each phase: each is what is left of the attempt when the phase begins."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        super().__init__({phase: self._left(phase) for phase in _PHASES.values()})

    def get(self, phase: str, default: Any = None) -> Any:
        return self._left(phase)

    def _left(self, phase: str) -> Optional[float]:
        limits = self._attempt.outgoing.limits
        left = limits.silence if self._attempt.is_body_read_apart else self._attempt.seconds_left
        own = None if limits.phases is None else getattr(limits.phases, phase)
        left = left if own is None else min(left, own)
        return None if left == math.inf else max(left, _MOMENT_SECONDS)


class Idle(Dict[str, Optional[float]]):
    """Time limits of a stream: so long without a byte."""

    def __init__(self, limits: Limits, left: float) -> None:
        """`left`: seconds that there are for all of it."""
        for phase in _PHASES.values():
            own = limits.timeout if limits.phases is None else getattr(limits.phases, phase)
            seconds = min(math.inf if own is None else own, left)
            self[phase] = None if seconds == math.inf else seconds


def pause_between(
    attempt: Attempt, deadline: float, asked: Optional[float], chance: Callable[[], float]
) -> Optional[float]:
    """Seconds before the next attempt; None when there is none, or it would begin too late."""
    if attempt.number > attempt.outgoing.limits.max_retries:
        return None
    pause = pause_before_retry(attempt.number - 1, asked, chance() if asked is None else 0.0)
    return pause if attempt.now() + pause < deadline else None


def forget_secrets(outgoing: Outgoing, request: httpx.Request, caught: Exception) -> None:
    """The errors of httpx keep their request, and at times the words of the other side."""
    for cause in causes_of(caught):
        if isinstance(cause, httpx.RequestError):
            cause.request = bare_request(request, outgoing.shown_url)
        cause.args = tuple(hidden(part, outgoing.spellings) if isinstance(part, str) else part for part in cause.args)


#: They say how the body was sent, which a copy of it is not.
_HEADERS_OF_SENDING = frozenset([b"content-encoding", b"content-length", b"transfer-encoding"])


def shown_answer(outgoing: Outgoing, response: httpx.Response, content: Optional[bytes] = None) -> httpx.Response:
    """What an error may keep of an answer: a copy without the secret that it may repeat. `content`: what was read of its body, where the answer does not know."""
    try:
        content = hidden_json(response.content if content is None else content, outgoing.spellings)
    except httpx.ResponseNotRead:
        content = b""
    headers = [
        (name, hidden_bytes(value, outgoing.spellings))
        for name, value in response.headers.raw
        if name.lower() not in _HEADERS_OF_SENDING
    ]
    request = bare_request(response.request, outgoing.shown_url)
    extensions = {name: response.extensions[name] for name in ("http_version",) if name in response.extensions}
    return httpx.Response(response.status_code, headers=headers, content=content, request=request, extensions=extensions)


