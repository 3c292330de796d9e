# Generated from _async/client.py by scripts/unasync.py; do not edit.
"""The client of a Millwright service, for programs that wait for each call."""

from __future__ import annotations

import math
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Collection, Dict, List, Mapping, Optional, Type, TypeVar, Union

import httpx
from typing_extensions import Self, TypedDict, Unpack

from .._addresses import is_loopback, read_api_key, read_base_url, read_environment_headers, shown_host
from .._answers import Whole, read_answer, read_page
from .._clock import Clock, SystemClock
from .._errors import APIError, APITimeoutError, MillwrightError
from .._exchange import Answer, Outgoing
from .._keywords import check_names
from .._logging import warn_of_plain_http
from .._options import (
    DEFAULT_MAX_RETRIES,
    DEFAULT_TIMEOUT_SECONDS,
    DEFAULT_TOTAL_TIMEOUT_SECONDS,
    NOT_GIVEN,
    NotGiven,
    RequestOptions,
    Timeout,
    WaitOptions,
)
from .._outages import DEFAULT_RECONNECT_TIMEOUT_SECONDS, Outage, is_loss
from .._redaction import spellings_of_key
from .._requests import (
    Headers,
    Limits,
    add_headers,
    fill_template,
    json_bytes,
    new_idempotency_key,
    only_known_options,
    query_text,
    read_headers,
    read_address,
    read_idempotency_key,
    read_limits,
    read_path,
    read_seconds,
    read_span,
)
from .._responses import APIResponse
from .._version import __version__
from .._waiting import LOOK_SECONDS_MIN, PAUSE_FIRST_SECONDS, PAUSE_GROWTH, PAUSE_MAX_SECONDS, check_not_ended, read_states, too_long
from .event_stream import EventStream, Event
from .exchange import Exchange, http_client_of
from .pages import Page, NextPage, PagePlace
from .streamed import ResponseManager, StreamedResponse

if TYPE_CHECKING:
    from ..types import OpenApiDocument
    from .resources import (
        Agent,
        ApiKeys,
        Audit,
        Explanations,
        Factories,
        FactoryFiles,
        FederatedCredentials,
        Networking,
        Secrets,
        SignatureSchemes,
        Statistics,
    )

T = TypeVar("T")
Item = TypeVar("Item")

_LIMITS = Limits(DEFAULT_TIMEOUT_SECONDS, DEFAULT_TOTAL_TIMEOUT_SECONDS, DEFAULT_MAX_RETRIES)


class ClientOptions(TypedDict, total=False):
    """What a client can be told; what is absent stays as it is."""

    api_key: str
    base_url: str
    timeout: Timeout
    total_timeout: Optional[float]
    max_retries: int
    default_headers: Mapping[str, Optional[str]]
    http_client: httpx.Client


class Millwright:
    """Calls a Millwright service. Use it in a `with` block, or close it; one for a program is enough."""

    base_url: str
    """Address of the API, with /api/v1 and without a final slash."""

    def __init__(
        self,
        *,
        api_key: Optional[str] = None,
        base_url: Optional[str] = None,
        timeout: Union[Timeout, NotGiven] = NOT_GIVEN,
        total_timeout: Optional[float] = DEFAULT_TOTAL_TIMEOUT_SECONDS,
        max_retries: int = DEFAULT_MAX_RETRIES,
        default_headers: Optional[Mapping[str, Optional[str]]] = None,
        http_client: Optional[httpx.Client] = None,
        _clock: Optional[Clock] = None,
        _environment_headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Nothing is sent.

        Args:
            api_key: By default MILLWRIGHT_API_KEY.
            base_url: Address of the service, with a path prefix where a proxy adds one. By default
                MILLWRIGHT_BASE_URL, else http://127.0.0.1:8080.
            timeout: Seconds for one attempt, headers and body; an `httpx.Timeout` for each of its phases; None: no
                limit. By default 60, downloads 600.
            total_timeout: Seconds for all attempts of a call and the pauses between them; None: no limit.
            max_retries: Attempts after the first.
            default_headers: Sent with every call; None takes a header away. They go before those of
                MILLWRIGHT_CUSTOM_HEADERS, one `Name: value` a line.
            http_client: Sends in place of a client of its own, e.g. through a proxy; is not closed.

        Raises:
            MillwrightError: no key, an address that is none, a limit that is none. Nothing that was given is repeated.
        """
        url = read_base_url(base_url)
        self.base_url = str(url)
        self._api_key = read_api_key(api_key)
        self._host = shown_host(url)
        self._spellings = spellings_of_key(self._api_key)
        self._default_headers = dict(read_headers(default_headers, "default_headers"))
        # Downloads have a limit of their own, unless the caller has set one.
        self._has_own_timeout = timeout is not NOT_GIVEN
        limits: Dict[str, Any] = {"total_timeout": total_timeout, "max_retries": max_retries}
        if timeout is not NOT_GIVEN:
            limits["timeout"] = timeout
        self._limits = read_limits(limits, _LIMITS)
        self._headers: Headers = {
            "authorization": f"Bearer {self._api_key}",
            "accept": "application/json",
            "user-agent": f"millwright-client-python/{__version__}",
            "x-millwright-client": f"python/{__version__}",
        }
        # Checked here, and put in place for each call: they go before what a call is given by itself.
        self._defaults: Headers = {}
        self._environment_headers = read_environment_headers() if _environment_headers is None else _environment_headers
        add_headers(self._defaults, self._environment_headers, "MILLWRIGHT_CUSTOM_HEADERS")
        add_headers(self._defaults, self._default_headers, "default_headers")
        self._owned = http_client is None
        self._exchange = Exchange(http_client_of(http_client), _clock or SystemClock())
        if url.scheme == "http" and not is_loopback(url):
            warn_of_plain_http(self._host, "the API key")

    @cached_property
    def agent(self) -> Agent:
        """Skills; runs, conversations, artifacts, models and environments are below it."""
        from .resources import Agent

        return Agent(self)

    @cached_property
    def factories(self) -> Factories:
        """Factories, with their webhooks, deliveries, automations, secrets and syncs."""
        from .resources import Factories

        return Factories(self)

    @cached_property
    def secrets(self) -> Secrets:
        """Secrets of the team."""
        from .resources import Secrets

        return Secrets(self)

    @cached_property
    def api_keys(self) -> ApiKeys:
        """Who may call, as what, until when."""
        from .resources import ApiKeys

        return ApiKeys(self)

    @cached_property
    def federated_credentials(self) -> FederatedCredentials:
        """Whose tokens are exchanged for keys: build servers without a stored one."""
        from .resources import FederatedCredentials

        return FederatedCredentials(self)

    @cached_property
    def audit(self) -> Audit:
        """Who changed what."""
        from .resources import Audit

        return Audit(self)

    @cached_property
    def factory_files(self) -> FactoryFiles:
        """Checks the files of a factory."""
        from .resources import FactoryFiles

        return FactoryFiles(self)

    @cached_property
    def explanations(self) -> Explanations:
        """Why something is as it is."""
        from .resources import Explanations

        return Explanations(self)

    @cached_property
    def signature_schemes(self) -> SignatureSchemes:
        """How providers sign what they send."""
        from .resources import SignatureSchemes

        return SignatureSchemes(self)

    @cached_property
    def networking(self) -> Networking:
        """How this installation reaches others."""
        from .resources import Networking

        return Networking(self)

    @cached_property
    def statistics(self) -> Statistics:
        """Counts of deliveries and runs."""
        from .resources import Statistics

        return Statistics(self)

    @cached_property
    def with_raw_response(self) -> MillwrightWithRawResponse:
        """The same calls of what has no method here; each answers the response as it came, an `APIResponse`."""
        return MillwrightWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> MillwrightWithStreamingResponse:
        """The same calls of what has no method here, each in a `with` block whose response is read piece by piece."""
        return MillwrightWithStreamingResponse(self)

    def openapi(self, **options: Unpack[RequestOptions]) -> OpenApiDocument:
        """The document of the API (OpenAPI 3.1)."""
        from ..types import OpenApiDocument

        return self._call("GET", "/openapi.json", cast_to=OpenApiDocument, options=options)

    def get(
        self,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, Optional[str]]] = None,
        **options: Unpack[RequestOptions],
    ) -> Any:
        """Calls what has no method here.

        Args:
            path: Below /api/v1; begins with "/".
            query: None is left out, lists are repeated, a mapping becomes `name[key]=value`.
            headers: Further headers; None takes one away.

        Returns:
            JSON as it comes, text where it is no JSON, None where there is nothing.
        """
        return self._call("GET", read_path(path), cast_to=object, query=query, headers=headers, options=options)

    def post(
        self,
        path: str,
        *,
        body: Any = NOT_GIVEN,
        query: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, Optional[str]]] = None,
        **options: Unpack[RequestOptions],
    ) -> Any:
        """As `get`, with a body, which is sent as JSON, and an Idempotency-Key."""
        return self._undocumented("POST", path, body, query, headers, options)

    def put(
        self,
        path: str,
        *,
        body: Any = NOT_GIVEN,
        query: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, Optional[str]]] = None,
        **options: Unpack[RequestOptions],
    ) -> Any:
        """As `get`, with a body, which is sent as JSON."""
        return self._undocumented("PUT", path, body, query, headers, options)

    def patch(
        self,
        path: str,
        *,
        body: Any = NOT_GIVEN,
        query: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, Optional[str]]] = None,
        **options: Unpack[RequestOptions],
    ) -> Any:
        """As `get`, with a body, which is sent as JSON."""
        return self._undocumented("PATCH", path, body, query, headers, options)

    def delete(
        self,
        path: str,
        *,
        body: Any = NOT_GIVEN,
        query: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, Optional[str]]] = None,
        **options: Unpack[RequestOptions],
    ) -> Any:
        """As `get`, with a body where one is given."""
        return self._undocumented("DELETE", path, body, query, headers, options)

    def with_options(self, **changes: Unpack[ClientOptions]) -> Self:
        """A client that differs in these options. It sends through the same connections, and closing it closes nothing.

        Key and address stay as they are, whatever the environment says by now, unless they are given.
        """
        check_names(changes, ClientOptions)
        limits = self._limits
        kept: Dict[str, Any] = {
            "api_key": self._api_key,
            "base_url": self.base_url,
            "total_timeout": None if limits.total_timeout == math.inf else limits.total_timeout,
            "max_retries": limits.max_retries,
            "default_headers": self._default_headers,
            "http_client": self._exchange.http,
            "_clock": self._exchange.clock,
            "_environment_headers": self._environment_headers,
        }
        if self._has_own_timeout:
            kept["timeout"] = limits.phases or (None if limits.timeout == math.inf else limits.timeout)
        resolved = ("api_key", "base_url")
        kept.update({name: value for name, value in changes.items() if value is not None or name not in resolved})
        return type(self)(**kept)

    copy = with_options
    """The same, under the name that other clients have for it."""

    def close(self) -> None:
        """Closes the connections, unless the httpx client was given."""
        if self._owned:
            self._exchange.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.base_url}>"

    def __reduce__(self) -> Any:
        raise TypeError("a client holds an API key and connections, and cannot be pickled or copied; see with_options")

    def _undocumented(
        self,
        method: str,
        path: str,
        body: Any,
        query: Optional[Mapping[str, Any]],
        headers: Optional[Mapping[str, Optional[str]]],
        options: RequestOptions,
    ) -> Any:
        return self._call(
            method, read_path(path), cast_to=object, body=body, query=query, headers=headers, options=options
        )

    def _call(
        self,
        method: str,
        template: str,
        path: Optional[Mapping[str, str]] = None,
        *,
        cast_to: Type[T],
        query: Optional[Mapping[str, Any]] = None,
        body: Any = NOT_GIVEN,
        headers: Optional[Mapping[str, Optional[str]]] = None,
        options: Optional[RequestOptions] = None,
        timeout: Union[float, None, NotGiven] = NOT_GIVEN,
    ) -> T:
        outgoing = self._prepared(method, template, path, query, body, headers, options, timeout)
        answer = self._exchange.send(outgoing)
        return answer.read(lambda response: read_answer(cast_to, response, outgoing.label))

    def _page(
        self,
        template: str,
        path: Optional[Mapping[str, str]] = None,
        *,
        cast_to: Type[Whole],
        items: Callable[[Whole], List[Item]],
        query: Optional[Mapping[str, Any]] = None,
        options: Optional[RequestOptions] = None,
    ) -> Page[Item]:
        only_known_options(options)
        listing = _Listing(self, template, path, cast_to, items, query, options)
        return listing.first()

    def _stream(
        self,
        template: str,
        path: Mapping[str, str],
        *,
        event: Type[Event],
        after: int = 0,
        reconnect_timeout: Optional[float] = DEFAULT_RECONNECT_TIMEOUT_SECONDS,
        options: Optional[RequestOptions] = None,
    ) -> EventStream[Event]:
        # A stream goes on for as long as its run: only a call can limit it as a whole.
        whole: RequestOptions = {"total_timeout": None, **(options or {})}

        def outgoing(last_seq: int) -> Outgoing:
            headers = {"accept": "text/event-stream", "last-event-id": str(last_seq) if last_seq > 0 else None}
            query = {"after": after}
            return self._prepared("GET", template, path, query, NOT_GIVEN, headers, whole, NOT_GIVEN)

        outgoing(after)  # what is unfit is told at once
        return EventStream(
            self._exchange,
            outgoing,
            event,
            after=after,
            reconnect_timeout=read_seconds("reconnect_timeout", reconnect_timeout),
        )

    def _wait(
        self,
        retrieve: Callable[[WaitOptions], T],
        *,
        timeout: Optional[float] = None,
        poll_interval: Optional[float] = None,
        until: Union[str, Collection[str], None] = None,
        reconnect_timeout: Optional[float] = DEFAULT_RECONNECT_TIMEOUT_SECONDS,
        options: Optional[WaitOptions] = None,
    ) -> T:
        clock = self._exchange.clock
        deadline = clock.now() + read_span("timeout", timeout)
        interval = None if poll_interval is None else read_span("poll_interval", poll_interval)
        if interval == math.inf:
            raise MillwrightError("poll_interval must be a number of seconds")
        outage_max = read_seconds("reconnect_timeout", reconnect_timeout)
        told: WaitOptions = options or {}
        check_names(told, WaitOptions)
        states = read_states(until)
        growing = PAUSE_FIRST_SECONDS
        run: Any = None
        outage: Optional[Outage] = None
        while True:
            seen = self._look(retrieve, told, deadline, run)
            left = deadline - clock.now()
            if isinstance(seen, APIError):
                if left <= 0:
                    raise too_long(run, False) from seen
                outage = outage or Outage(clock, outage_max)
                away = outage.next_pause(seen)
                if away is None:
                    raise seen
                pause = away
            else:
                outage, run = None, seen
                if run.state in states:
                    return run  # type: ignore[no-any-return]
                check_not_ended(run, states)
                if left <= 0:
                    raise too_long(run, True)
                pause = growing if interval is None else interval
                growing = min(growing * PAUSE_GROWTH, PAUSE_MAX_SECONDS)
            clock.sleep(min(pause, left))

    def _look(
        self,
        retrieve: Callable[[WaitOptions], T],
        told: WaitOptions,
        deadline: float,
        last: Optional[T],
    ) -> Union[T, APIError]:
        """One look, which ends with the wait: a service that does not answer makes it no longer. Answers how the service was lost, if it was."""
        left = max(deadline - self._exchange.clock.now(), LOOK_SECONDS_MIN)
        ends_with_wait = left < read_limits(told, self._limits).total_timeout
        limited: WaitOptions = {**told, "total_timeout": left} if ends_with_wait else told
        try:
            return retrieve(limited)
        except APIError as error:
            if ends_with_wait and isinstance(error, APITimeoutError) and error.limit == "total_timeout":
                raise too_long(last, False) from error
            if is_loss(error):
                return error
            raise

    @cached_property
    def _raw(self) -> _RawCaller:
        return _RawCaller(self)

    @cached_property
    def _streamed(self) -> _StreamingCaller:
        return _StreamingCaller(self)

    def _prepared(
        self,
        method: str,
        template: str,
        path: Optional[Mapping[str, str]],
        query: Optional[Mapping[str, Any]],
        body: Any,
        headers: Optional[Mapping[str, Optional[str]]],
        options: Optional[RequestOptions],
        timeout: Union[float, None, NotGiven],
    ) -> Outgoing:
        """The request of a call. Raises MillwrightError for what is unfit."""
        told = only_known_options(options)
        content = json_bytes(body, told.get("extra_body"))
        url = f"{self.base_url}{fill_template(template, path)}{query_text(query, told.get('extra_query'))}"
        limits = self._limits
        if not self._has_own_timeout and not isinstance(timeout, NotGiven):
            limits = limits._replace(timeout=read_seconds("timeout", timeout))
        if told:
            limits = read_limits(told, limits)
        sent = self._headers_of(method, content is not None, headers, told)
        is_keyed = sent["authorization"] == self._headers["authorization"]
        return Outgoing(
            method,
            read_address(url, {**(path or {}), **(query or {}), **told.get("extra_query", {})}),
            self._host,
            f"{method} {template}",
            sent,
            content,
            limits,
            is_keyed=is_keyed,
            spellings=self._spellings,
        )

    def _headers_of(
        self, method: str, has_body: bool, own: Optional[Mapping[str, Optional[str]]], told: RequestOptions
    ) -> Headers:
        headers = dict(self._headers)
        if has_body:
            headers["content-type"] = "application/json"
        if method == "POST":
            headers["idempotency-key"] = new_idempotency_key()
        headers.update(self._defaults)
        if own:
            add_headers(headers, own, "headers")
        if told:
            key = told.get("idempotency_key")
            if key is not None:
                headers["idempotency-key"] = read_idempotency_key(key)
            add_headers(headers, told.get("extra_headers"), "extra_headers")
        return headers


class MillwrightWithRawResponse:
    """`Millwright` with responses as they came."""

    def __init__(self, client: Millwright) -> None:
        self._client = client

    def get(self, path: str, **how: Any) -> APIResponse[Any]:
        """As `get` of the client."""
        return self._send("GET", path, how)

    def post(self, path: str, **how: Any) -> APIResponse[Any]:
        """As `post` of the client."""
        return self._send("POST", path, how)

    def put(self, path: str, **how: Any) -> APIResponse[Any]:
        """As `put` of the client."""
        return self._send("PUT", path, how)

    def patch(self, path: str, **how: Any) -> APIResponse[Any]:
        """As `patch` of the client."""
        return self._send("PATCH", path, how)

    def delete(self, path: str, **how: Any) -> APIResponse[Any]:
        """As `delete` of the client."""
        return self._send("DELETE", path, how)

    def openapi(self, **options: Unpack[RequestOptions]) -> APIResponse[OpenApiDocument]:
        """As `openapi` of the client."""
        from ..types import OpenApiDocument

        raw: Any = self._client._raw
        return raw._call("GET", "/openapi.json", cast_to=OpenApiDocument, options=options)  # type: ignore[no-any-return]

    def _send(self, method: str, path: str, how: Dict[str, Any]) -> APIResponse[Any]:
        parts = {name: how.pop(name) for name in ("query", "headers", "body") if name in how}
        raw: Any = self._client._raw
        return raw._call(method, read_path(path), cast_to=object, options=how, **parts)  # type: ignore[no-any-return]


class MillwrightWithStreamingResponse:
    """`Millwright` with responses that are read piece by piece."""

    def __init__(self, client: Millwright) -> None:
        self._client = client

    def get(self, path: str, **how: Any) -> ResponseManager[Any]:
        """As `get` of the client."""
        return self._send("GET", path, how)

    def post(self, path: str, **how: Any) -> ResponseManager[Any]:
        """As `post` of the client."""
        return self._send("POST", path, how)

    def put(self, path: str, **how: Any) -> ResponseManager[Any]:
        """As `put` of the client."""
        return self._send("PUT", path, how)

    def patch(self, path: str, **how: Any) -> ResponseManager[Any]:
        """As `patch` of the client."""
        return self._send("PATCH", path, how)

    def delete(self, path: str, **how: Any) -> ResponseManager[Any]:
        """As `delete` of the client."""
        return self._send("DELETE", path, how)

    def openapi(self, **options: Unpack[RequestOptions]) -> ResponseManager[OpenApiDocument]:
        """As `openapi` of the client."""
        from ..types import OpenApiDocument

        streamed: Any = self._client._streamed
        return ResponseManager(
            lambda: streamed._call("GET", "/openapi.json", cast_to=OpenApiDocument, options=options)
        )

    def _send(self, method: str, path: str, how: Dict[str, Any]) -> ResponseManager[Any]:
        parts = {name: how.pop(name) for name in ("query", "headers", "body") if name in how}
        streamed: Any = self._client._streamed
        return ResponseManager(
            lambda: streamed._call(method, read_path(path), cast_to=object, options=how, **parts)
        )


class _RawCaller:
    """Answers an APIResponse in place of what was read from it; `resource.raw` gives the methods their types."""

    def __init__(self, client: Millwright) -> None:
        self._client = client

    def _call(
        self,
        method: str,
        template: str,
        path: Optional[Mapping[str, str]] = None,
        *,
        cast_to: Type[T],
        query: Optional[Mapping[str, Any]] = None,
        body: Any = NOT_GIVEN,
        headers: Optional[Mapping[str, Optional[str]]] = None,
        options: Optional[RequestOptions] = None,
        timeout: Union[float, None, NotGiven] = NOT_GIVEN,
    ) -> Any:
        outgoing = self._client._prepared(method, template, path, query, body, headers, options, timeout)
        answer = self._client._exchange.send(outgoing)

        def parse() -> T:
            return answer.read(lambda response: read_answer(cast_to, response, outgoing.label))

        return APIResponse(answer.response, parse, elapsed=answer.seconds, retries_taken=answer.retries)

    def _page(
        self,
        template: str,
        path: Optional[Mapping[str, str]] = None,
        *,
        cast_to: Type[Whole],
        items: Callable[[Whole], List[Item]],
        query: Optional[Mapping[str, Any]] = None,
        options: Optional[RequestOptions] = None,
    ) -> Any:
        listing = _Listing(self._client, template, path, cast_to, items, query, options)
        answer = listing.answer(query)

        def parse() -> Page[Item]:
            return listing.page(answer, 0, {})

        return APIResponse(answer.response, parse, elapsed=answer.seconds, retries_taken=answer.retries)

    def _stream(self, *arguments: Any, **how: Any) -> Any:
        return self._client._stream(*arguments, **how)

    def _wait(self, *arguments: Any, **how: Any) -> Any:
        return self._client._wait(*arguments, **how)

    @property
    def _raw(self) -> _RawCaller:
        return self

    @property
    def _streamed(self) -> _StreamingCaller:
        return self._client._streamed


class _StreamingCaller:
    """Answers an StreamedResponse in place of what was read from it; `streamed` gives the methods their types."""

    def __init__(self, client: Millwright) -> None:
        self._client = client

    def _call(
        self,
        method: str,
        template: str,
        path: Optional[Mapping[str, str]] = None,
        *,
        cast_to: Type[T],
        query: Optional[Mapping[str, Any]] = None,
        body: Any = NOT_GIVEN,
        headers: Optional[Mapping[str, Optional[str]]] = None,
        options: Optional[RequestOptions] = None,
        timeout: Union[float, None, NotGiven] = NOT_GIVEN,
    ) -> Any:
        outgoing = self._client._prepared(method, template, path, query, body, headers, options, timeout)
        exchange = self._client._exchange
        answer, attempt = exchange.begin(outgoing)

        def parse(read: Answer) -> T:
            return read.read(lambda response: read_answer(cast_to, response, outgoing.label))

        return StreamedResponse(exchange, answer, attempt, parse)

    def _page(
        self,
        template: str,
        path: Optional[Mapping[str, str]] = None,
        *,
        cast_to: Type[Whole],
        items: Callable[[Whole], List[Item]],
        query: Optional[Mapping[str, Any]] = None,
        options: Optional[RequestOptions] = None,
    ) -> Any:
        listing = _Listing(self._client, template, path, cast_to, items, query, options)
        exchange = self._client._exchange
        answer, attempt = exchange.begin(listing.outgoing(query))

        def parse(read: Answer) -> Page[Item]:
            return listing.page(read, 0, {})

        return StreamedResponse(exchange, answer, attempt, parse)

    def _stream(self, *arguments: Any, **how: Any) -> Any:
        return self._client._stream(*arguments, **how)

    def _wait(self, *arguments: Any, **how: Any) -> Any:
        return self._client._wait(*arguments, **how)

    @property
    def _raw(self) -> _RawCaller:
        return self._client._raw

    @property
    def _streamed(self) -> _StreamingCaller:
        return self


class _Listing:
    """A list that is read page by page."""

    def __init__(
        self,
        client: Millwright,
        template: str,
        path: Optional[Mapping[str, str]],
        cast_to: Type[Any],
        items: Callable[[Any], List[Any]],
        query: Optional[Mapping[str, Any]],
        options: Optional[RequestOptions],
    ) -> None:
        self._client = client
        self._template = template
        self._path = path
        self._cast_to = cast_to
        self._items = items
        self._query = query
        self._options = options
        self._label = f"GET {template}"

    def first(self) -> Page[Any]:
        """The page that was asked for."""
        answer = self.answer(self._query)
        return self.page(answer, 0, {})

    def answer(self, query: Optional[Mapping[str, Any]], cursor: Optional[str] = None) -> Answer:
        """The answer at a cursor; the other parameters are kept."""
        return self._client._exchange.send(self.outgoing(query, cursor))

    def outgoing(self, query: Optional[Mapping[str, Any]], cursor: Optional[str] = None) -> Outgoing:
        """The request of a page."""
        options = self._options
        if cursor is not None:
            told: RequestOptions = options or {}
            options = told.copy()
            options["extra_query"] = {**told.get("extra_query", {}), "cursor": cursor}
        return self._client._prepared(
            "GET", self._template, self._path, query, NOT_GIVEN, None, options, NOT_GIVEN
        )

    def page(self, answer: Answer, number: int, seen: Dict[str, int]) -> Page[Any]:
        """The page in an answer. Raises APIResponseValidationError."""
        items: List[Any]
        items, has_next, cursor = answer.read(
            lambda response: read_page(self._cast_to, self._items, response, self._label)
        )
        place = PagePlace(self._label, answer, number, seen, self._cast_to.model_fields)
        return Page(items, NextPage(has_next, cursor), place, self._next)

    def _next(self, cursor: str, place: PagePlace) -> Page[Any]:
        answer = self.answer(self._query, cursor)
        return self.page(answer, place.number + 1, place.seen)
