"""A service that stays away for a while: whether it is asked again, and when."""

from __future__ import annotations

from typing import Callable, Optional, Union

from ._clock import AsyncClock, Clock
from ._errors import APIConnectionError, APIError, APIStatusError
from ._retries import is_retried, pause_before_reconnecting

#: What a service is waited for, unless said otherwise.
DEFAULT_RECONNECT_TIMEOUT_SECONDS = 60.0


class Outage:
    """From the first loss on, until the service is heard again."""

    __slots__ = ("_now", "_random", "_seconds_max", "_began", "_losses")

    def __init__(self, clock: Union[Clock, AsyncClock], seconds_max: float) -> None:
        """`seconds_max`: that it may last; math.inf: no limit."""
        self._now: Callable[[], float] = clock.now
        self._random: Callable[[], float] = clock.random
        self._seconds_max = seconds_max
        self._began = clock.now()
        self._losses = 0

    def next_pause(self, loss: APIError) -> Optional[float]:
        """Seconds until the service is to be asked again; None where that would be too late."""
        asked = loss.retry_after if isinstance(loss, APIStatusError) else None
        pause = pause_before_reconnecting(self._losses, asked, self._random())
        if self._now() + pause - self._began > self._seconds_max:
            return None
        self._losses += 1
        return pause


def is_loss(error: APIError) -> bool:
    """Whether the service can be asked again."""
    if isinstance(error, APIStatusError):
        return is_retried(error.status, error.headers)
    return isinstance(error, APIConnectionError)
