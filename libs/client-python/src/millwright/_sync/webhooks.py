# Generated from _async/webhooks.py by scripts/unasync.py; do not edit.
"""Sends webhook deliveries, as a service that calls a factory would."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Optional, Type

import httpx
from typing_extensions import Unpack

from .._clock import Clock, SystemClock
from .._deliveries import Deliveries, SentDelivery, payload_bytes
from .._keywords import check_names
from .._options import DEFAULT_MAX_RETRIES, DEFAULT_TIMEOUT_SECONDS, DEFAULT_TOTAL_TIMEOUT_SECONDS, SendOptions
from .._requests import Limits, read_limits
from .._signing import DELIVERY_ID_HEADER, WebhookAuthentication, check_delivery_id, new_delivery_id
from .exchange import Exchange, http_client_of

_LIMITS = Limits(DEFAULT_TIMEOUT_SECONDS, DEFAULT_TOTAL_TIMEOUT_SECONDS, DEFAULT_MAX_RETRIES)


class WebhookSender:
    """Sends deliveries to one webhook. Use it in a `with` block, or close it."""

    def __init__(
        self,
        url: str,
        secret: str,
        authentication: WebhookAuthentication = "token",
        *,
        delivery_id_header: str = DELIVERY_ID_HEADER,
        timeout: Optional[float] = DEFAULT_TIMEOUT_SECONDS,
        total_timeout: Optional[float] = DEFAULT_TOTAL_TIMEOUT_SECONDS,
        max_retries: int = DEFAULT_MAX_RETRIES,
        http_client: Optional[httpx.Client] = None,
        _clock: Optional[Clock] = None,
    ) -> None:
        """Nothing is sent.

        Args:
            url: The ingress address of the webhook as the service shows it; that of a `url_token` webhook may end at
                the webhook, with `{token}`, or with the secret itself.
            secret: What the webhook and its sender know.
            authentication: `token` (in a header), `url_token` (in the address) or `standard_webhooks` (signed).
            delivery_id_header: The header in which the webhook expects the ID of a delivery.
            timeout: Seconds for one attempt; None: no limit.
            total_timeout: Seconds for all attempts and pauses; None: no limit.
            max_retries: Attempts after the first.
            http_client: Sends in place of a client of its own; is not closed.

        Raises:
            MillwrightError: an address or secret that cannot serve; nothing of it is repeated.
        """
        self._deliveries = Deliveries(url, secret, authentication, delivery_id_header)
        limits = {"timeout": timeout, "total_timeout": total_timeout, "max_retries": max_retries}
        self._limits = read_limits(limits, _LIMITS)
        self._owned = http_client is None
        http = http_client_of(http_client)
        self._exchange = Exchange(http, _clock or SystemClock())

    def send(
        self, payload: Any, delivery_id: Optional[str] = None, **options: Unpack[SendOptions]
    ) -> SentDelivery:
        """Sends one delivery, again where it may have been lost: the service takes a delivery ID once.

        Args:
            payload: bytes or str: sent exactly so; anything else: as JSON. 256 KiB at most.
            delivery_id: Names the delivery; by default a new ID.
            **options: `timeout`, `total_timeout`, `max_retries`: in place of those of the sender.

        Returns:
            What the service calls the delivery.

        Raises:
            MillwrightError: a payload that is too large or cannot be written as JSON; nothing is sent.
            APIStatusError: the ingress refuses it, e.g. AuthenticationError for a wrong secret.
            APIConnectionError: no answer came, although it was sent again.
        """
        body = payload_bytes(payload)
        named = new_delivery_id() if delivery_id is None else check_delivery_id(delivery_id)
        check_names(options, SendOptions)
        limits = read_limits(options, self._limits)
        outgoing = self._deliveries.outgoing(body, named, limits, self._exchange.clock.time)
        answer = self._exchange.send(outgoing)
        return self._deliveries.receipt(answer)

    def close(self) -> None:
        """Closes the connections, unless the httpx client was given."""
        if self._owned:
            self._exchange.http.close()

    def __enter__(self) -> WebhookSender:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._deliveries!r}>"

    def __reduce__(self) -> Any:
        raise TypeError("a sender holds a secret and cannot be pickled")
