# Generated from _async/resources/statistics.py by scripts/unasync.py; do not edit.
"""Counts over time."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Optional, Union

from typing_extensions import Unpack

from ..._options import RequestOptions
from ...types import DeliveryStatistics, RunStatistics
from ..resource import Resource, sync_raw
from ..streamed import sync_streamed


class Statistics(Resource):
    """Counts over time."""

    _place = "statistics"

    @cached_property
    def with_raw_response(self) -> StatisticsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return StatisticsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> StatisticsWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return StatisticsWithStreamingResponse(self)

    def deliveries(
        self,
        *,
        factory_uid: Optional[str] = None,
        webhook_uid: Optional[str] = None,
        since: Optional[Union[datetime, str]] = None,
        until: Optional[Union[datetime, str]] = None,
        buckets: Optional[int] = None,
        **options: Unpack[RequestOptions],
    ) -> DeliveryStatistics:
        """Count deliveries.

        At most 31 days at once; the log keeps at least 7 days. Buckets lie in UTC and are counted whole. An answer
        may be a few seconds old. Of a webhook that is not among what is asked for there are none.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: Of one factory; of all that the key may see by default.
            webhook_uid: Of one webhook.
            since: Begin; a day before the end by default.
            until: End; now by default.
            buckets: About how many buckets; their length is a round one between a minute and a week.

        Returns:
            The counts.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call(
            "GET",
            "/statistics/deliveries",
            cast_to=DeliveryStatistics,
            query={
                "factory_uid": factory_uid,
                "webhook_uid": webhook_uid,
                "since": since,
                "until": until,
                "buckets": buckets,
            },
            options=options,
        )

    def runs(
        self,
        *,
        factory_uid: Optional[str] = None,
        automation_id: Optional[str] = None,
        webhook_uid: Optional[str] = None,
        since: Optional[Union[datetime, str]] = None,
        until: Optional[Union[datetime, str]] = None,
        buckets: Optional[int] = None,
        **options: Unpack[RequestOptions],
    ) -> RunStatistics:
        """Count runs.

        At most 31 days at once. Buckets lie in UTC and are counted whole. An answer may be a few seconds old. Of an
        automation or a webhook that is not among what is asked for there are none.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: Of one factory; of all that the key may see by default.
            automation_id: Of one automation.
            webhook_uid: Of one webhook.
            since: Begin; a day before the end by default.
            until: End; now by default.
            buckets: About how many buckets; their length is a round one between a minute and a week.

        Returns:
            The counts.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call(
            "GET",
            "/statistics/runs",
            cast_to=RunStatistics,
            query={
                "factory_uid": factory_uid,
                "automation_id": automation_id,
                "webhook_uid": webhook_uid,
                "since": since,
                "until": until,
                "buckets": buckets,
            },
            options=options,
        )


class StatisticsWithRawResponse:
    """`Statistics` with responses as they came."""

    def __init__(self, resource: Statistics) -> None:
        unread = Statistics(resource._client._raw)
        self.deliveries = sync_raw(unread.deliveries)
        self.runs = sync_raw(unread.runs)


class StatisticsWithStreamingResponse:
    """`Statistics` with responses that are read piece by piece."""

    def __init__(self, resource: Statistics) -> None:
        unread = Statistics(resource._client._streamed)
        self.deliveries = sync_streamed(unread.deliveries)
        self.runs = sync_streamed(unread.runs)
