"""From what a resource or a caller says to what is sent: path, query, headers, body, limits. What is unfit is refused before anything is sent."""

from __future__ import annotations

import json
import math
import re
import uuid
from datetime import date, datetime, timezone
from enum import Enum
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from ._errors import MillwrightError
from ._keywords import check_names
from ._options import NOT_GIVEN, RequestOptions, given

#: Headers by lower-case name; None: httpx's own header of this name is taken away too.
Headers = Dict[str, Union[str, bytes, None]]

_PARAMETER = re.compile(r"\{([^}]+)\}")
_UNFIT_PATH = re.compile(r"[?#\\\s\x00-\x20\x7f\ud800-\udfff]|/(?:\.|%2e){1,2}(?=/|$)", re.IGNORECASE)
_IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


class Limits(NamedTuple):
    """How long a call may take; math.inf: no limit."""

    timeout: float
    """Seconds for one attempt."""
    total_timeout: float
    """Seconds for all attempts and pauses."""
    max_retries: int
    phases: Optional[httpx.Timeout] = None
    """Limits of the phases of an attempt, in place of one for all of it."""

    @property
    def silence(self) -> float:
        """Seconds without a byte that count as a lost connection."""
        if self.phases is None:
            return self.timeout
        return math.inf if self.phases.read is None else self.phases.read


def fill_template(template: str, parameters: Optional[Mapping[str, str]]) -> str:
    """The path below the API with its parameters in place, each one segment. Raises MillwrightError that names a parameter that cannot be one."""
    if "{" not in template:
        return template
    return _PARAMETER.sub(lambda found: _segment(found[1], (parameters or {}).get(found[1])), template)


def read_path(path: str) -> str:
    """A path that a caller wrote. Raises MillwrightError when it would lead out of the API."""
    if isinstance(path, str) and path.startswith("/") and _UNFIT_PATH.search(path) is None:
        return path
    raise MillwrightError(
        'the path must begin with "/" and hold no query, fragment, backslash, space or dot segment; '
        "parameters belong into `query`"
    )


def query_text(query: Optional[Mapping[str, Any]], further: Optional[Mapping[str, Any]] = None) -> str:
    """`?name=value&…`, or nothing. Raises MillwrightError that names what cannot be a parameter."""
    if not query and not further:
        return ""
    pairs: List[str] = []
    for name, value in {**(query or {}), **(further or {})}.items():
        _add_pairs(pairs, name, value)
    return f"?{'&'.join(pairs)}" if pairs else ""


def add_headers(target: Headers, headers: Optional[Mapping[str, Optional[str]]], source: str) -> None:
    """Adds headers, and takes away those that are None. Raises MillwrightError for what no header can be; never repeats a value."""
    for name, value in read_headers(headers, source).items():
        if not isinstance(name, str) or _HEADER_NAME.fullmatch(name) is None:
            raise MillwrightError(f"{source} has a name that no header can have")
        if value is not None and (not isinstance(value, str) or _HEADER_VALUE.fullmatch(value) is None):
            raise MillwrightError(f"{source}: the value of {name.lower()} must be text of one line in Latin-1")
        target[name.lower()] = value.strip().encode("latin-1") if value is not None else None


def read_headers(headers: Optional[Mapping[str, Optional[str]]], source: str) -> Mapping[str, Optional[str]]:
    """Headers by name. Raises MillwrightError for what is no mapping."""
    if headers is None:
        return {}
    if not isinstance(headers, Mapping):
        raise MillwrightError(f"{source} must be a mapping of names to values")
    return headers


def json_bytes(body: Any, extra: Optional[Mapping[str, Any]] = None) -> Optional[bytes]:
    """A body as JSON; None where there is none. Raises MillwrightError for what JSON cannot hold."""
    if isinstance(body, BaseModel):
        body = body.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if extra is not None:
        members = {} if body is NOT_GIVEN else body
        if not isinstance(members, Mapping):
            raise MillwrightError("extra_body needs a body that is an object")
        body = {**members, **extra}
    if body is NOT_GIVEN:
        return None
    return written(given(body) if isinstance(body, Mapping) else body)


def written(value: Any) -> bytes:
    """A value as JSON in UTF-8, without spaces. Raises MillwrightError, without the value, for what JSON cannot hold."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
        return _in_utf8(value, text)
    except (TypeError, ValueError, RecursionError):
        pass
    raise MillwrightError("the body cannot be written as JSON")


def read_limits(options: Mapping[str, Any], otherwise: Limits) -> Limits:
    """Limits of a call or client, over those that apply otherwise. Raises MillwrightError that names what is unfit."""
    if "timeout" not in options and "total_timeout" not in options and "max_retries" not in options:
        return otherwise
    timeout, phases = otherwise.timeout, otherwise.phases
    if "timeout" in options:
        timeout, phases = _attempt_limits(options["timeout"])
    return Limits(
        timeout,
        read_seconds("total_timeout", options.get("total_timeout", otherwise.total_timeout)),
        _count("max_retries", options.get("max_retries", otherwise.max_retries)),
        phases,
    )


def _attempt_limits(value: Union[float, httpx.Timeout, None]) -> Tuple[float, Optional[httpx.Timeout]]:
    """Seconds of an attempt, or those of its phases."""
    if not isinstance(value, httpx.Timeout):
        return read_seconds("timeout", value), None
    for phase, seconds in value.as_dict().items():
        read_seconds(f"timeout ({phase})", seconds)
    return math.inf, value


def read_seconds(name: str, value: Optional[float]) -> float:
    """Seconds; math.inf for None. Raises MillwrightError."""
    if value is None:
        return math.inf
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
        return float(value)
    raise MillwrightError(f"{name} must be a number of seconds above 0, or None for no limit")


def read_span(name: str, value: Optional[float]) -> float:
    """Seconds that may be none at all; math.inf for None. Raises MillwrightError."""
    if value is None:
        return math.inf
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
        return float(value)
    raise MillwrightError(f"{name} must be a number of seconds, 0 or more, or None")


def read_address(text: str, parameters: Mapping[str, Any]) -> httpx.URL:
    """The address of a call. Raises MillwrightError that names the longest parameter where they are too long for one."""
    try:
        return httpx.URL(text)
    except httpx.InvalidURL:
        longest = max(parameters, key=lambda name: len(str(parameters[name])), default="the path")
    raise MillwrightError(f"{longest} is too long for an address")


def read_idempotency_key(key: str) -> str:
    """Raises MillwrightError for what the service would not take."""
    if isinstance(key, str) and _IDEMPOTENCY_KEY.fullmatch(key):
        return key
    raise MillwrightError("idempotency_key must be 1 to 255 visible ASCII characters")


def new_idempotency_key() -> str:
    """A key for one call and its retries."""
    return f"mwc-{uuid.uuid4()}"


def utc_text(moment: datetime, name: str) -> str:
    """RFC 3339 in UTC with milliseconds. Raises MillwrightError for a time without a time zone."""
    if moment.tzinfo is None:
        raise MillwrightError(f"{name} must have a time zone")
    return moment.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def only_known_options(options: Optional[RequestOptions]) -> RequestOptions:
    """The options of a call. Raises TypeError, as Python does, for a name that is none."""
    if not options:
        return {}
    check_names(options, RequestOptions)
    return options


def _segment(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise MillwrightError(f"{name} must be text")
    if value in ("", ".", ".."):
        raise MillwrightError(f'{name} must not be empty, "." or ".."')
    return _encoded(value, name)


def _add_pairs(pairs: List[str], name: str, value: Any) -> None:
    if value is None or value is NOT_GIVEN:
        return
    if isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            _add_pairs(pairs, name, item)
    elif isinstance(value, Mapping):
        for member, item in value.items():
            _add_pairs(pairs, f"{name}[{member}]", item)
    else:
        pairs.append(f"{_encoded(name, 'a query parameter')}={_encoded(_scalar_text(value, name), name)}")


def _scalar_text(value: Any, name: str) -> str:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return utc_text(value, name)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (str, int, float, uuid.UUID)):
        try:
            return str(value)
        except ValueError:
            raise MillwrightError(f"{name} is a number with too many digits") from None
    raise MillwrightError(f"{name} must be text, a number, a boolean, a time, or a list or mapping of them")


def _encoded(text: str, name: str) -> str:
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise MillwrightError(f"{name} holds half a character (a lone surrogate)") from None


def _in_utf8(value: Any, text: str) -> bytes:
    """JSON may hold half a character, as an escape; UTF-8 may not."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_plain).encode("ascii")


def _plain(value: Any) -> Any:
    """What is no JSON value by itself."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, datetime):
        return utc_text(value, "a time in the body")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return list(value)
    raise TypeError


def _count(name: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise MillwrightError(f"{name} must be a whole number, 0 or more")


