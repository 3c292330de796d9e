"""Time, waiting and chance, in one place each, so that schedules can be tested exactly."""

from __future__ import annotations

from random import random
from time import monotonic, sleep, time

import anyio
from typing_extensions import Protocol


class Clock(Protocol):
    """What everything that waits goes by."""

    def now(self) -> float:
        """Seconds since some point of time; never goes back."""
        ...

    def time(self) -> float:
        """Seconds since 1970 UTC."""
        ...

    def random(self) -> float:
        """From 0 up to, not including, 1."""
        ...

    def sleep(self, seconds: float, /) -> None:
        """Returns when `seconds` have passed."""
        ...


class AsyncClock(Protocol):
    """As `Clock`, for code that is not to block."""

    def now(self) -> float:
        """Seconds since some point of time; never goes back."""
        ...

    def time(self) -> float:
        """Seconds since 1970 UTC."""
        ...

    def random(self) -> float:
        """From 0 up to, not including, 1."""
        ...

    async def sleep(self, seconds: float, /) -> None:
        """Returns when `seconds` have passed."""
        ...


class SystemClock:
    """The clock of the machine."""

    now = staticmethod(monotonic)
    time = staticmethod(time)
    random = staticmethod(random)
    sleep = staticmethod(sleep)


class AsyncSystemClock:
    """The clock of the machine, on asyncio or trio."""

    now = staticmethod(monotonic)
    time = staticmethod(time)
    random = staticmethod(random)
    sleep = staticmethod(anyio.sleep)
