"""Why no answer came, in words: the host and the reason, never a path."""

from __future__ import annotations

import errno
import re
import socket
import ssl
from typing import Iterator, Optional

import httpx

from ._errors import APIConnectionError

_ERRNOS = {
    errno.ECONNREFUSED: "connection refused; is the service running there?",
    errno.ECONNRESET: "the connection was cut",
    errno.EPIPE: "the connection was cut",
    errno.EHOSTUNREACH: "no route to the host",
    errno.ENETUNREACH: "no route to the network",
    errno.ETIMEDOUT: "the connection timed out",
}

#: How TLS takes an answer in plain HTTP.
_PLAIN = frozenset(["WRONG_VERSION_NUMBER", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE"])
#: The only words for it; everything else that breaks the protocol was sent.
_CUT = re.compile(r"disconnected|closed|terminated|reset", re.IGNORECASE)
#: How deep causes are looked into.
_CAUSES_MAX = 10


def connection_error(host: str, failure: BaseException) -> APIConnectionError:
    """The error for whatever httpx ended with."""
    return APIConnectionError(f"{host} cannot be reached: {_reason(failure)}")


def _reason(failure: BaseException) -> str:
    for cause in causes_of(failure):
        words = _system_reason(cause)
        if words is not None:
            return words
    if is_of_another_loop(failure):
        return "its connection is of an event loop that has ended; make a client for each asyncio.run"
    if isinstance(failure, httpx.DecodingError):
        return "what came is not encoded as its headers say"
    if isinstance(failure, httpx.ProxyError):
        return "the proxy does not lead there"
    if isinstance(failure, httpx.ConnectError):
        return "there is no connection"
    if isinstance(failure, httpx.RemoteProtocolError) and _CUT.search(str(failure)) is None:
        return "what answers there does not speak HTTP"
    return "the connection was cut"


def _system_reason(cause: BaseException) -> Optional[str]:
    if isinstance(cause, socket.gaierror):
        is_passing = cause.errno == socket.EAI_AGAIN
        return "the name of the host cannot be looked up now" if is_passing else "there is no host of that name"
    if isinstance(cause, UnicodeError):
        return "there is no host of that name"
    if isinstance(cause, ssl.SSLError):
        reason = getattr(cause, "reason", None)
        if reason in _PLAIN:
            return "it does not speak TLS; is it http:// there?"
        return f"its certificate or TLS is not accepted ({reason or type(cause).__name__})"
    if isinstance(cause, OSError) and cause.errno is not None:
        return _ERRNOS.get(cause.errno)
    return None


def is_unsendable(failure: BaseException) -> bool:
    """Whether httpx, or what it stands on, found that what was to be sent is no HTTP: a matter of the headers that were given."""
    return isinstance(failure, httpx.LocalProtocolError) or type(failure).__name__ == "LocalProtocolError"


def is_no_connection(failure: BaseException) -> bool:
    """Whether it is no more than an attempt without an answer."""
    # Looking a name up that no host can have is a UnicodeError.
    return isinstance(failure, (httpx.RequestError, TimeoutError, UnicodeError)) or is_of_another_loop(failure)


def is_of_another_loop(failure: BaseException) -> bool:
    """Whether a connection belongs to an event loop that is not there any more; asyncio has no class for it."""
    return isinstance(failure, RuntimeError) and "loop" in str(failure)


def causes_of(failure: BaseException) -> Iterator[BaseException]:
    """What it came from; of several failed addresses (Happy Eyeballs) each."""
    pending = [failure]
    for _ in range(_CAUSES_MAX):
        if not pending:
            return
        cause = pending.pop(0)
        yield cause
        pending.extend(getattr(cause, "exceptions", ()))
        further = cause.__cause__ or cause.__context__
        if further is not None:
            pending.append(further)
