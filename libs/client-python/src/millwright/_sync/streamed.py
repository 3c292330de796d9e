# Generated from _async/streamed.py by scripts/unasync.py; do not edit.
"""A response whose body is read piece by piece, by whoever asked for it."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Iterator, Callable, Generic, Optional, Type, TypeVar

import httpx
from typing_extensions import ParamSpec

from .._errors import MillwrightError, without_secrets
from .._exchange import Answer, Attempt
from .._json import parsed
from .exchange import Exchange
from .pages import Page
from .scopes import close_at_any_rate, time_limit

T = TypeVar("T")
Item = TypeVar("Item")
Piece = TypeVar("Piece")
P = ParamSpec("P")


class StreamedResponse(Generic[T]):
    """A success whose body is not read yet. Read it once, inside of the `with` block that it came from.

    So long without a byte as `timeout` says is a lost connection; the body as a whole takes what it takes. What it
    cost is not tried again: reading raises APIConnectionError.
    """

    http_response: httpx.Response
    """What httpx received; its request no longer holds the key."""
    retries_taken: int
    """Attempts before the one that was answered."""
    elapsed: float
    """Seconds until the head of the answer had come, with all attempts and pauses."""

    def __init__(
        self, exchange: Exchange, answer: Answer, attempt: Attempt, parse: Callable[[Answer], T]
    ) -> None:
        self._request = answer.response.request
        self.http_response = without_secrets(answer.response)
        self.elapsed = answer.seconds
        self.retries_taken = answer.retries
        self._exchange = exchange
        self._answer = answer
        self._attempt = attempt
        self._parse = parse

    @property
    def status_code(self) -> int:
        return self.http_response.status_code

    @property
    def headers(self) -> httpx.Headers:
        return self.http_response.headers

    @property
    def request_id(self) -> Optional[str]:
        """What the service calls this request in its log."""
        request_id: Optional[str] = self.http_response.headers.get("x-request-id")
        return request_id

    @property
    def is_closed(self) -> bool:
        return self.http_response.is_closed

    def iter_bytes(self, chunk_size: Optional[int] = None) -> Iterator[bytes]:
        """The body piece by piece; `chunk_size`: bytes of each but the last."""
        return self._pieces(self.http_response.iter_bytes(chunk_size))

    def iter_text(self, chunk_size: Optional[int] = None) -> Iterator[str]:
        """The body as text, piece by piece; `chunk_size`: characters of each but the last."""
        return self._pieces(self.http_response.iter_text(chunk_size))

    def iter_lines(self) -> Iterator[str]:
        """The body as text, line by line, without the ends of the lines."""
        return self._pieces(self.http_response.iter_lines())

    def read(self) -> bytes:
        """The whole body; again the same."""
        for _ in self._pieces(_once(self.http_response)):
            pass
        return self.http_response.content

    def text(self) -> str:
        """The whole body as text."""
        self.read()
        return self.http_response.text

    def json(self) -> Any:
        """The whole body as JSON, unchecked. Raises ValueError."""
        return parsed(self.read())

    def parse(self) -> T:
        """What the method answers without `with_streaming_response`. Raises APIResponseValidationError."""
        self.read()
        return self._parse(self._answer)

    def close(self) -> None:
        """Lets the connection go; what is left of the body is lost."""
        close_at_any_rate(self.http_response)
        without_secrets(self.http_response)

    def _pieces(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        silence = self._attempt.outgoing.limits.silence
        while True:
            try:
                with time_limit(silence):
                    piece = pieces.__next__()
            except StopIteration:
                return
            except httpx.StreamError:
                raise MillwrightError("the body was read already, or the response is closed") from None
            except (httpx.RequestError, TimeoutError) as caught:
                self.close()
                raise self._exchange.lost(self._attempt, self._request, caught) from caught
            yield piece

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.status_code} {self.headers.get('content-type', 'no content type')}>"


def _once(response: httpx.Response) -> Iterator[bytes]:
    """Keeps the body while it is read; what was read before is at hand."""
    try:
        yield response.content
    except httpx.ResponseNotRead:
        yield response.read()


class ResponseManager(Generic[T]):
    """What `with_streaming_response` answers: a `with` block sends the request and closes the response."""

    def __init__(self, send: Callable[[], Any]) -> None:
        self._send = send
        self._response: Optional[StreamedResponse[T]] = None

    def __enter__(self) -> StreamedResponse[T]:
        response: StreamedResponse[T] = self._send()
        self._response = response
        return response

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if self._response is not None:
            self._response.close()


def sync_streamed(method: Callable[P, T]) -> Callable[P, ResponseManager[T]]:
    """A method of a resource that was made with the caller `_streamed`, as a block."""

    def block(*args: P.args, **kwargs: P.kwargs) -> ResponseManager[T]:
        return ResponseManager(lambda: method(*args, **kwargs))

    return block


def sync_streamed_page(
    method: Callable[P, Page[Item]],
) -> Callable[P, ResponseManager[Page[Item]]]:
    """As `sync_streamed`, for a method that answers pages."""
    typed: Any = method
    return sync_streamed(typed)
