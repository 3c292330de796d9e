"""Time limits and cancelling against real connections: nothing is waited for too long, and none is left behind."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Any, Callable, List

import httpx
import pytest
from loopback import PATIENCE_SECONDS, Connection, Loopback, json_answer
from millwright import APIConnectionError, APITimeoutError, AsyncMillwright, MillwrightError, Millwright, NotFoundError

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
PROBLEM = b'{"error": "resource_not_found", "detail": "no"}'


def silent(connection: Connection) -> None:
    connection.request()


def silent_in_the_body(connection: Connection) -> None:
    connection.request()
    connection.send(HEAD + b"[")


def dripping(connection: Connection) -> None:
    connection.request()
    connection.send(HEAD)
    while connection.send(b" "):
        time.sleep(0.02)


def dripping_in_the_head(connection: Connection) -> None:
    connection.request()
    connection.send(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while connection.send(b"x"):
        time.sleep(0.02)


def dripping_headers(connection: Connection) -> None:
    connection.request()
    connection.send(b"HTTP/1.1 200 OK\r\n")
    while connection.send(b"X-More: x\r\n"):
        time.sleep(0.02)


def continuing(connection: Connection) -> None:
    connection.request()
    while connection.send(b"HTTP/1.1 100 Continue\r\n\r\n"):
        time.sleep(0.02)


def dripping_in_an_extension(connection: Connection) -> None:
    connection.request()
    connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1;x=")
    while connection.send(b"x"):
        time.sleep(0.02)


DRIPPING = [dripping, dripping_in_the_head, dripping_headers, continuing, dripping_in_an_extension]


def serving(connection: Connection) -> None:
    while connection.request():
        connection.send(json_answer(b"[1]"))


def client_of(server: Loopback, **options: Any) -> Millwright:
    return Millwright(api_key="mw_x", base_url=server.url, **{"max_retries": 0, **options})


def async_client_of(server: Loopback, **options: Any) -> AsyncMillwright:
    return AsyncMillwright(api_key="mw_x", base_url=server.url, **{"max_retries": 0, **options})


@pytest.mark.parametrize("serve", [silent, silent_in_the_body])
def test_an_attempt_ends_with_the_time_of_its_phase(serve: Callable[[Connection], None]) -> None:
    limits = httpx.Timeout(30, read=0.2)
    with Loopback(serve) as server, client_of(server, timeout=limits) as client:
        with pytest.raises(APITimeoutError, match=r"no whole answer within 0\.2 s \(timeout\)"):
            client.get("/x")
        with pytest.raises(APITimeoutError, match=r"within 0\.1 s \(total_timeout\)"):
            client.get("/x", total_timeout=0.1)


def trickling(connection: Connection) -> None:
    connection.request()
    connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(8):
        time.sleep(0.5)
        connection.send(b"2\r\na\n\r\n")
    connection.send(b"0\r\n\r\n")


def stopping(connection: Connection) -> None:
    connection.request()
    connection.send(HEAD + b"[1")


def test_a_streamed_body_takes_longer_than_an_attempt() -> None:
    with Loopback(trickling) as server, client_of(server, timeout=3) as client:
        with client.with_streaming_response.get("/x") as response:
            assert list(response.iter_lines()) == ["a"] * 8
        assert response.is_closed


def test_a_streamed_body_that_stops_is_a_lost_connection() -> None:
    with Loopback(stopping) as server, client_of(server, timeout=3) as client:
        with client.with_streaming_response.get("/x") as response, pytest.raises(APITimeoutError, match=r" 3 s"):
            list(response.iter_bytes())
        assert server.connection().left.wait(PATIENCE_SECONDS)


def test_an_async_streamed_body_is_left_in_its_midst() -> None:
    async def some() -> List[str]:
        async with async_client_of(server) as client:
            async with client.with_streaming_response.get("/x") as response:
                async for line in response.iter_lines():
                    return [line]
        return []

    with Loopback(trickling) as server:
        assert asyncio.run(some()) == ["a"]
        assert server.connection().left.wait(PATIENCE_SECONDS)


@pytest.mark.parametrize("serve", [silent, silent_in_the_body, *DRIPPING])
def test_an_attempt_ends_with_its_time(serve: Callable[[Connection], None]) -> None:
    with Loopback(serve) as server, client_of(server, timeout=1) as client:
        with pytest.raises(APITimeoutError, match=r"127\.0\.0\.1:\d+: no whole answer within 1 s \(timeout\)") as ended:
            client.get("/x")
        assert ended.value.limit == "timeout"
        assert server.connection().left.wait(PATIENCE_SECONDS)


@pytest.mark.parametrize("serve", [silent, silent_in_the_body, *DRIPPING])
def test_an_async_attempt_ends_with_its_time(serve: Callable[[Connection], None]) -> None:
    async def main(server: Loopback) -> None:
        async with async_client_of(server, timeout=1) as client:
            with pytest.raises(APITimeoutError, match=r"within 1 s \(timeout\)"):
                await client.get("/x")
            assert await left(server.connection())

    with Loopback(serve) as server:
        asyncio.run(main(server))


@pytest.mark.parametrize("serve", [silent, *DRIPPING])
def test_a_call_ends_with_its_time(serve: Callable[[Connection], None]) -> None:
    with Loopback(serve) as server, client_of(server, max_retries=2) as client:
        with pytest.raises(APITimeoutError, match=r"within 0\.2 s \(total_timeout\)"):
            client.get("/x", total_timeout=0.2)
        assert len(server.connections) <= 1  # whoever is slow to accept may have none yet


@pytest.mark.parametrize("serve", [silent, silent_in_the_body, dripping, dripping_in_the_head])
def test_a_cancelled_call_leaves_no_connection(serve: Callable[[Connection], None]) -> None:
    async def main(server: Loopback) -> None:
        async with async_client_of(server, max_retries=5) as client:
            call = asyncio.ensure_future(client.get("/x"))
            connection = await asyncio.to_thread(server.connection)
            await asyncio.sleep(0.05)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert await left(connection)
            assert open_connections(client) == []
        assert len(server.connections) == 1

    with Loopback(serve) as server:
        asyncio.run(main(server))


def test_a_cancelled_pause() -> None:
    async def main(server: Loopback) -> None:
        async with async_client_of(server, max_retries=1) as client:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(client.get("/x"), 0.2)
            assert open_connections(client) == []

    def busy(connection: Connection) -> None:
        connection.request()
        connection.send(json_answer(b"{}", b"503 No", b"Retry-After: 30\r\n"))

    with Loopback(busy) as server:
        asyncio.run(main(server))


def test_a_cancelled_stream_leaves_no_connection() -> None:
    def streaming(connection: Connection) -> None:
        connection.request()
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: there\n\n")

    async def main(server: Loopback) -> None:
        async with async_client_of(server) as client:
            stream = client.agent.runs.events("r")
            reading = asyncio.ensure_future(stream.__anext__())
            connection = await asyncio.to_thread(server.connection)
            await asyncio.sleep(0.05)
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
            assert await left(connection)
            assert [event async for event in stream] == []

    with Loopback(streaming) as server:
        asyncio.run(main(server))


def test_the_body_of_a_former_answer_is_discarded() -> None:
    connections: List[Connection] = []

    def failing_once(connection: Connection) -> None:
        connections.append(connection)
        if len(connections) > 1:
            return serving(connection)
        connection.request()
        connection.send(HEAD.replace(b"200 OK", b"500 No").replace(b"\r\n\r\n", b"\r\nRetry-After: 0\r\n\r\n"))
        return None

    with Loopback(failing_once) as server, client_of(server, max_retries=1) as client:
        assert client.get("/x") == [1]
        assert server.connection().left.wait(PATIENCE_SECONDS)
        assert len(connections) == 2


def test_a_refusal_counts_also_when_its_words_are_cut_off() -> None:
    def cut(connection: Connection) -> None:
        connection.request()
        connection.send(json_answer(PROBLEM, b"404 No").replace(b"Content-Length: ", b"Content-Length: 9"))
        connection.close()

    with Loopback(cut) as server, client_of(server) as client:
        with pytest.raises(NotFoundError) as refused:
            client.get("/x")
        assert (refused.value.status, refused.value.body) == (404, "")


def test_connections_are_used_again() -> None:
    with Loopback(serving) as server, client_of(server) as client:
        assert [client.get("/x"), client.post("/x", body={}), client.get("/x")] == [[1]] * 3
        assert len(server.connections) == 1


def test_nobody_listens() -> None:
    with Loopback(serving) as server:
        url = server.url
    with Millwright(api_key="mw_x", base_url=f"{url}/hidden", max_retries=0) as client:
        with pytest.raises(APIConnectionError, match=r"^127\.0\.0\.1:\d+ cannot be reached: connection refused") as lost:
            client.get("/x")
        assert "hidden" not in str(lost.value)


def test_there_is_no_such_host() -> None:
    def looking_up(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no") from socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with httpx.Client(transport=httpx.MockTransport(looking_up)) as http:
        client = Millwright(api_key="mw_x", base_url="https://nowhere.invalid", max_retries=0, http_client=http)
        with pytest.raises(APIConnectionError, match="nowhere.invalid cannot be reached: there is no host of that name"):
            client.get("/x")


def test_a_closed_client() -> None:
    client = Millwright(api_key="mw_x")
    client.close()
    with pytest.raises(MillwrightError, match="the client is closed"):
        client.get("/x")


async def left(connection: Connection) -> bool:
    return await asyncio.to_thread(connection.left.wait, PATIENCE_SECONDS)


def open_connections(client: AsyncMillwright) -> List[object]:
    transport: Any = client._exchange.http._transport
    return list(transport._pool.connections)
