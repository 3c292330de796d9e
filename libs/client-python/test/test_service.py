"""The clients against the real service, through a proxy that cuts, delays and falsifies what they say to each other."""

from __future__ import annotations

import asyncio
import base64
import json
import time
import uuid
from email.utils import formatdate
from typing import Any, Callable, Dict, Iterator, List
from urllib.parse import unquote, urlsplit

import httpx
import millwright
import pytest
from conftest import Service, started
from fault_proxy import FaultProxy, proxy_before
from kinds import kind  # noqa: F401

NOBODYS_RUN = "00000000-0000-7000-8000-000000000000"
#: The command is a shell and the prompt its script.
SHELL = {"MILLWRIGHT_RUN_COMMAND": '["/bin/sh"]', "MILLWRIGHT_ALLOW_UNSANDBOXED": "true", "MILLWRIGHT_RUN_CONCURRENCY": "4"}
#: However late they are read, no two fit into one event, so that each fault finds an event to fail at.
LONG_LINES = r"i=0; while [ $i -lt 20 ]; do printf '%06000d\n' $i; i=$((i+1)); sleep 0.04; done; exit 1"


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    yield from started(tmp_path_factory.mktemp("shell"), SHELL)


@pytest.fixture(scope="module")
def one_proxy(shell: Service) -> Iterator[FaultProxy]:
    yield from proxy_before(shell.url)


@pytest.fixture
def proxy(one_proxy: FaultProxy) -> Iterator[FaultProxy]:
    one_proxy.forget()
    yield one_proxy
    assert one_proxy.faults_left() == 0


class Hasty:
    """The time as it is, but nobody waits for a retry."""

    now = staticmethod(time.monotonic)
    time = staticmethod(time.time)

    def __init__(self, is_async: bool) -> None:
        self.pauses: List[float] = []
        self.sleep: Callable[[float], Any] = self._sleep_async if is_async else self.pauses.append

    def random(self) -> float:
        return 0

    async def _sleep_async(self, seconds: float) -> None:
        self.pauses.append(seconds)


class Bench:
    """A client in front of the proxy, with everything that a test of it needs."""

    def __init__(self, kind: Any, proxy: FaultProxy, shell: Service) -> None:
        self.kind = kind
        self.clock = Hasty(kind.Client is millwright.AsyncMillwright)
        self.proxy = proxy
        self.key = shell.api_key
        self._made: List[Any] = []
        self.client = self.made()

    def made(self, **options: Any) -> Any:
        client = self.kind.Client(**{"base_url": self.proxy.url, "api_key": self.key, "_clock": self.clock, **options})
        self._made.append(client)
        return client

    def sender(self, **options: Any) -> Any:
        sender = self.kind.Sender(_clock=self.clock, **options)
        self._made.append(sender)
        return sender

    def call(self, value: Any) -> Any:
        return self.kind.settled(value)

    def refused(self, call: Callable[[], Any]) -> Any:
        with pytest.raises(millwright.MillwrightError) as caught:
            self.call(call())
        return caught.value

    def all_of(self, iterable: Any) -> List[Any]:
        items: List[Any] = []
        self.kind.each(iterable, items.append)
        return items

    def run(self, prompt: str = "true", **more: Any) -> str:
        return str(self.call(self.client.agent.run(prompt=prompt, **more)).run_id)

    def close(self) -> None:
        for made in self._made:
            self.call(made.close())


@pytest.fixture
def bench(kind: Any, proxy: FaultProxy, shell: Service) -> Iterator[Bench]:  # noqa: F811
    made = Bench(kind, proxy, shell)
    yield made
    made.close()


def busy(**headers: str) -> Dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps({"error": "resource_unavailable", "detail": "busy"})
    return {"kind": "answer", "status": 429, "headers": {"content-type": "application/problem+json", **named}, "body": body}


def page(status: int) -> Dict[str, Any]:
    return {"kind": "answer", "status": status, "headers": {"content-type": "text/html"}, "body": "<html><h1>Bad gateway</h1></html>"}


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"retry_after": "3"}, 3, 3),
        ({"retry_after": "0.25"}, 0.25, 0.25),
        ({"retry_after": "IN FIVE SECONDS"}, 0, 5),
        ({"retry_after": "Sun, 22 Nov 2015 10:00:00 GMT"}, 0.5, 0.5),
        ({"retry_after": "-3"}, 0.5, 0.5),
        ({"retry_after": "soon"}, 0.5, 0.5),
        ({"retry_after_ms": "125", "retry_after": "9"}, 0.125, 0.125),
        ({}, 0.5, 0.5),
    ],
)
def test_a_busy_service_is_asked_again_when_it_wants(bench: Bench, headers: Dict[str, str], least: float, most: float) -> None:
    in_five_seconds = formatdate(time.time() + 5, usegmt=True)
    bench.proxy.fail(busy(**{name: value.replace("IN FIVE SECONDS", in_five_seconds) for name, value in headers.items()}))
    assert bench.call(bench.client.api_keys.current()).role == "admin"
    assert len(bench.clock.pauses) == 1
    assert least <= bench.clock.pauses[0] <= most


def test_a_busy_service_is_not_asked_more_often_than_was_said(bench: Bench) -> None:
    bench.proxy.fail(busy(retry_after="7"), busy(retry_after="8"))
    error = bench.refused(lambda: bench.made(max_retries=1).api_keys.current())
    assert isinstance(error, millwright.RateLimitError)
    assert (error.status, error.code, error.retry_after) == (429, "resource_unavailable", 8)
    assert len(bench.proxy.requests()) == 2


@pytest.mark.parametrize(
    "faults",
    [
        [page(500)],
        [page(502), page(503)],
        [{"kind": "refuse"}],
        [{"kind": "cut_headers"}],
        [{"kind": "cut_body"}],
        [{"kind": "cut_body"}, page(500)],
    ],
    ids=lambda faults: "-".join(fault["kind"] + str(fault.get("status", "")) for fault in faults),
)
def test_a_service_that_fails_is_asked_again(bench: Bench, faults: List[Dict[str, Any]]) -> None:
    bench.proxy.fail(*faults)
    assert bench.call(bench.client.api_keys.current()).role == "admin"
    assert len(bench.proxy.requests()) == len(faults) + 1


def test_a_failure_for_good_names_the_host_and_neither_path_nor_key(bench: Bench) -> None:
    bench.proxy.fail({"kind": "refuse"}, {"kind": "cut_headers"}, {"kind": "cut_body"})
    error = bench.refused(lambda: bench.client.agent.runs.list(q="private"))
    assert type(error) is millwright.APIConnectionError
    text = f"{error} {error!r} {vars(error)!r}"
    assert urlsplit(bench.proxy.url).netloc in text
    assert all(part not in text for part in ("/agent/runs", "private", bench.key))


def test_a_page_of_a_proxy_is_told_apart_from_a_refusal(bench: Bench) -> None:
    bench.proxy.fail(page(502))
    error = bench.refused(lambda: bench.made(max_retries=0).api_keys.current())
    assert isinstance(error, millwright.InternalServerError)
    assert (error.code, error.body) == (None, "<html><h1>Bad gateway</h1></html>")
    assert "no problem document of a Millwright service (text/html)" in str(error)


@pytest.mark.parametrize(
    ("fault", "words"), [({"kind": "truncate"}, "is not whole JSON"), (page(200), "is not JSON (text/html)")], ids=["truncated", "page"]
)
def test_an_answer_that_is_broken_is_an_error_with_the_answer_at_hand(bench: Bench, fault: Dict[str, Any], words: str) -> None:
    bench.proxy.fail(fault)
    error = bench.refused(lambda: bench.client.api_keys.current())
    assert isinstance(error, millwright.APIResponseValidationError)
    assert words in str(error)
    assert error.status == 200 and error.body[0] in "{<"
    assert len(bench.proxy.requests()) == 1


def test_a_redirect_leads_nowhere(bench: Bench, shell: Service) -> None:
    bench.proxy.fail({"kind": "answer", "status": 307, "headers": {"location": f"{shell.url}/api/v1/api-keys/current"}})
    error = bench.refused(lambda: bench.client.api_keys.current())
    assert type(error) is millwright.APIStatusError and error.status == 307
    assert len(bench.proxy.requests()) == 1


@pytest.mark.parametrize("fault", [{"kind": "hang"}, {"kind": "hang_body"}, {"kind": "drip", "pause_ms": 50}], ids=lambda fault: fault["kind"])
def test_the_limit_of_an_attempt_holds(bench: Bench, fault: Dict[str, Any]) -> None:
    bench.proxy.fail(fault)
    error = bench.refused(lambda: bench.made(timeout=2, max_retries=0).api_keys.current())
    assert isinstance(error, millwright.APITimeoutError)
    assert "within 2" in str(error)


def test_a_service_that_hangs_is_asked_again(bench: Bench) -> None:
    bench.proxy.fail({"kind": "hang"})
    assert bench.call(bench.made(timeout=5, max_retries=4).api_keys.current()).role == "admin"
    requests = bench.proxy.requests()
    assert requests[0]["fault"] == "hang" and len(requests) >= 2


def test_a_service_that_is_slow_is_waited_for(bench: Bench) -> None:
    bench.proxy.fail({"kind": "drip", "pause_ms": 0})
    assert bench.call(bench.client.api_keys.current()).role == "admin"


def test_a_call_can_be_cancelled(proxy: FaultProxy, shell: Service) -> None:
    proxy.fail({"kind": "hang"})

    async def left() -> None:
        async with millwright.AsyncMillwright(base_url=proxy.url, api_key=shell.api_key) as client:
            call = asyncio.ensure_future(client.api_keys.current())
            while not proxy.requests():
                await asyncio.sleep(0.01)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert (await client.api_keys.current()).role == "admin"  # it goes on to serve

    asyncio.run(left())


@pytest.mark.parametrize("fault", ["lose", "cut_headers", "cut_body"])
def test_what_is_done_is_done_once_also_when_its_answer_is_lost(bench: Bench, fault: str) -> None:
    mark = str(uuid.uuid4())
    bench.proxy.fail({"kind": fault, "method": "POST"}, {"kind": fault, "method": "POST"})
    run_id = bench.run(metadata={"mark": mark})
    assert [run.run_id for run in bench.all_of(bench.client.agent.runs.list(metadata={"mark": mark}))] == [run_id]
    keys = [request["headers"]["idempotency-key"] for request in bench.proxy.requests() if request["method"] == "POST"]
    assert len(keys) == 3 and len(set(keys)) == 1


def test_what_is_shown_once_only_is_not_done_again(bench: Bench) -> None:
    name = f"once-{uuid.uuid4()}"
    bench.proxy.fail({"kind": "lose", "method": "POST"})
    error = bench.refused(lambda: bench.client.api_keys.create(name=name, role="viewer"))
    assert isinstance(error, millwright.ConflictError)
    assert len(bench.proxy.requests()) == 2
    assert len([key for key in bench.all_of(bench.client.api_keys.list()) if key.name == name]) == 1


def test_refusals_have_the_words_of_the_service(bench: Bench) -> None:
    assert isinstance(bench.refused(lambda: bench.made(api_key="mw_nobody").api_keys.current()), millwright.AuthenticationError)
    missing = bench.refused(lambda: bench.client.agent.runs.retrieve(NOBODYS_RUN))
    assert isinstance(missing, millwright.NotFoundError)
    assert (missing.code, missing.retryable) == ("resource_not_found", False)
    assert missing.request_id and missing.trace_id
    unfit = bench.refused(lambda: bench.client.agent.run(prompt="true", title="x" * 300, mode="sideways"))
    assert {"/title", "/mode"} <= {member["pointer"] for member in unfit.errors}


def test_a_list_is_read_to_its_end_whatever_happens_on_the_way(bench: Bench) -> None:
    mark = str(uuid.uuid4())
    made = [bench.run(metadata={"mark": mark}) for _ in range(7)]
    for run_id in made:
        bench.call(bench.client.agent.runs.wait(run_id, poll_interval=0.05))
    bench.proxy.forget()
    bench.proxy.fail(page(500), {"kind": "cut_body"}, busy(retry_after="1"), {"kind": "refuse"})
    runs = bench.made(max_retries=4).agent.runs.list(metadata={"mark": mark}, limit=2, sort_by="created_at", sort_order="asc")
    assert [run.run_id for run in bench.all_of(runs)] == made
    assert len(bench.proxy.requests()) == 8


def test_runs_of_a_page_and_answers_that_are_streamed(bench: Bench) -> None:
    run_id = bench.run("echo heron >artifacts/heron.txt")
    run = bench.call(bench.client.agent.runs.wait(run_id))
    page = bench.call(bench.client.agent.runs.list(limit=1, sort_by="created_at"))
    assert page.runs is page.items and page.runs[0].run_id == run_id
    artifact = run.artifacts[0].data.artifact_uid
    agent = bench.client.agent
    assert bench.kind.inside(agent.artifacts.with_streaming_response.download(artifact), lambda response: response.read()) == b"heron\n"
    assert bench.kind.inside(agent.runs.with_streaming_response.retrieve(run_id), lambda response: response.parse()) == run
    assert bench.kind.inside(agent.runs.with_streaming_response.list(limit=1, sort_by="created_at"), lambda response: response.parse()).runs == page.runs
    answered = bench.call(agent.run(prompt="true", mode="orchestrate", config={"computer_use_enabled": True}))
    assert answered.ignored == ["/config/computer_use_enabled"]
    bench.call(agent.runs.wait(answered.run_id))  # no other test meets it


def test_the_events_of_a_run_are_all_told_once_and_in_order(bench: Bench, shell: Service) -> None:
    run_id = bench.run(LONG_LINES)
    bench.proxy.fail(
        {"kind": "cut_stream", "path": "/api/v1/agent/runs/", "after_events": 1},
        page(502),
        {"kind": "end_stream", "after_events": 2},
        {"kind": "refuse"},
        {"kind": "cut_stream", "after_events": 1},
        busy(retry_after="2"),
    )
    stream = bench.client.agent.runs.events(run_id)
    told = bench.all_of(stream)
    assert [as_json(event) for event in told] == log_of(shell, run_id)
    assert (stream.run_state, stream.last_seq) == ("FAILED", told[-1].seq)
    asked = [request["headers"].get("last-event-id") for request in bench.proxy.requests() if "/events" in request["path"]]
    assert len(asked) == 7
    assert asked[:4] == [None, str(told[0].seq), str(told[0].seq), str(told[2].seq)]


def test_events_are_told_from_a_place_on(bench: Bench, shell: Service) -> None:
    run_id = bench.run("echo one")
    bench.call(bench.client.agent.runs.wait(run_id, poll_interval=0.05))
    log = log_of(shell, run_id)
    bench.proxy.fail({"kind": "cut_stream", "after_events": 0})
    assert [as_json(event) for event in bench.all_of(bench.client.agent.runs.events(run_id, after=log[0]["seq"]))] == log[1:]


def test_events_of_nothing_are_refused_at_once(bench: Bench) -> None:
    with pytest.raises(millwright.NotFoundError):
        bench.all_of(bench.client.agent.runs.events(NOBODYS_RUN))
    assert len(bench.proxy.requests()) == 1


def test_a_run_is_waited_for_across_failures(bench: Bench) -> None:
    run_id = bench.run("echo done")
    bench.proxy.fail(page(503), {"kind": "refuse"})
    assert bench.call(bench.client.agent.runs.wait(run_id)).state == "SUCCEEDED"


@pytest.mark.parametrize(
    ("authentication", "mode"),
    [
        ("token", {"auth_mode": "token"}),
        ("url_token", {"auth_mode": "url_token"}),
        ("standard_webhooks", {"auth_mode": "signature", "signature_scheme": "standard_webhooks"}),
    ],
)
def test_deliveries_arrive_once_and_exactly(bench: Bench, authentication: str, mode: Dict[str, str]) -> None:
    factories = bench.client.factories
    factory = bench.call(factories.create(slug=f"f-{uuid.uuid4()}", source={"kind": "dashboard"})).uid
    webhook = bench.call(factories.webhooks.create(factory, name="Sender", **mode))
    url = bench.proxy.url + unquote(urlsplit(webhook.ingress_url).path)
    sender = bench.sender(url=url, secret=webhook.secret, authentication=authentication, max_retries=3)
    bench.proxy.fail({"kind": "lose", "path": "/webhooks/"}, busy(retry_after="1"), {"kind": "cut_body", "path": "/webhooks/"})
    delivery_id = bench.call(sender.send(b'{"exact" :  1.0}\n')).delivery_id
    entries = bench.all_of(factories.deliveries.list(factory, webhook.uid))
    assert [entry.outcome for entry in entries] == ["Duplicate", "Duplicate", "Accepted"]
    assert {entry.delivery_id for entry in entries} == {delivery_id}
    bench.proxy.fail({"kind": "cut_body", "path": "/api/v1/factory/"})
    assert bench.call(factories.deliveries.payload(factory, webhook.uid, entries[2].entry_id)) == b'{"exact" :  1.0}\n'

    wrong = "whsec_" + base64.b64encode(bytes([7]) * 32).decode() if authentication == "standard_webhooks" else "another-secret-0123456789"
    error = bench.refused(lambda: bench.sender(url=url, secret=wrong, authentication=authentication).send({"a": 1}))
    assert isinstance(error, millwright.AuthenticationError)
    assert wrong not in f"{error} {error!r} {vars(error)!r}"


def as_json(event: Any) -> Any:
    return json.loads(event.model_dump_json(exclude_unset=True), object_hook=with_times)


def log_of(shell: Service, run_id: str) -> List[Dict[str, Any]]:
    headers = {"authorization": f"Bearer {shell.api_key}", "accept": "application/json"}
    answer = httpx.get(f"{shell.url}/api/v1/agent/runs/{run_id}/events", params={"limit": 1000}, headers=headers)
    return list(json.loads(answer.content, object_hook=with_times)["events"])


def with_times(members: Dict[str, Any]) -> Dict[str, Any]:
    """Times to the microsecond, however many zeros they are written with."""
    return {name: to_microseconds(value) if name == "occurred_at" else value for name, value in members.items()}


def to_microseconds(text: str) -> str:
    seconds, _, fraction = text.rstrip("Z").partition(".")
    return f"{seconds}.{fraction:0<6}"
