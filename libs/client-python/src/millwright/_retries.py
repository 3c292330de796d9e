"""Whether an answer is asked for again, and after how long."""

from __future__ import annotations

import email.utils
import re
from datetime import timezone
from typing import Mapping, Optional

#: What a service may ask for at most.
PAUSE_ASKED_MAX_SECONDS = 60.0
PAUSE_FIRST_SECONDS = 0.5
PAUSE_MAX_SECONDS = 8.0
#: A pause is shortened by up to this share of it, so that clients that failed together do not come back together.
JITTER_SHARE = 0.25

TIMEOUT_STATUS = 408
CONFLICT_STATUS = 409
RATE_LIMIT_STATUS = 429

_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{0,12})?")
#: All three forms of RFC 9110 begin with the day of the week; so that the parser is not asked about just anything.
_DATE = re.compile(r"Mon|Tue|Wed|Thu|Fri|Sat|Sun")


def is_retried(status: int, headers: Mapping[str, str]) -> bool:
    """Whether a call with this refusal is made again. The service's x-should-retry goes before the status."""
    asked = _asked(headers)
    return status == CONFLICT_STATUS or _may_pass(status) if asked is None else asked


def is_delivered_again(status: int, headers: Mapping[str, str]) -> bool:
    """The same of a webhook delivery; a conflict does not pass there."""
    asked = _asked(headers)
    return _may_pass(status) if asked is None else asked


def retry_after(headers: Mapping[str, str], time: float) -> Optional[float]:
    """Seconds that the service asks to wait, from retry-after-ms or Retry-After; None: nothing that can be read.

    `time`: now, in seconds since 1970.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    return _until(value, time) if seconds is None else seconds


def pause_before_retry(retry: int, asked: Optional[float], chance: float) -> float:
    """Seconds before retry number `retry` (from 0). `asked`: by the service. `chance`: from 0 up to 1."""
    if asked is not None:
        return min(asked, PAUSE_ASKED_MAX_SECONDS)
    # Nothing grows behind 2^16, and a float cannot hold 2^1024.
    pause = min(PAUSE_FIRST_SECONDS * 2.0 ** min(retry, 16), PAUSE_MAX_SECONDS)
    return pause * (1 - JITTER_SHARE * chance)


def pause_before_reconnecting(loss: int, asked: Optional[float], chance: float) -> float:
    """Seconds before a service that is away is asked again; never less than the pause of our own, because this may go on for a minute."""
    own = pause_before_retry(loss, None, chance)
    return own if asked is None else max(own, min(asked, PAUSE_ASKED_MAX_SECONDS))


def _asked(headers: Mapping[str, str]) -> Optional[bool]:
    return {"true": True, "false": False}.get(headers.get("x-should-retry", ""))


def _may_pass(status: int) -> bool:
    return status in (TIMEOUT_STATUS, RATE_LIMIT_STATUS) or status >= 500


def _number(value: Optional[str]) -> Optional[float]:
    value = value.strip() if value is not None else ""
    return float(value) if _NUMBER.fullmatch(value) else None


def _until(value: Optional[str], time: float) -> Optional[float]:
    """Seconds until an HTTP date; None for one that has passed."""
    if value is None or _DATE.match(value.strip()) is None:
        return None
    try:
        date = email.utils.parsedate_to_datetime(value.strip())
        seconds = date.replace(tzinfo=date.tzinfo or timezone.utc).timestamp() - time
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if seconds >= 0 else None
