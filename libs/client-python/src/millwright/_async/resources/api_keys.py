"""API keys: who may call, as what, until when."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Optional, Sequence, Union

from typing_extensions import Literal, Unpack

from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import ApiKey, ApiKeyCreatePrincipalParam, ApiKeyCreated, ApiKeyList
from ..pages import AsyncPaginator
from ..resource import AsyncResource, async_raw, async_raw_page
from ..streamed import async_streamed, async_streamed_page


class AsyncApiKeys(AsyncResource):
    """API keys: who may call, as what, until when."""

    _place = "api_keys"

    @cached_property
    def with_raw_response(self) -> AsyncApiKeysWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AsyncApiKeysWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> AsyncApiKeysWithStreamingResponse:
        """The same methods, each in an `async with` block whose response is read piece by piece."""
        return AsyncApiKeysWithStreamingResponse(self)

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        include_revoked: Optional[bool] = None,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[ApiKey]:
        """List API keys.

        Expired keys are listed, revoked ones on request.

        Needs the role `admin` or one above it.

        Args:
            limit: Entries on a page at most.
            cursor: Where the page begins: `next_cursor` of an answer to the same query.
            include_revoked: Whether revoked keys are listed too.

        Returns:
            A page of ApiKey, and every ApiKey of every page when iterated.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
        """
        return self._client._page(
            "/api-keys",
            cast_to=ApiKeyList,
            items=lambda page: page.api_keys,
            query={"limit": limit, "cursor": cursor, "include_revoked": include_revoked},
            options=options,
        )

    async def create(
        self,
        *,
        name: str,
        role: Literal["viewer", "operator", "manager", "admin"],
        principal: Union[ApiKeyCreatePrincipalParam, NotGiven] = NOT_GIVEN,
        principal_uid: Union[str, NotGiven] = NOT_GIVEN,
        factories: Union[Sequence[str], NotGiven] = NOT_GIVEN,
        expires_at: Union[datetime, str, NotGiven] = NOT_GIVEN,
        expires_in_days: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> ApiKeyCreated:
        """Make an API key.

        Only a digest of the key is stored. An answer that was lost cannot be had again: revoke the key and make
        another.

        Needs the role `admin` or one above it.

        Args:
            name: What it is for.
            role: What it may do; a key that is limited to factories cannot be `admin`.
            principal: A new principal that the key belongs to. Without it and `principal_uid` the key belongs to
                whoever makes it.
            principal_uid: UID of an existing principal that the key belongs to; not together with `principal`.
            factories: UIDs of the only factories it may see; absent: all of them.
            expires_at: From when on it is refused; in the future. Absent: never, unless `expires_in_days` says
                otherwise.
            expires_in_days: The same as days from now; not together with `expires_at`.

        Returns:
            The key and its text, which is shown this once.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return await self._client._call(
            "POST",
            "/api-keys",
            cast_to=ApiKeyCreated,
            body={
                "name": name,
                "role": role,
                "principal": principal,
                "principal_uid": principal_uid,
                "factories": factories,
                "expires_at": expires_at,
                "expires_in_days": expires_in_days,
            },
            options=options,
        )

    async def current(self, **options: Unpack[RequestOptions]) -> ApiKey:
        """Look at the key that is used.

        Needs the role `viewer` or one above it.

        Returns:
            The key of this very request.
        """
        return await self._client._call("GET", "/api-keys/current", cast_to=ApiKey, options=options)

    async def retrieve(self, api_key_id: str, **options: Unpack[RequestOptions]) -> ApiKey:
        """Look at an API key.

        Needs the role `admin` or one above it.

        Args:
            api_key_id: The key's identifier.

        Returns:
            The key without its text.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return await self._client._call(
            "GET",
            "/api-keys/{api_key_id}",
            {"api_key_id": api_key_id},
            cast_to=ApiKey,
            options=options,
        )

    async def update(
        self,
        api_key_id: str,
        *,
        name: Union[str, NotGiven] = NOT_GIVEN,
        expires_at: Union[datetime, str, None, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> ApiKey:
        """Rename an API key or move its end.

        A key that was revoked or has run out stays so: 409. So does the last admin key that could still let somebody
        in, when it is to be given an end.

        Needs the role `admin` or one above it.

        Args:
            api_key_id: The key's identifier.
            name: What it is for.
            expires_at: From when on it is refused, in the future; null: never.

        Returns:
            The key as it is now.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return await self._client._call(
            "PATCH",
            "/api-keys/{api_key_id}",
            {"api_key_id": api_key_id},
            cast_to=ApiKey,
            body={"name": name, "expires_at": expires_at},
            options=options,
        )

    async def rotate(
        self,
        api_key_id: str,
        *,
        overlap_seconds: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> ApiKeyCreated:
        """Replace an API key.

        Makes a key of the same name, role, factories and principal, that lives as long as this one was made for. Both
        let their holder in until the overlap ends, to the millisecond. A key that was revoked or has run out cannot be
        rotated: 409. An answer that was lost cannot be had again: rotate the new key, and revoke it.

        Needs the role `admin` or one above it.

        Args:
            api_key_id: The key's identifier.
            overlap_seconds: How long the key of before lets its holder in beside the new one, at most until its own
                end; 0: not at all.

        Returns:
            The new key and its text, which is shown this once.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return await self._client._call(
            "POST",
            "/api-keys/{api_key_id}/rotate",
            {"api_key_id": api_key_id},
            cast_to=ApiKeyCreated,
            body={"overlap_seconds": overlap_seconds},
            options=options,
        )

    async def revoke(self, api_key_id: str, **options: Unpack[RequestOptions]) -> None:
        """Revoke an API key.

        The next request with it is 401, on every replica. The last admin key that is not limited to factories cannot
        be revoked: 409.

        Needs the role `admin` or one above it.

        Args:
            api_key_id: The key's identifier.

        Returns:
            Nothing.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return await self._client._call(
            "DELETE",
            "/api-keys/{api_key_id}",
            {"api_key_id": api_key_id},
            cast_to=type(None),
            options=options,
        )


class AsyncApiKeysWithRawResponse:
    """`AsyncApiKeys` with responses as they came."""

    def __init__(self, resource: AsyncApiKeys) -> None:
        unread = AsyncApiKeys(resource._client._raw)
        self.list = async_raw_page(unread.list)
        self.create = async_raw(unread.create)
        self.current = async_raw(unread.current)
        self.retrieve = async_raw(unread.retrieve)
        self.update = async_raw(unread.update)
        self.rotate = async_raw(unread.rotate)
        self.revoke = async_raw(unread.revoke)


class AsyncApiKeysWithStreamingResponse:
    """`AsyncApiKeys` with responses that are read piece by piece."""

    def __init__(self, resource: AsyncApiKeys) -> None:
        unread = AsyncApiKeys(resource._client._streamed)
        self.list = async_streamed_page(unread.list)
        self.create = async_streamed(unread.create)
        self.current = async_streamed(unread.current)
        self.retrieve = async_streamed(unread.retrieve)
        self.update = async_streamed(unread.update)
        self.rotate = async_streamed(unread.rotate)
        self.revoke = async_streamed(unread.revoke)
