# Generated from _async/resources/agent/runs.py by scripts/unasync.py; do not edit.
"""Runs: what an agent was asked, where it is, and what it said."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Any, Collection, Mapping, Optional, Sequence, Union

from typing_extensions import Literal, Unpack

from ...._options import NOT_GIVEN, NotGiven, RequestOptions, WaitOptions
from ...._outages import DEFAULT_RECONNECT_TIMEOUT_SECONDS
from ....types import (
    AmbientAgentConfigParam,
    AttachmentParam,
    Conversation,
    ConversationStep,
    FollowupAttachmentParam,
    ImageAttachmentParam,
    ListRunsResponse,
    RunAgentResponse,
    RunEvent,
    RunEventList,
    RunFollowupResponse,
    RunItem,
    RunModeParam,
    RunReference,
    RunSourceTypeParam,
    RunStateParam,
    RunTimeline,
)
from ...event_stream import EventStream
from ...pages import Page
from ...resource import Resource, sync_raw, sync_raw_page
from ...streamed import sync_streamed, sync_streamed_page
from .run_permissions import RunPermissions

_TaskStatus = Literal["running", "failed", "blocked", "cancelled", "complete"]


class Runs(Resource):
    """Runs: what an agent was asked, where it is, and what it said."""

    _place = "agent.runs"

    @cached_property
    def permissions(self) -> RunPermissions:
        """What the agent of a run asks before it acts."""
        return RunPermissions(self._client)

    @cached_property
    def with_raw_response(self) -> RunsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return RunsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> RunsWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return RunsWithStreamingResponse(self)

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        sort_by: Optional[Literal["updated_at", "created_at", "title"]] = None,
        sort_order: Optional[Literal["asc", "desc"]] = None,
        state: Optional[Union[RunStateParam, Sequence[RunStateParam]]] = None,
        task_status: Optional[Union[_TaskStatus, Sequence[_TaskStatus]]] = None,
        source: Optional[Union[RunSourceTypeParam, Sequence[RunSourceTypeParam]]] = None,
        factory_uid: Optional[Union[str, Sequence[str]]] = None,
        factory_only: Optional[bool] = None,
        name: Optional[str] = None,
        config_name: Optional[str] = None,
        model_id: Optional[str] = None,
        creator: Optional[str] = None,
        executor: Optional[str] = None,
        environment_id: Optional[str] = None,
        skill: Optional[str] = None,
        skill_spec: Optional[str] = None,
        created_after: Optional[Union[datetime, str]] = None,
        created_before: Optional[Union[datetime, str]] = None,
        updated_after: Optional[Union[datetime, str]] = None,
        automation_id: Optional[str] = None,
        webhook_uid: Optional[str] = None,
        delivery_id: Optional[str] = None,
        schedule_id: Optional[str] = None,
        execution_location: Optional[Literal["LOCAL", "REMOTE"]] = None,
        ancestor_run_id: Optional[str] = None,
        artifact_type: Optional[Literal["PLAN", "PULL_REQUEST", "SCREENSHOT", "FILE", "EXTERNAL_REFERENCE"]] = None,
        metadata: Optional[Mapping[str, str]] = None,
        q: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> Page[RunItem]:
        """List runs.

        Runs that the key may see, newest change first unless asked otherwise. Filters narrow the list together; a
        repeatable one matches any of its values; names that are not listed here are ignored. Pages are cut by key: a
        run that is created meanwhile neither repeats nor hides another, one whose sort key moves may move. A page can
        hold fewer runs than its limit and still have a next one: it ends where its runs are large, and where a filter
        that no index serves (as `q`) has looked at many runs. Go on while `has_next_page` is true; a page without a
        run is the last. 422: sorting by agent, and a list that finds nothing in 10 s.

        Needs the role `viewer` or one above it.

        Args:
            limit: Runs on a page at most.
            cursor: Where the page begins: `next_cursor` of an answer to the same query with the same key.
            sort_by: What the list is sorted by. Titles are compared byte by byte.
            sort_order: Direction of the order.
            state: Runs in one of these states.
            task_status: Runs with one of these statuses, narrowed by `state` where both are given. running: QUEUED,
                CLAIMED, PENDING or INPROGRESS, the run itself or one below it. failed: FAILED or ERROR. blocked:
                BLOCKED. cancelled: CANCELLED. complete: SUCCEEDED.
            source: Runs of one of these sources. Every published name is known; those of integrations that this
                service does not have match nothing.
            factory_uid: Runs of one of these factories. One that the key may not see has none.
            factory_only: Only runs of a factory, whichever.
            name: Runs whose configuration has this name.
            config_name: The same as `name`.
            model_id: Runs with this model.
            creator: Runs that this principal created: UID of a user or a service account.
            executor: Runs that this principal executes: the creator, where a run names nobody else.
            environment_id: Runs in this environment; `empty-environment`: runs without one.
            skill: Runs of this skill, written as they were started with it.
            skill_spec: The same as `skill`.
            created_after: Runs created after this time (RFC 3339), to the millisecond.
            created_before: Runs created before this time (RFC 3339), to the millisecond.
            updated_after: Runs that changed after this time (RFC 3339), to the millisecond.
            automation_id: Runs that this automation started.
            webhook_uid: Runs that deliveries to this webhook started.
            delivery_id: Runs that the delivery of this identity started.
            schedule_id: Runs that this schedule started.
            execution_location: Where the runs are executed: all of this service's are REMOTE.
            ancestor_run_id: All runs below this one: its children, theirs, and so on. Below a run that the key may
                not see there are none.
            artifact_type: Runs with an artifact of this type.
            metadata: Runs whose metadata has exactly these values, `metadata[key]=value`; five at most. Includes
                automation_id, webhook_uid, delivery_id and definition_revision.
            q: Words, ten at most, each of which stands somewhere in the title, the prompt or the skill; A–Z and a–z
                are the same. A run's whole ID, or the address of its page: that run.

        Returns:
            A page of RunItem, and every RunItem of every page when iterated.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            UnprocessableEntityError: known, and not possible here.
        """
        return self._client._page(
            "/agent/runs",
            cast_to=ListRunsResponse,
            items=lambda page: page.runs,
            query={
                "limit": limit,
                "cursor": cursor,
                "sort_by": sort_by,
                "sort_order": sort_order,
                "state": state,
                "task_status": task_status,
                "source": source,
                "factory_uid": factory_uid,
                "factory_only": factory_only,
                "name": name,
                "config_name": config_name,
                "model_id": model_id,
                "creator": creator,
                "executor": executor,
                "environment_id": environment_id,
                "skill": skill,
                "skill_spec": skill_spec,
                "created_after": created_after,
                "created_before": created_before,
                "updated_after": updated_after,
                "automation_id": automation_id,
                "webhook_uid": webhook_uid,
                "delivery_id": delivery_id,
                "schedule_id": schedule_id,
                "execution_location": execution_location,
                "ancestor_run_id": ancestor_run_id,
                "artifact_type": artifact_type,
                "metadata": metadata,
                "q": q,
            },
            options=options,
        )

    def create(
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
        """Create a run.

        The run waits until an execution takes it. A key that is limited to factories names one as `factory_uid`.
        Repeats of this call make no second run: they carry one Idempotency-Key. Bodies of up to 8 MiB with
        attachments or images, of up to 1 MiB without.

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
        return self._client._call(
            "POST",
            "/agent/runs",
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

    def retrieve(self, run_id: str, **options: Unpack[RequestOptions]) -> RunItem:
        """Look at a run.

        Needs the role `viewer` or one above it.

        Args:
            run_id: The run.

        Returns:
            The run.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call(
            "GET",
            "/agent/runs/{run_id}",
            {"run_id": run_id},
            cast_to=RunItem,
            options=options,
        )

    def submit_followup(
        self,
        run_id: str,
        *,
        message: Union[str, NotGiven] = NOT_GIVEN,
        mode: Union[RunModeParam, NotGiven] = NOT_GIVEN,
        attachments: Union[Sequence[FollowupAttachmentParam], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> RunFollowupResponse:
        """Send a message to a run.

        Steers a live run, continues an ended one. What comes while the agent works is the next thing that it is told,
        in the same session, before the run ends. It is stored, with its attachments, before this answers. While a
        cancel is under way, and when the run's factory was deleted: 409. Bodies of up to 8 MiB with attachments, of
        up to 1 MiB without.

        Needs the role `operator` or one above it.

        Args:
            run_id: The run.
            message: What to tell the agent; may be left out, or empty, where there are attachments.
            mode: How the agent is asked to work on this message; normal by default. It counts for the turn that takes
                the message.
            attachments: Files for the agent.

        Returns:
            Where the message goes.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
            UnprocessableEntityError: known, and not possible here.
        """
        return self._client._call(
            "POST",
            "/agent/runs/{run_id}/followups",
            {"run_id": run_id},
            cast_to=RunFollowupResponse,
            body={"message": message, "mode": mode, "attachments": attachments},
            options=options,
        )

    def interrupt(self, run_id: str, **options: Unpack[RequestOptions]) -> RunReference:
        """Interrupt a run.

        Asks the agent to end the turn that it works on; the run does not end. It goes on with the follow-ups that
        wait, in the same session; without any it is BLOCKED until one comes, for its idle timeout. Repeating it is no
        error.

        Needs the role `operator` or one above it.

        Args:
            run_id: The run.

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
            "/agent/runs/{run_id}/interrupt",
            {"run_id": run_id},
            cast_to=RunReference,
            options=options,
        )

    def cancel(self, run_id: str, **options: Unpack[RequestOptions]) -> str:
        """Cancel a run.

        A waiting run is cancelled at once; a live one is asked to end, and ended. Repeating it is no error. An end
        that came first: 400.

        Needs the role `operator` or one above it.

        Args:
            run_id: The run.

        Returns:
            The run's ID as a bare JSON string.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "POST",
            "/agent/runs/{run_id}/cancel",
            {"run_id": run_id},
            cast_to=str,
            options=options,
        )

    def list_events(
        self,
        run_id: str,
        *,
        after: Optional[int] = None,
        limit: Optional[int] = None,
        **options: Unpack[RequestOptions],
    ) -> RunEventList:
        """Read or watch a run's log.

        What the log holds behind entry `after`, at most `limit` entries. `events` follows the log as it grows.

        Needs the role `viewer` or one above it.

        Args:
            run_id: The run.
            after: Entry of the log behind which to begin.
            limit: Entries at most; JSON only.

        Returns:
            Entries of the log in order.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call(
            "GET",
            "/agent/runs/{run_id}/events",
            {"run_id": run_id},
            cast_to=RunEventList,
            query={"after": after, "limit": limit},
            options=options,
        )

    def timeline(
        self,
        run_id: str,
        *,
        detail: Optional[Literal["published", "all"]] = None,
        **options: Unpack[RequestOptions],
    ) -> RunTimeline:
        """Look at what happened to a run.

        Needs the role `viewer` or one above it.

        Args:
            run_id: The run.
            detail: published: events that clients of the hosted service know. all: also follow-ups, requests to
                cancel, and executions that were taken over or handed over.

        Returns:
            What happened, oldest first.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call(
            "GET",
            "/agent/runs/{run_id}/timeline",
            {"run_id": run_id},
            cast_to=RunTimeline,
            query={"detail": detail},
            options=options,
        )

    def conversation(
        self,
        run_id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> Page[ConversationStep]:
        """Read the conversation of a run.

        The whole conversation that the run belongs to, as far as the key may see its runs.

        Needs the role `viewer` or one above it.

        Args:
            run_id: The run.
            limit: Turns on a page at most; a page of long turns ends earlier.
            cursor: Where the page begins: `next_cursor` of an answer for the same conversation.

        Returns:
            A page of ConversationStep, and every ConversationStep of every page when iterated.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._page(
            "/agent/runs/{run_id}/conversation",
            {"run_id": run_id},
            cast_to=Conversation,
            items=lambda page: page.steps,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def events(
        self,
        run_id: str,
        *,
        after: int = 0,
        reconnect_timeout: Optional[float] = DEFAULT_RECONNECT_TIMEOUT_SECONDS,
        **options: Unpack[RequestOptions],
    ) -> EventStream[RunEvent]:
        """Follow the log of a run until the run ends.

        A connection that is lost is made again behind the last entry that arrived, so that none is missed and none
        comes twice. Nothing is sent before the stream is iterated. Close it, or use it in a `with` block, when it
        is left before its end.

        Needs the role `viewer` or one above it.

        Args:
            run_id: The run.
            after: Entry of the log (`seq`) behind which to begin; 0: from the first one on.
            reconnect_timeout: Seconds after which a stream that brings nothing new is given up; None: never.

        Returns:
            A stream of RunEvent; `run_state` is the last state that the service told, `last_seq` the last entry.

        Raises:
            NotFoundError: there is no such run, or the key may not see it.
            APIConnectionError: nothing new came for `reconnect_timeout` seconds.
            APIResponseValidationError: an event is not as it must be, or larger than 16 MiB.
        """
        return self._client._stream(
            "/agent/runs/{run_id}/events",
            {"run_id": run_id},
            event=RunEvent,
            after=after,
            reconnect_timeout=reconnect_timeout,
            options=options,
        )

    def wait(
        self,
        run_id: str,
        *,
        timeout: Optional[float] = None,
        poll_interval: Optional[float] = None,
        until: Optional[Union[RunStateParam, Collection[RunStateParam]]] = None,
        reconnect_timeout: Optional[float] = DEFAULT_RECONNECT_TIMEOUT_SECONDS,
        **options: Unpack[WaitOptions],
    ) -> RunItem:
        """Wait until a run is in one of some states.

        Asks for the run at once, again after half a second, then ever more rarely, up to once in five seconds. Each
        question is retried as the client is set up to, or as `max_retries` and `total_timeout` say; the limit of an
        attempt is that of the client. A service that is away is asked again, too.

        Needs the role `viewer` or one above it.

        Args:
            run_id: The run.
            timeout: Seconds to wait at most; None: as long as it takes.
            poll_interval: Seconds between two questions, in place of the growing ones.
            until: State or states to wait for; by default the four ends: SUCCEEDED, FAILED, ERROR and CANCELLED.
            reconnect_timeout: Seconds that a service which is away is waited for; None: no limit.

        Returns:
            The run in that state.

        Raises:
            WaitTimeoutError: the time is over; `run` is the run as it was last seen, None where it never was.
            WaitEndedError: the run has ended in another state; `run` is the run as it ended.
            APIConnectionError: no answer came for `reconnect_timeout` seconds.
            MillwrightError: a state or a time that is none.
            NotFoundError: there is no such run, or the key may not see it.
        """
        return self._client._wait(
            lambda options: self.retrieve(run_id, **options),
            timeout=timeout,
            poll_interval=poll_interval,
            until=until,
            reconnect_timeout=reconnect_timeout,
            options=options,
        )


class RunsWithRawResponse:
    """`Runs` with responses as they came."""

    def __init__(self, resource: Runs) -> None:
        unread = Runs(resource._client._raw)
        self.list = sync_raw_page(unread.list)
        self.create = sync_raw(unread.create)
        self.retrieve = sync_raw(unread.retrieve)
        self.submit_followup = sync_raw(unread.submit_followup)
        self.cancel = sync_raw(unread.cancel)
        self.interrupt = sync_raw(unread.interrupt)
        self.list_events = sync_raw(unread.list_events)
        self.timeline = sync_raw(unread.timeline)
        self.conversation = sync_raw_page(unread.conversation)


class RunsWithStreamingResponse:
    """`Runs` with responses that are read piece by piece."""

    def __init__(self, resource: Runs) -> None:
        unread = Runs(resource._client._streamed)
        self.list = sync_streamed_page(unread.list)
        self.create = sync_streamed(unread.create)
        self.retrieve = sync_streamed(unread.retrieve)
        self.submit_followup = sync_streamed(unread.submit_followup)
        self.cancel = sync_streamed(unread.cancel)
        self.interrupt = sync_streamed(unread.interrupt)
        self.list_events = sync_streamed(unread.list_events)
        self.timeline = sync_streamed(unread.timeline)
        self.conversation = sync_streamed_page(unread.conversation)
