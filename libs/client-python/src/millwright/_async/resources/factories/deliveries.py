"""What was delivered to a webhook, and what became of it."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Optional, Sequence, Union

from typing_extensions import Literal, Unpack

from ...._options import DOWNLOAD_TIMEOUT_SECONDS, RequestOptions
from ....types import Delivery, DeliveryList
from ...pages import AsyncPaginator
from ...resource import AsyncResource, async_raw, async_raw_page
from ...streamed import async_streamed, async_streamed_page


class AsyncDeliveries(AsyncResource):
    """What was delivered to a webhook, and what became of it."""

    _place = "factories.deliveries"

    @cached_property
    def with_raw_response(self) -> AsyncDeliveriesWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AsyncDeliveriesWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> AsyncDeliveriesWithStreamingResponse:
        """The same methods, each in an `async with` block whose response is read piece by piece."""
        return AsyncDeliveriesWithStreamingResponse(self)

    def list(
        self,
        factory_uid: str,
        webhook_uid: str,
        *,
        outcome: Optional[Union[Literal["Accepted", "Duplicate", "Rejected (auth)", "Rejected (invalid JSON)", "Rejected (too large)", "Throttled"], Sequence[Literal["Accepted", "Duplicate", "Rejected (auth)", "Rejected (invalid JSON)", "Rejected (too large)", "Throttled"]]]] = None,
        since: Optional[Union[datetime, str]] = None,
        until: Optional[Union[datetime, str]] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[Delivery]:
        """List deliveries.

        At least the latest 50 deliveries and 7 days are kept.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.
            webhook_uid: The webhook.
            outcome: Outcomes to show; all by default.
            since: Received at this time or later.
            until: Received before this time.
            limit: Entries on a page at most.
            cursor: Where the page begins: `next_cursor` of an answer to the same query.

        Returns:
            A page of Delivery, and every Delivery of every page when iterated.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._page(
            "/factory/{factory_uid}/webhooks/{webhook_uid}/deliveries",
            {"factory_uid": factory_uid, "webhook_uid": webhook_uid},
            cast_to=DeliveryList,
            items=lambda page: page.deliveries,
            query={"outcome": outcome, "since": since, "until": until, "limit": limit, "cursor": cursor},
            options=options,
        )

    async def retrieve(
        self,
        factory_uid: str,
        webhook_uid: str,
        entry_id: str,
        **options: Unpack[RequestOptions],
    ) -> Delivery:
        """Look at a delivery.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.
            webhook_uid: The webhook.
            entry_id: The log entry.

        Returns:
            The entry.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return await self._client._call(
            "GET",
            "/factory/{factory_uid}/webhooks/{webhook_uid}/deliveries/{entry_id}",
            {"factory_uid": factory_uid, "webhook_uid": webhook_uid, "entry_id": entry_id},
            cast_to=Delivery,
            options=options,
        )

    async def payload(
        self,
        factory_uid: str,
        webhook_uid: str,
        entry_id: str,
        **options: Unpack[RequestOptions],
    ) -> bytes:
        """Download a payload.

        Of accepted deliveries only. 422: it is damaged and cannot be read any more.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.
            webhook_uid: The webhook.
            entry_id: The log entry.

        Returns:
            The exact bytes that were received, byte for byte.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
            UnprocessableEntityError: known, and not possible here.
        """
        return await self._client._call(
            "GET",
            "/factory/{factory_uid}/webhooks/{webhook_uid}/deliveries/{entry_id}/payload",
            {"factory_uid": factory_uid, "webhook_uid": webhook_uid, "entry_id": entry_id},
            cast_to=bytes,
            headers={"Accept": "application/octet-stream"},
            timeout=DOWNLOAD_TIMEOUT_SECONDS,
            options=options,
        )

    async def resend(
        self,
        factory_uid: str,
        webhook_uid: str,
        entry_id: str,
        **options: Unpack[RequestOptions],
    ) -> Delivery:
        """Deliver stored bytes again.

        Treats the stored bytes of an accepted delivery as a new delivery of the same webhook, as it is defined now;
        its identity is `resend:<entry>:<n>`, so that it is never a duplicate of the first. Counts against the
        webhook's rate: 429. 409 where the webhook is disabled. 422: the delivery was not accepted, so that its bytes
        were not kept, or they are damaged.

        Needs the role `operator` or one above it.

        Args:
            factory_uid: The factory.
            webhook_uid: The webhook.
            entry_id: The log entry.

        Returns:
            The new entry, with the runs that it started.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
            UnprocessableEntityError: known, and not possible here.
        """
        return await self._client._call(
            "POST",
            "/factory/{factory_uid}/webhooks/{webhook_uid}/deliveries/{entry_id}/resend",
            {"factory_uid": factory_uid, "webhook_uid": webhook_uid, "entry_id": entry_id},
            cast_to=Delivery,
            options=options,
        )


class AsyncDeliveriesWithRawResponse:
    """`AsyncDeliveries` with responses as they came."""

    def __init__(self, resource: AsyncDeliveries) -> None:
        unread = AsyncDeliveries(resource._client._raw)
        self.list = async_raw_page(unread.list)
        self.retrieve = async_raw(unread.retrieve)
        self.payload = async_raw(unread.payload)
        self.resend = async_raw(unread.resend)


class AsyncDeliveriesWithStreamingResponse:
    """`AsyncDeliveries` with responses that are read piece by piece."""

    def __init__(self, resource: AsyncDeliveries) -> None:
        unread = AsyncDeliveries(resource._client._streamed)
        self.list = async_streamed_page(unread.list)
        self.retrieve = async_streamed(unread.retrieve)
        self.payload = async_streamed(unread.payload)
        self.resend = async_streamed(unread.resend)
