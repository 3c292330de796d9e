# Generated from _async/resources/agent/run_permissions.py by scripts/unasync.py; do not edit.
"""What the agent of a run asks before it acts."""

from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from ...._options import RequestOptions
from ....types import PermissionItem, PermissionList
from ...resource import Resource, sync_raw
from ...streamed import sync_streamed


class RunPermissions(Resource):
    """What the agent of a run asks before it acts."""

    _place = "agent.runs.permissions"

    @cached_property
    def with_raw_response(self) -> RunPermissionsWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return RunPermissionsWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> RunPermissionsWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return RunPermissionsWithStreamingResponse(self)

    def list(self, run_id: str, **options: Unpack[RequestOptions]) -> PermissionList:
        """See what a run asks permission for.

        Only runs that were created with `interactive` ask; they are BLOCKED while a question is open.

        Needs the role `viewer` or one above it.

        Args:
            run_id: The run.

        Returns:
            Open and settled questions.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        return self._client._call(
            "GET",
            "/agent/runs/{run_id}/permissions",
            {"run_id": run_id},
            cast_to=PermissionList,
            options=options,
        )

    def answer(
        self,
        run_id: str,
        permission_id: str,
        *,
        option_id: str,
        **options: Unpack[RequestOptions],
    ) -> PermissionItem:
        """Answer a run that asks permission.

        With the last open question answered the run goes on. Repeating an answer is no error; another answer, an
        answer to a question that nobody waits for any more, and one while a cancel is under way: 409. An option that
        the agent does not offer: 400, with those that it does. A follow-up to a BLOCKED run that names an option, or
        is allow, yes, reject or no, is an answer, too; any other message refuses what is asked and is the next thing
        that the agent is told.

        Needs the role `operator` or one above it.

        Args:
            run_id: The run.
            permission_id: The question.
            option_id: One of the options of the request.

        Returns:
            The question as it is answered now.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            NotFoundError: there is no such thing, or the key may not see it.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "POST",
            "/agent/runs/{run_id}/permissions/{permission_id}",
            {"run_id": run_id, "permission_id": permission_id},
            cast_to=PermissionItem,
            body={"option_id": option_id},
            options=options,
        )


class RunPermissionsWithRawResponse:
    """`RunPermissions` with responses as they came."""

    def __init__(self, resource: RunPermissions) -> None:
        unread = RunPermissions(resource._client._raw)
        self.list = sync_raw(unread.list)
        self.answer = sync_raw(unread.answer)


class RunPermissionsWithStreamingResponse:
    """`RunPermissions` with responses that are read piece by piece."""

    def __init__(self, resource: RunPermissions) -> None:
        unread = RunPermissions(resource._client._streamed)
        self.list = sync_streamed(unread.list)
        self.answer = sync_streamed(unread.answer)
