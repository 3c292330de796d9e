"""Every operation of the API document has a method, in all four forms, that sends what the document says."""

from __future__ import annotations

import inspect
import json
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

import httpx
import millwright
import pytest
from millwright._async.resource import AsyncResource
from millwright._sync.resource import Resource
from operations import BEYOND, NOT_SERVED, SERVED

KEY = "mw_" + "t" * 43
OPTIONS = "options"
HEADERS = {"If-Match": "if_match"}
"""Headers of the document that are parameters, with the names of these."""
HEADERS_OF_OPTIONS = {
    "Idempotency-Key": "made for each call, or idempotency_key",
    "Last-Event-ID": "that of the stream, see agent.runs.events",
    "If-None-Match": "extra_headers; an answer without a body is an error",
}
"""Headers of the document that are none, with why."""


class Operation(NamedTuple):
    """One operation of the document, with references replaced by what they refer to."""

    id: str
    method: str
    path: str
    parameters: List[Dict[str, Any]]
    body: Dict[str, Any]
    answers: List[str]
    """Media types of its success."""

    def names(self, where: str) -> List[str]:
        return [parameter["name"] for parameter in self.parameters if parameter["in"] == where]


@pytest.fixture(scope="session")
def operations(document: Any) -> Dict[str, Operation]:
    return {operation.id: operation for operation in operations_of(document)}


def operations_of(document: Any) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}).values()
            schema = resolved(next(iter(content))["schema"], document) if content else {}
            answers = [media for status, answer in operation["responses"].items() if status[0] == "2" for media in answer.get("content", {})]
            yield Operation(operation["operationId"], method.upper(), path, operation.get("parameters", []), schema, answers)


def resolved(schema: Any, document: Any) -> Any:
    reference = schema.get("$ref") if isinstance(schema, dict) else None
    return document["components"]["schemas"][reference.rsplit("/", 1)[1]] if reference else schema


def test_every_operation_is_served_or_says_why_not(operations: Dict[str, Operation]) -> None:
    assert sorted(operations) == sorted([*SERVED, *NOT_SERVED])


def test_every_method_serves_an_operation() -> None:
    client = millwright.Millwright(api_key=KEY)
    expected = {method for method in [*SERVED.values(), *BEYOND] if "." in method}
    assert set(methods_of(client)) == expected


def test_sync_and_async_have_the_same_methods() -> None:
    assert list(methods_of(millwright.Millwright(api_key=KEY))) == list(methods_of(millwright.AsyncMillwright(api_key=KEY)))


@pytest.mark.parametrize("operation_id", SERVED)
def test_parameters_are_those_of_the_document(operation_id: str, operations: Dict[str, Operation]) -> None:
    operation = operations[operation_id]
    for client in (millwright.Millwright(api_key=KEY), millwright.AsyncMillwright(api_key=KEY)):
        parameters = inspect.signature(method_named(client, SERVED[operation_id])).parameters.values()
        positional = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
        required = {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty}
        named = {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
        assert positional == operation.names("path")
        assert named == set(keywords_of(operation))
        assert required == set(operation.body.get("required", [])) | set(required_of(operation))
        assert set(operation.names("header")) <= {*HEADERS, *HEADERS_OF_OPTIONS}


def required_of(operation: Operation) -> Iterator[str]:
    """The keywords that stand for required parameters."""
    for part in operation.parameters:
        if part.get("required") and part["in"] == "query":
            yield part["name"]
        elif part.get("required") and part["in"] == "header":
            yield HEADERS[part["name"]]


def test_some_headers_are_required(operations: Dict[str, Operation]) -> None:
    assert [operation.id for operation in operations.values() if "if_match" in required_of(operation)] == ["updateAutomation"]
    with pytest.raises(TypeError, match="if_match"):
        millwright.Millwright(api_key=KEY).factories.automations.update("f", "a", enabled=False)  # type: ignore[call-arg]


def keywords_of(operation: Operation) -> Dict[str, Any]:
    """A value for every keyword of a method."""
    queries = {parameter["name"]: sample(parameter["schema"]) for parameter in operation.parameters if parameter["in"] == "query"}
    members = {name: sample(schema) for name, schema in operation.body.get("properties", {}).items()}
    match = {"if_match": '"7"'} if "If-Match" in operation.names("header") else {}
    return {**queries, **members, **match}


def sample(schema: Dict[str, Any]) -> Any:
    kinds = {"integer": 3, "number": 1.5, "boolean": True, "array": ["one", "two"], "object": {"key": "value"}}
    kind = schema.get("type", "string")
    return kinds.get(kind[0] if isinstance(kind, list) else kind, "text")


@pytest.mark.parametrize("operation_id", SERVED)
@pytest.mark.parametrize("raw", [False, True], ids=["parsed", "raw"])
def test_sync_sends_what_the_document_says(operation_id: str, raw: bool, operations: Dict[str, Operation]) -> None:
    seen: List[httpx.Request] = []
    with httpx.Client(transport=httpx.MockTransport(lambda request: kept(seen, request))) as http_client:
        client = millwright.Millwright(api_key=KEY, http_client=http_client)
        operation = operations[operation_id]
        try:
            form_of(client, SERVED[operation_id], raw)(*operation.names("path"), **keywords_of(operation))
        except millwright.APIResponseValidationError:
            pass
    assert sent(seen) == documented(operation)


@pytest.mark.anyio
@pytest.mark.parametrize("operation_id", SERVED)
@pytest.mark.parametrize("raw", [False, True], ids=["parsed", "raw"])
async def test_async_sends_what_the_document_says(operation_id: str, raw: bool, operations: Dict[str, Operation]) -> None:
    seen: List[httpx.Request] = []
    async with httpx.AsyncClient(transport=httpx.MockTransport(lambda request: kept(seen, request))) as http_client:
        client = millwright.AsyncMillwright(api_key=KEY, http_client=http_client)
        operation = operations[operation_id]
        try:
            await form_of(client, SERVED[operation_id], raw)(*operation.names("path"), **keywords_of(operation))
        except millwright.APIResponseValidationError:
            pass
    assert sent(seen) == documented(operation)


def kept(seen: List[httpx.Request], request: httpx.Request) -> httpx.Response:
    """Keeps the request and answers something that fits hardly any operation."""
    request.read()
    seen.append(request)
    return httpx.Response(200, json=None)


def sent(seen: List[httpx.Request]) -> Tuple[str, str, Dict[str, List[str]], Any, Any, str]:
    (request,) = seen
    body = json.loads(request.content) if request.content else None
    query = {name: request.url.params.get_list(name) for name in request.url.params}
    return request.method, request.url.path, query, body, request.headers.get("if-match"), request.headers["accept"]


def documented(operation: Operation) -> Tuple[str, str, Dict[str, List[str]], Any, Any, str]:
    path = "/api/v1" + operation.path.replace("{", "").replace("}", "")  # the value of each parameter is its name
    query = {}
    for parameter in operation.parameters:
        if parameter["in"] == "query":
            query.update(in_query(parameter["name"], sample(parameter["schema"])))
    body = {name: sample(schema) for name, schema in operation.body.get("properties", {}).items()} or None
    match = '"7"' if "If-Match" in operation.names("header") else None
    accept = "application/octet-stream" if "application/octet-stream" in operation.answers else "application/json"
    return operation.method, path, query, body, match, accept


def in_query(name: str, value: Any) -> Dict[str, List[str]]:
    if isinstance(value, dict):
        return {f"{name}[{key}]": [member] for key, member in value.items()}
    if isinstance(value, list):
        return {name: value}
    return {name: [str(value).lower() if isinstance(value, bool) else str(value)]}


def form_of(client: Any, name: str, raw: bool) -> Any:
    """The method, or its twin that answers the response as it came."""
    if not raw:
        return method_named(client, name)
    owner, _, method = name.rpartition(".")
    resource = method_named(client, owner) if owner else client
    return getattr(resource.with_raw_response, method)


def method_named(client: Any, name: str) -> Any:
    found = client
    for part in name.split("."):
        found = getattr(found, part)
    return found


def methods_of(owner: Any, prefix: str = "") -> Iterator[str]:
    """Names of all public methods of the resources below a client."""
    for name in sorted(name for name in dir(type(owner)) + list(vars(owner)) if not name.startswith("_") and name != "with_raw_response"):
        member = getattr(owner, name)
        if isinstance(member, (Resource, AsyncResource)):
            yield from methods_of(member, f"{prefix}{name}.")
        elif prefix and callable(member):
            yield prefix + name


@pytest.mark.parametrize("client_class", [millwright.Millwright, millwright.AsyncMillwright])
def test_what_is_raw_can_be_streamed_too(client_class: Any) -> None:
    pending = [client_class(api_key="mw_x")]
    seen = 0
    while pending:
        resource = pending.pop()
        names = [name for name in dir(type(resource)) if not name.startswith("_") and name != "copy"]
        below = [getattr(resource, name) for name in names if not callable(getattr(type(resource), name)) and name != "base_url"]
        pending += [each for each in below if type(each).__module__.startswith("millwright.") and "With" not in type(each).__name__]
        if not hasattr(resource, "with_raw_response"):
            continue
        raw, streaming = resource.with_raw_response, resource.with_streaming_response
        assert public_methods_of(raw) == public_methods_of(streaming) != []
        seen += 1
    assert seen > 20


def public_methods_of(resource: Any) -> List[str]:
    return [name for name in dir(resource) if not name.startswith("_") and callable(getattr(resource, name))]
