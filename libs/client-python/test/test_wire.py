"""What the clients send and make of answers, by the cases that they have in common with the TypeScript client."""

from __future__ import annotations

import base64
import json
import re
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple
from urllib.parse import parse_qsl, unquote

import millwright
import pytest
from kinds import kind  # noqa: F401
from wire_cases import (
    CASES,
    Answer,
    Call,
    Case,
    ClientSettings,
    ConstructCase,
    ExpectedError,
    Headers,
    PageCase,
    RequestCase,
    ResponseCase,
    Result,
    RetryCase,
    SendCase,
    SignCase,
    StreamCase,
    VerifyCase,
    argument,
    at,
    instant,
    json_of,
    text_of,
)
from wire_world import Sent, World

API_KEY = "mw_" + "k" * 43
BASE_URL = "http://127.0.0.1:9"
REFUSAL = Answer.model_validate(
    {
        "status": 400,
        "headers": {"content-type": "application/problem+json", "x-should-retry": "false"},
        "json": {"error": "invalid_request", "detail": "seen"},
    }
)
SECTIONS: List[Sequence[Case]] = [CASES.requests, CASES.responses, CASES.retries, CASES.pages, CASES.streams, CASES.webhooks]


def named(cases: Sequence[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=[case.id for case in cases])


def test_there_are_cases_of_every_kind_each_under_its_own_name() -> None:
    for cases in SECTIONS:
        assert len(cases) > 10
        assert len({case.id for case in cases}) == len(cases)
    assert sum(len(cases) for cases in SECTIONS) >= 150


@named(CASES.requests)
def test_requests(kind: Any, case: RequestCase, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in case.environment.items():
        monkeypatch.setenv(name, value)
    world = World([REFUSAL])
    outcome = Outcome(lambda: kind.settled(made(client_of(kind, world, case.client), case.call)) if case.call else client_of(kind, world, case.client))
    expected = case.expect
    if expected.error is not None:
        expect_error(outcome.error, expected.error)
        assert world.sent == []
        return
    assert isinstance(outcome.error, millwright.BadRequestError), outcome.error
    assert len(world.sent) == 1
    sent = world.sent[0]
    path, _, query = sent.url.raw_path.decode("ascii").partition("?")
    assert sent.method == expected.method
    assert with_signs(path) == expected.path
    if expected.origin is not None:
        assert f"{sent.url.scheme}://{sent.url.netloc.decode('ascii')}" == expected.origin
    if expected.query is not None:
        assert in_order(pairs_of(query)) == in_order(expected.query)
    expect_headers(sent.headers, expected.headers)
    if expected.has("body"):
        assert json_in(sent) == expected.body


@named(CASES.responses)
def test_responses(kind: Any, case: ResponseCase) -> None:
    world = World([case.answer])
    client = client_of(kind, world, case.client)
    outcome = Outcome(lambda: kind.settled(made(client, case.call)))
    assert world.left == []
    outcome.expect(case.expect)
    if case.expect.raw is None:
        return
    raw = case.expect.raw
    world.left.append(case.answer)
    response = kind.settled(made(client, case.call, is_raw=True))
    assert (response.status_code, response.request_id, response.retries_taken) == (raw.status, raw.request_id, 0)
    for name, value in raw.headers.items():
        assert response.headers[name] == value
    Outcome(response.parse).expect(case.expect)


KEYS_MADE: Dict[str, str] = {}


@named(CASES.retries)
def test_retries(kind: Any, case: RetryCase) -> None:
    world = World(case.answers, case.random)
    outcome = Outcome(lambda: kind.settled(made(client_of(kind, world, case.client), case.call)))
    outcome.expect(Result(members=case.expect.members, error=case.expect.error))
    assert [sent.at for sent in world.sent] == pytest.approx(case.expect.at)
    assert world.left == []
    if case.expect.ended_at is not None:
        assert world.passed == pytest.approx(case.expect.ended_at)
    assert {repr(sent._replace(at=0)) for sent in world.sent} == {repr(world.sent[0]._replace(at=0))}
    key = world.sent[0].headers.get("idempotency-key")
    if key is not None and not case.call.options.has("idempotency_key"):
        assert KEYS_MADE.setdefault(key, f"{kind} {case.id}") == f"{kind} {case.id}", "a key served two calls"


@named(CASES.pages)
def test_pages(kind: Any, case: PageCase) -> None:
    world = World(case.answers)
    items: List[Any] = []

    def take(page: Any) -> None:
        items.extend(at(item, case.item) for item in page.items)

    def read() -> Any:
        listed = made(client_of(kind, world), case.call)
        if case.use == "items":
            return kind.each(listed, lambda item: items.append(at(item, case.item)))
        page = first_page(kind, listed)
        if case.use == "pages":
            return kind.each(page.iter_pages(), take)
        take(page)
        if case.use == "next_page":
            take(kind.settled(page.get_next_page()))
        return page

    outcome = Outcome(read)
    outcome.expect(Result(error=case.expect.error))
    assert items == case.expect.items
    assert [dict(pairs_of(sent.url.query.decode("ascii"))).get("cursor") for sent in world.sent] == case.expect.cursors
    assert world.left == []
    for sent in world.sent:
        if case.expect.query is not None:
            kept = [pair for pair in pairs_of(sent.url.query.decode("ascii")) if pair[0] != "cursor"]
            assert in_order(kept) == in_order(case.expect.query)
        expect_headers(sent.headers, case.expect.headers)
    if case.expect.has_next_page is not None:
        assert outcome.value.has_next_page() == case.expect.has_next_page
    expect_members(outcome.value.body if case.expect.members else None, case.expect.members)


def first_page(kind: Any, listed: Any) -> Any:
    return kind.settled(listed)


CUTS = [(case, cut) for case in CASES.streams for cut in (case.cut_every or [None])]  # type: ignore[list-item]


@pytest.mark.parametrize(("case", "cut"), CUTS, ids=[f"{case.id}-{cut or 'whole'}" for case, cut in CUTS])
def test_streams(kind: Any, case: StreamCase, cut: Optional[int]) -> None:
    world = World(case.connections, cut_every=cut)
    stream = made(client_of(kind, world, case.client), case.call)
    events: List[Any] = []
    Outcome(lambda: kind.each(stream, events.append)).expect(Result(error=case.expect.error))
    assert [(event.seq, event.event_type) for event in events] == case.expect.events
    assert stream.last_seq == case.expect.last_seq
    if case.expect.run_state is not None:
        assert stream.run_state == case.expect.run_state
    if case.expect.last_event_ids is not None:
        assert [sent.headers.get("last-event-id") for sent in world.sent] == case.expect.last_event_ids
    if case.expect.at is not None:
        assert [sent.at for sent in world.sent] == pytest.approx(case.expect.at)
    assert world.left == []
    assert all("text/event-stream" in sent.headers["accept"] for sent in world.sent)
    expect_members(events, case.expect.members)


@named([case for case in CASES.webhooks if isinstance(case, ConstructCase)])
def test_senders(kind: Any, case: ConstructCase) -> None:
    outcome = Outcome(lambda: kind.sender(World([]), url=case.url, secret=case.secret, authentication=case.authentication))
    outcome.expect(Result(error=case.expect.error), secret=case.secret)


@named([case for case in CASES.webhooks if isinstance(case, SignCase)])
def test_signing(case: SignCase) -> None:
    headers = millwright.sign_delivery(
        authentication=case.authentication, secret=case.secret, body=case.body, delivery_id=case.delivery_id, now=case.now
    )
    expect_headers({name.lower(): value for name, value in headers.items()}, case.expect.headers)


@named([case for case in CASES.webhooks if isinstance(case, VerifyCase)])
def test_verifying(case: VerifyCase) -> None:
    more: Dict[str, Any] = {} if case.tolerance_seconds is None else {"tolerance_seconds": case.tolerance_seconds}
    if case.url is not None:
        more["url"] = case.url
    outcome = Outcome(
        lambda: millwright.verify_delivery(
            authentication=case.authentication, secret=case.secret, headers=dict(case.headers), body=case.body.encode("utf-8"), now=case.now, **more
        )
    )
    if case.expect.reason is None:
        assert outcome.error is None
        return
    assert isinstance(outcome.error, millwright.WebhookVerificationError)
    assert outcome.error.reason == case.expect.reason
    assert case.secret not in f"{outcome.error!r} {outcome.error}"


@named([case for case in CASES.webhooks if isinstance(case, SendCase)])
def test_sending(kind: Any, case: SendCase) -> None:
    world = World(case.answers, began_at=case.now)
    more = {} if case.delivery_id_header is None else {"delivery_id_header": case.delivery_id_header}
    sender = kind.sender(world, url=case.url, secret=case.secret, authentication=case.authentication, **more)
    outcome = Outcome(lambda: kind.settled(sender.send(case.payload.given, **({} if case.delivery_id is None else {"delivery_id": case.delivery_id}))))
    outcome.expect(Result(error=case.expect.error), secret=case.secret)
    if case.expect.error is None:
        assert outcome.value.delivery_id == case.expect.delivery_id
    assert [sent.at for sent in world.sent] == pytest.approx(case.expect.at)
    assert world.left == []
    for sent, expected in zip(world.sent, case.expect.sent):
        if expected.path is not None:
            assert sent.url.raw_path.decode("ascii") == expected.path
        expect_headers(sent.headers, expected.headers)
        if expected.json_value is not None:
            assert json_in(sent) == expected.json_value
        if expected.text is not None:
            assert sent.body == expected.text.encode("utf-8")
    for name in case.expect.same_headers:
        assert re.fullmatch(r"[\x21-\x7e]{16,255}|order-7", world.sent[0].headers[name])
        assert len({sent.headers[name] for sent in world.sent}) == 1


class Outcome:
    """What some work came to."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.value: Any = None
        self.error: Optional[Exception] = None
        try:
            self.value = work()
        except Exception as error:
            if isinstance(error, AssertionError):
                raise
            self.error = error

    def expect(self, expected: Result, secret: str = API_KEY) -> None:
        if expected.error is not None:
            return expect_error(self.error, expected.error, secret)
        if self.error is not None:
            raise self.error
        expect_members(self.value, expected.members)
        if expected.has("value"):
            assert self.value == json_of(expected.value)
        if expected.bytes is not None:
            assert bytes(self.value) == base64.b64decode(expected.bytes)
        if expected.nothing:
            assert self.value is None


def client_of(kind: Any, world: World, settings: ClientSettings = ClientSettings()) -> Any:
    given = {name: getattr(settings, name) for name in settings.model_fields_set}
    return kind.client(world, **{"base_url": BASE_URL, "api_key": API_KEY, **given})


def made(client: Any, call: Call, is_raw: bool = False) -> Any:
    """Calls what the case says, by name."""
    *resources, name = call.method.split(".")
    holder = client
    for resource in resources:
        holder = getattr(holder, resource)
    if is_raw:
        holder = holder.with_raw_response
    options = {option: getattr(call.options, option) for option in call.options.model_fields_set}
    # None is JSON null in a body, and left out of a query.
    params = {parameter: argument(value) for parameter, value in call.params.items()}
    return getattr(holder, name)(*call.path, **params, **options)


def expect_members(value: Any, members: Dict[str, Any]) -> None:
    for pointer, expected in members.items():
        actual = at(value, pointer)
        if isinstance(expected, dict) and "$absent" in expected:
            assert actual is None, pointer
        elif isinstance(expected, dict) and "$date" in expected:
            assert int(actual.timestamp() * 1000) == int(instant(expected["$date"]).timestamp() * 1000), pointer
        else:
            assert actual == expected, pointer


def expect_error(error: Optional[Exception], expected: ExpectedError, secret: str = API_KEY) -> None:
    assert type(error).__name__ == expected.class_name, repr(error)
    for base in [expected.class_name, "MillwrightError", *expected.bases]:
        assert isinstance(error, getattr(millwright, base))
    message = str(error)
    if expected.message is not None:
        assert message == expected.message
    for part in expected.message_has:
        assert part in message
    for part in expected.message_lacks:
        assert part not in f"{message} {error!r}"
    if secret:
        assert secret not in f"{message} {error!r} {vars(error)!r}"
    for member, value in expected.members.items():
        actual = getattr(error, member)
        if member == "run":
            expect_members(actual, value)
        elif member == "body":
            assert actual == (value if isinstance(value, str) else value["repeat"] * value["times"])
        else:
            assert actual == value, member


def expect_headers(headers: Dict[str, str], expected: Headers) -> None:
    for name, value in expected.items():
        actual = headers.get(name)
        if value is None or isinstance(value, str):
            assert actual == value, name
        else:
            assert actual is not None and re.search(value.pattern, actual), name


def json_in(sent: Sent) -> Any:
    return json.loads(sent.body) if sent.body else None


def with_signs(path: str) -> str:
    """Signs that may stand in a path as they are or encoded, as they are."""
    return re.sub(r"%(?:21|27|28|29|2A)", lambda sign: unquote(sign[0]), path)


def pairs_of(query: str) -> List[Tuple[str, str]]:
    return parse_qsl(query, keep_blank_values=True)


def in_order(pairs: Sequence[Sequence[str]]) -> List[List[str]]:
    """By name; what is repeated keeps its order."""
    return sorted((list(pair) for pair in pairs), key=lambda pair: pair[0])
