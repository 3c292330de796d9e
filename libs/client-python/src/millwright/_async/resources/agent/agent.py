"""Agents, their runs, and what runs can be made with."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Mapping, Optional, Sequence, Union

from typing_extensions import Literal, Unpack

from ...._options import NOT_GIVEN, NotGiven, RequestOptions
from ....types import (
    AgentListResponse,
    AmbientAgentConfigParam,
    AttachmentParam,
    ImageAttachmentParam,
    RunAgentResponse,
    RunModeParam,
)
from ...resource import AsyncResource, async_raw
from ...streamed import async_streamed
from .artifacts import AsyncArtifacts
from .conversations import AsyncConversations
from .environments import AsyncEnvironments
from .identities import AsyncIdentities
from .models import AsyncModels
from .runs import AsyncRuns
from .schedules import AsyncSchedules


class AsyncAgent(AsyncResource):
    """Agents, their runs, and what runs can be made with."""

    _place = "agent"

    @cached_property
    def runs(self) -> AsyncRuns:
        """Runs: what an agent was asked, where it is, and what it said."""
        return AsyncRuns(self._client)

    @cached_property
    def conversations(self) -> AsyncConversations:
        """Conversations: the turns of runs that belong together."""
        return AsyncConversations(self._client)

    @cached_property
    def artifacts(self) -> AsyncArtifacts:
        """What runs have made."""
        return AsyncArtifacts(self._client)

    @cached_property
    def models(self) -> AsyncModels:
        """Models that runs can use."""
        return AsyncModels(self._client)

    @cached_property
    def identities(self) -> AsyncIdentities:
        """Named defaults of runs."""
        return AsyncIdentities(self._client)

    @cached_property
    def environments(self) -> AsyncEnvironments:
        """Environments that runs can work in."""
        return AsyncEnvironments(self._client)

    @cached_property
    def schedules(self) -> AsyncSchedules:
        """Schedules: what starts runs by the clock."""
        return AsyncSchedules(self._client)

    @cached_property
    def with_raw_response(self) -> AsyncAgentWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AsyncAgentWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> AsyncAgentWithStreamingResponse:
        """The same methods, each in an `async with` block whose response is read piece by piece."""
        return AsyncAgentWithStreamingResponse(self)

    async def list(
        self,
        *,
        repo: Optional[str] = None,
        sort_by: Optional[Literal["name", "last_run"]] = None,
        include_malformed_skills: Optional[bool] = None,
        refresh: Optional[bool] = None,
        **options: Unpack[RequestOptions],
    ) -> AgentListResponse:
        """List skills.

        Skills of the factories that the key may see, by name; each factory's own is a variant.

        Needs the role `viewer` or one above it.

        Args:
            repo: Only skills of this repository: owner/repo.
            sort_by: name: by name. last_run: the one that was used last comes first.
            include_malformed_skills: Has no effect: a skill that cannot be read is never applied.
            refresh: Has no effect: what is applied is always current here.

        Returns:
            The skills.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
        """
        return await self._client._call(
            "GET",
            "/agent",
            cast_to=AgentListResponse,
            query={
                "repo": repo,
                "sort_by": sort_by,
                "include_malformed_skills": include_malformed_skills,
                "refresh": refresh,
            },
            options=options,
        )

    async def run(
        self,
        *,
        prompt: Union[str, NotGiven] = NOT_GIVEN,
        title: Union[str, NotGiven] = NOT_GIVEN,
        config: Union[AmbientAgentConfigParam, NotGiven] = NOT_GIVEN,
        skill: Union[str, NotGiven] = NOT_GIVEN,
        conversation_id: Union[str, NotGiven] = NOT_GIVEN,
        parent_run_id: Union[str, NotGiven] = NOT_GIVEN,
        metadata: Union[Mapping[str, str], NotGiven] = NOT_GIVEN,
        attachments: Union[Sequence[AttachmentParam], NotGiven] = NOT_GIVEN,
        images: Union[Sequence[ImageAttachmentParam], NotGiven] = NOT_GIVEN,
        mode: Union[RunModeParam, NotGiven] = NOT_GIVEN,
        interactive: Union[bool, NotGiven] = NOT_GIVEN,
        factory_uid: Union[str, NotGiven] = NOT_GIVEN,
        team: Union[bool, NotGiven] = NOT_GIVEN,
        agent_identity_uid: Any = NOT_GIVEN,
        on_behalf_of: Any = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> RunAgentResponse:
        """Create a run (the older path).

        The same as POST /agent/runs.

        Needs the role `operator` or one above it.

        Args:
            prompt: What the agent has to do; required unless a skill is named, or a conversation to go on with.
            title: Title; by default the first line of the prompt.
            config: What the run says about its agent; everything else comes from the factory and the server.
            skill: Skill used as the base prompt: owner/repo:skill-name, owner/repo:path/to/SKILL.md, or the name of a
                skill of the factory; wins over config.skill_spec.
            conversation_id: Conversation that the run continues; by default its own, under its own ID.
            parent_run_id: Run that this one was started by.
            metadata: Up to 20 entries of the caller's own: keys of 1 to 64 of A–Z a–z 0–9 . _ -, values of at most
                256 bytes.
            attachments: Files for the agent; at most 5 together with images.
            images: Images for the agent, the older form of attachments.
            mode: How the agent is asked to work. plan: in its own mode for planning where it has one, else it is
                asked for a plan and to change nothing. A command finds it in the variable MILLWRIGHT_RUN_MODE.
            interactive: Whether somebody will watch and answer: what the agent asks permission for is then put to
                people while the run is BLOCKED, instead of being allowed. Handed to a command in the variable
                MILLWRIGHT_INTERACTIVE.
            factory_uid: Factory whose defaults and rights apply; required for a key that is limited to factories.
            team: Whether the run is the team's. Every run is the installation's: false is ignored.
            agent_identity_uid: Not supported here: answered with 422. Work for a factory is dispatched by
                factory_uid.
            on_behalf_of: Not supported here: answered with 422.

        Returns:
            The run that was created.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
            UnprocessableEntityError: known, and not possible here.
        """
        return await self._client._call(
            "POST",
            "/agent/run",
            cast_to=RunAgentResponse,
            body={
                "prompt": prompt,
                "title": title,
                "config": config,
                "skill": skill,
                "conversation_id": conversation_id,
                "parent_run_id": parent_run_id,
                "metadata": metadata,
                "attachments": attachments,
                "images": images,
                "mode": mode,
                "interactive": interactive,
                "factory_uid": factory_uid,
                "team": team,
                "agent_identity_uid": agent_identity_uid,
                "on_behalf_of": on_behalf_of,
            },
            options=options,
        )


class AsyncAgentWithRawResponse:
    """`AsyncAgent` with responses as they came."""

    def __init__(self, resource: AsyncAgent) -> None:
        unread = AsyncAgent(resource._client._raw)
        self.list = async_raw(unread.list)
        self.run = async_raw(unread.run)


class AsyncAgentWithStreamingResponse:
    """`AsyncAgent` with responses that are read piece by piece."""

    def __init__(self, resource: AsyncAgent) -> None:
        unread = AsyncAgent(resource._client._streamed)
        self.list = async_streamed(unread.list)
        self.run = async_streamed(unread.run)
