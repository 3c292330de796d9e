# Generated from _async/resources/explanations.py by scripts/unasync.py; do not edit.
"""Why a run or a delivery came to be what it is."""

from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from ..._options import RequestOptions
from ...types import Explanation
from ..resource import Resource, sync_raw
from ..streamed import sync_streamed


class Explanations(Resource):
    """Why a run or a delivery came to be what it is."""

    _place = "explanations"

    @cached_property
    def with_raw_response(self) -> ExplanationsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return ExplanationsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> ExplanationsWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return ExplanationsWithStreamingResponse(self)

    def retrieve(self, id: str, **options: Unpack[RequestOptions]) -> Explanation:
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
        return self._client._call("GET", "/explanations/{id}", {"id": id}, cast_to=Explanation, options=options)


class ExplanationsWithRawResponse:
    """`Explanations` with responses as they came."""

    def __init__(self, resource: Explanations) -> None:
        unread = Explanations(resource._client._raw)
        self.retrieve = sync_raw(unread.retrieve)


class ExplanationsWithStreamingResponse:
    """`Explanations` with responses that are read piece by piece."""

    def __init__(self, resource: Explanations) -> None:
        unread = Explanations(resource._client._streamed)
        self.retrieve = sync_streamed(unread.retrieve)
