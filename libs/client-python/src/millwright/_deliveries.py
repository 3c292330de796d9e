"""What a webhook sender sends: the address with its secret, the bytes, the headers of each attempt."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Tuple
from urllib.parse import unquote

import httpx

from ._addresses import is_loopback, read_url, shown_host
from ._answers import read_answer
from ._errors import MillwrightError
from ._exchange import Answer, Outgoing
from ._logging import warn_of_plain_http
from ._redaction import TOKEN_PLACE, spellings_of
from ._requests import Headers, Limits, add_headers, written
from ._retries import is_delivered_again
from ._signing import (
    PAYLOAD_BYTES_MAX,
    WebhookAuthentication,
    check_secret,
    sign_delivery,
    split_ingress_path,
    text_bytes,
)
from ._version import __version__
from .types._base import ModelBase


class SentDelivery(ModelBase):
    """What an ingress answers when a delivery is stored."""

    delivery_id: str
    """What the service calls this delivery in its log."""


class Deliveries:
    """Prepares the deliveries to one webhook."""

    def __init__(self, url: str, secret: str, authentication: WebhookAuthentication, delivery_id_header: str) -> None:
        """Raises MillwrightError that names what is unfit, and repeats nothing."""
        check_secret(authentication, secret)
        add_headers({}, {delivery_id_header: ""}, "delivery_id_header")
        self._authentication: WebhookAuthentication = authentication
        self._secret = secret
        self._delivery_id_header = delivery_id_header
        self._url, self._shown_url, shown_path = _addresses(url, secret, authentication)
        self._label = f"POST {shown_path}"
        self._host = shown_host(self._url)
        self._spellings = spellings_of(secret)
        if self._url.scheme == "http" and not is_loopback(self._url):
            signs = authentication == "standard_webhooks"
            warn_of_plain_http(self._host, "what is delivered" if signs else "the secret of a webhook", frames=2)

    def outgoing(self, body: bytes, delivery_id: str, limits: Limits, time: Callable[[], float]) -> Outgoing:
        """A delivery, which is signed anew for each attempt."""

        def signed() -> Headers:
            headers: Headers = {}
            add_headers(headers, self._signed(body, delivery_id, time()), "delivery_id_header")
            return headers

        headers: Headers = {
            "content-type": "application/json",
            "accept": "application/json",
            "user-agent": f"millwright-client-python/{__version__}",
            "x-millwright-client": f"python/{__version__}",
        }
        return Outgoing(
            "POST",
            self._url,
            self._host,
            self._label,
            headers,
            body,
            limits,
            is_retried=is_delivered_again,
            signed=signed,
            spellings=self._spellings,
            shown_url=self._shown_url,
        )

    def receipt(self, answer: Answer) -> SentDelivery:
        """What an answer says. Raises APIResponseValidationError, which holds nothing of the secret."""
        return answer.read(lambda response: read_answer(SentDelivery, response, self._label))

    def _signed(self, body: bytes, delivery_id: str, now: float) -> Mapping[str, str]:
        return sign_delivery(
            authentication=self._authentication,
            secret=self._secret,
            body=body,
            delivery_id=delivery_id,
            delivery_id_header=self._delivery_id_header,
            now=now,
        )

    def __repr__(self) -> str:
        return f"<Deliveries to {self._host}>"


def payload_bytes(payload: Any) -> bytes:
    """Bytes and text as they are, anything else as JSON. Raises MillwrightError."""
    if isinstance(payload, (bytes, bytearray, memoryview)):
        body = bytes(payload)
    else:
        body = text_bytes(payload, "the payload") if isinstance(payload, str) else written(payload)
    if len(body) > PAYLOAD_BYTES_MAX:
        raise MillwrightError(f"a payload must be {PAYLOAD_BYTES_MAX // 1024} KiB at most")
    return body


class _Address(httpx.URL):
    """An address that is its secret: httpx writes each address that it calls into its log."""

    _shown = ""

    def __str__(self) -> str:
        return self._shown

    def __repr__(self) -> str:
        return f"URL({self._shown!r})"


def _addresses(text: str, secret: str, authentication: WebhookAuthentication) -> Tuple[httpx.URL, httpx.URL, str]:
    """Where deliveries go to, and what may be seen of it and of its path. Raises MillwrightError, which repeats nothing."""
    url = read_url(text, "url")
    path = url.raw_path.decode("ascii")
    ingress = split_ingress_path(path)
    if authentication != "url_token":
        if TOKEN_PLACE in unquote(path) or (ingress is not None and ingress.segment is not None):
            raise MillwrightError('url is that of a url_token webhook: give authentication="url_token"')
        return url, url, path[:-1] if path.endswith("/") else path
    if ingress is None:
        raise MillwrightError("url must be an ingress address, …/webhooks/w/wh_…, with nothing behind it but {token}")
    place = None if ingress.segment is None else unquote(ingress.segment)
    if place is not None and place.lower() != TOKEN_PLACE and place != secret:
        raise MillwrightError("url must end at the webhook, with {token}, or with the secret that is given")
    webhook = f"{url.scheme}://{shown_host(url)}{ingress.webhook}"
    shown = _Address(f"{webhook}/{TOKEN_PLACE}")
    address = _Address(f"{webhook}/{secret}")
    address._shown = shown._shown = f"{webhook}/{TOKEN_PLACE}"
    return address, shown, f"{ingress.webhook}/{TOKEN_PLACE}"
