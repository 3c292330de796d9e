"""The response of a call as it came, with what can be read from it."""

from __future__ import annotations

from typing import Any, Callable, Generic, Optional, TypeVar

import httpx

from ._errors import without_secrets
from ._json import parsed

T = TypeVar("T")


class APIResponse(Generic[T]):
    """A success. Its body has been read; it is checked when `parse` is called."""

    http_response: httpx.Response
    """What httpx received; its request no longer holds the key."""
    retries_taken: int
    """Attempts before the one that was answered."""
    elapsed: float
    """Seconds that the call took, with all of its attempts and pauses."""

    def __init__(
        self, http_response: httpx.Response, parse: Callable[[], T], *, elapsed: float, retries_taken: int
    ) -> None:
        self.http_response = without_secrets(http_response)
        self.elapsed = elapsed
        self.retries_taken = retries_taken
        self._parse = parse

    @property
    def status_code(self) -> int:
        return self.http_response.status_code

    @property
    def headers(self) -> httpx.Headers:
        return self.http_response.headers

    @property
    def request_id(self) -> Optional[str]:
        """What the service calls this request in its log."""
        request_id: Optional[str] = self.http_response.headers.get("x-request-id")
        return request_id

    @property
    def content(self) -> bytes:
        return self.http_response.content

    @property
    def text(self) -> str:
        return self.http_response.text

    def json(self) -> Any:
        """The body as JSON, unchecked. Raises ValueError."""
        return parsed(self.http_response.content)

    def parse(self) -> T:
        """What the method answers without `with_raw_response`. Raises APIResponseValidationError."""
        return self._parse()

    def __repr__(self) -> str:
        return f"<APIResponse {self.status_code} {self.headers.get('content-type', 'no content type')}>"
