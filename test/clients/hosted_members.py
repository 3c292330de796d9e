"""What the hosted service's published Python clients can say, and what it comes to.

    python hosted_members.py warp_platform_sdk|oz_agent_sdk URL KEY < ROWS

ROWS: a JSON list of {"method", "request"}. Writes a JSON object: `members`, method → dotted names of every member that
its requests can have, lists and maps left out of the names; `answers`, one for each row: {"absent": true} where this
client does not have the method or a parameter, {"refused": STATUS, "pointers": [...]}, or {"answered": BODY}.
"""

import importlib
import inspect
import json
import sys
import typing

from typing_extensions import get_type_hints, is_typeddict

OPTIONS = ("self", "extra_headers", "extra_query", "extra_body", "timeout", "idempotency_key")


def main(package, url, key, rows):
    module = importlib.import_module(package)
    client = module.Client(base_url=url + "/api/v1", api_key=key, max_retries=0, timeout=60)
    methods = {row["method"]: bound(client, row["method"]) for row in rows}
    return {
        "members": {name: sorted(members_of(method)) for name, method in methods.items() if method is not None},
        "answers": [answer(module, methods[row["method"]], row["request"]) for row in rows],
    }


def bound(client, name):
    method = client
    for part in name.split("."):
        method = getattr(method, part, None)
    return method


def parameters_of(method):
    return [name for name in inspect.signature(method).parameters if name not in OPTIONS]


def members_of(method):
    function = inspect.unwrap(method)
    hints = get_type_hints(getattr(function, "__func__", function), include_extras=False)
    for name in parameters_of(method):
        yield from names_in(hints[name], name)


def names_in(hint, name):
    """The member itself, or the members of what it holds."""
    inner = list(documents_in(hint))
    if not inner:
        yield name
    for document in inner:
        for member, own in get_type_hints(document, include_extras=False).items():
            yield from names_in(own, name + "." + member)


def documents_in(hint):
    """Typed dictionaries inside of unions, lists and maps."""
    if is_typeddict(hint):
        yield hint
    for argument in typing.get_args(hint):
        yield from documents_in(argument)


def answer(module, method, request):
    if method is None or any(name not in parameters_of(method) for name in request):
        return {"absent": True}
    try:
        found = method(**request)
    except module.APIStatusError as error:
        told = error.body if isinstance(error.body, dict) else {}
        return {"refused": error.status_code, "pointers": [one["pointer"] for one in told.get("errors") or []]}
    return {"answered": json.loads(found.to_json()) if hasattr(found, "to_json") else found}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:4], json.load(sys.stdin))))
