"""Keys, secrets and payloads show nowhere: in no log, repr, message or pickle."""

from __future__ import annotations

import copy
import gzip
import json
import logging
import pickle
import subprocess
import sys
import traceback
from typing import Any, Iterator, List
from urllib.parse import quote

import httpx
import pytest
from fake_time import FakeClock
from kinds import kind  # noqa: F401
from millwright import APIConnectionError, APIError, APIStatusError, APITimeoutError, Millwright, MillwrightError, WebhookSender, __version__
from wire_cases import Fault
from wire_world import World

KEY = "mw_" + "s" * 43
INGRESS = "http://127.0.0.1:1/webhooks/w/wh_01hzy3k5m7p9r1t3v5x7z9b1d3"
TOKEN = "t0ken-t0ken-t0ken"
PAYLOAD = "the payload"


def client_of(*answers: Any, **options: Any) -> Millwright:
    left = list(answers)

    def handle(request: httpx.Request) -> httpx.Response:
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]

    http = httpx.Client(transport=httpx.MockTransport(handle))
    return Millwright(api_key=KEY, http_client=http, _clock=FakeClock(), **options)


def failures() -> List[APIError]:
    answers = [
        httpx.Response(404, json={"error": "resource_not_found", "detail": "no such run"}),
        httpx.Response(502, text="<html>", headers={"Content-Type": "text/html"}),
        httpx.Response(200, json={"run_id": 7}),
        httpx.ReadError("gone"),
        httpx.ReadTimeout("late"),
    ]
    errors: List[APIError] = []
    for answer in answers:
        with pytest.raises(APIError) as caught:
            client_of(answer, max_retries=0).agent.runs.retrieve("r")
        errors.append(caught.value)
    return errors


@pytest.mark.parametrize("error", failures(), ids=lambda error: type(error).__name__)
def test_errors_hold_no_key(error: APIError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), str(error))
    assert {name for name in again.__dict__} == {name for name in error.__dict__}
    response = getattr(error, "response", None)
    shown = [str(error), repr(error), pickle.dumps(error).decode("latin-1"), repr(error.__cause__)]
    shown += [] if response is None else [str(response.request.headers), str(response.request.headers.raw)]
    cause: Any = error.__cause__
    shown += [str(cause.request.headers.raw)] if isinstance(cause, httpx.RequestError) else []
    assert [text for text in shown if KEY in text] == []
    if isinstance(error, APIStatusError):
        assert (again.status, again.problem, again.body) == (error.status, error.problem, error.body)


def test_a_client_shows_no_key_and_cannot_be_pickled() -> None:
    client = Millwright(api_key=KEY, base_url="https://mill.example/x")
    sender = WebhookSender("https://mill.example/w", TOKEN)
    assert repr(client) == "<Millwright of https://mill.example/x/api/v1>"
    assert KEY not in f"{client!r}{client}{client.agent!r}" and TOKEN not in f"{sender!r}"
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        for held in (client, sender):
            with pytest.raises(TypeError, match="cannot be pickled"):
                attempt(held)


def test_logs_of_calls(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    answers = [
        httpx.Response(503, headers={"Retry-After": "1", "Set-Cookie": "a=hidden-cookie", "X-Request-Id": "req-1"}),
        httpx.ReadError("gone"),
        httpx.Response(200, json={"secret_value": "hidden-answer"}),
    ]
    headers = {"X-Api-Token": "hidden-header", "Cookie": "hidden-cookie", "X-Plain": "plain"}
    query = {"q": "hidden-query"}
    client_of(*answers).post("/x", body={"a": PAYLOAD}, query=query, extra_headers=headers, idempotency_key="shown-key")
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name == "millwright")
    for hidden in (KEY, PAYLOAD, "hidden-"):
        assert hidden not in ours
    for shown in ("POST /x: 503, request req-1 (0 ms, attempt 1)", "again in 1000 ms (retry 1 of 2)", "shown-key", "plain"):
        assert shown in ours
    assert "POST /x: 200 (0 ms, attempt 3)" in ours


def test_logs_of_httpx_do_not_show_the_token_of_an_address(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    seen: List[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.path)
        return httpx.Response(202, json={"delivery_id": "d"})

    for behind in ("", "/", "/{token}", "/%7Btoken%7D", "/%7btoken%7D/", f"/{TOKEN}", f"/{TOKEN}/"):
        with httpx.Client(transport=httpx.MockTransport(handle)) as http:
            WebhookSender(f"{INGRESS}{behind}", TOKEN, "url_token", http_client=http).send({"a": PAYLOAD})
    assert seen == [f"/webhooks/w/wh_01hzy3k5m7p9r1t3v5x7z9b1d3/{TOKEN}"] * 7
    assert caplog.text.count(f"POST {INGRESS}/{{token}} ") == 7
    assert TOKEN not in caplog.text and PAYLOAD not in caplog.text


def everything_in(value: Any, depth: int = 6) -> Iterator[str]:
    """Every text that can be reached from a value."""
    if isinstance(value, (str, bytes, bytearray)):
        yield value if isinstance(value, str) else bytes(value).decode("latin-1")
    elif isinstance(value, httpx.Headers):
        yield str(value.raw)
    elif isinstance(value, httpx.URL):
        yield f"{value} {value.raw_path.decode()} {value!r}"
    elif depth > 0 and isinstance(value, dict):
        for member in (*value.keys(), *value.values()):
            yield from everything_in(member, depth - 1)
    elif depth > 0 and isinstance(value, (list, tuple)):
        for member in value:
            yield from everything_in(member, depth - 1)
    elif depth > 0 and isinstance(value, BaseException):
        yield f"{value} {value!r} {''.join(traceback.format_exception(type(value), value, value.__traceback__))}"
        for member in (value.args, vars(value), value.__cause__, value.__context__):
            yield from everything_in(member, depth - 1)
    elif depth > 0 and hasattr(value, "__dict__"):
        yield from everything_in(vars(value), depth - 1)


class Repeating(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Answers, or fails, with all that it was sent."""

    def __init__(self, form: str) -> None:
        self._form = form

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = f"http://127.0.0.1:1{request.url.raw_path.decode()}"
        seen = f"{url} {request.headers.get('authorization')}"
        if self._form == "lost":
            raise httpx.RemoteProtocolError(f"illegal header line: {seen}", request=request) from ValueError(seen)
        status = {"refused": 400, "redirected": 307, "changed": 202, "zipped": 400}[self._form]
        body = json.dumps({"error": "seen", "detail": seen, "a": quote(seen)}).encode()
        headers = {"Location": f"{url}?a=hidden-query", "X-Echo": seen, "X-Request-Id": seen, "Content-Type": "application/json"}
        if self._form == "zipped":
            body, headers["Content-Encoding"] = gzip.compress(body), "gzip"
        return httpx.Response(status, headers=headers, content=body, extensions={"reason_phrase": seen.encode()})

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self.handle_request(request)


@pytest.mark.parametrize("form", ["lost", "refused", "redirected", "changed", "zipped"])
@pytest.mark.parametrize(
    ("authentication", "secret"), [("token", TOKEN), ("token", 't0ken-"t0ken"-t0ken\\%/'), ("url_token", TOKEN)]
)
def test_what_an_answer_repeats_is_hidden(
    kind: Any, form: str, authentication: Any, secret: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    http = (httpx.Client if type(kind).__name__ == "Sync" else httpx.AsyncClient)(transport=Repeating(form))
    sender = kind.Sender(INGRESS, secret, authentication, http_client=http, max_retries=0)
    with pytest.raises(APIError) as caught:
        kind.settled(sender.send(PAYLOAD, delivery_id="shown-id"))
    error = caught.value
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name == "millwright")
    reached = [*everything_in(error), pickle.dumps(error).decode("latin-1"), ours]
    assert any("shown-id" in text for text in reached)
    for spelling in (secret, json.dumps(secret)[1:-1], quote(secret, safe="")):
        assert [text for text in reached if spelling in text] == []
    assert "hidden-query" not in ours
    if isinstance(error, APIStatusError):
        assert "***" in error.headers["x-echo"] and "***" in error.body and "hidden-query" in error.headers["location"]
        assert (error.problem or {})["error"] == "seen" and error.request_id == error.headers["x-request-id"]
        assert str(error.response.request.url) == INGRESS + ("/{token}" if authentication == "url_token" else "")
        assert error.response.json() == error.problem
    if authentication == "url_token" and form == "redirected":
        assert f"'location': '{INGRESS}/{{token}}'" in caplog.text


def test_where_an_answer_leads_to_is_logged_without_what_opens_something(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for place in ("https://u:hidden-user@x.example/a?q=hidden#hidden", f"{INGRESS}/hidden-token?x=hidden", "/a#hidden"):
        with pytest.raises(APIStatusError):
            client_of(httpx.Response(307, headers={"Location": place})).get("/x")
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name == "millwright")
    assert "hidden" not in ours
    for shown in ("'https://x.example/a'", f"'{INGRESS}/{{token}}'", "'location': '/a'"):
        assert shown in ours


@pytest.mark.parametrize(
    ("authentication", "behind"),
    [
        ("url_token", "/hidden-other-token"),
        ("url_token", f"/{TOKEN}x"),
        ("url_token", f"/{TOKEN}/{TOKEN}"),
        ("url_token", "/{token}/x"),
        ("url_token", "/x{token}"),
        ("token", "/{token}"),
        ("token", "/%7Btoken%7D"),
        ("token", f"/{TOKEN}"),
        ("token", "/x/{token}"),
    ],
)
def test_what_is_no_address_of_a_sender(authentication: Any, behind: str) -> None:
    with pytest.raises(MillwrightError) as refused:
        WebhookSender(f"{INGRESS}{behind}", TOKEN, authentication)
    assert TOKEN not in str(refused.value) and "hidden" not in str(refused.value)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/w", "http://127.0.0.1:1/webhooks/w/wh_1", "http://127.0.0.1:1"])
def test_a_token_has_its_place_behind_a_webhook_only(url: str) -> None:
    with pytest.raises(MillwrightError, match="url must be an ingress address"):
        WebhookSender(url, TOKEN, "url_token")
    WebhookSender(url, TOKEN)


def test_limits_of_one_delivery(kind: Any) -> None:
    world = World([Fault(fault="refuse")] * 3 + [Fault(fault="hang")] * 2)
    sender = kind.sender(world, url=INGRESS, secret=TOKEN, max_retries=0)
    with pytest.raises(APIConnectionError):
        kind.settled(sender.send({}, max_retries=1))
    with pytest.raises(APIConnectionError):
        kind.settled(sender.send({}))
    assert [sent.at for sent in world.sent] == [0, 0.5, 0.5]
    assert {sent.headers["x-millwright-client"] for sent in world.sent} == {f"python/{__version__}"}
    for limits, words in [({"timeout": 2}, r"within 2 s \(timeout\)"), ({"total_timeout": 3}, r"within 3 s \(total_timeout\)")]:
        world.left = [Fault(fault="hang")]
        with pytest.raises(APITimeoutError, match=words):
            kind.settled(sender.send({}, **limits))
    with pytest.raises(MillwrightError, match="^timeout must be"):
        kind.settled(sender.send({}, timeout=-1))
    with pytest.raises(TypeError, match="extra_headers"):
        kind.settled(sender.send({}, extra_headers={}))


@pytest.mark.parametrize(
    "options",
    [
        {"api_key": "mw_hidden key"},
        {"api_key": "mw_hidden\n\n"},
        {"api_key": "mw_hidden\r"},
        {"api_key": " mw_hidden"},
        {"api_key": KEY, "base_url": "http:/hidden"},
        {"api_key": KEY, "base_url": "http:hidden"},
        {"api_key": KEY, "base_url": "http://host\\hidden"},
        {"api_key": KEY, "base_url": "http://host/hidden\n"},
        {"api_key": KEY, "base_url": "http://host/\thidden"},
        {"api_key": KEY, "base_url": " http://hidden"},
        {"api_key": KEY, "base_url": "http://hidden:0"},
        {"api_key": KEY, "base_url": "http://hidden:65536"},
        {"api_key": KEY, "base_url": "http://hidden:99999/x"},
        {"api_key": KEY, "base_url": "http://hidden:-1"},
        {"api_key": KEY, "base_url": "https://hidden:hidden@host"},
        {"api_key": KEY, "base_url": "hidden://host"},
        {"api_key": KEY, "base_url": "https://host/?hidden"},
        {"api_key": KEY, "base_url": "https://ho st/hidden"},
        {"api_key": KEY, "default_headers": {"X-A": "hidden\r\nX-B: c"}},
        {"api_key": KEY, "timeout": -1},
        {"api_key": KEY, "max_retries": 1.5},
    ],
)
def test_what_is_refused_is_not_repeated(options: Any) -> None:
    with pytest.raises(MillwrightError) as refused:
        Millwright(**options)
    assert "hidden" not in f"{refused.value}{refused.value.__cause__}"


@pytest.mark.parametrize(("level", "lines"), [("", 0), ("off", 0), ("OFF", 0), ("error", 0), ("info", 1), (" Info", 1), ("DEBUG", 3)])
def test_the_variable_of_the_log(level: str, lines: int) -> None:
    program = (
        "import httpx, millwright\n"
        "http = httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(204)))\n"
        f"millwright.Millwright(api_key={KEY!r}, http_client=http).delete('/x')\n"
    )
    path = [place for place in sys.path if place]
    environment = {"MILLWRIGHT_LOG": level, "PYTHONPATH": ":".join(path)}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout == "" and KEY not in ran.stderr
    assert len(ran.stderr.splitlines()) == lines, ran.stderr


def test_a_level_that_is_none_is_warned_of_once_and_stops_nobody() -> None:
    program = (
        "import warnings; warnings.simplefilter('error')\n"
        "import httpx, millwright\n"
        "http = httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(204)))\n"
        f"for _ in range(2): millwright.Millwright(api_key={KEY!r}, http_client=http, base_url='https://far.example').delete('/x')\n"
    )
    path = [place for place in sys.path if place]
    environment = {"MILLWRIGHT_LOG": "hidden", "PYTHONPATH": ":".join(path)}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert ran.stderr.count("MILLWRIGHT_LOG is none of off, error, warn, info, debug; it counts as off") == 1
    assert len(ran.stderr.splitlines()) == 1 and "hidden" not in ran.stderr


def test_a_sender_warns_of_plain_http_once(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        WebhookSender("http://far3.example/w", TOKEN)
        WebhookSender("http://far3.example/w", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "standard_webhooks")
    for near in ("http://127.0.0.1:1/w", "http://localhost/w", "https://far3.example/w"):
        WebhookSender(near, TOKEN)
    assert [record.getMessage() for record in caplog.records] == [
        "far3.example is reached by http: the secret of a webhook crosses the network unencrypted",
        "far3.example is reached by http: what is delivered crosses the network unencrypted",
    ]


def test_plain_http_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        Millwright(api_key=KEY, base_url="http://far.example").with_options(max_retries=0)
    for near in ("http://127.0.0.1:1", "http://localhost", "http://[::1]:1", "https://far2.example"):
        Millwright(api_key=KEY, base_url=near)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "far.example" in caplog.text and KEY not in caplog.text
