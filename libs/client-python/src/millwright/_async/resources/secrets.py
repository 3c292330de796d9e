"""The team's secrets; values are never answered."""

from __future__ import annotations

from functools import cached_property
from typing import Optional, Union

from typing_extensions import Unpack

from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import Secret, SecretList, SecretPutGrantsParam
from ..pages import AsyncPaginator
from ..resource import AsyncResource, async_raw, async_raw_page
from ..streamed import async_streamed, async_streamed_page


class AsyncSecrets(AsyncResource):
    """The team's secrets; values are never answered."""

    _place = "secrets"

    @cached_property
    def with_raw_response(self) -> AsyncSecretsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AsyncSecretsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> AsyncSecretsWithStreamingResponse:
        """The same methods, each in an `async with` block whose response is read piece by piece."""
        return AsyncSecretsWithStreamingResponse(self)

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[Secret]:
        """List the team's secrets.

        Needs the role `admin` or one above it.

        Args:
            limit: Entries on a page at most.
            cursor: Where the page begins: `next_cursor` of an answer to the same query.

        Returns:
            A page of Secret, and every Secret of every page when iterated.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
        """
        return self._client._page(
            "/secrets",
            cast_to=SecretList,
            items=lambda page: page.secrets,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def retrieve(self, name: str, **options: Unpack[RequestOptions]) -> Secret:
        """Look at one of the team's secrets.

        Needs the role `admin` or one above it.

        Args:
            name: The secret's name.

        Returns:
            The secret without its value.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return await self._client._call("GET", "/secrets/{name}", {"name": name}, cast_to=Secret, options=options)

    async def put(
        self,
        name: str,
        *,
        value: Union[str, NotGiven] = NOT_GIVEN,
        grants: Union[SecretPutGrantsParam, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Secret:
        """Declare, set or grant one of the team's secrets.

        A value is a new version; webhooks take it over in one step and the old one is dead with it. A value that a
        webhook in use could not authenticate with is refused, and nothing changes.

        Needs the role `admin` or one above it.

        Args:
            name: The secret's name.
            value: The exact text of the secret, Unicode of at most 65536 characters; never shown again.
            grants: Who may use it for what; what is not named stays as it is. By default all factories, for webhooks.

        Returns:
            The secret as it is now, without its value.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return await self._client._call(
            "PUT",
            "/secrets/{name}",
            {"name": name},
            cast_to=Secret,
            body={"value": value, "grants": grants},
            options=options,
        )

    async def delete(self, name: str, *, force: Optional[bool] = None, **options: Unpack[RequestOptions]) -> None:
        """Delete one of the team's secrets.

        One that is in use only with `force`: 409 with `used_by`.

        Needs the role `admin` or one above it.

        Args:
            name: The secret's name.
            force: Delete it although it is used.

        Returns:
            Nothing.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return await self._client._call(
            "DELETE",
            "/secrets/{name}",
            {"name": name},
            cast_to=type(None),
            query={"force": force},
            options=options,
        )


class AsyncSecretsWithRawResponse:
    """`AsyncSecrets` with responses as they came."""

    def __init__(self, resource: AsyncSecrets) -> None:
        unread = AsyncSecrets(resource._client._raw)
        self.list = async_raw_page(unread.list)
        self.retrieve = async_raw(unread.retrieve)
        self.put = async_raw(unread.put)
        self.delete = async_raw(unread.delete)


class AsyncSecretsWithStreamingResponse:
    """`AsyncSecrets` with responses that are read piece by piece."""

    def __init__(self, resource: AsyncSecrets) -> None:
        unread = AsyncSecrets(resource._client._streamed)
        self.list = async_streamed_page(unread.list)
        self.retrieve = async_streamed(unread.retrieve)
        self.put = async_streamed(unread.put)
        self.delete = async_streamed(unread.delete)
