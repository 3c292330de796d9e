"""Webhook deliveries: which secrets can serve, what proves a delivery, and whether it does. Nothing here sends."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import math
import re
import time
import uuid
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple, Union
from urllib.parse import unquote

from typing_extensions import Literal, Never

from ._errors import MillwrightError, WebhookVerificationError, WebhookVerificationReason

WebhookAuthentication = Literal["token", "url_token", "standard_webhooks"]
"""How a sender proves itself: in a header, in the address, or by signing."""

#: Headers as a mapping, or as pairs where a name may come twice.
DeliveryHeaders = Union[Mapping[str, str], Iterable[Tuple[str, str]]]

DELIVERY_ID_HEADER = "X-Millwright-Delivery-Id"
#: What an ingress takes.
PAYLOAD_BYTES_MAX = 256 * 1024
#: How far the time of a delivery may be from now, in both directions.
TOLERANCE_SECONDS = 300

#: A rotation shows two signatures; more than this is an attempt to make us work. Those of other versions are passed
#: over and do not count, as in the service.
_SIGNATURES_MAX = 16
_DELIVERY_ID_LENGTH_MAX = 255

_TOKEN = re.compile(r"[\x21-\x7e]{16,512}")
_URL_TOKEN = re.compile(r"[A-Za-z0-9\-._~]{16,512}")
_VISIBLE_ASCII = re.compile(r"[\x21-\x7e]+")
_BEARER = re.compile(r"bearer +([^ ].*)", re.IGNORECASE | re.DOTALL)
#: A webhook's path, whatever stands before it, and the one segment that may stand behind it.
_INGRESS_PATH = re.compile(r"(.*/webhooks/w/wh_[0-9a-z]{26})(?:/([^/]+))?/?", re.DOTALL)
_QUERY = re.compile(r"[?#].*", re.DOTALL)
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/]*", re.IGNORECASE)
_SECONDS = re.compile(r"[0-9]{10}")
_MILLISECONDS = re.compile(r"[0-9]{13}")
_FAMILIES = ("webhook", "svix")
_PARTS = ("id", "timestamp", "signature")

_REQUIREMENTS: Mapping[str, str] = {
    "token": "a bearer token must be 16 to 512 visible ASCII characters without spaces",
    "url_token": "a URL token must be 16 to 512 URL-safe characters (A-Z a-z 0-9 - . _ ~), not only dots",
    "standard_webhooks": "a Standard Webhooks secret must be whsec_ followed by canonical base64 of 24 to 64 bytes",
}


def check_secret(authentication: WebhookAuthentication, secret: str) -> None:
    """Raises MillwrightError, which names no part of the secret, where it cannot serve for this."""
    requirement = _REQUIREMENTS.get(authentication)
    if requirement is None:
        raise MillwrightError(f"authentication must be one of {', '.join(_REQUIREMENTS)}")
    if not isinstance(secret, str) or not _is_usable(authentication, secret):
        raise MillwrightError(requirement)


def sign_delivery(
    *,
    secret: str,
    body: Union[str, bytes],
    authentication: WebhookAuthentication = "token",
    delivery_id: Optional[str] = None,
    delivery_id_header: str = DELIVERY_ID_HEADER,
    now: Optional[float] = None,
) -> Dict[str, str]:
    """The headers that prove and name a delivery of exactly these bytes.

    With `url_token` the address proves it, and no header does. `delivery_id`: by default a new one. `now`: seconds
    since 1970. Raises MillwrightError for a secret or an ID that cannot serve.
    """
    check_secret(authentication, secret)
    delivery_id = new_delivery_id() if delivery_id is None else check_delivery_id(delivery_id)
    headers = {delivery_id_header: delivery_id}
    if authentication == "token":
        headers["Authorization"] = f"Bearer {secret}"
    elif authentication == "standard_webhooks":
        timestamp = str(int(time.time() if now is None else _finite("now", now)))
        signature = base64.b64encode(_mac(secret, delivery_id, timestamp, _bytes(body))).decode("ascii")
        headers["webhook-id"] = delivery_id
        headers["webhook-timestamp"] = timestamp
        headers["webhook-signature"] = f"v1,{signature}"
    return headers


def verify_delivery(
    *,
    secret: str,
    headers: DeliveryHeaders,
    body: Union[str, bytes],
    authentication: WebhookAuthentication = "token",
    url: Optional[str] = None,
    now: Optional[float] = None,
    tolerance_seconds: float = TOLERANCE_SECONDS,
) -> None:
    """Returns where a delivery proves that it comes from who holds the secret.

    `body`: the bytes as they came. `url`: the address or path that was called, …/webhooks/w/wh_…/<token>, for
    `url_token`. `now`: seconds since 1970. `tolerance_seconds`: how far a signed time may be from it, in the past or the
    future.

    Raises MillwrightError for a secret or a number that cannot serve, and WebhookVerificationError, whose `reason` says why the
    delivery proves nothing:

        missing-credential: there is no bearer token, or no token in the address.
        wrong-credential: it is another one.
        missing-header: one of the three headers of a signature is not there.
        malformed-header: one comes twice, is no ID or time, or holds more than 16 signatures.
        wrong-signature: none is that of the secret over this body.
        stale-timestamp: the signature is right, and was made too long ago or too far ahead.
    """
    check_secret(authentication, secret)
    moment = time.time() if now is None else _finite("now", now)
    tolerance = _finite("tolerance_seconds", tolerance_seconds)
    if authentication == "token":
        _verify_token(secret, _by_name(headers))
    elif authentication == "url_token":
        _verify_url_token(secret, url)
    else:
        _verify_signature(secret, _by_name(headers), _bytes(body), moment, tolerance)


def new_delivery_id() -> str:
    """A name for one delivery and its repetitions."""
    return f"msg_{uuid.uuid4()}"


def check_delivery_id(delivery_id: str) -> str:
    """Raises MillwrightError for what an ingress would not take for a name."""
    if isinstance(delivery_id, str) and len(delivery_id) <= _DELIVERY_ID_LENGTH_MAX and _VISIBLE_ASCII.fullmatch(delivery_id):
        return delivery_id
    raise MillwrightError(f"a delivery ID must be 1 to {_DELIVERY_ID_LENGTH_MAX} visible ASCII characters without spaces")


class IngressPath(NamedTuple):
    """The path of a webhook."""

    webhook: str
    """To the webhook, without a final slash."""
    segment: Optional[str]
    """What stands behind it, as it is written; None where nothing does."""


def split_ingress_path(path: str) -> Optional[IngressPath]:
    """None for a path that is not …/webhooks/w/wh_…, with one segment behind it or none."""
    found = _INGRESS_PATH.fullmatch(path)
    return None if found is None else IngressPath(found[1], found[2])


def _is_usable(authentication: WebhookAuthentication, secret: str) -> bool:
    if authentication == "token":
        return _TOKEN.fullmatch(secret) is not None
    if authentication == "url_token":
        return _URL_TOKEN.fullmatch(secret) is not None and secret.strip(".") != ""
    key = _key(secret)
    return key is not None and 24 <= len(key) <= 64


def _key(secret: str) -> Optional[bytes]:
    """The bytes of a Standard Webhooks secret; None for what is no canonical base64."""
    text = secret[len("whsec_") :] if secret.startswith("whsec_") else secret
    return _decoded(text)


def _decoded(text: str) -> Optional[bytes]:
    """One text for each value: nothing is skipped, nothing guessed."""
    try:
        value = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, ValueError):
        return None
    return value if base64.b64encode(value).decode("ascii") == text else None


def _mac(secret: str, delivery_id: str, timestamp: str, body: bytes) -> bytes:
    message = f"{delivery_id}.{timestamp}.".encode("utf-8") + body
    return hmac.new(_key(secret) or b"", message, hashlib.sha256).digest()


def _verify_token(secret: str, headers: Mapping[str, List[str]]) -> None:
    values = headers.get("authorization", [])
    found = _BEARER.fullmatch(values[0]) if len(values) == 1 else None
    if found is None:
        _refuse("missing-credential", "there is no Authorization header that holds a bearer token")
    if not _is_same(found[1], secret):
        _refuse("wrong-credential", "the bearer token is another one")


def _verify_url_token(secret: str, url: Optional[str]) -> None:
    ingress = split_ingress_path(_ORIGIN.sub("", _QUERY.sub("", url or ""), count=1))
    if ingress is None or ingress.segment is None:
        _refuse("missing-credential", "the address is no webhook's with a token behind it")
    if not _is_same(unquote(ingress.segment, errors="replace"), secret):
        _refuse("wrong-credential", "the token of the address is another one")


def _verify_signature(secret: str, headers: Mapping[str, List[str]], body: bytes, now: float, tolerance: float) -> None:
    for name in (f"{family}-{part}" for family in _FAMILIES for part in _PARTS):
        if len(headers.get(name, [])) > 1:
            # Else a second value could hide behind the one that is read.
            _refuse("malformed-header", f"{name} is there more than once")
    family = _family(headers)
    delivery_id, timestamp, signatures = (headers[f"{family}-{part}"][0] for part in _PARTS)
    if _VISIBLE_ASCII.fullmatch(delivery_id) is None:
        _refuse("malformed-header", f"{family}-id is not visible ASCII")
    seconds = _seconds(timestamp)
    if seconds is None:
        _refuse("malformed-header", f"{family}-timestamp is no time in seconds")
    candidates = _candidates(signatures)
    if len(candidates) > _SIGNATURES_MAX:
        _refuse("malformed-header", f"{family}-signature holds more than {_SIGNATURES_MAX} signatures")
    expected = _mac(secret, delivery_id, timestamp, body)
    if not _any_is(candidates, expected):
        _refuse("wrong-signature", f"no signature in {family}-signature is this secret's")
    if not abs(now - seconds) <= tolerance:
        _refuse("stale-timestamp", f"{family}-timestamp is more than {tolerance:g} s from now")


def _family(headers: Mapping[str, List[str]]) -> str:
    """The first family all of whose headers are there."""
    for family in _FAMILIES:
        if all(f"{family}-{part}" in headers for part in _PARTS):
            return family
    near = next((family for family in _FAMILIES if any(f"{family}-{part}" in headers for part in _PARTS)), _FAMILIES[0])
    missing = next(part for part in _PARTS if f"{near}-{part}" not in headers)
    _refuse("missing-header", f"there is no {near}-{missing} header")


def _seconds(timestamp: str) -> Optional[float]:
    if _SECONDS.fullmatch(timestamp):
        return int(timestamp)
    return int(timestamp) / 1000 if _MILLISECONDS.fullmatch(timestamp) else None


def _candidates(signatures: str) -> List[bytes]:
    """The signatures of version 1; what cannot be one is no byte long."""
    pairs = (entry.partition(",") for entry in signatures.split(" "))
    return [_decoded(text) or b"" for version, comma, text in pairs if version == "v1" and comma]


def _any_is(candidates: Iterable[bytes], expected: bytes) -> bool:
    """Every one is compared, also behind a match: the time says nothing about which one it was."""
    matched = False
    for candidate in candidates:
        matched = hmac.compare_digest(candidate, expected) or matched
    return matched


def _is_same(text: str, secret: str) -> bool:
    return hmac.compare_digest(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), hashlib.sha256(secret.encode()).digest())


def _by_name(headers: DeliveryHeaders) -> Dict[str, List[str]]:
    """Every value by lower-case name."""
    pairs: Any = headers
    if isinstance(headers, Mapping):
        # Those of httpx and of Starlette keep each value of a name.
        multi: Any = getattr(headers, "multi_items", headers.items)
        pairs = multi()
    named: Dict[str, List[str]] = {}
    for name, value in pairs:
        named.setdefault(name.lower(), []).append(value)
    return named


def text_bytes(text: str, name: str) -> bytes:
    """Text in UTF-8. Raises MillwrightError, which names it, for half a character."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise MillwrightError(f"{name} holds half a character (a lone surrogate)") from None


def _bytes(body: Union[str, bytes]) -> bytes:
    return text_bytes(body, "body") if isinstance(body, str) else body


def _finite(name: str, value: float) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return value
    raise MillwrightError(f"{name} must be a number of seconds")


def _refuse(reason: WebhookVerificationReason, message: str) -> Never:
    raise WebhookVerificationError(message, reason=reason)
