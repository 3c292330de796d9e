"""Open pull requests of the repository that a factory follows."""

from __future__ import annotations

from functools import cached_property
from typing import Optional

from typing_extensions import Unpack

from ...._options import RequestOptions
from ....types import PullRequest, PullRequestList
from ...pages import AsyncPaginator
from ...resource import AsyncResource, async_raw_page
from ...streamed import async_streamed_page


class AsyncPullRequests(AsyncResource):
    """Open pull requests of the repository that a factory follows."""

    _place = "factories.pull_requests"

    @cached_property
    def with_raw_response(self) -> AsyncPullRequestsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AsyncPullRequestsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> AsyncPullRequestsWithStreamingResponse:
        """The same methods, each in an `async with` block whose response is read piece by piece."""
        return AsyncPullRequestsWithStreamingResponse(self)

    def list(
        self,
        factory_uid: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[PullRequest]:
        """List open pull requests with their verdicts.

        Of a factory whose source names a forge: what its open pull requests for the followed branch would do, as it
        was judged last, and whether the forge has it. Empty where the source names none.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.
            limit: Pull requests on a page at most.
            cursor: Where the page begins: `next_cursor` of an answer to the same query.

        Returns:
            A page of PullRequest, and every PullRequest of every page when iterated.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._page(
            "/factory/{factory_uid}/pull-requests",
            {"factory_uid": factory_uid},
            cast_to=PullRequestList,
            items=lambda page: page.pull_requests,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )


class AsyncPullRequestsWithRawResponse:
    """`AsyncPullRequests` with responses as they came."""

    def __init__(self, resource: AsyncPullRequests) -> None:
        unread = AsyncPullRequests(resource._client._raw)
        self.list = async_raw_page(unread.list)


class AsyncPullRequestsWithStreamingResponse:
    """`AsyncPullRequests` with responses that are read piece by piece."""

    def __init__(self, resource: AsyncPullRequests) -> None:
        unread = AsyncPullRequests(resource._client._streamed)
        self.list = async_streamed_page(unread.list)
