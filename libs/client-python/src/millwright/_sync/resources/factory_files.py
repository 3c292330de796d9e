# Generated from _async/resources/factory_files.py by scripts/unasync.py; do not edit.
"""Checks of definition files, and the schemas that they follow."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Dict, Sequence, Union, cast

from typing_extensions import Unpack

from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import FactoryFilesValidateResult, SchemaDocumentList, TreeFileParam
from ..resource import Resource, sync_raw
from ..streamed import sync_streamed


class FactoryFiles(Resource):
    """Checks of definition files, and the schemas that they follow."""

    _place = "factory_files"

    @cached_property
    def with_raw_response(self) -> FactoryFilesWithRawResponse:
        """The same methods; each answers the response as it came, an `APIResponse`."""
        return FactoryFilesWithRawResponse(self)

    @cached_property
    def with_streaming_response(self) -> FactoryFilesWithStreamingResponse:
        """The same methods, each in a `with` block whose response is read piece by piece."""
        return FactoryFilesWithStreamingResponse(self)

    def validate(
        self,
        *,
        files: Sequence[TreeFileParam],
        secrets: Union[Sequence[str], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> FactoryFilesValidateResult:
        """Check definition files.

        What `millwright validate` does: `diagnostics` are errors, `warnings` the rest.

        Needs no key; without one an address may ask 30 times a minute.

        Args:
            files: The whole tree: what is left out counts as deleted. At most 2,000 files; without
                a key 256 of 256 KiB each and 2 MiB together. With a key 64 MiB of text together. Files that are no definitions are ignored.
            secrets: Names of the secrets that exist, for webhooks and runs alike; without them no name is checked.

        Returns:
            The findings; files with errors are no refusal.

        Raises:
            BadRequestError: something sent is not as it must be; `errors` names every member.
            ConflictError: the state of things forbids it; `detail` says why.
        """
        return self._client._call(
            "POST",
            "/factory-files/validate",
            cast_to=FactoryFilesValidateResult,
            body={"files": files, "secrets": secrets},
            options=options,
        )

    def schemas(self, **options: Unpack[RequestOptions]) -> SchemaDocumentList:
        """List the schemas.

        Needs no key; without one an address may ask 30 times a minute.

        Returns:
            Every document.
        """
        return self._client._call("GET", "/factory-files/schemas", cast_to=SchemaDocumentList, options=options)

    def schema(self, document: str, **options: Unpack[RequestOptions]) -> Dict[str, Any]:
        """Get a schema.

        Needs no key; without one an address may ask 30 times a minute.

        Args:
            document: factory, webhook, automation, environment or agent.

        Returns:
            The JSON Schema (2020-12), complete in itself.

        Raises:
            NotFoundError: there is no such thing, or the key may not see it.
        """
        answer = self._client._call(
            "GET",
            "/factory-files/schemas/{document}",
            {"document": document},
            cast_to=object,
            options=options,
        )
        return cast(Dict[str, Any], answer)


class FactoryFilesWithRawResponse:
    """`FactoryFiles` with responses as they came."""

    def __init__(self, resource: FactoryFiles) -> None:
        unread = FactoryFiles(resource._client._raw)
        self.validate = sync_raw(unread.validate)
        self.schemas = sync_raw(unread.schemas)
        self.schema = sync_raw(unread.schema)


class FactoryFilesWithStreamingResponse:
    """`FactoryFiles` with responses that are read piece by piece."""

    def __init__(self, resource: FactoryFiles) -> None:
        unread = FactoryFiles(resource._client._streamed)
        self.validate = sync_streamed(unread.validate)
        self.schemas = sync_streamed(unread.schemas)
        self.schema = sync_streamed(unread.schema)
