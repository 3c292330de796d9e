"""How providers sign their deliveries."""

from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from ..._options import RequestOptions
from ...types import SignatureSchemeList
from ..resource import AsyncResource, async_raw
from ..streamed import async_streamed


class AsyncSignatureSchemes(AsyncResource):
    """How providers sign their deliveries."""

    _place = "signature_schemes"

    @cached_property
    def with_raw_response(self) -> AsyncSignatureSchemesWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AsyncSignatureSchemesWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> AsyncSignatureSchemesWithStreamingResponse:
        """The same methods, each in an `async with` block whose response is read piece by piece."""
        return AsyncSignatureSchemesWithStreamingResponse(self)

    async def list(self, **options: Unpack[RequestOptions]) -> SignatureSchemeList:
        """List signature schemes.

        Needs the role `viewer` or one above it.

        Returns:
            What `signature_scheme` of a webhook may name.
        """
        return await self._client._call("GET", "/signature-schemes", cast_to=SignatureSchemeList, options=options)


class AsyncSignatureSchemesWithRawResponse:
    """`AsyncSignatureSchemes` with responses as they came."""

    def __init__(self, resource: AsyncSignatureSchemes) -> None:
        unread = AsyncSignatureSchemes(resource._client._raw)
        self.list = async_raw(unread.list)


class AsyncSignatureSchemesWithStreamingResponse:
    """`AsyncSignatureSchemes` with responses that are read piece by piece."""

    def __init__(self, resource: AsyncSignatureSchemes) -> None:
        unread = AsyncSignatureSchemes(resource._client._streamed)
        self.list = async_streamed(unread.list)
