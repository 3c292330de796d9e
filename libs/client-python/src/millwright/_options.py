"""What a caller may set: per call and for a whole client."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Union

import httpx
from typing_extensions import TypedDict, final

DEFAULT_BASE_URL = "http://127.0.0.1:8080"
API_PATH = "/api/v1"
#: Over the headers and the body of one attempt.
DEFAULT_TIMEOUT_SECONDS = 60.0
#: Over all attempts and the pauses between them.
DEFAULT_TOTAL_TIMEOUT_SECONDS = 600.0
#: Artifacts and payloads may be large.
DOWNLOAD_TIMEOUT_SECONDS = 600.0
DEFAULT_MAX_RETRIES = 2


#: Seconds for one attempt, headers and body; the limits that httpx has for its phases; None: no limit.
Timeout = Union[float, httpx.Timeout, None]


class WaitOptions(TypedDict, total=False):
    """What each look of `agent.runs.wait` takes, whose own `timeout` is that of the whole wait."""

    extra_headers: Mapping[str, Optional[str]]
    """Further headers; None takes a header away."""
    extra_query: Mapping[str, Any]
    """Further query parameters; they replace those of the same name."""
    extra_body: Mapping[str, Any]
    """Further members of a JSON object body; they replace those of the same name."""
    total_timeout: Optional[float]
    """Seconds for all attempts and pauses; None: no limit."""
    max_retries: int
    """Attempts after the first; 0: none."""
    idempotency_key: str
    """Idempotency-Key in place of the one that is made for each call."""


class RequestOptions(WaitOptions, total=False):
    """What any call takes besides its own parameters. What is absent is as the client has it."""

    timeout: Timeout
    """Seconds for one attempt, headers and body; an `httpx.Timeout` for each of its phases; None: no limit."""


class SendOptions(TypedDict, total=False):
    """What sending one delivery takes. What is absent is as the sender has it."""

    timeout: Optional[float]
    """Seconds for one attempt; None: no limit."""
    total_timeout: Optional[float]
    """Seconds for all attempts and pauses; None: no limit."""
    max_retries: int
    """Attempts after the first; 0: none."""


@final
class NotGiven:
    """The type of `NOT_GIVEN`: a parameter that the caller left out, where None means JSON null."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN = NotGiven()


def given(members: Mapping[str, Any]) -> Dict[str, Any]:
    """The members that the caller gave, None among them."""
    return {name: value for name, value in members.items() if value is not NOT_GIVEN}


#: States that a run leaves only by a follow-up.
RUN_ENDS = ("SUCCEEDED", "FAILED", "ERROR", "CANCELLED")
