"""Prints what a run writes, as it writes it, until its end. Usage: follow_events.py [RUN_ID]; without one it starts a run."""

import asyncio
import sys
from typing import Optional

from millwright import AsyncMillwright, MillwrightError


async def main(run_id: Optional[str] = None) -> None:
    async with AsyncMillwright() as client:
        followed = run_id or (await client.agent.runs.create(prompt="Say hello.")).run_id
        async with client.agent.runs.events(followed) as events:
            async for event in events:
                said = event.payload.text or event.payload.title or event.payload.state or ""
                print(f"{event.seq} {event.event_type}: {said.rstrip()}")
        print(f"ended {events.run_state} behind entry {events.last_seq}")


if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:2]))
    except MillwrightError as error:
        sys.exit(str(error))
