# Generated from _async/resources/agent/models.py by scripts/unasync.py; do not edit.
"""Models that runs can use."""

from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from ...._options import RequestOptions
from ....types import ModelList
from ...resource import Resource, sync_raw
from ...streamed import sync_streamed


class Models(Resource):
    """Models that runs can use."""

    _place = "agent.models"

    @cached_property
    def with_raw_response(self) -> ModelsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return ModelsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> ModelsWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return ModelsWithStreamingResponse(self)

    def list(self, **options: Unpack[RequestOptions]) -> ModelList:
        """List models.

        Those that the operator lists, and those that definitions of the factories name that the key may see. Any
        other ID may be named, too: what it does is up to the harness.

        Needs the role `viewer` or one above it.

        Returns:
            The models.
        """
        return self._client._call("GET", "/agent/models", cast_to=ModelList, options=options)


class ModelsWithRawResponse:
    """`Models` with responses as they came."""

    def __init__(self, resource: Models) -> None:
        unread = Models(resource._client._raw)
        self.list = sync_raw(unread.list)


class ModelsWithStreamingResponse:
    """`Models` with responses that are read piece by piece."""

    def __init__(self, resource: Models) -> None:
        unread = Models(resource._client._streamed)
        self.list = sync_streamed(unread.list)
