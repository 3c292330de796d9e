"""How this installation reaches others."""

from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from ..._options import RequestOptions
from ...types import EgressRanges
from ..resource import AsyncResource, async_raw
from ..streamed import async_streamed


class AsyncNetworking(AsyncResource):
    """How this installation reaches others."""

    _place = "networking"

    @cached_property
    def with_raw_response(self) -> AsyncNetworkingWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AsyncNetworkingWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> AsyncNetworkingWithStreamingResponse:
        """The same methods, each in an `async with` block whose response is read piece by piece."""
        return AsyncNetworkingWithStreamingResponse(self)

    async def egress_ranges(
        self,
        **options: Unpack[RequestOptions],
    ) -> EgressRanges:
        """See by which networks runs reach others.

        For lists of who is let in. The service tells what its operator says, and does not measure it.

        Needs the role `viewer` or one above it.

        Returns:
            The networks.

        Raises:
            AuthenticationError: the key is none.
        """
        return await self._client._call(
            "GET",
            "/networking/egress-ranges",
            cast_to=EgressRanges,
            options=options,
        )


class AsyncNetworkingWithRawResponse:
    """`AsyncNetworking` with responses as they came."""

    def __init__(self, resource: AsyncNetworking) -> None:
        unread = AsyncNetworking(resource._client._raw)
        self.egress_ranges = async_raw(unread.egress_ranges)


class AsyncNetworkingWithStreamingResponse:
    """`AsyncNetworking` with responses that are read piece by piece."""

    def __init__(self, resource: AsyncNetworking) -> None:
        unread = AsyncNetworking(resource._client._streamed)
        self.egress_ranges = async_streamed(unread.egress_ranges)
