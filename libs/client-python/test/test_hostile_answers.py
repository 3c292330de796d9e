"""Answers of services that are broken or lie: nothing that was sent shows in an error, nothing is read for ever."""

from __future__ import annotations

import asyncio
import json
import pickle
from typing import Any, Dict, Iterator, List

import httpx
import pytest
from fake_time import FakeClock
from kinds import kind  # noqa: F401
from loopback import Connection, Loopback, json_answer
from millwright import (
    APIConnectionError,
    APIError,
    APIResponseValidationError,
    APIStatusError,
    APITimeoutError,
    AsyncMillwright,
    Millwright,
    MillwrightError,
    WebhookSender,
    WebhookVerificationError,
    sign_delivery,
    verify_delivery,
)
from test_following import Following, entry, state
from test_secrecy import everything_in

KEY = "mw_" + "Hidden/key" * 4
PAYLOAD = "the hidden payload"
#: The key as JSON may spell it.
ESCAPED = KEY.replace("H", "\\u0048").replace("/", "\\/")
NOON = "2026-11-22T12:00:00Z"
PERSON = {"type": "user", "uid": "u", "display_name": "U", "email": None, "photo_url": None}
RUN: Dict[str, Any] = {
    "run_id": "r", "task_id": "r", "root_run_id": "r", "title": "t", "prompt": "p", "submitted_prompt": "p", "state": "QUEUED", "source": "API",
    "created_at": NOON, "updated_at": NOON, "started_at": None, "finished_at": None, "creator": PERSON, "executor": PERSON,
    "agent_config": {}, "mode": "normal", "interactive": False, "metadata": {}, "is_sandbox_running": False,
    "is_run_type_cancellable": True, "execution_location": "REMOTE",
}  # fmt: skip


def client_of(answer: Any, **options: Any) -> Millwright:
    def handle(request: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]

    http = httpx.Client(transport=httpx.MockTransport(handle))
    return Millwright(api_key=KEY, http_client=http, _clock=FakeClock(), max_retries=0, **options)


JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(400, json={"error": "bad", "detail": f"no {KEY}"}, headers={"X-Echo": KEY, "X-Request-Id": KEY}),
        httpx.Response(403, text=f'{{"error": "no", "detail": "{ESCAPED}", "{ESCAPED}": [1]}}', headers=JSON),
        httpx.Response(302, headers={"Location": f"/{KEY}?{KEY}"}),
        httpx.Response(200, json={"name": KEY}),
        httpx.Response(200, text=f"<html>{KEY}", headers={"Content-Type": "text/html"}),
        httpx.ReadError(f"gone with {KEY}"),
        httpx.ReadTimeout("late"),
    ],
    ids=["echo", "escapes", "redirect", "unfit", "html", "lost", "late"],
)
def test_what_was_sent_is_in_no_error(answer: Any) -> None:
    with pytest.raises(APIError) as caught:
        client_of(answer).secrets.put("a", value=PAYLOAD)
    error = caught.value
    held = [*everything_in(error), str(error), pickle.dumps(error).decode("latin-1")]
    requests = [getattr(at, "response", at).request for at in (error, error.__cause__) if hasattr(at, "response") or isinstance(at, httpx.RequestError)]
    assert requests
    for request in requests:
        held += [str(request.headers.raw), pickle.dumps(request).decode("latin-1"), *everything_in(vars(request), 8)]
    assert [text for text in held if KEY in text or PAYLOAD in text] == []
    if isinstance(error, APIStatusError) and error.detail is not None:
        assert "***" in error.detail and "***" in str(error) and "***" in error.body


def test_a_raw_response_does_not_hold_what_was_sent() -> None:
    sent: List[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, json={"a": 1})

    with httpx.Client(transport=httpx.MockTransport(handle)) as http:
        answer = Millwright(api_key=KEY, http_client=http).with_raw_response.post("/x", body={"a": PAYLOAD})
    held = [pickle.dumps(answer.http_response).decode("latin-1"), *everything_in(vars(answer.http_response), 8)]
    assert [text for text in held if KEY in text or PAYLOAD in text] == []
    assert answer.parse() == answer.json() == {"a": 1}
    # What a transport of the caller's own has seen stays as it was.
    assert PAYLOAD in sent[0].content.decode() and KEY in sent[0].headers["authorization"]


def test_the_payload_of_a_delivery_is_in_no_error() -> None:
    with httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(400, json={"error": "no"}))) as http:
        with pytest.raises(APIStatusError) as caught:
            WebhookSender("http://127.0.0.1:1/w", "t0ken-t0ken-t0ken", http_client=http).send({"a": PAYLOAD})
    assert PAYLOAD not in "".join([*everything_in(vars(caught.value.response.request), 8)])


def test_a_short_key_does_not_spoil_the_words() -> None:
    http = httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(404, json={"error": "e", "detail": "run"})))
    with pytest.raises(APIStatusError, match="404 e: run"):
        Millwright(api_key="r", http_client=http, _clock=FakeClock()).get("/x")


HALF = "\\ud83d"


def test_half_characters(kind: Any) -> None:  # noqa: F811
    runs = json.dumps({"runs": [RUN, RUN], "page_info": {"has_next_page": False}})
    answers = {"runs": runs.replace('"title": "t"', f'"title": "{HALF}"', 1), "r": json.dumps({**RUN, "title": 7}).replace('"p"', f'"{HALF}"')}

    def handle(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text=answers[request.url.path.rsplit("/", 1)[1]], headers=JSON)

    client = made(kind, handle)
    page = kind.settled(client.agent.runs.list())
    assert [run.title for run in page.items] == ["\ud83d", "t"] and page.body["runs"][0]["title"] == "\ud83d"
    assert page.items[0].created_at == page.items[1].created_at
    assert kind.settled(client.agent.runs.with_raw_response.list()).parse().items[0].title == "\ud83d"
    with pytest.raises(APIResponseValidationError, match="has no string at /title"):
        kind.settled(client.agent.runs.retrieve("r"))


def made(kind: Any, handle: Any) -> Any:  # noqa: F811
    is_async = kind.Client is AsyncMillwright
    transport = httpx.MockTransport(handle)
    http: Any = httpx.AsyncClient(transport=transport) if is_async else httpx.Client(transport=transport)
    return kind.Client(api_key=KEY, http_client=http, max_retries=0)


@pytest.fixture(params=["sync", "async"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_half_characters_in_a_stream(way: str) -> None:
    following = Following(way, [entry(1).replace(b'"payload": {}', f'"payload": {{"a": "{HALF}"}}'.encode()), state("FAILED")])
    assert following.read(following.client.agent.runs.events("r")) == [1]


def test_signs_of_life_do_not_make_a_stream_longer(way: str) -> None:
    following = Following(way, [entry(1), *[b": there\n\n", 0.5] * 100])
    with pytest.raises(APITimeoutError, match=r"within 2 s \(total_timeout\)"):
        following.read(following.client.agent.runs.events("r", total_timeout=2))
    assert following.clock.passed == 2 and following.bodies[0].is_closed


class Endless(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that goes on for as long as it is read."""

    def __init__(self) -> None:
        self.read = 0
        self.is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        while True:
            self.read += 1024
            yield b"x" * 1024

    async def __aiter__(self) -> Any:
        for part in self:
            yield part

    def close(self) -> None:
        self.is_closed = True

    async def aclose(self) -> None:
        self.is_closed = True


def test_an_error_without_an_end(kind: Any) -> None:  # noqa: F811
    body = Endless()
    client = made(kind, lambda request: httpx.Response(500, stream=body))
    with pytest.raises(APIStatusError) as caught:
        kind.settled(client.get("/x"))
    assert (body.read, body.is_closed, caught.value.body) == (256 * 1024, True, "x" * 64 * 1024)


def test_a_stream_that_is_asked_to_come_back_at_once(way: str) -> None:
    following = Following(way)
    answers = [httpx.Response(503, headers={"Retry-After": asked}) for asked in ("0", "0", "7", "0")]
    answers.append(httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=state("FAILED")))
    following._answer = lambda request: answers.pop(0)  # type: ignore[method-assign]
    transport: Any = httpx.MockTransport(lambda request: answers.pop(0))
    following.client._exchange.http._transport = transport
    following.client._exchange.http._mounts = {}
    assert following.read(following.client.agent.runs.events("r")) == []
    assert following.clock.pauses == [0.5, 1.0, 7.0, 4.0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda client: client.agent.runs.retrieve("x" * 70_000), "run_id is too long for an address"),
        (lambda client: client.get("/x", query={"a": 1, "b": "x" * 70_000}), "b is too long for an address"),
        (lambda client: client.get("/x\ud800"), "the path must"),
        (lambda client: client.get("/x", query={"a": "\ud800"}), "a holds half a character"),
        (lambda client: client.get("/x", query={"a": 10**5000}), "a is a number with too many digits"),
        (lambda client: client.post("/x", body=1, extra_headers={"Content-Length": "50"}), "cannot be sent"),
        (lambda client: client.post("/x", idempotency_key="a b"), "idempotency_key must be 1 to 255 visible ASCII"),
        (lambda client: client.post("/x", idempotency_key=""), "idempotency_key must be"),
        (lambda client: client.post("/x", idempotency_key="x" * 256), "idempotency_key must be"),
        (lambda client: client.post("/x", idempotency_key="x" * 255), None),
    ],
)
def test_what_cannot_be_sent(call: Any, words: Any) -> None:
    def serving(connection: Connection) -> None:
        while connection.request():
            connection.send(json_answer(b"[1]"))

    with Loopback(serving) as server, Millwright(api_key=KEY, base_url=server.url, max_retries=0) as client:
        if words is None:
            assert call(client) == [1]
            return
        if "digits" in words and len(str_or_nothing(10**5000)) > 0:
            pytest.skip("this Python writes any number")
        with pytest.raises(MillwrightError, match=words):
            call(client)
        assert client.get("/x") == [1]


def str_or_nothing(number: int) -> str:
    try:
        return str(number)
    except ValueError:
        return ""


def test_text_that_is_no_text() -> None:
    with pytest.raises(MillwrightError, match="the payload holds half a character"):
        WebhookSender("http://127.0.0.1:1/w", "t0ken-t0ken-t0ken").send("\ud800")
    with pytest.raises(MillwrightError, match="base_url must be"):
        Millwright(api_key=KEY, base_url="http://xn--a")


def test_a_name_that_no_host_can_have() -> None:
    with Millwright(api_key=KEY, base_url="https://a..b", max_retries=0) as client:
        with pytest.raises(APIConnectionError, match="there is no host of that name"):
            client.get("/x")


def test_a_client_of_an_event_loop_that_has_ended() -> None:
    def serving(connection: Connection) -> None:
        while connection.request():
            connection.send(json_answer(b"[1]"))

    with Loopback(serving) as server:
        client = AsyncMillwright(api_key=KEY, base_url=server.url, max_retries=0)

        async def called() -> Any:
            return await client.get("/x")

        assert asyncio.run(called()) == [1]
        with pytest.raises(APIConnectionError, match="an event loop that has ended"):
            asyncio.run(called())


@pytest.mark.parametrize("unfit", [{"now": float("nan")}, {"now": float("inf")}, {"tolerance_seconds": float("nan")}])
def test_a_stale_delivery_is_never_accepted(unfit: Dict[str, float]) -> None:
    secret = "whsec_" + "c2VjcmV0" * 4
    headers = sign_delivery(secret=secret, body=b"x", authentication="standard_webhooks", now=1_700_000_000)
    with pytest.raises(MillwrightError, match="must be a number of seconds"):
        verify_delivery(secret=secret, headers=headers, body=b"x", authentication="standard_webhooks", **{"now": 1_800_000_000.0, **unfit})
    with pytest.raises(WebhookVerificationError) as stale:
        verify_delivery(secret=secret, headers=headers, body=b"x", authentication="standard_webhooks")
    assert stale.value.reason == "stale-timestamp"
