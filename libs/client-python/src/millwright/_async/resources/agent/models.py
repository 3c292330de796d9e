"""Models that runs can use."""

from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from ...._options import RequestOptions
from ....types import ModelList
from ...resource import AsyncResource, async_raw
from ...streamed import async_streamed


class AsyncModels(AsyncResource):
    """Models that runs can use."""

    _place = "agent.models"

    @cached_property
    def with_raw_response(self) -> AsyncModelsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AsyncModelsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> AsyncModelsWithStreamingResponse:
        """The same methods, each in an `async with` block whose response is read piece by piece."""
        return AsyncModelsWithStreamingResponse(self)

    async def list(self, **options: Unpack[RequestOptions]) -> ModelList:
        """List models.

        Those that the operator lists, and those that definitions of the factories name that the key may see. Any
        other ID may be named, too: what it does is up to the harness.

        Needs the role `viewer` or one above it.

        Returns:
            The models.
        """
        return await self._client._call("GET", "/agent/models", cast_to=ModelList, options=options)


class AsyncModelsWithRawResponse:
    """`AsyncModels` with responses as they came."""

    def __init__(self, resource: AsyncModels) -> None:
        unread = AsyncModels(resource._client._raw)
        self.list = async_raw(unread.list)


class AsyncModelsWithStreamingResponse:
    """`AsyncModels` with responses that are read piece by piece."""

    def __init__(self, resource: AsyncModels) -> None:
        unread = AsyncModels(resource._client._streamed)
        self.list = async_streamed(unread.list)
