"""Passes of a factory: what each found and did."""

from __future__ import annotations

from functools import cached_property
from typing import Optional

from typing_extensions import Unpack

from ...._options import RequestOptions
from ....types import Sync, SyncList
from ...pages import AsyncPaginator
from ...resource import AsyncResource, async_raw, async_raw_page
from ...streamed import async_streamed, async_streamed_page


class AsyncSyncs(AsyncResource):
    """Passes of a factory: what each found and did."""

    _place = "factories.syncs"

    @cached_property
    def with_raw_response(self) -> AsyncSyncsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AsyncSyncsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> AsyncSyncsWithStreamingResponse:
        """The same methods, each in an `async with` block whose response is read piece by piece."""
        return AsyncSyncsWithStreamingResponse(self)

    def list(
        self,
        factory_uid: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[Sync]:
        """List passes.

        Passes that brought nothing new are not recorded.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.
            limit: Passes on a page at most.
            cursor: Where the page begins: `next_cursor` of an answer to the same query.

        Returns:
            A page of Sync, and every Sync of every page when iterated.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._page(
            "/factory/{factory_uid}/syncs",
            {"factory_uid": factory_uid},
            cast_to=SyncList,
            items=lambda page: page.syncs,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def retrieve(self, factory_uid: str, sync_id: str, **options: Unpack[RequestOptions]) -> Sync:
        """Look at a pass.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.
            sync_id: The pass.

        Returns:
            The pass.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return await self._client._call(
            "GET",
            "/factory/{factory_uid}/syncs/{sync_id}",
            {"factory_uid": factory_uid, "sync_id": sync_id},
            cast_to=Sync,
            options=options,
        )


class AsyncSyncsWithRawResponse:
    """`AsyncSyncs` with responses as they came."""

    def __init__(self, resource: AsyncSyncs) -> None:
        unread = AsyncSyncs(resource._client._raw)
        self.list = async_raw_page(unread.list)
        self.retrieve = async_raw(unread.retrieve)


class AsyncSyncsWithStreamingResponse:
    """`AsyncSyncs` with responses that are read piece by piece."""

    def __init__(self, resource: AsyncSyncs) -> None:
        unread = AsyncSyncs(resource._client._streamed)
        self.list = async_streamed_page(unread.list)
        self.retrieve = async_streamed(unread.retrieve)
