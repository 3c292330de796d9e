# Generated from _async/resources/agent/environments.py by scripts/unasync.py; do not edit.
"""Environments that runs can work in."""

from __future__ import annotations

from functools import cached_property
from typing import Optional

from typing_extensions import Literal, Unpack

from ...._options import RequestOptions
from ....types import CloudEnvironmentList
from ...resource import Resource, sync_raw
from ...streamed import sync_streamed


class Environments(Resource):
    """Environments that runs can work in."""

    _place = "agent.environments"

    @cached_property
    def with_raw_response(self) -> EnvironmentsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return EnvironmentsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> EnvironmentsWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return EnvironmentsWithStreamingResponse(self)

    def list(
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
        return self._client._call(
            "GET",
            "/agent/environments",
            cast_to=CloudEnvironmentList,
            query={"sort_by": sort_by},
            options=options,
        )


class EnvironmentsWithRawResponse:
    """`Environments` with responses as they came."""

    def __init__(self, resource: Environments) -> None:
        unread = Environments(resource._client._raw)
        self.list = sync_raw(unread.list)


class EnvironmentsWithStreamingResponse:
    """`Environments` with responses that are read piece by piece."""

    def __init__(self, resource: Environments) -> None:
        unread = Environments(resource._client._streamed)
        self.list = sync_streamed(unread.list)
