# Generated from _async/resources/agent/conversations.py by scripts/unasync.py; do not edit.
"""Conversations: the turns of runs that belong together."""

from __future__ import annotations

from functools import cached_property
from typing import Optional

from typing_extensions import Unpack

from ...._options import RequestOptions
from ....types import Conversation, ConversationStep, RunReference
from ...pages import Page
from ...resource import Resource, sync_raw, sync_raw_page
from ...streamed import sync_streamed, sync_streamed_page


class Conversations(Resource):
    """Conversations: the turns of runs that belong together."""

    _place = "agent.conversations"

    @cached_property
    def with_raw_response(self) -> ConversationsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return ConversationsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> ConversationsWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return ConversationsWithStreamingResponse(self)

    def retrieve(
        self,
        conversation_id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> Page[ConversationStep]:
        """Read a conversation.

        As far as the key may see its runs; 404 when it may see none of them.

        Needs the role `viewer` or one above it.

        Args:
            conversation_id: The conversation.
            limit: Turns on a page at most; a page of long turns ends earlier.
            cursor: Where the page begins: `next_cursor` of an answer for the same conversation.

        Returns:
            A page of ConversationStep, and every ConversationStep of every page when iterated.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._page(
            "/agent/conversations/{conversation_id}",
            {"conversation_id": conversation_id},
            cast_to=Conversation,
            items=lambda page: page.steps,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def interrupt(self, conversation_id: str, **options: Unpack[RequestOptions]) -> RunReference:
        """Interrupt a conversation: its latest run that the key may see, as `agent.runs.interrupt` does.

        Needs the role `operator` or one above it.

        Args:
            conversation_id: The conversation.

        Returns:
            The run. Its agent ends the turn afterwards.

        Raises:
            BadRequestError: the run has ended already.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: no agent works on it yet, or a cancel is under way.
            UnprocessableEntityError: a command works on it, which has no turns.
        """
        return self._client._call(
            "POST",
            "/agent/conversations/{conversation_id}/interrupt",
            {"conversation_id": conversation_id},
            cast_to=RunReference,
            options=options,
        )


class ConversationsWithRawResponse:
    """`Conversations` with responses as they came."""

    def __init__(self, resource: Conversations) -> None:
        unread = Conversations(resource._client._raw)
        self.retrieve = sync_raw_page(unread.retrieve)
        self.interrupt = sync_raw(unread.interrupt)


class ConversationsWithStreamingResponse:
    """`Conversations` with responses that are read piece by piece."""

    def __init__(self, resource: Conversations) -> None:
        unread = Conversations(resource._client._streamed)
        self.retrieve = sync_streamed_page(unread.retrieve)
        self.interrupt = sync_streamed(unread.interrupt)
