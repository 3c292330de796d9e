"""What a client says about its calls: never a body, never the value of a query parameter, never a credential."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from typing import Mapping, Optional, Sequence, Set, Tuple

from ._redaction import hidden, shown_headers

logger = logging.getLogger("millwright")
logger.addHandler(logging.NullHandler())

_LEVELS = {"error": logging.ERROR, "warn": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}
_OFF = ("", "off")

#: What was warned of: once is enough.
_warned: Set[Tuple[str, str]] = set()


def set_up_logging(value: Optional[str] = None) -> None:
    """Writes to stderr what MILLWRIGHT_LOG asks for; without it what is logged is the program's affair."""
    named = (os.environ.get("MILLWRIGHT_LOG", "") if value is None else value).strip().lower()
    level = _LEVELS.get(named)
    if level is not None:
        logger.addHandler(_stderr_handler())
        logger.setLevel(level)
    elif named not in _OFF:
        _warn_of_level()


def _warn_of_level() -> None:
    """Nobody has asked for anything to be shown, but somebody has tried to."""
    handler = _stderr_handler()
    logger.addHandler(handler)
    logger.warning("MILLWRIGHT_LOG is none of off, error, warn, info, debug; it counts as off")
    logger.removeHandler(handler)


def _stderr_handler() -> logging.Handler:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    return handler


def warn_of_plain_http(host: str, what: str, frames: int = 1) -> None:
    """It crosses the network readable. `what`: crosses it, e.g. `the API key`. Said once, also where nothing is logged, to whoever made the client: so many `frames` below."""
    if (host, what) not in _warned:
        _warned.add((host, what))
        words = f"{host} is reached by http: {what} crosses the network unencrypted"
        logger.warning("%s", words)
        warnings.warn(words, stacklevel=frames + 2)


def tell_sent(label: str, headers: Mapping[str, str]) -> None:
    """A request, for debugging."""
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("%s: sent %s", label, shown_headers(headers))


def tell_answer(
    label: str, status: int, headers: Mapping[str, str], seconds: float, attempt: int, spellings: Sequence[str] = ()
) -> None:
    """An answer. `attempt`: from 1. `spellings`: those of a secret that the answer may repeat."""
    if not logger.isEnabledFor(logging.INFO):
        return
    request_id = headers.get("x-request-id")
    named = f", request {hidden(request_id, spellings)}" if request_id else ""
    logger.info("%s: %d%s (%d ms, attempt %d)", label, status, named, round(seconds * 1000), attempt)
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("%s: received %s", label, shown_headers(headers, spellings))


def tell_failure(label: str, words: str, seconds: float, attempt: int) -> None:
    """An attempt without an answer."""
    logger.info("%s: %s (%d ms, attempt %d)", label, words, round(seconds * 1000), attempt)


def tell_pause(label: str, seconds: float, retry: int, retries_max: int) -> None:
    """The pause before a retry, from 1 on."""
    logger.info("%s: again in %d ms (retry %d of %d)", label, round(seconds * 1000), retry, retries_max)
