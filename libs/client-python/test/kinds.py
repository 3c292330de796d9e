"""The two kinds of client, so that a test can be written once for both."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Dict, Iterator

import httpx
import millwright
import pytest


class Sync:
    """The client that blocks."""

    Client: Any = millwright.Millwright
    Sender: Any = millwright.WebhookSender

    def on(self, world: Any) -> Dict[str, Any]:
        """Options of a client that lives in a world of its own."""
        return {"http_client": httpx.Client(transport=world), "_clock": world.clock}

    def client(self, world: Any, **options: Any) -> Any:
        return self.Client(**self.on(world), **options)

    def sender(self, world: Any, **options: Any) -> Any:
        return self.Sender(**self.on(world), **options)

    def settled(self, value: Any) -> Any:
        """What a call came to."""
        return value

    def each(self, iterable: Any, take: Callable[[Any], None]) -> None:
        for item in iterable:
            take(item)

    def inside(self, manager: Any, read: Callable[[Any], Any]) -> Any:
        """What is read of a response inside of its block."""
        with manager as response:
            return read(response)

    def close(self) -> None:
        pass


class Async(Sync):
    """The client that is awaited."""

    Client: Any = millwright.AsyncMillwright
    Sender: Any = millwright.AsyncWebhookSender

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def on(self, world: Any) -> Dict[str, Any]:
        return {"http_client": httpx.AsyncClient(transport=world), "_clock": world.async_clock}

    def settled(self, value: Any) -> Any:
        async def awaited() -> Any:
            return await value

        return self._loop.run_until_complete(awaited()) if hasattr(value, "__await__") else value

    def each(self, iterable: Any, take: Callable[[Any], None]) -> None:
        async def all_of_them() -> None:
            async for item in iterable:
                take(item)

        self._loop.run_until_complete(all_of_them())

    def inside(self, manager: Any, read: Callable[[Any], Any]) -> Any:
        async def inside() -> Any:
            async with manager as response:
                return await read(response)

        return self._loop.run_until_complete(inside())

    def close(self) -> None:
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


@pytest.fixture(params=[Sync, Async], ids=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> Iterator[Any]:
    made = request.param()
    yield made
    made.close()
