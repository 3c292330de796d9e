"""What calls raise: one class for each way in which a call can fail."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, Optional, Tuple, Type

import httpx
from typing_extensions import Literal, TypedDict

from ._json import parsed
from ._redaction import REDACTED, is_secret
from ._retries import retry_after

#: Characters of an answer that its error keeps.
BODY_SHOWN_MAX = 64 * 1024
#: What a character takes in UTF-8 at most.
_CHARACTER_BYTES_MAX = 4
NOT_MODIFIED_STATUS = 304
#: Members named in a message; all of them are in `errors`.
MEMBERS_SHOWN_MAX = 5


WebhookVerificationReason = Literal[
    "missing-credential",
    "wrong-credential",
    "missing-header",
    "malformed-header",
    "stale-timestamp",
    "wrong-signature",
]
"""Why a delivery does not prove where it comes from."""


class ProblemMember(TypedDict):
    """One member of a request that is wrong."""

    pointer: str
    """JSON pointer of the member, or the name of a parameter."""
    message: str
    """What it has to be."""


class MillwrightError(Exception):
    """Anything that this library raises."""

    def __reduce__(self) -> Tuple[Any, ...]:
        return _unpickled, (type(self), self.args, self.__dict__)


def _unpickled(kind: Type[MillwrightError], args: Tuple[Any, ...], state: Dict[str, Any]) -> MillwrightError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class APIError(MillwrightError):
    """A call that did not get what it asked for."""


class APIConnectionError(APIError):
    """No answer: the service was not reached, or the connection broke."""


class APITimeoutError(APIConnectionError):
    """No whole answer in time."""

    limit: Literal["timeout", "total_timeout"]
    """The limit that was reached."""
    seconds: float
    """How long it is."""

    def __init__(self, host: str, limit: Literal["timeout", "total_timeout"], seconds: float) -> None:
        super().__init__(f"{host}: no whole answer within {seconds:g} s ({limit})")
        self.limit = limit
        self.seconds = seconds


class APIResponseValidationError(APIError):
    """An answer that is not what the API document promises. The message says what is wrong and where."""

    status: int
    headers: httpx.Headers
    request_id: Optional[str]
    """What the service calls this request in its log."""
    response: httpx.Response
    body: str
    """The answer as text, its first 64 Ki characters."""
    pointer: str
    """JSON pointer of what is wrong; empty: the whole answer."""
    expected: str
    """What should be there, in words."""

    def __init__(self, message: str, *, response: httpx.Response, pointer: str, expected: str, body: Optional[str] = None) -> None:
        super().__init__(message)
        self.status = response.status_code
        self.headers = response.headers
        self.request_id = response.headers.get("x-request-id")
        self.response = without_secrets(response)
        self.body = body_text(response) if body is None else body[:BODY_SHOWN_MAX]
        self.pointer = pointer
        self.expected = expected


class APIStatusError(APIError):
    """An answer of the service that is a refusal, or no answer to the question."""

    status: int
    headers: httpx.Headers
    request_id: Optional[str]
    """What the service calls this request in its log."""
    problem: Optional[Dict[str, Any]]
    """The JSON object of the answer as received; None where it is none."""
    code: Optional[str]
    """The kind of problem for programs, e.g. `resource_not_found`."""
    title: Optional[str]
    detail: Optional[str]
    instance: Optional[str]
    retryable: Optional[bool]
    trace_id: Optional[str]
    errors: List[ProblemMember]
    """Each member of the request that is wrong."""
    retry_after: Optional[float]
    """Seconds that the service asks to wait."""
    response: httpx.Response
    body: str
    """The answer as text, its first 64 Ki characters."""

    def __init__(self, response: httpx.Response, *, label: str, time: float, is_keyed: bool = False) -> None:
        """`label`: method and path with its `{names}`. `time`: now, in seconds since 1970. `is_keyed`: the key of the client was sent."""
        problem = _problem_of(response)
        members = problem or {}
        self.status = response.status_code
        self.headers = response.headers
        self.request_id = response.headers.get("x-request-id")
        self.problem = problem
        self.code = _text(members, "error")
        self.title = _text(members, "title")
        self.detail = _text(members, "detail")
        self.instance = _text(members, "instance")
        self.retryable = members["retryable"] if isinstance(members.get("retryable"), bool) else None
        self.trace_id = _text(members, "trace_id")
        self.errors = _members_of(members)
        self.retry_after = retry_after(response.headers, time)
        self.response = without_secrets(response)
        self.body = body_text(response)
        unknown = _KEY_UNKNOWN if is_keyed and self.status == 401 and self.code is not None else ""
        super().__init__(f"{label}: {_message_of(self)}{unknown}")

    @property
    def status_code(self) -> int:
        """The same as `status`."""
        return self.status


class BadRequestError(APIStatusError):
    """400: a member or parameter is wrong; `errors` names each."""


class AuthenticationError(APIStatusError):
    """401: no key, or one that is not (or no longer) valid."""


class PermissionDeniedError(APIStatusError):
    """403: the key may not do this."""


class NotFoundError(APIStatusError):
    """404: there is nothing here that the key may see."""


class ConflictError(APIStatusError):
    """409: it contradicts what is there."""


class UnprocessableEntityError(APIStatusError):
    """422: understood, and not supported."""


class RateLimitError(APIStatusError):
    """429: too much at once; `retry_after` says when to come again."""


class InternalServerError(APIStatusError):
    """500 and above: the service failed."""


class WaitTimeoutError(MillwrightError):
    """A run that was not in the state that was waited for when the time was over."""

    run: Any
    """The run as it was last; None where it was never seen."""

    def __init__(self, message: str, *, run: Any) -> None:
        super().__init__(message)
        self.run = run


class WaitEndedError(MillwrightError):
    """A run that has ended, in a state that was not waited for."""

    run: Any
    """The run as it ended."""

    def __init__(self, message: str, *, run: Any) -> None:
        super().__init__(message)
        self.run = run


class WebhookVerificationError(MillwrightError):
    """A delivery that does not prove where it comes from."""

    reason: WebhookVerificationReason
    """Why: what is missing, or does not fit."""

    def __init__(self, message: str, *, reason: WebhookVerificationReason) -> None:
        super().__init__(message)
        self.reason = reason


#: Only the service says what it does not know: what stands in between may want a credential of its own.
_KEY_UNKNOWN = "; the service does not know the API key that this client was given (MILLWRIGHT_API_KEY or the option)"
_MEDIA_TYPE = re.compile(r"[\w.+-]{1,64}/[\w.+-]{1,64}", re.ASCII)

_CLASSES: Mapping[int, Type[APIStatusError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    422: UnprocessableEntityError,
    429: RateLimitError,
}


def status_error(response: httpx.Response, *, label: str, time: float, is_keyed: bool) -> APIStatusError:
    """The error for an answer whose status is no success. `time`: seconds since 1970."""
    status = response.status_code
    kind = _CLASSES.get(status, InternalServerError if status >= 500 else APIStatusError)
    return kind(response, label=label, time=time, is_keyed=is_keyed)


def body_text(response: httpx.Response) -> str:
    """What was read of an answer as text, its first 64 Ki characters."""
    try:
        return response.content[: BODY_SHOWN_MAX * _CHARACTER_BYTES_MAX].decode("utf-8", "replace")[:BODY_SHOWN_MAX]
    except httpx.ResponseNotRead:
        return ""


def without_secrets(response: httpx.Response) -> httpx.Response:
    """The same answer, whose request no longer holds the key and what was sent: errors are kept, logged and pickled."""
    try:
        response.request = bare_request(response.request)
    except RuntimeError:  # made without a request
        return response
    if response.is_closed:
        response.stream = httpx.ByteStream(b"")  # the one that was read knows its request
    return response


def bare_request(request: httpx.Request, url: Optional[httpx.URL] = None) -> httpx.Request:
    """A copy of a request without key and payload. `url`: stands there in place of its own."""
    headers = [(name, REDACTED if is_secret(name) else value) for name, value in request.headers.multi_items()]
    bare = httpx.Request(request.method, "", headers=headers)
    bare.url = request.url if url is None else url  # httpx would make a copy, which does not keep a secret to itself
    return bare


def media_type(response: httpx.Response) -> str:
    """The media type of an answer in lower case, without parameters; `no content type` where it has none."""
    found = _MEDIA_TYPE.match(response.headers.get("content-type", ""))
    return found[0].lower() if found else "no content type"


def _problem_of(response: httpx.Response) -> Optional[Dict[str, Any]]:
    try:
        value = parsed(response.content)
    except (ValueError, httpx.ResponseNotRead):
        return None
    return value if isinstance(value, dict) else None


def _members_of(problem: Mapping[str, Any]) -> List[ProblemMember]:
    errors = problem.get("errors")
    return [
        {"pointer": error["pointer"], "message": error["message"]}
        for error in (errors if isinstance(errors, list) else [])
        if isinstance(error, dict) and isinstance(error.get("pointer"), str) and isinstance(error.get("message"), str)
    ]


def _message_of(error: APIStatusError) -> str:
    if error.status == NOT_MODIFIED_STATUS:
        return f'{error.status}: the answer is "not modified", without a body'
    if 300 <= error.status < 400:
        return f"{error.status}: the answer is a redirect, which is not followed; give the address that it leads to"
    words = error.detail or error.title
    if error.code is None and words is None:
        return f"{error.status}: the answer is no problem document of a Millwright service ({media_type(error.response)})"
    kind = f" {error.code}" if error.code is not None and words is not None else ""
    return f"{error.status}{kind}: {words or error.code}{_offending(error.errors, words)}"


def _offending(members: List[ProblemMember], said: Optional[str]) -> str:
    """The members that are wrong, in brackets, without what was said already."""
    further = [member for member in members if member["message"] != said]
    if not further:
        return ""
    named = [_named(member) for member in further[:MEMBERS_SHOWN_MAX]]
    return f" [{'; '.join(named + (['…'] if len(further) > MEMBERS_SHOWN_MAX else []))}]"


def _named(member: ProblemMember) -> str:
    return f"{member['pointer']}: {member['message']}" if member["pointer"] else member["message"]


def _text(members: Mapping[str, Any], name: str) -> Optional[str]:
    value = members.get(name)
    return value if isinstance(value, str) and value else None
