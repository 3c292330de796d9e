"""Environments that runs can work in."""

from __future__ import annotations

from functools import cached_property
from typing import Optional

from typing_extensions import Literal, Unpack

from ...._options import RequestOptions
from ....types import CloudEnvironmentList
from ...resource import AsyncResource, async_raw
from ...streamed import async_streamed


class AsyncEnvironments(AsyncResource):
    """Environments that runs can work in."""

    _place = "agent.environments"

    @cached_property
    def with_raw_response(self) -> AsyncEnvironmentsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AsyncEnvironmentsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> AsyncEnvironmentsWithStreamingResponse:
        """The same methods, each in an `async with` block whose response is read piece by piece."""
        return AsyncEnvironmentsWithStreamingResponse(self)

    async def list(
        self,
        *,
        sort_by: Optional[Literal["name", "last_updated"]] = None,
        **options: Unpack[RequestOptions],
    ) -> CloudEnvironmentList:
        """List environments.

        Needs the role `viewer` or one above it.

        Args:
            sort_by: name: by name. last_updated: the one that changed last comes first.

        Returns:
            Environments of the factories that the key may see.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
        """
        return await self._client._call(
            "GET",
            "/agent/environments",
            cast_to=CloudEnvironmentList,
            query={"sort_by": sort_by},
            options=options,
        )


class AsyncEnvironmentsWithRawResponse:
    """`AsyncEnvironments` with responses as they came."""

    def __init__(self, resource: AsyncEnvironments) -> None:
        unread = AsyncEnvironments(resource._client._raw)
        self.list = async_raw(unread.list)


class AsyncEnvironmentsWithStreamingResponse:
    """`AsyncEnvironments` with responses that are read piece by piece."""

    def __init__(self, resource: AsyncEnvironments) -> None:
        unread = AsyncEnvironments(resource._client._streamed)
        self.list = async_streamed(unread.list)
