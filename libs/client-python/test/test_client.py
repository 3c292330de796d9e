"""The client around its calls: options, copies, headers, custom httpx clients, pages, raw responses. Sync and async alike."""

from __future__ import annotations

import asyncio
import inspect
import json
import pickle
from typing import Any, Callable, Dict, List, Optional

import httpx
import pytest
from fake_time import AsyncFakeClock, FakeClock
from millwright import (
    APIConnectionError,
    APIResponseValidationError,
    APIStatusError,
    AsyncMillwright,
    AsyncWebhookSender,
    InternalServerError,
    Millwright,
    MillwrightError,
    NotFoundError,
    RateLimitError,
    WaitEndedError,
    WaitTimeoutError,
    WebhookSender,
)
from millwright.types import PageInfo, TimelineEvent
from millwright.types._base import ModelBase
from wire_cases import CASES

KEY = "mw_x"
RUN = CASES.bodies["run"]
Handle = Callable[[httpx.Request], httpx.Response]


class Recorder:
    """Answers in order, the last one again and again; notes what was asked."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.requests: List[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, httpx.Response):
            return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)
        return httpx.Response(200, json=answer)

    def sent(self, name: str) -> List[Optional[str]]:
        return [request.headers.get(name) for request in self.requests]


def client_of(handle: Handle, **options: Any) -> Millwright:
    http = httpx.Client(transport=httpx.MockTransport(handle))
    return Millwright(**{"api_key": KEY, "http_client": http, "_clock": FakeClock(), **options})


def async_client_of(handle: Handle, **options: Any) -> AsyncMillwright:
    http = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    return AsyncMillwright(**{"api_key": KEY, "http_client": http, "_clock": AsyncFakeClock(), **options})


@pytest.fixture(params=[client_of, async_client_of], ids=["sync", "async"])
def made(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Makes a client of either kind."""
    return request.param  # type: ignore[no-any-return]


def settled(value: Any) -> Any:
    """What a call of either kind answers."""

    async def awaited() -> Any:
        return await value

    return asyncio.run(awaited()) if inspect.isawaitable(value) else value


def collected(items: Any) -> List[Any]:
    async def gathered() -> List[Any]:
        return [item async for item in items]

    return asyncio.run(gathered()) if hasattr(items, "__aiter__") else list(items)


def test_the_key_of_a_call_is_kept_over_its_retries_and_new_for_the_next(made: Any) -> None:
    seen = Recorder(httpx.Response(503), httpx.ReadError("gone"), {}, {})
    client = made(seen)
    settled(client.post("/x", body={}))
    settled(client.post("/x", body={}))
    keys = seen.sent("idempotency-key")
    assert len(keys) == 4 and keys[0] == keys[1] == keys[2] != keys[3]
    assert keys[0] is not None and keys[0].startswith("mwc-")


def test_who_decides_about_a_header(made: Any) -> None:
    seen = Recorder({})
    client = made(seen, default_headers={"X-A": "default", "Idempotency-Key": "default", "User-Agent": None, "x-millwright-client": "me"})
    settled(client.post("/x"))
    settled(client.post("/x", headers={"x-a": "own"}, idempotency_key="key", extra_headers={"Authorization": None}))
    settled(client.post("/x", idempotency_key="key", extra_headers={"X-A": None, "IDEMPOTENCY-KEY": "extra"}))
    assert seen.sent("x-a") == ["default", "own", None]
    assert seen.sent("idempotency-key") == ["default", "key", "extra"]
    assert seen.sent("user-agent") == [None] * 3 and seen.sent("x-millwright-client") == ["me"] * 3
    assert seen.sent("authorization") == ["Bearer mw_x", None, "Bearer mw_x"]
    assert seen.sent("content-type") == [None] * 3


@pytest.mark.parametrize("headers", [{"bad name": "v"}, {"X": "a\nb"}, {"X": 7}, {"": "v"}, {"X": "…"}])
def test_what_no_header_can_be(made: Any, headers: Any) -> None:
    seen = Recorder({})
    with pytest.raises(MillwrightError):
        settled(made(seen).get("/x", extra_headers=headers))
    assert seen.requests == []


def test_headers_in_latin_1(made: Any) -> None:
    seen = Recorder({})
    settled(made(seen).get("/x", extra_headers={"X-A": "größe"}))
    assert ("x-a", b"gr\xf6\xdfe") in [(name.decode().lower(), value) for name, value in seen.requests[0].headers.raw]


def test_a_copy_differs_in_what_was_said(made: Any) -> None:
    seen = Recorder(httpx.Response(500))
    client = made(seen, max_retries=1, default_headers={"X-A": "1"})
    copy = client.with_options(max_retries=0, base_url="http://127.0.0.1:1/other")
    for caller in (client, copy):
        with pytest.raises(InternalServerError):
            settled(caller.get("/x"))
    assert [str(request.url) for request in seen.requests] == ["http://127.0.0.1:8080/api/v1/x"] * 2 + ["http://127.0.0.1:1/other/api/v1/x"]
    assert seen.sent("x-a") == ["1"] * 3 and type(copy) is type(client)
    with pytest.raises(TypeError):
        client.with_options(max_retry=0)
    settled(copy.close())
    assert not client._exchange.http.is_closed


def test_a_copy_does_not_read_the_environment_again(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Recorder({})
    monkeypatch.setenv("MILLWRIGHT_API_KEY", "mw_before")
    monkeypatch.setenv("MILLWRIGHT_BASE_URL", "http://127.0.0.1:1")
    client = made(seen, api_key=None)
    monkeypatch.setenv("MILLWRIGHT_API_KEY", "mw_behind")
    monkeypatch.setenv("MILLWRIGHT_BASE_URL", "http://127.0.0.1:2")
    settled(client.with_options(max_retries=0).get("/x"))
    settled(client.with_options(api_key=None, base_url=None).get("/x"))
    monkeypatch.delenv("MILLWRIGHT_API_KEY")
    settled(client.with_options(timeout=1).get("/x"))
    assert seen.sent("authorization") == ["Bearer mw_before"] * 3
    assert {str(request.url) for request in seen.requests} == {"http://127.0.0.1:1/api/v1/x"}


def test_a_client_closes_what_it_has_made_only() -> None:
    http = httpx.Client()
    with Millwright(api_key=KEY, http_client=http):
        pass
    with WebhookSender("http://127.0.0.1:1/w", "0123456789abcdef", http_client=http):
        pass
    assert not http.is_closed
    with Millwright(api_key=KEY) as own:
        pass
    assert own._exchange.http.is_closed

    async def main() -> None:
        async with AsyncMillwright(api_key=KEY) as client, AsyncWebhookSender("http://h/w", "0123456789abcdef") as sender:
            pass
        assert client._exchange.http.is_closed and sender._exchange.http.is_closed

    asyncio.run(main())


def test_a_custom_client_keeps_what_it_adds() -> None:
    seen = Recorder({})
    http = httpx.Client(transport=httpx.MockTransport(seen), params={"tenant": "t 1"}, headers={"X-Proxy": "p"}, follow_redirects=True)
    Millwright(api_key=KEY, http_client=http).get("/x", query={"a": ["1", "2"], "m": {"k": "ü"}})
    assert seen.requests[0].url.params.multi_items() == [("tenant", "t 1"), ("a", "1"), ("a", "2"), ("m[k]", "ü")]
    assert seen.sent("x-proxy") == ["p"]


@pytest.mark.parametrize(("client_class", "sender_class"), [(Millwright, WebhookSender), (AsyncMillwright, AsyncWebhookSender)], ids=["sync", "async"])
def test_no_cookie_comes_back(client_class: Any, sender_class: Any) -> None:
    seen = Recorder(httpx.Response(200, json={"delivery_id": "d"}, headers={"Set-Cookie": "a=b; Path=/"}))
    client, sender = client_class(api_key=KEY), sender_class("http://127.0.0.1:1/w", "0123456789abcdef")
    client._exchange.http._transport = sender._exchange.http._transport = httpx.MockTransport(seen)
    for _ in range(2):
        settled(client.get("/x"))
        settled(sender.send({}))
    settled(client.close())
    settled(sender.close())
    assert seen.sent("cookie") == [None] * 4


def test_redirects_are_not_followed(made: Any) -> None:
    seen = Recorder(httpx.Response(307, headers={"Location": "http://elsewhere.example/"}))
    with pytest.raises(MillwrightError, match="307: the answer is a redirect, which is not followed"):
        settled(made(seen).get("/x"))
    assert len(seen.requests) == 1


def test_raw_responses(made: Any) -> None:
    seen = Recorder(httpx.Response(500), httpx.Response(200, content=b'{"a":1}', headers={"X-Request-Id": "req-1", "Content-Type": "application/json"}))
    raw = settled(made(seen).with_raw_response.post("/x", body=[1]))
    assert (raw.status_code, raw.request_id, raw.content, raw.text) == (200, "req-1", b'{"a":1}', '{"a":1}')
    assert (raw.json(), raw.parse(), raw.retries_taken, raw.elapsed) == ({"a": 1}, {"a": 1}, 1, 0.5)
    assert raw.headers["content-type"] == "application/json" and raw.http_response.request.headers["authorization"] == "***"


def streamed(manager: Any, *readers: Callable[[Any], Any]) -> List[Any]:
    """What the readers make of a response inside of its block, each of them settled."""

    async def gathered() -> List[Any]:
        async with manager as response:
            found: List[Any] = []
            for read in readers:
                value = read(response)
                if hasattr(value, "__aiter__"):
                    value = [piece async for piece in value]
                found.append(await value if hasattr(value, "__await__") else value)
            return found

    if hasattr(manager, "__aenter__"):
        return asyncio.run(gathered())
    with manager as response:
        values = [read(response) for read in readers]
        return [list(value) if hasattr(value, "__next__") else value for value in values]


def test_streamed_responses(made: Any) -> None:
    seen = Recorder(httpx.Response(500), httpx.Response(200, content=b'{"a":1}\nb', headers={"X-Request-Id": "req-1"}))
    client = made(seen)
    found = streamed(
        client.with_streaming_response.post("/x", body=[1]),
        lambda response: (response.status_code, response.request_id, response.retries_taken, response.elapsed),
        lambda response: response.http_response.request.headers["authorization"],
        lambda response: response.iter_lines(),
    )
    assert found == [(200, "req-1", 1, 0.5), "***", ['{"a":1}', "b"]]
    assert [request.method for request in seen.requests] == ["POST", "POST"]


def test_a_streamed_response_that_is_read_whole(made: Any) -> None:
    seen = Recorder(httpx.Response(200, content=b'{"a":1}'))
    readers = [lambda response: response.read(), lambda response: response.text(), lambda response: response.json(), lambda response: response.parse()]
    found = streamed(made(seen).with_streaming_response.get("/x"), *readers)
    assert found == [b'{"a":1}', '{"a":1}', {"a": 1}, {"a": 1}]


def test_a_streamed_response_that_is_no_success(made: Any) -> None:
    seen = Recorder(httpx.Response(404, json={"error": "resource_not_found", "detail": "no"}))
    with pytest.raises(NotFoundError) as refused:
        streamed(made(seen).with_streaming_response.get("/x"))
    assert refused.value.status_code == refused.value.status == 404


def test_a_streamed_page(made: Any) -> None:
    seen = Recorder(page("c1", "a"), page(None, "b"))
    resource = made(seen).agent.runs
    found = streamed(resource.with_streaming_response.list(limit=1), lambda response: response.read())
    assert found[0].startswith(b'{"things"') and dict(seen.requests[0].url.params) == {"limit": "1"}


def test_headers_of_the_environment(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Recorder({})
    monkeypatch.setenv("MILLWRIGHT_CUSTOM_HEADERS", "X-A: from: here\n\nX-B:b\r\n")
    client = made(seen, default_headers={"x-b": "said"})
    monkeypatch.setenv("MILLWRIGHT_CUSTOM_HEADERS", "X-A: later")
    settled(client.get("/x"))
    settled(client.with_options(max_retries=0, default_headers={}).get("/x", extra_headers={"X-A": None}))
    assert (seen.sent("x-a"), seen.sent("x-b")) == (["from: here", None], ["said", "b"])


@pytest.mark.parametrize("text", ["secret", ": secret", "X-A: a\nsecret", "X A: secret", "X-A: …"])
def test_what_is_no_header_of_the_environment(made: Any, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("MILLWRIGHT_CUSTOM_HEADERS", text)
    with pytest.raises(MillwrightError, match="MILLWRIGHT_CUSTOM_HEADERS") as told:
        made(Recorder({}))
    assert "secret" not in str(told.value)


def test_a_copy_by_the_name_of_others(made: Any) -> None:
    client = made(Recorder({}), timeout=httpx.Timeout(5, connect=1))
    copy = client.copy(max_retries=7)
    assert (copy._limits.max_retries, copy._limits.phases) == (7, httpx.Timeout(5, connect=1))


def test_limits_of_the_phases_of_an_attempt(made: Any) -> None:
    seen = Recorder({})
    client = made(seen, timeout=httpx.Timeout(30, connect=2, pool=None), total_timeout=20)
    settled(client.get("/x"))
    settled(client.get("/x", timeout=3))
    settled(client.get("/x", timeout=httpx.Timeout(None), total_timeout=None))
    told = [request.extensions["timeout"] for request in seen.requests]
    assert [dict(limits) for limits in told] == [
        {"connect": 2, "read": 20, "write": 20, "pool": 20},
        {"connect": 3, "read": 3, "write": 3, "pool": 3},
        {"connect": None, "read": None, "write": None, "pool": None},
    ]


def page(cursor: Optional[str], *ids: str) -> Dict[str, Any]:
    events = [{"event_uuid": id, "event_type": "x", "occurred_at": "2026-11-22T10:00:00Z", "run_id": "r"} for id in ids]
    more = {"has_next_page": cursor is not None, **({} if cursor is None else {"next_cursor": cursor})}
    return {"things": events, "page_info": more}


class Things(ModelBase):
    things: List[TimelineEvent]
    page_info: PageInfo


def listed(client: Any, **how: Any) -> Any:
    return client._page("/things", cast_to=Things, items=lambda page: page.things, **how)


def test_every_item_of_every_page(made: Any) -> None:
    seen = Recorder(page("c1", "a", "b"), page("c2"), page(None, "c"))
    items = collected(listed(made(seen), query={"limit": 2, "cursor": "c0"}, options={"extra_query": {"q": "x"}}))
    assert [item.event_uuid for item in items] == ["a", "b", "c"]
    assert [dict(request.url.params) for request in seen.requests] == [
        {"limit": "2", "cursor": cursor, "q": "x"} for cursor in ("c0", "c1", "c2")
    ]


def test_a_list_that_goes_round_in_a_circle(made: Any) -> None:
    seen = Recorder(page("c1", "a"), page("c2", "b"), page("c1", "c"))
    with pytest.raises(APIResponseValidationError, match="goes round in a circle") as odd:
        collected(listed(made(seen)))
    assert odd.value.pointer == "/page_info/next_cursor" and len(seen.requests) == 3


def test_a_page(made: Any) -> None:
    seen = Recorder(page("c1", "a"), page(None))
    first = settled(listed(made(seen)))
    assert ([item.event_uuid for item in first.items], first.has_next_page(), first.body["page_info"]) == (
        ["a"],
        True,
        {"has_next_page": True, "next_cursor": "c1"},
    )
    for _ in range(2):  # the same next page can be asked for twice
        last = settled(first.get_next_page())
        assert not last.has_next_page() and last.items == []
    with pytest.raises(MillwrightError, match="the last one"):
        settled(last.get_next_page())
    assert [len(each.items) for each in collected(first.iter_pages())] == [1, 0]
    with pytest.raises(AttributeError, match="no runs"):
        first.runs


@pytest.mark.parametrize(
    ("body", "pointer", "expected"),
    [
        ({"page_info": {"has_next_page": False}}, "/things", "list"),
        ({"things": [7], "page_info": {"has_next_page": False}}, "/things/0", "object"),
        ({"things": [], "page_info": {"has_next_page": "no"}}, "/page_info/has_next_page", "boolean"),
        ([], "", "object"),
    ],
)
def test_what_is_no_page(made: Any, body: Any, pointer: str, expected: str) -> None:
    with pytest.raises(APIResponseValidationError) as odd:
        settled(listed(made(Recorder(body))))
    assert (odd.value.pointer, odd.value.expected) == (pointer, expected)


def test_what_goes_with_every_look_of_a_wait(made: Any) -> None:
    seen = Recorder({**RUN, "state": "QUEUED"}, httpx.Response(503), {**RUN, "state": "SUCCEEDED"})
    client = made(seen)
    run = settled(client.agent.runs.wait("r", extra_headers={"X-A": "1"}, extra_query={"q": "2"}, max_retries=1))
    assert run.state == "SUCCEEDED" and seen.sent("x-a") == ["1"] * 3
    assert [request.url.query for request in seen.requests] == [b"q=2"] * 3
    with pytest.raises(InternalServerError):
        settled(made(Recorder(httpx.Response(503))).agent.runs.wait("r", max_retries=0, reconnect_timeout=0.1))
    seen = Recorder(httpx.ReadTimeout("late"))
    with pytest.raises(APIConnectionError, match=r"within 3 s \(total_timeout\)"):
        settled(made(seen, timeout=None).agent.runs.wait("r", timeout=20, total_timeout=3, max_retries=0, reconnect_timeout=0.1))
    with pytest.raises(TypeError, match=r"^agent\.runs\.wait\(\) has no parameter 'max_retry'; did you mean 'max_retries'\?$"):
        settled(client.agent.runs.wait("r", max_retry=1))
    with pytest.raises(MillwrightError, match="reconnect_timeout must be"):
        settled(client.agent.runs.wait("r", reconnect_timeout=0))


@pytest.mark.parametrize("until", [[], "", "succeeded", ["SUCCEEDED", "DONE"], 7])
def test_what_no_run_becomes(made: Any, until: Any) -> None:
    seen = Recorder(RUN)
    with pytest.raises(MillwrightError, match="^until must be one or more of QUEUED, .*, CANCELLED$"):
        settled(made(seen).agent.runs.wait("r", until=until))
    assert seen.requests == []


def test_a_wait_for_what_will_not_be(made: Any) -> None:
    with pytest.raises(WaitEndedError, match="ended as FAILED, and will not become BLOCKED") as ended:
        settled(made(Recorder({**RUN, "state": "FAILED"})).agent.runs.wait("r", until="BLOCKED"))
    assert ended.value.run.state == "FAILED"
    again = pickle.loads(pickle.dumps(ended.value))
    assert (str(again), again.run) == (str(ended.value), ended.value.run)


@pytest.mark.parametrize("member", ["timeout", "poll_interval"])
@pytest.mark.parametrize("value", [-1, -0.001, float("nan"), float("-inf"), True, "1"])
def test_what_is_no_time_to_wait(made: Any, member: str, value: Any) -> None:
    seen = Recorder(RUN)
    with pytest.raises(MillwrightError, match=f"^{member} must be"):
        settled(made(seen).agent.runs.wait("r", **{member: value}))
    assert seen.requests == []


def test_the_ends_of_what_can_be_waited(made: Any) -> None:
    seen = Recorder(RUN)
    client = made(seen)
    with pytest.raises(WaitTimeoutError):
        settled(client.agent.runs.wait("r", timeout=0))
    assert len(seen.requests) == 1
    with pytest.raises(MillwrightError, match="^poll_interval must be"):
        settled(client.agent.runs.wait("r", poll_interval=float("inf")))
    with pytest.raises(WaitTimeoutError):
        settled(client.agent.runs.wait("r", timeout=1, poll_interval=0.25))
    assert len(seen.requests) == 1 + 5


def test_limits_of_single_operations(made: Any) -> None:
    seen = Recorder(httpx.Response(200, content=b"x"))
    client = made(seen)
    settled(client.agent.artifacts.download("a"))
    settled(client.factories.deliveries.payload("f", "w", "e"))
    for wait, limits in [(True, {}), (False, {}), (True, {"timeout": 7})]:
        with pytest.raises(APIResponseValidationError):
            settled(client.factories.sync("f", wait=wait, **limits))
    assert [request.extensions["timeout"].get("read") for request in seen.requests] == [600, 600, 150, 60, 7]
    with pytest.raises(APIResponseValidationError):
        settled(client.with_options(timeout=9).factories.sync("f", wait=True))
    assert seen.requests[-1].extensions["timeout"].get("read") == 9


@pytest.mark.parametrize("text", ["NaN", "[1, Infinity]", '{"a": -Infinity}', "[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_what_is_no_json_to_anybody_else(made: Any, text: str) -> None:
    answer = httpx.Response(200, text=text, headers={"Content-Type": "application/json"})
    words = "nested too deeply to be read" if len(text) > 100 else "not whole JSON"
    run = {**RUN, "future": {"a": "@"}}
    within = httpx.Response(200, text=json.dumps(run).replace('"@"', text), headers={"Content-Type": "application/json"})
    calls = [
        (answer, lambda client: client.get("/x")),
        (answer, lambda client: client.agent.runs.retrieve("r")),
        (answer, lambda client: client.agent.runs.list()),
        (within, lambda client: client.agent.runs.retrieve("r")),
    ]
    for came, call in calls:
        with pytest.raises(APIResponseValidationError) as odd:
            settled(call(made(Recorder(came))))
        assert words in str(odd.value)
    assert settled(made(Recorder(httpx.Response(200, text=text, headers={"Content-Type": "text/plain"}))).get("/x")) == text
    raw = settled(made(Recorder(answer)).with_raw_response.get("/x"))
    with pytest.raises(ValueError):
        raw.json()
    with pytest.raises(NotFoundError) as refused:
        settled(made(Recorder(httpx.Response(404, text=text))).get("/x"))
    assert refused.value.problem is None


def test_words_of_json_inside_of_texts(made: Any) -> None:
    run = {**RUN, "title": "NaN, Infinity", "future": {"b": 3.5}}
    assert settled(made(Recorder(run)).agent.runs.retrieve("r")).title == "NaN, Infinity"


def test_how_deep_an_answer_may_be(made: Any) -> None:
    deep = json.dumps({**RUN, "future": "@"}).replace('"@"', "[" * 500 + "]" * 500)
    answer = httpx.Response(200, text=deep, headers={"Content-Type": "application/json"})
    with pytest.raises(APIResponseValidationError, match="the answer is nested too deeply to be read"):
        settled(made(Recorder(answer)).agent.runs.retrieve("r"))
    assert settled(made(Recorder(answer)).get("/x"))["title"] == RUN["title"]


def test_a_byte_order_mark_says_nothing(made: Any) -> None:
    marked = httpx.Response(200, content=b"\xef\xbb\xbf" + json.dumps(RUN).encode(), headers={"Content-Type": "application/json"})
    assert settled(made(Recorder(marked)).get("/x")) == RUN
    assert settled(made(Recorder(marked)).agent.runs.retrieve("r")).state == RUN["state"]
    assert settled(made(Recorder(marked)).with_raw_response.get("/x")).json() == RUN


@pytest.mark.parametrize("filling", ["x", "ü", "🐦", "x🐦"])
def test_an_error_keeps_so_many_characters(made: Any, filling: str) -> None:
    text = (filling * 200_000)[:200_000]
    with pytest.raises(NotFoundError) as refused:
        settled(made(Recorder(httpx.Response(404, text=text))).get("/x"))
    assert refused.value.body == text[: 64 * 1024]


def test_an_answer_that_is_not_modified(made: Any) -> None:
    with pytest.raises(APIStatusError) as unchanged:
        settled(made(Recorder(httpx.Response(304))).get("/x"))
    assert str(unchanged.value) == 'GET /x: 304: the answer is "not modified", without a body'


@pytest.mark.parametrize("value", ["", ".", "..", 7, None, "\ud800"])
def test_what_is_no_segment_of_a_path(made: Any, value: Any) -> None:
    seen = Recorder({})
    with pytest.raises(MillwrightError, match="run_id"):
        settled(made(seen)._call("GET", "/agent/runs/{run_id}", {"run_id": value}, cast_to=object))
    assert seen.requests == []


@pytest.mark.parametrize("path", ["x", "", "/a?b", "/a#b", "/a b", "/..", "/a/../b", "/a/%2E%2e/b", "/a/.", "/a\\b", "/a\nb", None])
def test_what_is_no_path(made: Any, path: Any) -> None:
    seen = Recorder({})
    with pytest.raises(MillwrightError, match='the path must begin with "/"'):
        settled(made(seen).get(path))
    assert seen.requests == []


@pytest.mark.parametrize("body", [float("nan"), {"a": object()}, {1: {2}, "b": b"x"}])
def test_what_json_cannot_hold(made: Any, body: Any) -> None:
    with pytest.raises(MillwrightError, match="cannot be written as JSON"):
        settled(made(Recorder({})).post("/x", body=body))


def test_half_a_letter_in_a_body(made: Any) -> None:
    seen = Recorder({})
    settled(made(seen).post("/x", body={"a": "\ud800ü"}))
    assert seen.requests[0].content == b'{"a":"\\ud800\\u00fc"}'


def test_an_unknown_option_is_an_error_of_the_program(made: Any) -> None:
    with pytest.raises(TypeError, match=r"^get\(\) has no parameter 'max_retry'; did you mean 'max_retries'\?$"):
        settled(made(Recorder({})).get("/x", max_retry=1))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda client: client.agent.run(promt="x"), "agent.run() has no parameter 'promt'; did you mean 'prompt'?"),
        (lambda client: client.agent.runs.list(states="FAILED"), "agent.runs.list() has no parameter 'states'; did you mean 'state'?"),
        (lambda client: client.agent.runs.events("r", aftr=1), "agent.runs.events() has no parameter 'aftr'; did you mean 'after'?"),
        (lambda client: client.agent.runs.with_raw_response.retrieve("r", timeuot=1), "agent.runs.retrieve() has no parameter 'timeuot'; did you mean 'timeout'?"),
        (lambda client: client.with_raw_response.get("/x", timout=1), "get() has no parameter 'timout'; did you mean 'timeout'?"),
        (lambda client: client.factories.webhooks.list("f", zzz=1), "factories.webhooks.list() has no parameter 'zzz'"),
        (lambda client: client.with_options(base="x"), "with_options() has no parameter 'base'; did you mean 'base_url'?"),
    ],
)
def test_an_unknown_parameter_is_named_with_its_method(made: Any, call: Any, words: str) -> None:
    seen = Recorder({})
    with pytest.raises(TypeError) as refused:
        settled(call(made(seen)))
    assert str(refused.value) == words
    assert seen.requests == []


@pytest.mark.parametrize("kind_of_client", [Millwright, AsyncMillwright])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"api_key": 7}, "api_key must be text"),
        ({"base_url": b"http://x"}, "base_url must be text"),
        ({"default_headers": ["a"]}, "default_headers must be a mapping"),
        ({"timeout": "1"}, "timeout must be a number"),
        ({"total_timeout": float("nan")}, "total_timeout must be a number"),
        ({"max_retries": 1.5}, "max_retries must be a whole number"),
        ({"http_client": object()}, "http_client must be an httpx."),
    ],
)
def test_options_of_the_wrong_kind(kind_of_client: Any, options: Any, words: str) -> None:
    with pytest.raises(MillwrightError, match=f"^{words}"):
        kind_of_client(**{"api_key": "mw_x", **options})


def test_a_client_of_httpx_for_the_other_kind() -> None:
    with pytest.raises(MillwrightError, match="^http_client must be an httpx.Client$"):
        Millwright(api_key="mw_x", http_client=httpx.AsyncClient())  # type: ignore[arg-type]
    with pytest.raises(MillwrightError, match="^http_client must be an httpx.AsyncClient$"):
        AsyncMillwright(api_key="mw_x", http_client=httpx.Client())  # type: ignore[arg-type]


@pytest.mark.parametrize("kind_of_sender", [WebhookSender, AsyncWebhookSender])
def test_senders_of_the_wrong_kind(kind_of_sender: Any) -> None:
    for options, words in [({"url": 7}, "url must be text"), ({"secret": 7}, "a bearer token must be"), ({"http_client": 7}, "http_client must be")]:
        with pytest.raises(MillwrightError, match=f"^{words}"):
            kind_of_sender(**{"url": "http://127.0.0.1:1/w", "secret": "s" * 16, **options})


def test_plain_http_is_warned_of_once_in_sight_of_everybody() -> None:
    with pytest.warns(UserWarning, match="^plain.example is reached by http: the API key crosses the network unencrypted$") as warned:
        Millwright(api_key="mw_x", base_url="http://plain.example").close()
        Millwright(api_key="mw_x", base_url="http://plain.example").close()
    assert [warning.filename for warning in warned] == [__file__]


def test_the_pool_of_a_custom_client_can_be_exhausted(made: Any) -> None:
    with pytest.raises(APIConnectionError, match=r"no whole answer within 60 s \(timeout\)"):
        settled(made(Recorder(httpx.PoolTimeout("full"))).get("/x"))


def test_a_pause_that_would_end_too_late_is_not_begun(made: Any) -> None:
    seen = Recorder(httpx.Response(429, headers={"Retry-After": "10"}))
    with pytest.raises(RateLimitError) as busy:
        settled(made(seen).get("/x", total_timeout=10))
    assert busy.value.retry_after == 10 and len(seen.requests) == 1


def test_a_wait_ends_in_time_although_the_service_does_not_answer(made: Any) -> None:
    seen = Recorder(httpx.ReadTimeout("late"))
    client = made(seen, max_retries=0, timeout=None)
    with pytest.raises(WaitTimeoutError, match="the run was not seen in time") as over:
        settled(client.agent.runs.wait("r", timeout=2))
    assert over.value.run is None
    assert seen.requests[0].extensions["timeout"]["read"] == 2


@pytest.mark.parametrize(
    ("member", "value"),
    [("timeout", 0), ("timeout", "1"), ("timeout", True), ("total_timeout", -1), ("max_retries", -1), ("max_retries", 1.0)],
)
def test_what_is_no_limit(made: Any, member: str, value: Any) -> None:
    with pytest.raises(MillwrightError, match=f"^{member} must be"):
        settled(made(Recorder({})).get("/x", **{member: value}))
