"""The cases that both client libraries share, read strictly: a member that is not known here fails all of them."""

from __future__ import annotations

import base64
import copy
import json
from datetime import datetime
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, Union

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from typing_extensions import Annotated, Literal

FILE = Path(__file__).resolve().parents[3] / "test/vectors/client-wire.json"


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    def has(self, name: str) -> bool:
        """Whether the case says it, be it null."""
        return name in self.model_fields_set


class Repeated(Strict):
    repeat: str
    times: int


Text = Union[str, Repeated]
Members = Dict[str, Any]
Pairs = List[List[str]]


class Pattern(Strict):
    pattern: str


Headers = Dict[str, Union[str, None, Pattern]]


class ClientSettings(Strict):
    base_url: Optional[str] = None
    api_key: Optional[str] = None
    default_headers: Optional[Dict[str, Optional[str]]] = None
    timeout: Optional[float] = None
    total_timeout: Optional[float] = None
    max_retries: Optional[int] = None


class Options(Strict):
    extra_headers: Optional[Dict[str, Optional[str]]] = None
    extra_query: Optional[Members] = None
    extra_body: Optional[Members] = None
    timeout: Optional[float] = None
    total_timeout: Optional[float] = None
    max_retries: Optional[int] = None
    idempotency_key: Optional[str] = None
    reconnect_timeout: Optional[float] = None


class Call(Strict):
    method: str
    path: List[str] = []
    params: Members = {}
    options: Options = Options()


class Answer(Strict):
    status: int
    headers: Dict[str, str] = {}
    json_value: Any = Field(None, alias="json")
    text: Text = ""
    base64: Optional[str] = None
    takes: float = 0


class Fault(Strict):
    fault: Literal["refuse", "cut_headers", "cut_body", "hang", "hang_body", "no_tls", "no_http"]


class Connection(Strict):
    text: str
    fill: int = 0
    ends: Literal["end", "break", "hang"]


class ExpectedError(Strict):
    class_name: str = Field(alias="class")
    bases: List[str] = Field([], alias="is")
    message: Optional[str] = None
    message_has: List[str] = []
    message_lacks: List[str] = []
    members: Members = {}


class Result(Strict):
    members: Members = {}
    value: Any = None
    bytes: Optional[str] = None
    nothing: Optional[Literal[True]] = None
    error: Optional[ExpectedError] = None


class Raw(Strict):
    status: int
    request_id: Optional[str]
    headers: Dict[str, str]


class ResponseResult(Result):
    raw: Optional[Raw] = None


class Case(Strict):
    id: str
    why: str


class RequestExpectation(Strict):
    method: Optional[str] = None
    origin: Optional[str] = None
    path: Optional[str] = None
    query: Optional[Pairs] = None
    headers: Headers = {}
    body: Any = None
    error: Optional[ExpectedError] = None


class RequestCase(Case):
    client: ClientSettings = ClientSettings()
    environment: Dict[str, str] = {}
    call: Optional[Call] = None
    expect: RequestExpectation


class ResponseCase(Case):
    client: ClientSettings = ClientSettings()
    call: Call
    answer: Answer
    expect: ResponseResult


class RetryExpectation(Strict):
    at: List[float]
    ended_at: Optional[float] = None
    members: Members = {}
    error: Optional[ExpectedError] = None


class RetryCase(Case):
    client: ClientSettings = ClientSettings()
    random: float = 0
    call: Call
    answers: List[Union[Answer, Fault]]
    expect: RetryExpectation


class PageExpectation(Strict):
    cursors: List[Optional[str]]
    items: List[str]
    query: Optional[Pairs] = None
    headers: Headers = {}
    has_next_page: Optional[bool] = None
    members: Members = {}
    error: Optional[ExpectedError] = None


class PageCase(Case):
    call: Call
    use: Literal["items", "page", "next_page", "pages"]
    item: str
    answers: List[Answer]
    expect: PageExpectation


class StreamExpectation(Strict):
    events: List[Tuple[int, str]]
    last_seq: int
    run_state: Optional[str] = None
    last_event_ids: Optional[List[Optional[str]]] = None
    at: Optional[List[float]] = None
    members: Members = {}
    error: Optional[ExpectedError] = None


class StreamCase(Case):
    client: ClientSettings = ClientSettings()
    cut_every: List[int] = []
    call: Call
    connections: List[Union[Connection, Fault, Answer]]
    expect: StreamExpectation


class DeliveryCase(Case):
    authentication: Literal["token", "url_token", "standard_webhooks"]
    secret: str


class ConstructExpectation(Strict):
    error: Optional[ExpectedError] = None


class ConstructCase(DeliveryCase):
    do: Literal["construct"]
    url: str
    expect: ConstructExpectation


class SignExpectation(Strict):
    headers: Headers


class SignCase(DeliveryCase):
    do: Literal["sign"]
    body: str
    delivery_id: str
    now: float
    expect: SignExpectation


class VerifyExpectation(Strict):
    reason: Optional[str] = None


class VerifyCase(DeliveryCase):
    do: Literal["verify"]
    headers: Pairs
    body: str
    now: float
    url: Optional[str] = None
    tolerance_seconds: Optional[int] = None
    expect: VerifyExpectation


class Payload(Strict):
    json_value: Any = Field(None, alias="json")
    text: Optional[Text] = None
    base64: Optional[str] = None

    @property
    def given(self) -> Any:
        if self.base64 is not None:
            return base64.b64decode(self.base64)
        return self.json_value if self.text is None else text_of(self.text)


class SentDelivery(Strict):
    path: Optional[str] = None
    headers: Headers = {}
    json_value: Any = Field(None, alias="json")
    text: Optional[str] = None


class SendExpectation(Strict):
    at: List[float]
    sent: List[SentDelivery] = []
    same_headers: List[str] = []
    delivery_id: Optional[str] = None
    error: Optional[ExpectedError] = None


class SendCase(DeliveryCase):
    do: Literal["send"]
    url: str
    now: float
    delivery_id: Optional[str] = None
    delivery_id_header: Optional[str] = None
    payload: Payload
    answers: List[Union[Answer, Fault]]
    expect: SendExpectation


WebhookCase = Annotated[Union[ConstructCase, SignCase, VerifyCase, SendCase], Field(discriminator="do")]


class Cases(Strict):
    about: str
    bodies: Dict[str, Members]
    requests: List[RequestCase]
    responses: List[ResponseCase]
    retries: List[RetryCase]
    pages: List[PageCase]
    streams: List[StreamCase]
    webhooks: List[WebhookCase]


CASES = TypeAdapter(Cases).validate_json(FILE.read_bytes())


def text_of(value: Text) -> str:
    """A text that may be written short."""
    return value if isinstance(value, str) else value.repeat * value.times


def body_of(answer: Answer) -> bytes:
    """What an answer has for a body."""
    if answer.base64 is not None:
        return base64.b64decode(answer.base64)
    if answer.has("json_value"):
        return json.dumps(json_of(answer.json_value), ensure_ascii=False).encode("utf-8")
    return text_of(answer.text).encode("utf-8")


def json_of(value: Any) -> Any:
    """A JSON value in which `{like, set, remove}` stands for a body of the file with changes."""
    if isinstance(value, list):
        return [json_of(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "like" not in value:
        return {name: json_of(member) for name, member in value.items()}
    assert set(value) <= {"like", "set", "remove"}
    body = copy.deepcopy(CASES.bodies[value["like"]])
    for pointer, member in value.get("set", {}).items():
        holder, name = pointer.rsplit("/", 1)
        at(body, holder)[name] = json_of(member)
    for pointer in value.get("remove", []):
        holder, name = pointer.rsplit("/", 1)
        del at(body, holder)[name]
    return body


def argument(value: Any) -> Any:
    """What a case writes as JSON, as it is given to a method."""
    if isinstance(value, list):
        return [argument(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$date" in value:
        return instant(value["$date"])
    if "$nothing" in value:
        return None
    return {name: argument(member) for name, member in value.items()}


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def at(value: Any, pointer: str) -> Any:
    """What is at a JSON pointer of JSON or of a model; None where nothing is."""
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        value = _within(value, name)
    return value


def _within(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return value.get(name)
    if isinstance(value, list):
        return value[int(name)]
    if isinstance(value, BaseModel):
        for field, info in type(value).model_fields.items():
            if name in (field, info.alias):
                return getattr(value, field)
        return (value.model_extra or {}).get(name)
    return getattr(value, name, None)
