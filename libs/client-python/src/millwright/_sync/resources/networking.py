# Generated from _async/resources/networking.py by scripts/unasync.py; do not edit.
"""How this installation reaches others."""

from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from ..._options import RequestOptions
from ...types import EgressRanges
from ..resource import Resource, sync_raw
from ..streamed import sync_streamed


class Networking(Resource):
    """How this installation reaches others."""

    _place = "networking"

    @cached_property
    def with_raw_response(self) -> NetworkingWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return NetworkingWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> NetworkingWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return NetworkingWithStreamingResponse(self)

    def egress_ranges(
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
        return self._client._call(
            "GET",
            "/networking/egress-ranges",
            cast_to=EgressRanges,
            options=options,
        )


class NetworkingWithRawResponse:
    """`Networking` with responses as they came."""

    def __init__(self, resource: Networking) -> None:
        unread = Networking(resource._client._raw)
        self.egress_ranges = sync_raw(unread.egress_ranges)


class NetworkingWithStreamingResponse:
    """`Networking` with responses that are read piece by piece."""

    def __init__(self, resource: Networking) -> None:
        unread = Networking(resource._client._streamed)
        self.egress_ranges = sync_streamed(unread.egress_ranges)
