# Generated from _async/resources/factories/factories.py by scripts/unasync.py; do not edit.
"""Factories: what they are made of, how they keep up with their source, what they start."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Mapping, Optional, Sequence, Union

from typing_extensions import Unpack

from ...._options import NOT_GIVEN, NotGiven, RequestOptions
from ....types import (
    AmbientAgentConfigParam,
    Approval,
    AttachmentParam,
    Factory,
    FactoryDispatchResponse,
    FactoryEvent,
    FactoryEventList,
    FactoryList,
    FactorySourceParam,
    FactoryStatus,
    FilterReplayResult,
    FilterSuggestion,
    FilterTestResult,
    Plan,
    RevisionStatus,
    SyncPolicyParam,
    TreeFileParam,
)
from ...pages import Page
from ...resource import Resource, sync_raw, sync_raw_page
from ...streamed import sync_streamed, sync_streamed_page
from .automations import Automations
from .deliveries import Deliveries
from .secrets import FactorySecrets
from .pull_requests import PullRequests
from .syncs import Syncs
from .webhooks import Webhooks

#: A pass that is waited for is answered within two minutes.
WAITED_SYNC_TIMEOUT_SECONDS = 150.0


class Factories(Resource):
    """Factories: what they are made of, how they keep up with their source, what they start."""

    _place = "factories"

    @cached_property
    def pull_requests(self) -> PullRequests:
        """Open pull requests of the followed repository."""
        return PullRequests(self._client)

    @cached_property
    def syncs(self) -> Syncs:
        """Passes of a factory: what each found and did."""
        return Syncs(self._client)

    @cached_property
    def webhooks(self) -> Webhooks:
        """Webhooks of a factory: the addresses that senders deliver to."""
        return Webhooks(self._client)

    @cached_property
    def deliveries(self) -> Deliveries:
        """What was delivered to a webhook, and what became of it."""
        return Deliveries(self._client)

    @cached_property
    def automations(self) -> Automations:
        """Automations of a factory: what starts a run, and with which prompt."""
        return Automations(self._client)

    @cached_property
    def secrets(self) -> FactorySecrets:
        """A factory's own secrets; values are never answered."""
        return FactorySecrets(self._client)

    @cached_property
    def with_raw_response(self) -> FactoriesWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return FactoriesWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> FactoriesWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return FactoriesWithStreamingResponse(self)

    def list(
        self,
        *,
        search: Optional[str] = None,
        team_uid: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> Page[Factory]:
        """List factories.

        Only those that the key may see, in order of their UIDs.

        Needs the role `viewer` or one above it.

        Args:
            search: Text that slug or name holds, whatever its case.
            team_uid: Only factories of this team. The installation has one, which is called `team`; others have none.
            limit: Factories on a page at most.
            cursor: Where the page begins: `next_cursor` of an answer to the same query.

        Returns:
            A page of Factory, and every Factory of every page when iterated.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
        """
        return self._client._page(
            "/factory",
            cast_to=FactoryList,
            items=lambda page: page.factories,
            query={"search": search, "team_uid": team_uid, "limit": limit, "cursor": cursor},
            options=options,
        )

    def create(
        self,
        *,
        slug: str,
        source: FactorySourceParam,
        name: Union[str, NotGiven] = NOT_GIVEN,
        sync_policy: Union[SyncPolicyParam, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Factory:
        """Make a factory.

        A slug that was used before gives the same UIDs and ingress URLs again.

        Needs the role `admin` or one above it.

        Args:
            slug: Permanent name, unique among the factories; every UID of the factory follows from it.
            source: Where a factory's definitions come from: a git repository, a directory of the server (where the
                operator allows it), or the dashboard, where they are managed over the API.
            name: Label for people; by default the slug.
            sync_policy: What is asked of commits before they may apply; by default nothing.

        Returns:
            The factory; its first pass is under way.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "POST",
            "/factory",
            cast_to=Factory,
            body={"slug": slug, "name": name, "source": source, "sync_policy": sync_policy},
            options=options,
        )

    def retrieve(self, factory_uid: str, **options: Unpack[RequestOptions]) -> Factory:
        """Look at a factory.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.

        Returns:
            The factory.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call(
            "GET",
            "/factory/{factory_uid}",
            {"factory_uid": factory_uid},
            cast_to=Factory,
            options=options,
        )

    def update(
        self,
        factory_uid: str,
        *,
        name: Union[str, NotGiven] = NOT_GIVEN,
        source: Union[FactorySourceParam, NotGiven] = NOT_GIVEN,
        sync_policy: Union[SyncPolicyParam, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Factory:
        """Change a factory.

        A new source or sync policy is followed from the next pass on. Commits can be verified, and fast-forwards
        asked for, of git sources only.

        Needs the role `admin` or one above it.

        Args:
            factory_uid: The factory.
            name: Label for people. The factory's own file decides it where that names one: then this is answered with
                409.
            source: The whole new source; members that it leaves out are gone. UIDs and ingress URLs stay.
            sync_policy: The whole new policy; members that it leaves out are gone.

        Returns:
            The factory as it is now.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "PATCH",
            "/factory/{factory_uid}",
            {"factory_uid": factory_uid},
            cast_to=Factory,
            body={"name": name, "source": source, "sync_policy": sync_policy},
            options=options,
        )

    def delete(self, factory_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Delete a factory.

        Its webhooks answer 404 at once, its waiting runs are cancelled, live ones finish.

        Needs the role `admin` or one above it.

        Args:
            factory_uid: The factory.

        Returns:
            Nothing.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call(
            "DELETE",
            "/factory/{factory_uid}",
            {"factory_uid": factory_uid},
            cast_to=type(None),
            options=options,
        )

    def dispatch(
        self,
        factory_uid: str,
        *,
        prompt: str,
        title: Union[str, NotGiven] = NOT_GIVEN,
        config: Union[AmbientAgentConfigParam, NotGiven] = NOT_GIVEN,
        metadata: Union[Mapping[str, str], NotGiven] = NOT_GIVEN,
        attachments: Union[Sequence[AttachmentParam], NotGiven] = NOT_GIVEN,
        ticket_ref: Union[str, NotGiven] = NOT_GIVEN,
        ticket_url: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> FactoryDispatchResponse:
        """Dispatch a run to a factory.

        The run takes the factory's defaults. Follow-ups, cancellation and state are those of any run.

        Needs the role `operator` or one above it.

        Args:
            factory_uid: The factory.
            prompt: What the agent has to do.
            title: Title; by default the first line of the prompt.
            config: What the run says about its agent; everything else comes from the factory and the server.
            metadata: Up to 20 entries of the caller's own: keys of 1 to 64 of A–Z a–z 0–9 . _ -, values of at most
                256 bytes.
            attachments: Files for the agent.
            ticket_ref: Reference of the ticket that the run is about; at most 256 bytes, kept as metadata.
            ticket_url: Address of the ticket; at most 256 bytes, kept as metadata and as the run's trigger_url.

        Returns:
            The run.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
            UnprocessableEntityError: known, and not possible here.
        """
        return self._client._call(
            "POST",
            "/factory/{factory_uid}/runs",
            {"factory_uid": factory_uid},
            cast_to=FactoryDispatchResponse,
            body={
                "prompt": prompt,
                "title": title,
                "config": config,
                "metadata": metadata,
                "attachments": attachments,
                "ticket_ref": ticket_ref,
                "ticket_url": ticket_url,
            },
            options=options,
        )

    def status(self, factory_uid: str, **options: Unpack[RequestOptions]) -> FactoryStatus:
        """See where a factory stands.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.

        Returns:
            Conditions, revisions, generations and inventory.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call(
            "GET",
            "/factory/{factory_uid}/status",
            {"factory_uid": factory_uid},
            cast_to=FactoryStatus,
            options=options,
        )

    def sync(
        self,
        factory_uid: str,
        *,
        wait: Optional[bool] = None,
        **options: Unpack[RequestOptions],
    ) -> FactoryStatus:
        """Ask for a pass.

        Never applies anything itself. With `wait`, answers when the pass is over, and 503 when that takes more than
        two minutes.

        Needs the role `manager` or one above it.

        Args:
            factory_uid: The factory.
            wait: Whether to answer only when the pass is over; an attempt then has 150 seconds.

        Returns:
            Where the factory stands; generation_requested is this request.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "POST",
            "/factory/{factory_uid}/sync",
            {"factory_uid": factory_uid},
            cast_to=FactoryStatus,
            query={"wait": wait},
            timeout=WAITED_SYNC_TIMEOUT_SECONDS if wait else NOT_GIVEN,
            options=options,
        )

    def plan(
        self,
        factory_uid: str,
        *,
        files: Union[Sequence[TreeFileParam], NotGiven] = NOT_GIVEN,
        ref: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Plan:
        """See what a tree or a ref would change.

        Reads, checks and plans like a pass and writes nothing. Knows the secrets and webhooks that this factory may
        see. The body is at most 1 MiB. One of `files` and `ref` is given; a ref may take two minutes.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.
            files: The whole tree: what is left out counts as deleted. At most 2,000 files and 64 MiB of text
                together. Files that are no definitions are ignored.
            ref: A branch, a tag, a whole commit ID, `HEAD` or a pull request (`pull/12`) of the repository that the
                factory follows.

        Returns:
            What a pass over these files would do now.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "POST",
            "/factory/{factory_uid}/plan",
            {"factory_uid": factory_uid},
            cast_to=Plan,
            body={"files": files, "ref": ref},
            options=options,
        )

    def approve(self, factory_uid: str, *, plan: str, **options: Unpack[RequestOptions]) -> Approval:
        """Approve held deletions or a rewritten history.

        Counts for exactly the deletions, factory and revision that the digest covers; with a rewritten history, for
        exactly the factory and the two revisions.

        Needs the role `manager` or one above it.

        Args:
            factory_uid: The factory.
            plan: Digest of what is held, as a sync or a plan shows it.

        Returns:
            The approval; a pass is asked for.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "POST",
            "/factory/{factory_uid}/approve",
            {"factory_uid": factory_uid},
            cast_to=Approval,
            body={"plan": plan},
            options=options,
        )

    def suspend(self, factory_uid: str, **options: Unpack[RequestOptions]) -> Factory:
        """Stop reconciling.

        Webhooks and automations serve on; secrets are looked after.

        Needs the role `manager` or one above it.

        Args:
            factory_uid: The factory.

        Returns:
            The factory.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "POST",
            "/factory/{factory_uid}/suspend",
            {"factory_uid": factory_uid},
            cast_to=Factory,
            options=options,
        )

    def resume(self, factory_uid: str, **options: Unpack[RequestOptions]) -> Factory:
        """Go on with reconciling.

        Needs the role `manager` or one above it.

        Args:
            factory_uid: The factory.

        Returns:
            The factory; a pass is asked for.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "POST",
            "/factory/{factory_uid}/resume",
            {"factory_uid": factory_uid},
            cast_to=Factory,
            options=options,
        )

    def events(
        self,
        factory_uid: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        **options: Unpack[RequestOptions],
    ) -> Page[FactoryEvent]:
        """List what happened to a factory.

        What passes found and changed, and what people asked for. A fault that lasts is told once.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.
            limit: Events on a page at most.
            cursor: Where the page begins: `next_cursor` of an answer to the same query.

        Returns:
            A page of FactoryEvent, and every FactoryEvent of every page when iterated.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._page(
            "/factory/{factory_uid}/events",
            {"factory_uid": factory_uid},
            cast_to=FactoryEventList,
            items=lambda page: page.events,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def revision(self, factory_uid: str, revision: str, **options: Unpack[RequestOptions]) -> RevisionStatus:
        """See what became of a revision.

        Ask again until it is `serving`, or will not be. A commit that an applied descendant holds is `serving`. A
        prefix that several commits share is answered with 400. A revision that no pass has seen is `unknown`, which
        is no error: it may come.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.
            revision: A whole revision (`main@sha1:…`, `sha256:…`), a commit ID, or 7 or more of its first hexadecimal
                digits.

        Returns:
            Where the revision stands.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call(
            "GET",
            "/factory/{factory_uid}/revisions/{revision}",
            {"factory_uid": factory_uid, "revision": revision},
            cast_to=RevisionStatus,
            options=options,
        )

    def test_filter(
        self,
        factory_uid: str,
        *,
        filter: Any,
        entry_id: Union[str, NotGiven] = NOT_GIVEN,
        payload: Any = NOT_GIVEN,
        webhook_uids: Union[Sequence[str], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> FilterTestResult:
        """Test a payload filter.

        Tests against the stored payload of a delivery, or against a payload of the request. Problems of the filter
        are named by pointers below `/filter`. 422: the delivery was not accepted, so that its payload was not kept.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.
            filter: The payload filter: an object that mirrors the body; `{}` takes every payload.
            entry_id: Log entry of an accepted delivery of this factory, whose stored payload is tested.
            payload: Any JSON value, null included, nested at most 60 deep.
            webhook_uids: Webhooks that the trigger selects. Without them only the payload decides.

        Returns:
            Whether the automation would start.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
            UnprocessableEntityError: known, and not possible here.
        """
        return self._client._call(
            "POST",
            "/factory/{factory_uid}/filters/test",
            {"factory_uid": factory_uid},
            cast_to=FilterTestResult,
            body={"filter": filter, "entry_id": entry_id, "payload": payload, "webhook_uids": webhook_uids},
            options=options,
        )

    def replay_filter(
        self,
        factory_uid: str,
        *,
        filter: Any,
        webhook_uids: Union[Sequence[str], NotGiven] = NOT_GIVEN,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> FilterReplayResult:
        """Test a payload filter against the newest deliveries.

        Asks the newest accepted deliveries, at most 50, as a test of each would.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.
            filter: The payload filter; `{}` takes every payload.
            webhook_uids: Webhooks that the trigger selects. Without them the deliveries of all webhooks of the
                factory are asked.
            limit: Deliveries to ask at most.

        Returns:
            One outcome for each delivery.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "POST",
            "/factory/{factory_uid}/filters/replay",
            {"factory_uid": factory_uid},
            cast_to=FilterReplayResult,
            body={"filter": filter, "webhook_uids": webhook_uids, "limit": limit},
            options=options,
        )

    def suggest_filter(
        self,
        factory_uid: str,
        *,
        entry_ids: Sequence[str],
        not_entry_ids: Union[Sequence[str], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> FilterSuggestion:
        """Make a filter from deliveries.

        422: a delivery that was not accepted, so that its payload was not kept.

        Needs the role `viewer` or one above it.

        Args:
            factory_uid: The factory.
            entry_ids: Log entries of accepted deliveries that the filter shall take.
            not_entry_ids: Log entries of accepted deliveries that it shall leave. Without this: the other ones among
                the newest 50 of the same webhooks.

        Returns:
            The filter and how well it tells the deliveries apart.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
            UnprocessableEntityError: known, and not possible here.
        """
        return self._client._call(
            "POST",
            "/factory/{factory_uid}/filters/suggest",
            {"factory_uid": factory_uid},
            cast_to=FilterSuggestion,
            body={"entry_ids": entry_ids, "not_entry_ids": not_entry_ids},
            options=options,
        )


class FactoriesWithRawResponse:
    """`Factories` with responses as they came."""

    def __init__(self, resource: Factories) -> None:
        unread = Factories(resource._client._raw)
        self.list = sync_raw_page(unread.list)
        self.create = sync_raw(unread.create)
        self.retrieve = sync_raw(unread.retrieve)
        self.update = sync_raw(unread.update)
        self.delete = sync_raw(unread.delete)
        self.dispatch = sync_raw(unread.dispatch)
        self.status = sync_raw(unread.status)
        self.sync = sync_raw(unread.sync)
        self.plan = sync_raw(unread.plan)
        self.approve = sync_raw(unread.approve)
        self.suspend = sync_raw(unread.suspend)
        self.resume = sync_raw(unread.resume)
        self.events = sync_raw_page(unread.events)
        self.revision = sync_raw(unread.revision)
        self.test_filter = sync_raw(unread.test_filter)
        self.replay_filter = sync_raw(unread.replay_filter)
        self.suggest_filter = sync_raw(unread.suggest_filter)


class FactoriesWithStreamingResponse:
    """`Factories` with responses that are read piece by piece."""

    def __init__(self, resource: Factories) -> None:
        unread = Factories(resource._client._streamed)
        self.list = sync_streamed_page(unread.list)
        self.create = sync_streamed(unread.create)
        self.retrieve = sync_streamed(unread.retrieve)
        self.update = sync_streamed(unread.update)
        self.delete = sync_streamed(unread.delete)
        self.dispatch = sync_streamed(unread.dispatch)
        self.status = sync_streamed(unread.status)
        self.sync = sync_streamed(unread.sync)
        self.plan = sync_streamed(unread.plan)
        self.approve = sync_streamed(unread.approve)
        self.suspend = sync_streamed(unread.suspend)
        self.resume = sync_streamed(unread.resume)
        self.events = sync_streamed_page(unread.events)
        self.revision = sync_streamed(unread.revision)
        self.test_filter = sync_streamed(unread.test_filter)
        self.replay_filter = sync_streamed(unread.replay_filter)
        self.suggest_filter = sync_streamed(unread.suggest_filter)
