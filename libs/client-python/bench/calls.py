"""Milliseconds of calls with the client and with bare httpx, in turn, as JSON; `npm run bench:clients` of the checkout shows them.

The service is the one of MILLWRIGHT_BASE_URL and MILLWRIGHT_API_KEY; what is asked for is one run, again and again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from typing import Any, Awaitable, Callable, Dict, List

import httpx
import millwright


def measured_sync(run_id: str, calls: int, warming: int) -> Dict[str, Any]:
    url, headers = bare_request(run_id)
    with millwright.Millwright() as client, httpx.Client() as bare:
        own: List[float] = []
        beside: List[float] = []
        for _ in range(warming + calls):
            # In turn: what the machine does besides falls on both alike.
            own.append(timed(lambda: client.agent.runs.retrieve(run_id)))
            beside.append(timed(lambda: json.loads(bare.get(url, headers=headers).content)))
    return {"what": "Python", "bare": "httpx.Client", "own": own[warming:], "beside": beside[warming:]}


async def measured_async(run_id: str, calls: int, warming: int) -> Dict[str, Any]:
    url, headers = bare_request(run_id)

    async def with_httpx() -> Any:
        return json.loads((await bare.get(url, headers=headers)).content)

    async with millwright.AsyncMillwright() as client, httpx.AsyncClient() as bare:
        own: List[float] = []
        beside: List[float] = []
        for _ in range(warming + calls):
            own.append(await timed_async(lambda: client.agent.runs.retrieve(run_id)))
            beside.append(await timed_async(with_httpx))
    return {"what": "Python, async", "bare": "httpx.AsyncClient", "own": own[warming:], "beside": beside[warming:]}


def bare_request(run_id: str) -> Any:
    url = f"{os.environ['MILLWRIGHT_BASE_URL']}/api/v1/agent/runs/{run_id}"
    return url, {"authorization": f"Bearer {os.environ['MILLWRIGHT_API_KEY']}", "accept": "application/json"}


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


async def timed_async(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", required=True)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--warming", type=int, default=200)
    how = parser.parse_args()
    figures = [measured_sync(how.run, how.calls, how.warming), asyncio.run(measured_async(how.run, how.calls, how.warming))]
    json.dump(figures, sys.stdout)


if __name__ == "__main__":
    main()
