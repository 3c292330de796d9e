"""Federated credentials: build servers without a stored key."""

from __future__ import annotations

from functools import cached_property
from typing import Mapping, Sequence, Union

from typing_extensions import Literal, Unpack

from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import FederatedCredential, FederatedCredentialList
from ..resource import AsyncResource, async_raw
from ..streamed import async_streamed


class AsyncFederatedCredentials(AsyncResource):
    """Federated credentials: build servers without a stored key."""

    _place = "federated_credentials"

    @cached_property
    def with_raw_response(self) -> AsyncFederatedCredentialsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AsyncFederatedCredentialsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> AsyncFederatedCredentialsWithStreamingResponse:
        """The same methods, each in an `async with` block whose response is read piece by piece."""
        return AsyncFederatedCredentialsWithStreamingResponse(self)

    async def list(self, **options: Unpack[RequestOptions]) -> FederatedCredentialList:
        """List federated credentials.

        Needs the role `admin` or one above it.

        Returns:
            Newest first.
        """
        return await self._client._call(
            "GET", "/federated-credentials", cast_to=FederatedCredentialList, options=options
        )

    async def create(
        self,
        *,
        name: str,
        issuer: str,
        audience: str,
        claims: Mapping[str, Sequence[str]],
        role: Literal["viewer", "operator", "manager"],
        factories: Union[Sequence[str], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> FederatedCredential:
        """Make a federated credential.

        Nobody is asked whether there is such an issuer: that shows the first exchange. A service account of the same
        name is made with it, that its keys belong to. A hundred at most: 409.

        Needs the role `admin` or one above it.

        Args:
            name: What it is for; also the name of the service account that its keys belong to.
            issuer: The issuer as its tokens name it (`iss`), byte for byte: an https URL without user, query or
                fragment. Its keys are found below it, at `/.well-known/openid-configuration`.
            audience: Whom a token has to be made for (`aud`), and nobody else.
            claims: What a token has to say: each claim by its name, with the values that are allowed for it, compared
                byte for byte. Of an issuer that serves everybody one of them has to name whose token it is.
            role: What its keys may do. Not `admin`: such a key could make one that lasts.
            factories: UIDs of the only factories that its keys may see; absent: all of them.

        Returns:
            As it is now.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return await self._client._call(
            "POST",
            "/federated-credentials",
            cast_to=FederatedCredential,
            body={
                "name": name,
                "issuer": issuer,
                "audience": audience,
                "claims": claims,
                "role": role,
                "factories": factories,
            },
            options=options,
        )

    async def retrieve(
        self, federated_credential_id: str, **options: Unpack[RequestOptions]
    ) -> FederatedCredential:
        """Look at a federated credential.

        Needs the role `admin` or one above it.

        Args:
            federated_credential_id: Its identifier.

        Returns:
            As it is now.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return await self._client._call(
            "GET",
            "/federated-credentials/{federated_credential_id}",
            {"federated_credential_id": federated_credential_id},
            cast_to=FederatedCredential,
            options=options,
        )

    async def update(
        self,
        federated_credential_id: str,
        *,
        name: Union[str, NotGiven] = NOT_GIVEN,
        audience: Union[str, NotGiven] = NOT_GIVEN,
        claims: Union[Mapping[str, Sequence[str]], NotGiven] = NOT_GIVEN,
        role: Union[Literal["viewer", "operator", "manager"], NotGiven] = NOT_GIVEN,
        factories: Union[Sequence[str], None, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> FederatedCredential:
        """Change a federated credential.

        Unless only its name changes, keys that were made by it are refused from the next request on.

        Needs the role `admin` or one above it.

        Args:
            federated_credential_id: Its identifier.
            name: What it is for.
            audience: Whom a token has to be made for (`aud`), and nobody else.
            claims: What a token has to say: each claim by its name, with the values that are allowed for it, compared
                byte for byte. Of an issuer that serves everybody one of them has to name whose token it is.
            role: What its keys may do. Not `admin`: such a key could make one that lasts.
            factories: UIDs of the only factories that its keys may see; null: all of them.

        Returns:
            As it is now.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return await self._client._call(
            "PATCH",
            "/federated-credentials/{federated_credential_id}",
            {"federated_credential_id": federated_credential_id},
            cast_to=FederatedCredential,
            body={"name": name, "audience": audience, "claims": claims, "role": role, "factories": factories},
            options=options,
        )

    async def delete(self, federated_credential_id: str, **options: Unpack[RequestOptions]) -> None:
        """Delete a federated credential.

        Keys that were made by it are refused from the next request on, on every replica.

        Needs the role `admin` or one above it.

        Args:
            federated_credential_id: Its identifier.

        Returns:
            Nothing.
        """
        return await self._client._call(
            "DELETE",
            "/federated-credentials/{federated_credential_id}",
            {"federated_credential_id": federated_credential_id},
            cast_to=type(None),
            options=options,
        )


class AsyncFederatedCredentialsWithRawResponse:
    """`AsyncFederatedCredentials` with responses as they came."""

    def __init__(self, resource: AsyncFederatedCredentials) -> None:
        unread = AsyncFederatedCredentials(resource._client._raw)
        self.list = async_raw(unread.list)
        self.create = async_raw(unread.create)
        self.retrieve = async_raw(unread.retrieve)
        self.update = async_raw(unread.update)
        self.delete = async_raw(unread.delete)


class AsyncFederatedCredentialsWithStreamingResponse:
    """`AsyncFederatedCredentials` with responses that are read piece by piece."""

    def __init__(self, resource: AsyncFederatedCredentials) -> None:
        unread = AsyncFederatedCredentials(resource._client._streamed)
        self.list = async_streamed(unread.list)
        self.create = async_streamed(unread.create)
        self.retrieve = async_streamed(unread.retrieve)
        self.update = async_streamed(unread.update)
        self.delete = async_streamed(unread.delete)
