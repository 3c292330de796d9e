"""The programs of the folder examples, each on a real service."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple

import pytest
from conftest import PACKAGE, Service
from millwright import Millwright

EXAMPLES = PACKAGE / "examples"
SLUG = "examples"


class Ended(NamedTuple):
    """How a program ended."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[Millwright]:
    with Millwright(base_url=service.url, api_key=service.api_key) as made:
        yield made


@pytest.fixture(scope="module")
def factory_uid(client: Millwright) -> str:
    known = [factory.uid for factory in client.factories.list(search=SLUG) if factory.slug == SLUG]
    return known[0] if known else client.factories.create(slug=SLUG, source={"kind": "dashboard"}).uid


def run(service: Service, name: str, *arguments: str, **variables: str) -> Ended:
    environment: Dict[str, str] = {
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": str(PACKAGE / "src"),
        "MILLWRIGHT_BASE_URL": service.url,
        "MILLWRIGHT_API_KEY": service.api_key,
        **variables,
    }
    command: List[str] = [sys.executable, str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


def test_every_example_is_run_here() -> None:
    text = Path(__file__).read_text("utf-8")
    assert [path.name for path in EXAMPLES.glob("*.py") if f'"{path.name}"' not in text] == []


def test_run_and_wait(service: Service) -> None:
    ended = run(service, "run_and_wait.py", "Say hello.")
    assert (ended.code, ended.err) == (0, "")
    assert re.fullmatch(r"run \S+\nSUCCEEDED .*\n(made \w+ \S+\n)+", ended.out)


def test_follow_events(service: Service) -> None:
    ended = run(service, "follow_events.py")
    assert (ended.code, ended.err) == (0, "")
    assert re.fullmatch(r"1 \w+: [\s\S]*\nended SUCCEEDED behind entry \d+\n", ended.out)


def test_dispatch_twice_is_one_run(service: Service, factory_uid: str, client: Millwright) -> None:
    once, twice = (run(service, "dispatch.py", SLUG, "ORD-7", "Count the open orders.") for _ in range(2))
    assert (once.code, once.err, twice.out) == (0, "", once.out)
    dispatched = client.agent.runs.retrieve(once.out.split()[0])
    assert (dispatched.prompt, dispatched.factory_uid) == ("Count the open orders.", factory_uid)


def test_dispatch_to_what_is_not_there(service: Service) -> None:
    assert run(service, "dispatch.py", "nowhere").err == "there is no factory nowhere that this key may see\n"


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_what_is_missing_is_said_in_one_line(service: Service, name: str) -> None:
    ended = run(service, name, MILLWRIGHT_API_KEY="")
    assert (ended.code, ended.out) == (1, "")
    wanted = "WEBHOOK_URL" if name == "send_delivery.py" else "MILLWRIGHT_API_KEY"
    assert re.fullmatch(rf".*\b{wanted}\b.*\n", ended.err)


def test_send_delivery(service: Service, factory_uid: str, client: Millwright) -> None:
    webhook = client.factories.webhooks.create(
        factory_uid, name="Signed", auth_mode="signature", signature_scheme="standard_webhooks"
    )
    variables = {"WEBHOOK_URL": webhook.ingress_url, "WEBHOOK_SECRET": webhook.secret or ""}
    ended = run(service, "send_delivery.py", '{"order": 8}', **variables)
    assert (ended.code, ended.err) == (0, "")
    (delivery,) = client.factories.deliveries.list(factory_uid, webhook.uid)
    assert (delivery.outcome, ended.out) == ("Accepted", f"accepted {delivery.delivery_id}\n")
    assert client.factories.deliveries.payload(factory_uid, webhook.uid, delivery.entry_id) == b'{"order":8}'

    client.factories.webhooks.update(factory_uid, webhook.uid, enabled=False)
    refused = run(service, "send_delivery.py", **variables)
    assert (refused.code, refused.err) == (1, "")
    assert refused.out.startswith("refused: POST /webhooks/w/wh_") and ": 404" in refused.out


def test_page_through_failures(service: Service, client: Millwright) -> None:
    made = client.agent.runs.create(prompt="Say hello.", config={"harness": {"type": "nothing-like-it"}})
    assert client.agent.runs.wait(made.run_id, timeout=60).state == "FAILED"
    ended = run(service, "page_through_failures.py", "1")
    assert (ended.code, ended.err) == (0, "")
    assert re.fullmatch(r"(\d+\t.+\n)+[1-9]\d* failed in 1 days\n", ended.out)
