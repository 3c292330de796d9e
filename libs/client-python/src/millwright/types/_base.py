"""What every model of the API stands on."""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, Iterator, Optional, Tuple, TypeVar, cast

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, SerializerFunctionWrapHandler, model_serializer
from pydantic_core import CoreSchema, core_schema
from typing_extensions import Annotated

T = TypeVar("T")

# Members that an answer shows once and that open something: kept out of repr() and str(), and so out of logs.
_SHOWN_ONCE: Dict[str, FrozenSet[str]] = {
    "ApiKeyCreated": frozenset({"key"}),
    "WebhookCreated": frozenset({"secret", "url"}),
    "WebhookRotated": frozenset({"secret", "url"}),
    "RotatedWebhook": frozenset({"url"}),
}


def _itself(value: Any) -> Any:
    return value


class _NeverNull:
    """Refuses null where the API document has none; None stays what the attribute of an absent member is."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        if schema["type"] != "nullable":
            return schema
        # Written by its value: the type alone would warn of the None of an absent member.
        never_null: Any = {**schema["schema"], "serialization": core_schema.plain_serializer_function_ser_schema(_itself)}
        return cast(CoreSchema, never_null)


Omittable = Annotated[Optional[T], _NeverNull()]
"""A member that may be absent, which is None here, and never null."""


class ModelBase(BaseModel):
    """A model of the API. Members that it does not know are kept: as attributes, and in `model_extra`.

    Written (`model_dump`, `model_dump_json`) are the members that were received or set: an absent one stays absent.
    """

    model_config = ConfigDict(extra="allow", populate_by_name=True, protected_namespaces=())

    def __repr_args__(self) -> Iterator[Tuple[Any, Any]]:
        """What was set, with what is shown once left out."""
        hidden = _SHOWN_ONCE.get(type(self).__name__, frozenset())
        for name, value in super().__repr_args__():
            if name in self.model_fields_set:
                yield (name, "***" if name in hidden else value)

    @model_serializer(mode="wrap")
    # pydantic 2.10.0 looks the names of this type up where the model is, which has no Dict.
    def _without_absent_members(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        members: Dict[str, Any] = write(self)
        return {name: value for name, value in members.items() if value is not None or name in self.model_fields_set}
