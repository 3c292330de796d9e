# Generated from _async/resources/factories/pull_requests.py by scripts/unasync.py; do not edit.
"""Open pull requests of the repository that a factory follows."""

from __future__ import annotations

from functools import cached_property
from typing import Optional

from typing_extensions import Unpack

from ...._options import RequestOptions
from ....types import PullRequest, PullRequestList
from ...pages import Page
from ...resource import Resource, sync_raw_page
from ...streamed import sync_streamed_page


class PullRequests(Resource):
    """Open pull requests of the repository that a factory follows."""

    _place = "factories.pull_requests"

    @cached_property
    def with_raw_response(self) -> PullRequestsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return PullRequestsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> PullRequestsWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return PullRequestsWithStreamingResponse(self)

    def list(
        self,
        factory_uid: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> Page[PullRequest]:
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


class PullRequestsWithRawResponse:
    """`PullRequests` with responses as they came."""

    def __init__(self, resource: PullRequests) -> None:
        unread = PullRequests(resource._client._raw)
        self.list = sync_raw_page(unread.list)


class PullRequestsWithStreamingResponse:
    """`PullRequests` with responses that are read piece by piece."""

    def __init__(self, resource: PullRequests) -> None:
        unread = PullRequests(resource._client._streamed)
        self.list = sync_streamed_page(unread.list)
