# Generated from _async/resources/signature_schemes.py by scripts/unasync.py; do not edit.
"""How providers sign their deliveries."""

from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from ..._options import RequestOptions
from ...types import SignatureSchemeList
from ..resource import Resource, sync_raw
from ..streamed import sync_streamed


class SignatureSchemes(Resource):
    """How providers sign their deliveries."""

    _place = "signature_schemes"

    @cached_property
    def with_raw_response(self) -> SignatureSchemesWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return SignatureSchemesWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> SignatureSchemesWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return SignatureSchemesWithStreamingResponse(self)

    def list(self, **options: Unpack[RequestOptions]) -> SignatureSchemeList:
        """List signature schemes.

        Needs the role `viewer` or one above it.

        Returns:
            What `signature_scheme` of a webhook may name.
        """
        return self._client._call("GET", "/signature-schemes", cast_to=SignatureSchemeList, options=options)


class SignatureSchemesWithRawResponse:
    """`SignatureSchemes` with responses as they came."""

    def __init__(self, resource: SignatureSchemes) -> None:
        unread = SignatureSchemes(resource._client._raw)
        self.list = sync_raw(unread.list)


class SignatureSchemesWithStreamingResponse:
    """`SignatureSchemes` with responses that are read piece by piece."""

    def __init__(self, resource: SignatureSchemes) -> None:
        unread = SignatureSchemes(resource._client._streamed)
        self.list = sync_streamed(unread.list)
