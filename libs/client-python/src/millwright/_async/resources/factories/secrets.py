"""A factory's own secrets; values are never answered."""

from __future__ import annotations

from functools import cached_property
from typing import Optional, Union

from typing_extensions import Unpack

from ...._options import NOT_GIVEN, NotGiven, RequestOptions
from ....types import Secret, SecretList, SecretPutGrantsParam
from ...pages import AsyncPaginator
from ...resource import AsyncResource, async_raw, async_raw_page
from ...streamed import async_streamed, async_streamed_page


class AsyncFactorySecrets(AsyncResource):
    """A factory's own secrets; values are never answered."""

    _place = "factories.secrets"

    @cached_property
    def with_raw_response(self) -> AsyncFactorySecretsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AsyncFactorySecretsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> AsyncFactorySecretsWithStreamingResponse:
        """The same methods, each in an `async with` block whose response is read piece by piece."""
        return AsyncFactorySecretsWithStreamingResponse(self)

    def list(
        self,
        factory_uid: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[Secret]:
        """List a factory's own secrets.

        Needs the role `manager` or one above it.

        Args:
            factory_uid: The factory.
            limit: Entries on a page at most.
            cursor: Where the page begins: `next_cursor` of an answer to the same query.

        Returns:
            A page of Secret, and every Secret of every page when iterated.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._page(
            "/factory/{factory_uid}/secrets",
            {"factory_uid": factory_uid},
            cast_to=SecretList,
            items=lambda page: page.secrets,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def retrieve(self, factory_uid: str, name: str, **options: Unpack[RequestOptions]) -> Secret:
        """Look at one of a factory's own secrets.

        Needs the role `manager` or one above it.

        Args:
            factory_uid: The factory.
            name: The secret's name.

        Returns:
            The secret without its value.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return await self._client._call(
            "GET",
            "/factory/{factory_uid}/secrets/{name}",
            {"factory_uid": factory_uid, "name": name},
            cast_to=Secret,
            options=options,
        )

    async def put(
        self,
        factory_uid: str,
        name: str,
        *,
        value: Union[str, NotGiven] = NOT_GIVEN,
        grants: Union[SecretPutGrantsParam, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Secret:
        """Declare, set or grant one of a factory's own secrets.

        A value is a new version; webhooks take it over in one step and the old one is dead with it. A value that a
        webhook in use could not authenticate with is refused, and nothing changes.

        Needs the role `manager` or one above it.

        Args:
            factory_uid: The factory.
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
            "/factory/{factory_uid}/secrets/{name}",
            {"factory_uid": factory_uid, "name": name},
            cast_to=Secret,
            body={"value": value, "grants": grants},
            options=options,
        )

    async def delete(
        self,
        factory_uid: str,
        name: str,
        *,
        force: Optional[bool] = None,
        **options: Unpack[RequestOptions],
    ) -> None:
        """Delete one of a factory's own secrets.

        One that is in use only with `force`: 409 with `used_by`.

        Needs the role `manager` or one above it.

        Args:
            factory_uid: The factory.
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
            "/factory/{factory_uid}/secrets/{name}",
            {"factory_uid": factory_uid, "name": name},
            cast_to=type(None),
            query={"force": force},
            options=options,
        )


class AsyncFactorySecretsWithRawResponse:
    """`AsyncFactorySecrets` with responses as they came."""

    def __init__(self, resource: AsyncFactorySecrets) -> None:
        unread = AsyncFactorySecrets(resource._client._raw)
        self.list = async_raw_page(unread.list)
        self.retrieve = async_raw(unread.retrieve)
        self.put = async_raw(unread.put)
        self.delete = async_raw(unread.delete)


class AsyncFactorySecretsWithStreamingResponse:
    """`AsyncFactorySecrets` with responses that are read piece by piece."""

    def __init__(self, resource: AsyncFactorySecrets) -> None:
        unread = AsyncFactorySecrets(resource._client._streamed)
        self.list = async_streamed_page(unread.list)
        self.retrieve = async_streamed(unread.retrieve)
        self.put = async_streamed(unread.put)
        self.delete = async_streamed(unread.delete)
