"""Sends a request until there is an answer that counts: attempts, time limits, pauses."""

from __future__ import annotations

from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, AsyncIterator, Optional, Tuple, Union

import httpx

from .._clock import AsyncClock
from .._connections import is_no_connection, is_unsendable
from .._errors import APIConnectionError, APIStatusError, MillwrightError
from .._exchange import ERROR_BYTES_MAX, Answer, Attempt, Outgoing, forget_secrets, pause_between, shown_answer
from .._logging import tell_answer, tell_failure, tell_pause, tell_sent
from .._retries import retry_after
from .._trust import tls_context
from .scopes import close_at_any_rate, time_limit, with_time_limits


class AsyncExchange:
    """Sends through one httpx client, by one clock."""

    def __init__(self, http: httpx.AsyncClient, clock: AsyncClock) -> None:
        self.http = http
        self.clock = clock

    async def send(self, outgoing: Outgoing) -> Answer:
        """The first answer that counts, read. Raises APIStatusError, APIConnectionError, APITimeoutError."""
        return (await self.begin(outgoing, is_read=True))[0]

    async def begin(self, outgoing: Outgoing, *, is_read: bool = False) -> Tuple[Answer, Attempt]:
        """The same with its body unread, unless `is_read`, and the attempt that it is the answer to."""
        clock = self.clock
        begun = clock.now()
        deadline = begun + outgoing.limits.total_timeout
        number = 1
        while True:
            attempt = Attempt(outgoing, number, deadline, clock.now)
            came = await self._answer_or_pause(attempt, deadline, is_read)
            if isinstance(came, httpx.Response):
                attempt.is_body_read_apart = not is_read
                return Answer(came, number - 1, clock.now() - begun, outgoing), attempt
            tell_pause(outgoing.label, came, number, outgoing.limits.max_retries)
            await clock.sleep(came)
            number += 1

    async def open(self, attempt: Attempt, request: httpx.Request) -> httpx.Response:
        """The answer with its body unread, whatever its status. Raises APIConnectionError, APITimeoutError."""
        tell_sent(attempt.outgoing.label, request.headers)
        try:
            with time_limit(attempt.seconds_left):
                response = await self.http.send(request, stream=True, follow_redirects=False)
        except Exception as caught:
            if is_unsendable(caught):
                raise MillwrightError("the headers do not fit together, or not the body: they cannot be sent") from None
            if isinstance(caught, RuntimeError) and self.http.is_closed:
                raise MillwrightError("the client is closed") from None
            if not is_no_connection(caught):
                raise
            raise self.lost(attempt, request, caught) from caught
        _tell(attempt, response)
        return response

    def lost(self, attempt: Attempt, request: httpx.Request, caught: Exception) -> APIConnectionError:
        """The error for an attempt that ended without a whole answer."""
        forget_secrets(attempt.outgoing, request, caught)
        error = attempt.failure(caught)
        tell_failure(attempt.outgoing.label, str(error), attempt.now() - attempt.begun, attempt.number)
        return error

    async def _answer_or_pause(
        self, attempt: Attempt, deadline: float, is_read: bool
    ) -> Union[httpx.Response, float]:
        """A success, read if it is to be; or the seconds until the next attempt. Raises what the call ends with."""
        try:
            response = await self._attempt(attempt, is_read)
        except APIConnectionError:
            pause = pause_between(attempt, deadline, None, self.clock.random)
            if pause is None:
                raise
            return pause
        if response.is_success:
            return response
        try:
            return await self._refused(attempt, response, deadline)
        finally:
            await close_at_any_rate(response)

    async def _attempt(self, attempt: Attempt, is_read: bool) -> httpx.Response:
        """An answer: read if it is a success that is to be read, else unread."""
        request = attempt.request(self.http)
        response = await self.open(attempt, request)
        if not response.is_success or not is_read:
            return response
        try:
            await self._read(attempt, response)
        except (httpx.RequestError, TimeoutError) as caught:
            await close_at_any_rate(response)
            raise self.lost(attempt, request, caught) from caught
        except BaseException:
            await close_at_any_rate(response)
            raise
        return response

    async def _refused(self, attempt: Attempt, response: httpx.Response, deadline: float) -> float:
        """The pause before the call is made again; else raises the error of the status. The body of an answer that is asked for again stays unread."""
        status, headers = response.status_code, response.headers
        if attempt.outgoing.is_retried(status, headers):
            asked = retry_after(headers, self.clock.time())
            pause = pause_between(attempt, deadline, asked, self.clock.random)
            if pause is not None:
                return pause
        raise await self.refusal(attempt, response)

    async def refusal(self, attempt: Attempt, response: httpx.Response) -> APIStatusError:
        """The error for an answer whose status is no success, with the beginning of what it says."""
        try:
            content = await self._first_bytes(attempt, response)
        except (httpx.RequestError, TimeoutError):
            content = b""  # the status says what happened, also when the words that came with it were cut off
        return attempt.outgoing.refusal(shown_answer(attempt.outgoing, response, content), self.clock.time())

    async def _first_bytes(self, attempt: Attempt, response: httpx.Response) -> bytes:
        if not response.is_closed:
            response.stream = AsyncTimelyStream(response.stream, attempt)  # type: ignore[arg-type]
        content = b""
        parts: Any = response.aiter_bytes()
        try:
            with time_limit(attempt.seconds_left):
                async for part in parts:
                    content += part
                    if len(content) >= ERROR_BYTES_MAX:
                        break
        finally:
            await parts.aclose()
        return content[:ERROR_BYTES_MAX]

    async def _read(self, attempt: Attempt, response: httpx.Response) -> None:
        # What a transport answered whole (as in tests) has been read already.
        if not response.is_closed:
            response.stream = AsyncTimelyStream(response.stream, attempt)  # type: ignore[arg-type]
            with time_limit(attempt.seconds_left):
                await response.aread()


class AsyncTimelyStream(httpx.AsyncByteStream):
    """A body that ends with its attempt's time, however steadily it drips."""

    def __init__(self, stream: httpx.AsyncByteStream, attempt: Attempt) -> None:
        self._stream = stream
        self._attempt = attempt

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            if self._attempt.seconds_left <= 0:
                raise httpx.ReadTimeout("")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def _tell(attempt: Attempt, response: httpx.Response) -> None:
    tell_answer(
        attempt.outgoing.label,
        response.status_code,
        response.headers,
        attempt.now() - attempt.begun,
        attempt.number,
        attempt.outgoing.spellings,
    )


def http_client_of(given: Optional[httpx.AsyncClient]) -> httpx.AsyncClient:
    """What was given to send with, or a client of our own. Raises MillwrightError for what is none."""
    if given is None:
        return _new_http_client()
    if not isinstance(given, httpx.AsyncClient):
        raise MillwrightError("http_client must be an httpx.AsyncClient")
    return given


def _new_http_client() -> httpx.AsyncClient:
    """Keeps no cookies: a key or a secret says who calls."""
    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    return with_time_limits(httpx.AsyncClient(verify=tls_context(), cookies=no_cookies))
