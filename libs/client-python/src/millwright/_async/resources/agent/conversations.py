"""Conversations: the turns of runs that belong together."""

from __future__ import annotations

from functools import cached_property
from typing import Optional

from typing_extensions import Unpack

from ...._options import RequestOptions
from ....types import Conversation, ConversationStep
from ...pages import AsyncPaginator
from ...resource import AsyncResource, async_raw_page


class AsyncConversations(AsyncResource):
    """Conversations: the turns of runs that belong together."""

    _place = "agent.conversations"

    @cached_property
    def with_raw_response(self) -> AsyncConversationsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AsyncConversationsWithRawResponse(self)

    def retrieve(
        self,
        conversation_id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[ConversationStep]:
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


class AsyncConversationsWithRawResponse:
    """`AsyncConversations` with responses as they came."""

    def __init__(self, resource: AsyncConversations) -> None:
        unread = AsyncConversations(resource._client._raw)
        self.retrieve = async_raw_page(unread.retrieve)
