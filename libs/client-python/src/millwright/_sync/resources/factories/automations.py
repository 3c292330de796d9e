# Generated from _async/resources/factories/automations.py by scripts/unasync.py; do not edit.
"""Automations of a factory: what starts a run, and with which prompt."""

from __future__ import annotations

from functools import cached_property
from typing import Optional, Sequence, Union

from typing_extensions import Unpack

from ...._options import NOT_GIVEN, NotGiven, RequestOptions
from ....types import (
    Automation,
    AutomationAgentParam,
    AutomationCreateConcurrencyParam,
    AutomationCreateLimitsParam,
    AutomationCreateNetworkParam,
    AutomationList,
    AutomationPatchConcurrencyParam,
    AutomationPatchLimitsParam,
    AutomationPatchNetworkParam,
    AutomationTriggerRequestParam,
)
from ...pages import Page
from ...resource import Resource, sync_raw, sync_raw_page
from ...streamed import sync_streamed, sync_streamed_page


class Automations(Resource):
    """Automations of a factory: what starts a run, and with which prompt."""

    _place = "factories.automations"

    @cached_property
    def with_raw_response(self) -> AutomationsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return AutomationsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> AutomationsWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return AutomationsWithStreamingResponse(self)

    def list(
        self,
        factory_uid: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> Page[Automation]:
        """List a factory's automations.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.
            limit: Entries on a page at most.
            cursor: Where the page begins: `next_cursor` of an answer to the same query.

        Returns:
            A page of Automation, and every Automation of every page when iterated.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._page(
            "/factory/{factory_uid}/automations",
            {"factory_uid": factory_uid},
            cast_to=AutomationList,
            items=lambda page: page.automations,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def create(
        self,
        factory_uid: str,
        *,
        name: str,
        triggers: Sequence[AutomationTriggerRequestParam],
        prompt: str,
        description: Union[str, NotGiven] = NOT_GIVEN,
        enabled: Union[bool, NotGiven] = NOT_GIVEN,
        agent: Union[AutomationAgentParam, NotGiven] = NOT_GIVEN,
        concurrency: Union[AutomationCreateConcurrencyParam, NotGiven] = NOT_GIVEN,
        limits: Union[AutomationCreateLimitsParam, NotGiven] = NOT_GIVEN,
        network: Union[AutomationCreateNetworkParam, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Automation:
        """Make an automation.

        Every rule of automation files holds. On a factory whose definitions are managed in files nothing changes: 409
        with the `file`, the `key` in it and the `edited_text` that does what was asked.

        Needs the role `manager` or one above it.

        Args:
            factory_uid: The factory.
            name: Label for people, on one line. The slug is made of the first one.
            triggers: What starts it; any one is enough.
            prompt: What the agent shall do; not empty.
            description: What it is for.
            enabled: false: its triggers start nothing.
            agent: What it says of the agent; what is absent, factory and server decide.
            concurrency: How runs of the automation stand to each other.
            limits: A run that goes over one of these is ended.
            network: What a run may reach beside the model and its repositories.

        Returns:
            The automation.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
            UnprocessableEntityError: known, and not possible here.
        """
        return self._client._call(
            "POST",
            "/factory/{factory_uid}/automations",
            {"factory_uid": factory_uid},
            cast_to=Automation,
            body={
                "name": name,
                "description": description,
                "enabled": enabled,
                "triggers": triggers,
                "prompt": prompt,
                "agent": agent,
                "concurrency": concurrency,
                "limits": limits,
                "network": network,
            },
            options=options,
        )

    def retrieve(self, factory_uid: str, automation_id: str, **options: Unpack[RequestOptions]) -> Automation:
        """Look at an automation.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.
            automation_id: UID of the automation.

        Returns:
            The automation.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call(
            "GET",
            "/factory/{factory_uid}/automations/{automation_id}",
            {"factory_uid": factory_uid, "automation_id": automation_id},
            cast_to=Automation,
            options=options,
        )

    def update(
        self,
        factory_uid: str,
        automation_id: str,
        *,
        if_match: str,
        name: Union[str, NotGiven] = NOT_GIVEN,
        description: Union[str, None, NotGiven] = NOT_GIVEN,
        enabled: Union[bool, NotGiven] = NOT_GIVEN,
        triggers: Union[Sequence[AutomationTriggerRequestParam], NotGiven] = NOT_GIVEN,
        prompt: Union[str, NotGiven] = NOT_GIVEN,
        agent: Union[AutomationAgentParam, None, NotGiven] = NOT_GIVEN,
        concurrency: Union[AutomationPatchConcurrencyParam, None, NotGiven] = NOT_GIVEN,
        limits: Union[AutomationPatchLimitsParam, None, NotGiven] = NOT_GIVEN,
        network: Union[AutomationPatchNetworkParam, None, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Automation:
        """Edit an automation.

        Acts on the next delivery; what was accepted before keeps what it was accepted with. On a factory whose
        definitions are managed in files nothing changes: 409 with the `file`, the `key` in it and the `edited_text`
        that does what was asked.

        Needs the role `manager` or one above it.

        Args:
            factory_uid: The factory.
            automation_id: UID of the automation.
            if_match: ETag of the state that the call is about (header `ETag` of what was read: `with_raw_response`);
                another state is a ConflictError.
            name: New label; slug and UID stay.
            description: What it is for; null removes it.
            enabled: false: its triggers start nothing.
            triggers: What starts it; any one is enough.
            prompt: What the agent shall do; not empty.
            agent: What it says of the agent; null: nothing, so that factory and server decide.
            concurrency: How runs of the automation stand to each other. null removes it.
            limits: A run that goes over one of these is ended. null removes them.
            network: What a run may reach beside the model and its repositories. null removes it.

        Returns:
            The automation as it is now.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "PATCH",
            "/factory/{factory_uid}/automations/{automation_id}",
            {"factory_uid": factory_uid, "automation_id": automation_id},
            cast_to=Automation,
            body={
                "name": name,
                "description": description,
                "enabled": enabled,
                "triggers": triggers,
                "prompt": prompt,
                "agent": agent,
                "concurrency": concurrency,
                "limits": limits,
                "network": network,
            },
            headers={"If-Match": if_match},
            options=options,
        )

    def delete(
        self,
        factory_uid: str,
        automation_id: str,
        *,
        if_match: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> None:
        """Delete an automation.

        It starts nothing from now on; runs that it started go on. On a factory whose definitions are managed in files
        nothing changes: 409 with the `file`, the `key` in it and the `edited_text` that does what was asked.

        Needs the role `manager` or one above it.

        Args:
            factory_uid: The factory.
            automation_id: UID of the automation.
            if_match: ETag of the state that the call is about (header `ETag` of what was read: `with_raw_response`);
                another state is a ConflictError.

        Returns:
            Nothing.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "DELETE",
            "/factory/{factory_uid}/automations/{automation_id}",
            {"factory_uid": factory_uid, "automation_id": automation_id},
            cast_to=type(None),
            headers={"If-Match": if_match},
            options=options,
        )


class AutomationsWithRawResponse:
    """`Automations` with responses as they came."""

    def __init__(self, resource: Automations) -> None:
        unread = Automations(resource._client._raw)
        self.list = sync_raw_page(unread.list)
        self.create = sync_raw(unread.create)
        self.retrieve = sync_raw(unread.retrieve)
        self.update = sync_raw(unread.update)
        self.delete = sync_raw(unread.delete)


class AutomationsWithStreamingResponse:
    """`Automations` with responses that are read piece by piece."""

    def __init__(self, resource: Automations) -> None:
        unread = Automations(resource._client._streamed)
        self.list = sync_streamed_page(unread.list)
        self.create = sync_streamed(unread.create)
        self.retrieve = sync_streamed(unread.retrieve)
        self.update = sync_streamed(unread.update)
        self.delete = sync_streamed(unread.delete)
