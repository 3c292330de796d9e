# Generated from _async/resources/agent/artifacts.py by scripts/unasync.py; do not edit.
"""What runs have made."""

from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from ...._options import DOWNLOAD_TIMEOUT_SECONDS, RequestOptions
from ....types import ArtifactItem
from ...resource import Resource, sync_raw
from ...streamed import sync_streamed


class Artifacts(Resource):
    """What runs have made."""

    _place = "agent.artifacts"

    @cached_property
    def with_raw_response(self) -> ArtifactsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return ArtifactsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> ArtifactsWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return ArtifactsWithStreamingResponse(self)

    def retrieve(self, artifact_uid: str, **options: Unpack[RequestOptions]) -> ArtifactItem:
        """Look at an artifact.

        Needs the role `viewer` or one above it.

        Args:
            artifact_uid: The artifact.

        Returns:
            The artifact without its content.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call(
            "GET",
            "/agent/artifacts/{artifact_uid}",
            {"artifact_uid": artifact_uid},
            cast_to=ArtifactItem,
            options=options,
        )

    def download(self, artifact_uid: str, **options: Unpack[RequestOptions]) -> bytes:
        """Download an artifact.

        The bytes as the run left them, as an attachment that no browser renders. 404 for an artifact that is no file.

        Needs the role `viewer` or one above it.

        Args:
            artifact_uid: The artifact.

        Returns:
            The content, byte for byte.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call(
            "GET",
            "/agent/artifacts/{artifact_uid}/download",
            {"artifact_uid": artifact_uid},
            cast_to=bytes,
            headers={"Accept": "application/octet-stream"},
            timeout=DOWNLOAD_TIMEOUT_SECONDS,
            options=options,
        )


class ArtifactsWithRawResponse:
    """`Artifacts` with responses as they came."""

    def __init__(self, resource: Artifacts) -> None:
        unread = Artifacts(resource._client._raw)
        self.retrieve = sync_raw(unread.retrieve)
        self.download = sync_raw(unread.download)


class ArtifactsWithStreamingResponse:
    """`Artifacts` with responses that are read piece by piece."""

    def __init__(self, resource: Artifacts) -> None:
        unread = Artifacts(resource._client._streamed)
        self.retrieve = sync_streamed(unread.retrieve)
        self.download = sync_streamed(unread.download)
