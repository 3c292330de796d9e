# Generated from _async/pages.py by scripts/unasync.py; do not edit.
"""Lists that come in pages."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Iterator, Callable, Collection, Dict, Generic, List, NamedTuple, Optional, TypeVar

from .._answers import read_answer
from .._errors import APIResponseValidationError, MillwrightError
from .._exchange import Answer

if TYPE_CHECKING:
    from ..types import (
        ApiKey,
        AuditEntry,
        Automation,
        ConversationStep,
        Delivery,
        Factory,
        FactoryEvent,
        PullRequest,
        RunItem,
        Secret,
        Sync,
    )

Item = TypeVar("Item")


class NextPage(NamedTuple):
    """Whether a list goes on, and where."""

    has_next_page: bool
    next_cursor: Optional[str]


class PagePlace(NamedTuple):
    """Where in a list a page stands."""

    label: str
    """`GET /path`, for messages."""
    answer: Answer
    """What it was read of."""
    number: int
    """Which page of the list it is, from 0."""
    seen: Dict[str, int]
    """Every cursor that was answered, with the page that it came with."""
    members: Collection[str]
    """What the answer has; one of them are the items."""


class Page(Generic[Item]):
    """One page. Iterating goes over its items and those of all further pages."""

    items: List[Item]
    page_info: NextPage
    def __init__(
        self,
        items: List[Item],
        page_info: NextPage,
        place: PagePlace,
        fetch: Callable[[str, PagePlace], Page[Item]],
    ) -> None:
        self.items = items
        self.page_info = page_info
        self._place = place
        self._fetch = fetch

    @cached_property
    def body(self) -> Any:
        """The answer as it was received, as JSON."""
        return read_answer(object, self._place.answer.response, self._place.label)

    @property
    def runs(self: Page[RunItem]) -> List[RunItem]:
        """The items of a list of runs."""
        return self._items_of("runs")

    @property
    def steps(self: Page[ConversationStep]) -> List[ConversationStep]:
        """The items of a conversation."""
        return self._items_of("steps")

    @property
    def factories(self: Page[Factory]) -> List[Factory]:
        """The items of a list of factories."""
        return self._items_of("factories")

    @property
    def automations(self: Page[Automation]) -> List[Automation]:
        """The items of a list of automations."""
        return self._items_of("automations")

    @property
    def deliveries(self: Page[Delivery]) -> List[Delivery]:
        """The items of a delivery log."""
        return self._items_of("deliveries")

    @property
    def events(self: Page[FactoryEvent]) -> List[FactoryEvent]:
        """The items of a list of events of factories."""
        return self._items_of("events")

    @property
    def syncs(self: Page[Sync]) -> List[Sync]:
        """The items of a list of passes."""
        return self._items_of("syncs")

    @property
    def pull_requests(self: Page[PullRequest]) -> List[PullRequest]:
        """The items of a list of pull requests."""
        return self._items_of("pull_requests")

    @property
    def secrets(self: Page[Secret]) -> List[Secret]:
        """The items of a list of secrets."""
        return self._items_of("secrets")

    @property
    def api_keys(self: Page[ApiKey]) -> List[ApiKey]:
        """The items of a list of API keys."""
        return self._items_of("api_keys")

    @property
    def entries(self: Page[AuditEntry]) -> List[AuditEntry]:
        """The items of the audit log."""
        return self._items_of("entries")

    def _items_of(self, name: str) -> List[Item]:
        if name not in self._place.members:
            raise AttributeError(f"this page has no {name}; its items are `items`")
        return self.items

    def has_next_page(self) -> bool:
        """Whether there is a further page; a page without items can have one."""
        return self._next_cursor() is not None

    def get_next_page(self) -> Page[Item]:
        """Asks for the next page. Raises MillwrightError when this is the last, APIResponseValidationError when the list goes round in a circle."""
        cursor = self._next_cursor()
        if cursor is None:
            raise MillwrightError("this page is the last one; ask has_next_page() before")
        place = self._place
        if place.seen.setdefault(cursor, place.number) != place.number:
            raise APIResponseValidationError(
                f"{place.label}: the list goes round in a circle: a cursor was answered for the second time",
                response=place.answer.shown(),
                pointer="/page_info/next_cursor",
                expected="a cursor that was not answered before",
            )
        return self._fetch(cursor, place)

    def iter_pages(self) -> Iterator[Page[Item]]:
        """This page and all that follow."""
        page = self
        yield page
        while page.has_next_page():
            page = page.get_next_page()
            yield page

    def __iter__(self) -> Iterator[Item]:
        for page in self.iter_pages():
            for item in page.items:
                yield item

    def _next_cursor(self) -> Optional[str]:
        return (self.page_info.next_cursor or None) if self.page_info.has_next_page else None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.items)} items{', with a next one' if self.has_next_page() else ''}>"


