"""Why a run or a delivery came to be what it is."""

from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from ..._options import RequestOptions
from ...types import Explanation
from ..resource import AsyncResource, async_raw
from ..streamed import async_streamed


class AsyncExplanations(AsyncResource):
    """Why a run or a delivery came to be what it is."""

    _place = "explanations"

    @cached_property
    def with_raw_response(self) -> AsyncExplanationsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AsyncExplanationsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> AsyncExplanationsWithStreamingResponse:
        """The same methods, each in an `async with` block whose response is read piece by piece."""
        return AsyncExplanationsWithStreamingResponse(self)

    async def retrieve(self, id: str, **options: Unpack[RequestOptions]) -> Explanation:
        """Explain a delivery or a run.

        Which revision, file, webhook, automation, trigger and filter decided it, and why other automations did not
        fire. Holds no value of a payload.

        Needs the role `viewer` or one above it.

        Args:
            id: `entry_id` of a delivery, or the ID of a run.

        Returns:
            The explanation.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return await self._client._call("GET", "/explanations/{id}", {"id": id}, cast_to=Explanation, options=options)


class AsyncExplanationsWithRawResponse:
    """`AsyncExplanations` with responses as they came."""

    def __init__(self, resource: AsyncExplanations) -> None:
        unread = AsyncExplanations(resource._client._raw)
        self.retrieve = async_raw(unread.retrieve)


class AsyncExplanationsWithStreamingResponse:
    """`AsyncExplanations` with responses that are read piece by piece."""

    def __init__(self, resource: AsyncExplanations) -> None:
        unread = AsyncExplanations(resource._client._streamed)
        self.retrieve = async_streamed(unread.retrieve)
