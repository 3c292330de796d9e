"""Named defaults of runs."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Mapping, Optional, Sequence, Union

from typing_extensions import Literal, Unpack

from ...._options import NOT_GIVEN, NotGiven, RequestOptions
from ....types import (
    AgentHarnessParam,
    AgentIdentity,
    AgentIdentityCreateSecretsItemParam,
    AgentIdentityList,
    AgentIdentityUpdateSecretsAppendItemParam,
    AgentIdentityUpdateSecretsItemParam,
    MCPServerConfigParam,
)
from ...resource import AsyncResource, async_raw
from ...streamed import async_streamed

_AgentType = Literal["FOREMAN", "TRIAGE", "SPEC", "IMPLEMENT", "REVIEW", "VERIFY", "CUSTOM"]


class AsyncIdentities(AsyncResource):
    """Named defaults of runs."""

    _place = "agent.identities"

    @cached_property
    def with_raw_response(self) -> AsyncIdentitiesWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AsyncIdentitiesWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> AsyncIdentitiesWithStreamingResponse:
        """The same methods, each in an `async with` block whose response is read piece by piece."""
        return AsyncIdentitiesWithStreamingResponse(self)

    async def list(
        self,
        *,
        factory_uid: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> AgentIdentityList:
        """List agent identities.

        Those of the factories that the key may see; those of no factory where it is not limited.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: Of this factory.

        Returns:
            The identities.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
        """
        return await self._client._call(
            "GET",
            "/agent/identities",
            cast_to=AgentIdentityList,
            query={"factory_uid": factory_uid},
            options=options,
        )

    async def create(
        self,
        *,
        name: str,
        factory_uid: Union[str, None, NotGiven] = NOT_GIVEN,
        description: Union[str, None, NotGiven] = NOT_GIVEN,
        agent_type: Union[_AgentType, None, NotGiven] = NOT_GIVEN,
        prompt: Union[str, None, NotGiven] = NOT_GIVEN,
        base_model: Union[str, None, NotGiven] = NOT_GIVEN,
        base_harness: Union[str, None, NotGiven] = NOT_GIVEN,
        environment_id: Union[str, None, NotGiven] = NOT_GIVEN,
        worker_host: Union[str, None, NotGiven] = NOT_GIVEN,
        harness: Union[AgentHarnessParam, NotGiven] = NOT_GIVEN,
        mcp_servers: Union[Mapping[str, MCPServerConfigParam], NotGiven] = NOT_GIVEN,
        skills: Union[Sequence[str], NotGiven] = NOT_GIVEN,
        credential_strategy: Any = NOT_GIVEN,
        default_runner_uid: Any = NOT_GIVEN,
        harness_auth_secrets: Any = NOT_GIVEN,
        inference_providers: Any = NOT_GIVEN,
        memory: Any = NOT_GIVEN,
        on_behalf_of_enabled: Any = NOT_GIVEN,
        secrets: Union[Sequence[AgentIdentityCreateSecretsItemParam], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> AgentIdentity:
        """Make an agent identity.

        Defaults of the runs that name it as `agent_identity_uid`. Two hundred at most.

        Needs the role `operator` or one above it.

        Args:
            name: Its name.
            factory_uid: Factory that it belongs to, and its runs with it.
            description: What it is for.
            agent_type: A label; it changes nothing.
            prompt: Base prompt of its runs.
            base_model: Model of its runs.
            base_harness: Older form of harness.type.
            environment_id: Environment of its runs: its UID, or the name of one of the factory's.
            worker_host: Machine that works on its runs.
            harness: Program that drives its agent, with its model.
            mcp_servers: MCP servers of its runs, by name.
            skills: Skill of its runs: at most one is served.
            credential_strategy: Not served here.
            default_runner_uid: Not served here.
            harness_auth_secrets: Not served here.
            inference_providers: Not served here.
            memory: Not served here.
            on_behalf_of_enabled: Not served here.
            secrets: Managed secrets of its runs, by name.

        Returns:
            As it is now.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: there are two hundred already.
            UnprocessableEntityError: it asks for something that is not served; `errors` names every member.
        """
        return await self._client._call(
            "POST",
            "/agent/identities",
            cast_to=AgentIdentity,
            body={"name": name, "factory_uid": factory_uid, "description": description, "agent_type": agent_type, "prompt": prompt, "base_model": base_model, "base_harness": base_harness, "environment_id": environment_id, "worker_host": worker_host, "harness": harness, "mcp_servers": mcp_servers, "skills": skills, "credential_strategy": credential_strategy, "default_runner_uid": default_runner_uid, "harness_auth_secrets": harness_auth_secrets, "inference_providers": inference_providers, "memory": memory, "on_behalf_of_enabled": on_behalf_of_enabled, "secrets": secrets},
            options=options,
        )

    async def retrieve(
        self,
        uid: str,
        **options: Unpack[RequestOptions],
    ) -> AgentIdentity:
        """Look at an agent identity.

        Needs the role `viewer` or one above it.

        Args:
            uid: The identity.

        Returns:
            As it is now.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return await self._client._call(
            "GET",
            "/agent/identities/{uid}",
            {"uid": uid},
            cast_to=AgentIdentity,
            options=options,
        )

    async def update(
        self,
        uid: str,
        *,
        name: Union[str, NotGiven] = NOT_GIVEN,
        description: Union[str, None, NotGiven] = NOT_GIVEN,
        agent_type: Union[_AgentType, None, NotGiven] = NOT_GIVEN,
        prompt: Union[str, None, NotGiven] = NOT_GIVEN,
        base_model: Union[str, None, NotGiven] = NOT_GIVEN,
        base_harness: Union[str, None, NotGiven] = NOT_GIVEN,
        environment_id: Union[str, None, NotGiven] = NOT_GIVEN,
        worker_host: Union[str, None, NotGiven] = NOT_GIVEN,
        harness: Union[AgentHarnessParam, None, NotGiven] = NOT_GIVEN,
        mcp_servers: Union[Mapping[str, MCPServerConfigParam], NotGiven] = NOT_GIVEN,
        skills: Union[Sequence[str], None, NotGiven] = NOT_GIVEN,
        credential_strategy: Any = NOT_GIVEN,
        default_runner_uid: Any = NOT_GIVEN,
        harness_auth_secrets: Any = NOT_GIVEN,
        inference_providers: Any = NOT_GIVEN,
        memory: Any = NOT_GIVEN,
        on_behalf_of_enabled: Any = NOT_GIVEN,
        secrets: Union[Sequence[AgentIdentityUpdateSecretsItemParam], None, NotGiven] = NOT_GIVEN,
        secrets_append: Union[Sequence[AgentIdentityUpdateSecretsAppendItemParam], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> AgentIdentity:
        """Change an agent identity.

        What is left out or None stays, what is empty goes. Runs that exist keep what they began with.

        Needs the role `operator` or one above it.

        Args:
            uid: The identity.
            name: Its name.
            description: What it is for.
            agent_type: A label; it changes nothing.
            prompt: Base prompt of its runs.
            base_model: Model of its runs.
            base_harness: Older form of harness.type.
            environment_id: Environment of its runs: its UID, or the name of one of the factory's.
            worker_host: Machine that works on its runs.
            harness: Program that drives its agent, with its model.
            mcp_servers: MCP servers of its runs, by name.
            skills: Skill of its runs: at most one is served.
            credential_strategy: Not served here.
            default_runner_uid: Not served here.
            harness_auth_secrets: Not served here.
            inference_providers: Not served here.
            memory: Not served here.
            on_behalf_of_enabled: Not served here.
            secrets: Managed secrets of its runs, by name.
            secrets_append: Managed secrets beside those that it has; by itself.

        Returns:
            As it is now.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            UnprocessableEntityError: it asks for something that is not served; `errors` names every member.
        """
        return await self._client._call(
            "PUT",
            "/agent/identities/{uid}",
            {"uid": uid},
            cast_to=AgentIdentity,
            body={"name": name, "description": description, "agent_type": agent_type, "prompt": prompt, "base_model": base_model, "base_harness": base_harness, "environment_id": environment_id, "worker_host": worker_host, "harness": harness, "mcp_servers": mcp_servers, "skills": skills, "credential_strategy": credential_strategy, "default_runner_uid": default_runner_uid, "harness_auth_secrets": harness_auth_secrets, "inference_providers": inference_providers, "memory": memory, "on_behalf_of_enabled": on_behalf_of_enabled, "secrets": secrets, "secrets_append": secrets_append},
            options=options,
        )

    async def delete(
        self,
        uid: str,
        **options: Unpack[RequestOptions],
    ) -> None:
        """Delete an agent identity.

        Runs that exist go on with what they began with, their follow-ups too. 409: schedules name it.

        Needs the role `operator` or one above it.

        Args:
            uid: The identity.

        Returns:
            Nothing.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return await self._client._call(
            "DELETE",
            "/agent/identities/{uid}",
            {"uid": uid},
            cast_to=type(None),
            options=options,
        )


class AsyncIdentitiesWithRawResponse:
    """`AsyncIdentities` with responses as they came."""

    def __init__(self, resource: AsyncIdentities) -> None:
        unread = AsyncIdentities(resource._client._raw)
        self.list = async_raw(unread.list)
        self.create = async_raw(unread.create)
        self.retrieve = async_raw(unread.retrieve)
        self.update = async_raw(unread.update)
        self.delete = async_raw(unread.delete)


class AsyncIdentitiesWithStreamingResponse:
    """`AsyncIdentities` with responses that are read piece by piece."""

    def __init__(self, resource: AsyncIdentities) -> None:
        unread = AsyncIdentities(resource._client._streamed)
        self.list = async_streamed(unread.list)
        self.create = async_streamed(unread.create)
        self.retrieve = async_streamed(unread.retrieve)
        self.update = async_streamed(unread.update)
        self.delete = async_streamed(unread.delete)
