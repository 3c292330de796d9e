# Generated from _async/resources/audit.py by scripts/unasync.py; do not edit.
"""Who changed what, when, from where."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Optional, Union

from typing_extensions import Unpack

from ..._options import RequestOptions
from ...types import AuditEntry, AuditList
from ..pages import Page
from ..resource import Resource, sync_raw_page
from ..streamed import sync_streamed_page


class Audit(Resource):
    """Who changed what, when, from where."""

    _place = "audit"

    @cached_property
    def with_raw_response(self) -> AuditWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AuditWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> AuditWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return AuditWithStreamingResponse(self)

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        actor: Optional[str] = None,
        action: Optional[str] = None,
        subject: Optional[str] = None,
        factory_uid: Optional[str] = None,
        since: Optional[Union[datetime, str]] = None,
        until: Optional[Union[datetime, str]] = None,
        **options: Unpack[RequestOptions],
    ) -> Page[AuditEntry]:
        """Read the audit trail.

        Filters are all required to match.

        Needs the role `admin` or one above it.

        Args:
            limit: Entries on a page at most.
            cursor: Where the page begins: `next_cursor` of an answer to the same query.
            actor: UID of the principal that made the change.
            action: Exact action, such as `secret.change`.
            subject: Exact subject: an identifier, or a secret's name.
            factory_uid: The factory that it concerns.
            since: Changes at this time or later.
            until: Changes before this time.

        Returns:
            A page of AuditEntry, and every AuditEntry of every page when iterated.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
        """
        return self._client._page(
            "/audit",
            cast_to=AuditList,
            items=lambda page: page.entries,
            query={
                "limit": limit,
                "cursor": cursor,
                "actor": actor,
                "action": action,
                "subject": subject,
                "factory_uid": factory_uid,
                "since": since,
                "until": until,
            },
            options=options,
        )


class AuditWithRawResponse:
    """`Audit` with responses as they came."""

    def __init__(self, resource: Audit) -> None:
        unread = Audit(resource._client._raw)
        self.list = sync_raw_page(unread.list)


class AuditWithStreamingResponse:
    """`Audit` with responses that are read piece by piece."""

    def __init__(self, resource: Audit) -> None:
        unread = Audit(resource._client._streamed)
        self.list = sync_streamed_page(unread.list)
