"""What waiting needs where it can be cancelled. Written by hand for both clients."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import ContextManager

import anyio
import httpx

#: What closing a connection may take that nobody waits for any more.
_CLOSE_SECONDS_MAX = 5.0


def time_limit(seconds: float) -> ContextManager[object]:
    """Raises TimeoutError from whatever is awaited inside when the time is over; math.inf: never."""
    return nullcontext() if seconds == math.inf else anyio.fail_after(max(seconds, 0))


def with_time_limits(http: httpx.AsyncClient) -> httpx.AsyncClient:
    """The same client: whatever it waits for can be cancelled."""
    return http


async def close_at_any_rate(response: httpx.Response) -> None:
    """Lets the connection go, also while the task is being cancelled."""
    with anyio.move_on_after(_CLOSE_SECONDS_MAX, shield=True):
        await response.aclose()
