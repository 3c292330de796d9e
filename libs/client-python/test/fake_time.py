"""A clock that stands still unless somebody waits."""

from __future__ import annotations

from typing import List

#: 2026-11-22T10:00:00Z
BEGAN_AT = 1_795_341_600.0


class FakeClock:
    """For a client that blocks."""

    def __init__(self, chance: float = 0.0) -> None:
        self.passed = 0.0
        self.pauses: List[float] = []
        self._chance = chance

    def now(self) -> float:
        return self.passed

    def time(self) -> float:
        return BEGAN_AT + self.passed

    def random(self) -> float:
        return self._chance

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.passed += seconds


class AsyncFakeClock(FakeClock):
    """For a client that does not."""

    async def sleep(self, seconds: float) -> None:  # type: ignore[override]
        FakeClock.sleep(self, seconds)
