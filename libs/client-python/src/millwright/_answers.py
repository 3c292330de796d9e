"""Reads answers and holds them to what the API document promises."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Type, TypeVar, Union, get_args, get_origin

import httpx
from pydantic import AwareDatetime, BaseModel, TypeAdapter, ValidationError
from typing_extensions import Annotated, Literal, Protocol

from ._errors import APIResponseValidationError, media_type
from ._json import TooDeep, may_hold_constants, parsed, unmarked

T = TypeVar("T")

_NONE = type(None)
_NOTHING = object()

_adapters: Dict[Any, TypeAdapter[Any]] = {}


class Misfit(NamedTuple):
    """The first place where a value is not what was promised."""

    pointer: str
    """JSON pointer of the place; empty for the whole value."""
    expected: str
    """What ought to be there, e.g. `string or null`."""
    found: str
    """What is there: its JSON type with its article, or `nothing`."""


def read_answer(cast_to: Type[T], response: httpx.Response, label: str) -> T:
    """The body of a success, which has been read. Raises APIResponseValidationError.

    `cast_to`: a model or another type of a JSON value, bytes, type(None), or object (JSON unchecked, text where it is none).
    """
    answer: Any
    if cast_to is bytes:
        answer = response.content
    elif cast_to is _NONE:
        answer = None
    elif cast_to is object:
        answer = _read_unchecked(response, label)
    else:
        answer = _read_checked(cast_to, response, label)
    return answer  # type: ignore[no-any-return]


def read_part(cast_to: Type[T], content: Union[str, bytes], response: httpx.Response, label: str) -> T:
    """JSON that came as a part of an answer. Raises APIResponseValidationError."""
    if may_hold_constants(content):
        _check_constants(content, response, label)
    try:
        return _validated(cast_to, content)
    except ValidationError as failure:
        return _read_again(cast_to, failure, content, response, label)


def _read_checked(cast_to: Type[T], response: httpx.Response, label: str) -> T:
    return read_part(cast_to, response.content, response, label)


def _check_constants(content: Union[str, bytes], response: httpx.Response, label: str) -> None:
    """What is no JSON to anybody else is none here: pydantic would take it for a number."""
    try:
        parsed(content)
    except TooDeep:
        pass  # pydantic says so
    except ValueError:
        raise _no_json(content, response, label) from None


def _read_again(
    cast_to: Type[T], failure: ValidationError, content: Union[str, bytes], response: httpx.Response, label: str
) -> T:
    """To JSON 3.0 is an integer and half a character a text; to pydantic they are not."""
    if _holds(failure, "int_type", "json_invalid"):
        try:
            value = parsed(content, parse_float=_number)
            # Strict, which it can only be with JSON; half a character is a `?` here.
            whole = _validated(cast_to, json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
            return _adapters[cast_to].validate_python(value) if _holds(failure, "json_invalid") else whole
        except ValidationError as further:
            failure = failure if _holds(further, "json_invalid") else further
        except (ValueError, RecursionError):
            pass
    # The text of the failure holds what was received.
    raise _misfit_error(cast_to, failure, content, response, label) from None


def _holds(failure: ValidationError, *kinds: str) -> bool:
    return any(error["type"] in kinds for error in failure.errors(include_url=False, include_context=False))


def _number(text: str) -> Union[int, float]:
    value = float(text)
    return int(value) if value.is_integer() else value


def _validated(cast_to: Type[T], content: Union[str, bytes]) -> T:
    adapter = _adapters.get(cast_to)
    if adapter is None:
        adapter = _adapters[cast_to] = TypeAdapter(cast_to)
    value: T = adapter.validator.validate_json(unmarked(content), strict=True)
    return value


def _read_unchecked(response: httpx.Response, label: str) -> Any:
    if not response.content:
        return None
    try:
        return parsed(response.content)
    except ValueError as failure:
        if not _is_json(media_type(response)):
            return response.text
        unread = _too_deep if isinstance(failure, TooDeep) else _no_json
        raise unread(response.content, response, label) from None


def _is_json(kind: str) -> bool:
    return kind.endswith(("/json", "+json"))


def _no_json(content: Union[str, bytes], response: httpx.Response, label: str) -> APIResponseValidationError:
    kind = media_type(response)
    is_part = isinstance(content, str)
    return _unreadable("not whole JSON" if is_part or _is_json(kind) else f"not JSON ({kind})", content, response, label)


def _too_deep(content: Union[str, bytes], response: httpx.Response, label: str) -> APIResponseValidationError:
    return _unreadable("nested too deeply to be read", content, response, label)


def _unreadable(words: str, content: Union[str, bytes], response: httpx.Response, label: str) -> APIResponseValidationError:
    body = content if isinstance(content, str) else None
    return APIResponseValidationError(
        f"{label}: the answer is {words}", response=response, pointer="", expected="JSON", body=body
    )


def _misfit_error(
    cast_to: Any, failure: ValidationError, content: Union[str, bytes], response: httpx.Response, label: str
) -> APIResponseValidationError:
    try:
        value = parsed(content)
    except TooDeep:
        return _too_deep(content, response, label)
    except ValueError:
        return _no_json(content, response, label)
    if _holds(failure, "json_invalid"):
        # What Python reads and pydantic does not: it has a lower bound.
        is_deep = "recursion" in str(failure.errors(include_url=False)[0]["msg"])
        return (_too_deep if is_deep else _no_json)(content, response, label)
    misfit = _misfit(cast_to, failure, value)
    words = f"has no {misfit.expected} at {misfit.pointer}" if misfit.pointer else f"is no {misfit.expected}"
    return APIResponseValidationError(
        f"{label}: the answer {words} ({misfit.found})",
        response=response,
        pointer=misfit.pointer,
        expected=misfit.expected,
        body=content if isinstance(content, str) else None,
    )


def _misfit(cast_to: Any, failure: ValidationError, value: Any) -> Misfit:
    """Of several possible types the one of the value's own JSON type says what is wrong inside it."""
    places = [
        _place(error["loc"], value) for error in failure.errors(include_url=False, include_context=False, include_input=False)
    ]
    place = places[0]
    for other in places:
        if len(other) > len(place) and other[: len(place)] == place:
            place = other
    pointer = "".join(f"/{str(token).replace('~', '~0').replace('/', '~1')}" for token in place)
    return Misfit(pointer, _expected(cast_to, place), _described(_at(value, place)))


def _place(loc: Sequence[Union[int, str]], value: Any) -> Tuple[Union[int, str], ...]:
    """The members on the way to an error; pydantic names the types of a union among them."""
    place: List[Union[int, str]] = []
    for index, token in enumerate(loc):
        inner = _at(value, (token,))
        is_last = index == len(loc) - 1
        if inner is _NOTHING and not (is_last and isinstance(value, dict)):
            continue
        place.append(token)
        value = inner
    return tuple(place)


def _at(value: Any, place: Sequence[Union[int, str]]) -> Any:
    for token in place:
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and isinstance(token, int) and token < len(value):
            value = value[token]
        else:
            return _NOTHING
    return value


def _expected(kind: Any, place: Sequence[Union[int, str]]) -> str:
    """What a type has at a place, in words of JSON."""
    kinds = _members_of_union(kind)
    for token in place:
        kinds = [inner for kind in kinds for inner in _members_of_union(_inner(kind, token))]
    return " or ".join(dict.fromkeys(_named(kind) for kind in kinds)) or "anything"


def _members_of_union(kind: Any) -> List[Any]:
    if get_origin(kind) is Annotated:
        return [kind] if kind is AwareDatetime else _members_of_union(get_args(kind)[0])
    value = getattr(kind, "__value__", None)  # a named alias
    if value is not None:
        return _members_of_union(value)
    if get_origin(kind) is Union or type(kind).__name__ == "UnionType":
        return [member for part in get_args(kind) for member in _members_of_union(part)]
    return [] if kind is _NOTHING else [kind]


def _inner(kind: Any, token: Union[int, str]) -> Any:
    if _is_model(kind):
        for name, field in kind.model_fields.items():
            if token in (name, field.alias):
                return field.annotation
        return _NOTHING
    arguments = get_args(kind)
    if get_origin(kind) is list and isinstance(token, int):
        return arguments[0]
    if get_origin(kind) is dict and len(arguments) == 2:
        return arguments[1]
    return _NOTHING


def _named(kind: Any) -> str:
    origin = get_origin(kind)
    if origin is Literal:
        return _described(get_args(kind)[0]).split(" ")[-1]
    if kind is AwareDatetime or kind is datetime:
        return "date-time"
    names = {str: "string", int: "integer", float: "number", bool: "boolean", _NONE: "null", list: "list", dict: "object"}
    name = names.get(origin or kind)
    if name is not None:
        return name
    return "object" if _is_model(kind) else "anything"


def _is_model(kind: Any) -> bool:
    # To Python 3.9 list[int] is a type as well.
    return isinstance(kind, type) and get_origin(kind) is None and issubclass(kind, BaseModel)


def _described(value: Any) -> str:
    """The JSON type of a value with its article; never the value."""
    if value is _NOTHING:
        return "nothing"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "an object"


class PageInfo(Protocol):
    """What a page says of the list that it belongs to."""

    has_next_page: bool
    next_cursor: Optional[str]


class Paged(Protocol):
    """The model of a page."""

    @property
    def page_info(self) -> PageInfo: ...


Whole = TypeVar("Whole", bound=Paged)


def read_page(
    cast_to: Type[Whole], items: Callable[[Whole], List[T]], response: httpx.Response, label: str
) -> Tuple[List[T], bool, Optional[str]]:
    """Items, whether there are more, and where they begin. Raises APIResponseValidationError.

    `items`: where the page has them.
    """
    page = _read_checked(cast_to, response, label)
    return items(page), page.page_info.has_next_page, page.page_info.next_cursor
