"""What of a request and an answer may be written down."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, Mapping, Sequence, Tuple
from urllib.parse import quote

from ._json import parsed

REDACTED = "***"
#: Where the service shows an address without its secret.
TOKEN_PLACE = "{token}"

#: Idempotency keys say nothing about anybody, and are what a person looks for in a log.
_SHOWN = frozenset(["idempotency-key"])
_SECRET = frozenset(["authorization", "proxy-authorization", "cookie", "set-cookie"])
_SECRET_PART = re.compile(r"token|secret|key|signature")
_KEY_LENGTH_MIN = 16
_USER = re.compile(r"^([a-z][a-z0-9+.-]*:)?//[^/]*@", re.IGNORECASE)
_INGRESS_TOKEN = re.compile(r"(/webhooks/w/[^/]+/).+", re.IGNORECASE | re.DOTALL)


def is_secret(name: str) -> bool:
    """Whether the value of this header is kept out of logs and errors."""
    name = name.lower()
    return name in _SECRET or (name not in _SHOWN and _SECRET_PART.search(name) is not None)


def shown_headers(headers: Mapping[str, str], spellings: Sequence[str] = ()) -> Dict[str, str]:
    """Headers for a log. `spellings`: those of a secret that the other side may repeat."""
    return {name: _shown_header(name.lower(), value, spellings) for name, value in headers.items()}


def spellings_of(secret: str) -> Tuple[str, ...]:
    """How an answer may repeat a secret: as it is, within JSON, within an address."""
    return tuple(dict.fromkeys([secret, json.dumps(secret)[1:-1], quote(secret, safe=""), quote(secret)]))


def spellings_of_key(key: str) -> Tuple[str, ...]:
    """The same of an API key. One that is as short as a word is not looked for: words are in every text."""
    return spellings_of(key) if len(key) >= _KEY_LENGTH_MIN else ()


def hidden(text: str, spellings: Sequence[str], instead: str = REDACTED) -> str:
    """A text without a secret."""
    for spelling in spellings:
        text = text.replace(spelling, instead)
    return text


def hidden_bytes(content: bytes, spellings: Sequence[str]) -> bytes:
    """The same of bytes; a secret is ASCII."""
    for spelling in spellings:
        content = content.replace(spelling.encode("ascii"), REDACTED.encode("ascii"))
    return content


def hidden_json(content: bytes, spellings: Sequence[str]) -> bytes:
    """The same of what may be JSON, where each character can be written as an escape."""
    content = hidden_bytes(content, spellings)
    if not spellings or b"\\" not in content:
        return content
    try:
        value = parsed(content)
        shown = _hidden_within(value, spellings)
        return content if shown == value else json.dumps(shown).encode("ascii")
    except ValueError:
        return content
    except RecursionError:
        return b""


def _hidden_within(value: Any, spellings: Sequence[str]) -> Any:
    if isinstance(value, str):
        return hidden(value, spellings)
    if isinstance(value, list):
        return [_hidden_within(item, spellings) for item in value]
    if isinstance(value, dict):
        return {hidden(name, spellings): _hidden_within(item, spellings) for name, item in value.items()}
    return value


def _shown_header(name: str, value: str, spellings: Sequence[str]) -> str:
    if is_secret(name):
        return REDACTED
    return _shown_address(value, spellings) if name == "location" else hidden(value, spellings)


def _shown_address(address: str, spellings: Sequence[str]) -> str:
    """Without user and query, and with {token} where the token of a webhook stands."""
    path = _USER.sub(r"\1//", re.split(r"[?#]", address, maxsplit=1)[0])
    return hidden(_INGRESS_TOKEN.sub(rf"\1{TOKEN_PLACE}", path), spellings, TOKEN_PLACE)
