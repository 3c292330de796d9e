"""What every resource stands on: a caller that sends requests, and the twin that answers raw responses."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Collection, List, Mapping, Optional, Type, TypeVar, Union

from typing_extensions import ParamSpec, Protocol

from .._answers import Whole
from .._options import NOT_GIVEN, NotGiven, RequestOptions, WaitOptions
from .._outages import DEFAULT_RECONNECT_TIMEOUT_SECONDS
from .._responses import APIResponse
from .event_stream import AsyncEventStream, Event
from .pages import AsyncPage, AsyncPaginator

T = TypeVar("T")
Item = TypeVar("Item")
P = ParamSpec("P")


class AsyncCaller(Protocol):
    """The side of a client that resources see.

    `template` is the path below /api/v1 with its parameters in braces, `path` their values: checked and
    percent-encoded before anything is sent. In `query` None is left out, a list is repeated and a mapping becomes
    `name[key]=value`. In `body` members that are NOT_GIVEN are left out. `cast_to` is a model, or str, bytes (the body
    as it came), type(None) (204) or object (JSON unchecked).
    """

    async def _call(
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
        """Sends a request and answers its checked answer. `timeout`: of this operation, where the call names none."""
        ...

    def _page(
        self,
        template: str,
        path: Optional[Mapping[str, str]] = None,
        *,
        cast_to: Type[Whole],
        items: Callable[[Whole], List[Item]],
        query: Optional[Mapping[str, Any]] = None,
        options: Optional[RequestOptions] = None,
    ) -> AsyncPaginator[Item]:
        """GETs a list, whose pages are `cast_to` and have their `items` there; page_info says how it goes on."""
        ...

    def _stream(
        self,
        template: str,
        path: Mapping[str, str],
        *,
        event: Type[Event],
        after: int = 0,
        reconnect_timeout: Optional[float] = DEFAULT_RECONNECT_TIMEOUT_SECONDS,
        options: Optional[RequestOptions] = None,
    ) -> AsyncEventStream[Event]:
        """Server-sent events behind entry `after`, across lost connections. Nothing is sent before it is iterated."""
        ...

    async def _wait(
        self,
        retrieve: Callable[[WaitOptions], Awaitable[T]],
        *,
        timeout: Optional[float] = None,
        poll_interval: Optional[float] = None,
        until: Union[str, Collection[str], None] = None,
        reconnect_timeout: Optional[float] = DEFAULT_RECONNECT_TIMEOUT_SECONDS,
        options: Optional[WaitOptions] = None,
    ) -> T:
        """Asks `retrieve`, at once for the first time and with options for this one look, until the member `state` of its answer is one of `until` (default: the ends of a run), and again where the service was away."""
        ...

    @property
    def _raw(self) -> Any:
        """The AsyncCaller whose `_call` and `_page` answer an APIResponse in place of what was read from it."""
        ...

    @property
    def _streamed(self) -> Any:
        """The same with an AsyncStreamedResponse."""
        ...


class AsyncResource:
    """One resource of the service."""

    _place = ""
    """Under which name a client has it."""

    def __init__(self, client: AsyncCaller) -> None:
        self._client = client


def async_raw(method: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[APIResponse[T]]]:
    """The type of a method of a resource that was made with the caller `_raw`.

    class AsyncThingsWithRawResponse:
        def __init__(self, things: AsyncThings) -> None:
            raw = AsyncThings(things._client._raw)
            self.retrieve = async_raw(raw.retrieve)
            self.list = async_raw_page(raw.list)
    """
    typed: Any = method
    return typed  # type: ignore[no-any-return]


def async_raw_page(
    method: Callable[P, AsyncPaginator[Item]],
) -> Callable[P, Awaitable[APIResponse[AsyncPage[Item]]]]:
    """As `async_raw`, for a method that answers pages."""
    typed: Any = method
    return typed  # type: ignore[no-any-return]
