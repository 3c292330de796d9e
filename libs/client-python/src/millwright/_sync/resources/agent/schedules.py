# Generated from _async/resources/agent/schedules.py by scripts/unasync.py; do not edit.
"""Schedules: what starts runs by the clock."""

from __future__ import annotations

from functools import cached_property
from typing import Mapping, Union

from typing_extensions import Unpack

from ...._options import NOT_GIVEN, NotGiven, RequestOptions
from ....types import AmbientAgentConfigParam, RunModeParam, ScheduleDeleted, ScheduleItem, ScheduleList
from ...resource import Resource, sync_raw
from ...streamed import sync_streamed


class Schedules(Resource):
    """Schedules: what starts runs by the clock."""

    _place = "agent.schedules"

    @cached_property
    def with_raw_response(self) -> SchedulesWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return SchedulesWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> SchedulesWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return SchedulesWithStreamingResponse(self)

    def list(self, **options: Unpack[RequestOptions]) -> ScheduleList:
        """List schedules.

        Schedules that the key may see, by name: those of their own, and the schedule triggers of automations, which
        are changed where their automations are.

        Needs the role `viewer` or one above it.

        Returns:
            The schedules.
        """
        return self._client._call("GET", "/agent/schedules", cast_to=ScheduleList, options=options)

    def create(
        self,
        *,
        name: str,
        cron_schedule: str,
        prompt: Union[str, NotGiven] = NOT_GIVEN,
        enabled: Union[bool, NotGiven] = NOT_GIVEN,
        agent_config: Union[AmbientAgentConfigParam, NotGiven] = NOT_GIVEN,
        metadata: Union[Mapping[str, str], NotGiven] = NOT_GIVEN,
        mode: Union[RunModeParam, NotGiven] = NOT_GIVEN,
        factory_uid: Union[str, NotGiven] = NOT_GIVEN,
        team: Union[bool, NotGiven] = NOT_GIVEN,
        agent_uid: Union[str, None, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> ScheduleItem:
        """Make a schedule.

        It counts from now. Its runs belong to its factory, and to the factory's service account; without one to who
        made it, and go on when that key ends. A key that is limited to factories names one as `factory_uid`. A
        thousand at most: 409. Members that are not served here are ignored, and named in `ignored`.

        Needs the role `operator` or one above it.

        Args:
            name: Name for people.
            cron_schedule: When it fires: five cron fields in UTC, an @ word, or @every with a duration.
            prompt: What its runs are asked; required unless agent_config names a skill.
            enabled: Whether it fires from now on; true unless said.
            agent_config: What its runs say about their agent; everything else comes from the agent identity, the
                factory and the server.
            metadata: Metadata of its runs, as of POST /agent/runs.
            mode: How its runs are asked to work; normal unless said.
            factory_uid: Factory whose defaults and environments its runs have; required for a key that is limited to
                factories. It does not change later.
            team: Schedules belong to everybody who may see their factory: false is ignored.
            agent_uid: Agent identity whose defaults its runs have, below agent_config and above its factory's.

        Returns:
            The schedule that was made.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "POST",
            "/agent/schedules",
            cast_to=ScheduleItem,
            body={
                "name": name,
                "cron_schedule": cron_schedule,
                "prompt": prompt,
                "enabled": enabled,
                "agent_config": agent_config,
                "metadata": metadata,
                "mode": mode,
                "factory_uid": factory_uid,
                "team": team,
                "agent_uid": agent_uid,
            },
            options=options,
        )

    def retrieve(self, schedule_id: str, **options: Unpack[RequestOptions]) -> ScheduleItem:
        """Look at a schedule.

        Needs the role `viewer` or one above it.

        Args:
            schedule_id: The schedule.

        Returns:
            The schedule.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call(
            "GET",
            "/agent/schedules/{schedule_id}",
            {"schedule_id": schedule_id},
            cast_to=ScheduleItem,
            options=options,
        )

    def update(
        self,
        schedule_id: str,
        *,
        name: str,
        cron_schedule: str,
        enabled: bool,
        prompt: Union[str, NotGiven] = NOT_GIVEN,
        agent_config: Union[AmbientAgentConfigParam, NotGiven] = NOT_GIVEN,
        metadata: Union[Mapping[str, str], NotGiven] = NOT_GIVEN,
        mode: Union[RunModeParam, NotGiven] = NOT_GIVEN,
        agent_uid: Union[str, None, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> ScheduleItem:
        """Change a schedule.

        What is absent stays. With another expression, and when it begins to fire again, it counts from now. A tick
        that nobody has handled starts its run as the schedule is then. 409: it is a trigger of an automation, and
        changed there. Members that are not served here are ignored, and named in `ignored`.

        Needs the role `operator` or one above it.

        Args:
            schedule_id: The schedule.
            name: Name for people.
            cron_schedule: When it fires: five cron fields in UTC, an @ word, or @every with a duration. Another one
                counts from now.
            enabled: Whether it fires.
            prompt: What its runs are asked.
            agent_config: What its runs say about their agent, in place of all that was said before.
            metadata: Metadata of its runs, in place of what was.
            mode: How its runs are asked to work.
            agent_uid: Agent identity whose defaults its runs have, below agent_config and above its factory's. None:
                none.

        Returns:
            The schedule as it is now.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "PUT",
            "/agent/schedules/{schedule_id}",
            {"schedule_id": schedule_id},
            cast_to=ScheduleItem,
            body={
                "name": name,
                "cron_schedule": cron_schedule,
                "enabled": enabled,
                "prompt": prompt,
                "agent_config": agent_config,
                "metadata": metadata,
                "mode": mode,
                "agent_uid": agent_uid,
            },
            options=options,
        )

    def delete(self, schedule_id: str, **options: Unpack[RequestOptions]) -> ScheduleDeleted:
        """Delete a schedule.

        It starts nothing from then on; its runs stay. 409: it is a trigger of an automation, and changed there.

        Needs the role `operator` or one above it.

        Args:
            schedule_id: The schedule.

        Returns:
            It was deleted.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "DELETE",
            "/agent/schedules/{schedule_id}",
            {"schedule_id": schedule_id},
            cast_to=ScheduleDeleted,
            options=options,
        )

    def pause(self, schedule_id: str, **options: Unpack[RequestOptions]) -> ScheduleItem:
        """Pause a schedule.

        It starts nothing from then on. Of a paused one nothing changes. 409: it is a trigger of an automation, and
        changed there.

        Needs the role `operator` or one above it.

        Args:
            schedule_id: The schedule.

        Returns:
            The schedule as it is now.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "POST",
            "/agent/schedules/{schedule_id}/pause",
            {"schedule_id": schedule_id},
            cast_to=ScheduleItem,
            options=options,
        )

    def resume(self, schedule_id: str, **options: Unpack[RequestOptions]) -> ScheduleItem:
        """Resume a schedule.

        It counts from now: ticks of its pause are neither made up for nor missed. Of one that is not paused nothing
        changes. 409: it is a trigger of an automation, and changed there.

        Needs the role `operator` or one above it.

        Args:
            schedule_id: The schedule.

        Returns:
            The schedule as it is now.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "POST",
            "/agent/schedules/{schedule_id}/resume",
            {"schedule_id": schedule_id},
            cast_to=ScheduleItem,
            options=options,
        )


class SchedulesWithRawResponse:
    """`Schedules` with responses as they came."""

    def __init__(self, resource: Schedules) -> None:
        unread = Schedules(resource._client._raw)
        self.list = sync_raw(unread.list)
        self.create = sync_raw(unread.create)
        self.retrieve = sync_raw(unread.retrieve)
        self.update = sync_raw(unread.update)
        self.delete = sync_raw(unread.delete)
        self.pause = sync_raw(unread.pause)
        self.resume = sync_raw(unread.resume)


class SchedulesWithStreamingResponse:
    """`Schedules` with responses that are read piece by piece."""

    def __init__(self, resource: Schedules) -> None:
        unread = Schedules(resource._client._streamed)
        self.list = sync_streamed(unread.list)
        self.create = sync_streamed(unread.create)
        self.retrieve = sync_streamed(unread.retrieve)
        self.update = sync_streamed(unread.update)
        self.delete = sync_streamed(unread.delete)
        self.pause = sync_streamed(unread.pause)
        self.resume = sync_streamed(unread.resume)
