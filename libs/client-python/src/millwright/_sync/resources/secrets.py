# Generated from _async/resources/secrets.py by scripts/unasync.py; do not edit.
"""The team's secrets; values are never answered."""

from __future__ import annotations

from functools import cached_property
from typing import Optional, Union

from typing_extensions import Unpack

from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import Secret, SecretList, SecretPutGrantsParam
from ..pages import Page
from ..resource import Resource, sync_raw, sync_raw_page
from ..streamed import sync_streamed, sync_streamed_page


class Secrets(Resource):
    """The team's secrets; values are never answered."""

    _place = "secrets"

    @cached_property
    def with_raw_response(self) -> SecretsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return SecretsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> SecretsWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return SecretsWithStreamingResponse(self)

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> Page[Secret]:
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

    def retrieve(self, name: str, **options: Unpack[RequestOptions]) -> Secret:
        """Look at one of the team's secrets.

        Needs the role `admin` or one above it.

        Args:
            name: The secret's name.

        Returns:
            The secret without its value.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call("GET", "/secrets/{name}", {"name": name}, cast_to=Secret, options=options)

    def put(
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
        return self._client._call(
            "PUT",
            "/secrets/{name}",
            {"name": name},
            cast_to=Secret,
            body={"value": value, "grants": grants},
            options=options,
        )

    def delete(self, name: str, *, force: Optional[bool] = None, **options: Unpack[RequestOptions]) -> None:
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
        return self._client._call(
            "DELETE",
            "/secrets/{name}",
            {"name": name},
            cast_to=type(None),
            query={"force": force},
            options=options,
        )


class SecretsWithRawResponse:
    """`Secrets` with responses as they came."""

    def __init__(self, resource: Secrets) -> None:
        unread = Secrets(resource._client._raw)
        self.list = sync_raw_page(unread.list)
        self.retrieve = sync_raw(unread.retrieve)
        self.put = sync_raw(unread.put)
        self.delete = sync_raw(unread.delete)


class SecretsWithStreamingResponse:
    """`Secrets` with responses that are read piece by piece."""

    def __init__(self, resource: Secrets) -> None:
        unread = Secrets(resource._client._streamed)
        self.list = sync_streamed_page(unread.list)
        self.retrieve = sync_streamed(unread.retrieve)
        self.put = sync_streamed(unread.put)
        self.delete = sync_streamed(unread.delete)
