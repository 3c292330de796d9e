"""Deliveries that are signed and verified; Standard Webhooks beside the library of its makers, in both directions."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any, Dict, List, Tuple, get_args

import httpx
import pytest
from millwright import MillwrightError, WebhookVerificationError, WebhookVerificationReason, sign_delivery, verify_delivery
from standardwebhooks.webhooks import Webhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
TOKEN = "0123456789abcdef"
BODIES = [b"{}", b"", '{"größe": "🐦"}'.encode(), b"x" * 100_000]


@pytest.mark.parametrize("body", BODIES)
def test_their_library_accepts_ours(body: bytes) -> None:
    headers = sign_delivery(authentication="standard_webhooks", secret=SECRET, body=body, delivery_id="msg_1")
    if body.startswith(b"{"):  # what is no JSON it verifies, and then cannot read
        Webhook(SECRET).verify(body, headers)
    verify_delivery(authentication="standard_webhooks", secret=SECRET, headers=headers, body=body)


@pytest.mark.parametrize("body", BODIES)
def test_ours_accepts_their_library(body: bytes) -> None:
    now = datetime.datetime.now(datetime.timezone.utc)
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(SECRET).sign("msg_1", now, body.decode()),
    }
    verify_delivery(authentication="standard_webhooks", secret=SECRET, headers=headers, body=body)
    verify_delivery(authentication="standard_webhooks", secret=SECRET, headers={name.replace("webhook", "svix"): value for name, value in headers.items()}, body=body)
    with pytest.raises(WebhookVerificationError) as refused:
        verify_delivery(authentication="standard_webhooks", secret=SECRET, headers=headers, body=body + b" ")
    assert refused.value.reason == "wrong-signature"


def refusal(authentication: Any, secret: str, headers: Any, body: bytes = b"{}", **how: Any) -> str:
    with pytest.raises(WebhookVerificationError) as refused:
        verify_delivery(authentication=authentication, secret=secret, headers=headers, body=body, **how)
    assert secret not in str(refused.value)
    return refused.value.reason


def test_a_header_that_comes_twice_proves_nothing() -> None:
    signed: Dict[str, str] = sign_delivery(authentication="standard_webhooks", secret=SECRET, body=b"{}", delivery_id="msg_1", now=1_614_265_330)
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        pairs: List[Tuple[str, str]] = [*signed.items(), (name, signed[name])]
        assert refusal("standard_webhooks", SECRET, pairs, now=1_614_265_330) == "malformed-header"
        assert refusal("standard_webhooks", SECRET, httpx.Headers(pairs), now=1_614_265_330) == "malformed-header"
    bearer = ("Authorization", f"Bearer {TOKEN}")
    assert refusal("token", TOKEN, [bearer, bearer]) == "missing-credential"


def test_a_header_of_the_family_that_is_not_read_comes_once_too() -> None:
    signed = sign_delivery(authentication="standard_webhooks", secret=SECRET, body=b"{}", delivery_id="msg_1", now=1_614_265_330)
    pairs = [*signed.items(), ("svix-id", "a"), ("Svix-Id", "b")]
    assert refusal("standard_webhooks", SECRET, pairs, now=1_614_265_330) == "malformed-header"


@pytest.mark.parametrize("value", [TOKEN, f"Basic {TOKEN}", f"Bearer\t{TOKEN}", f"Bearer{TOKEN}", "Bearer", "Bearer ", "Bearer   ", ""])
def test_what_is_no_bearer_token(value: str) -> None:
    assert refusal("token", TOKEN, {"authorization": value}) == "missing-credential"


def test_a_token_is_what_is_checked_unless_something_else_is_said() -> None:
    headers = sign_delivery(secret=TOKEN, body=b"{}")
    assert headers["Authorization"] == f"Bearer {TOKEN}"
    verify_delivery(secret=TOKEN, headers=headers, body=b"{}")


INGRESS = "/webhooks/w/wh_01hzy3k5m7p9r1t3v5x7z9b1d3"


@pytest.mark.parametrize("url", [None, "", "http://host", "http://host/", "http://host?x=/y", f"http://host{INGRESS}", f"http://host{INGRESS}/?/{TOKEN}", f"http://host/w/{TOKEN}"])
def test_an_address_without_a_token(url: Any) -> None:
    assert refusal("url_token", TOKEN, {}, url=url) == "missing-credential"


@pytest.mark.parametrize("url", [f"http://host{INGRESS}/{TOKEN}", f"{INGRESS}/{TOKEN}/", f"http://host/prefix{INGRESS}/%30123456789abcdef?a#b"])
def test_an_address_with_its_token(url: str) -> None:
    verify_delivery(authentication="url_token", secret=TOKEN, headers={}, body=b"", url=url)


def test_how_many_signatures_there_may_be() -> None:
    headers = sign_delivery(authentication="standard_webhooks", secret=SECRET, body=b"{}", delivery_id="msg_1", now=0x6000_0000)
    right = headers["webhook-signature"]
    for before in ("v1,AAAA " * 15, "v2,AAAA v1 v1a,x " * 40, "  "):  # as in the service, only those of version 1 count
        headers["webhook-signature"] = before + right
        verify_delivery(authentication="standard_webhooks", secret=SECRET, headers=headers, body=b"{}", now=0x6000_0000)
    headers["webhook-signature"] = "v1,AAAA " * 16 + right
    assert refusal("standard_webhooks", SECRET, headers, now=0x6000_0000) == "malformed-header"


def test_every_reason_has_its_name() -> None:
    named = get_args(WebhookVerificationReason)
    assert sorted(named) == ["malformed-header", "missing-credential", "missing-header", "stale-timestamp", "wrong-credential", "wrong-signature"]
    readme = (Path(__file__).resolve().parent.parent / "README.md").read_text("utf-8")
    for reason in named:
        assert f"`{reason}`" in readme
        assert f"{reason}: " in (verify_delivery.__doc__ or "")


@pytest.mark.parametrize("delivery_id", ["", "a b", "ü", "x" * 256, 7])
def test_what_names_no_delivery(delivery_id: Any) -> None:
    with pytest.raises(MillwrightError, match="delivery ID"):
        sign_delivery(secret=TOKEN, body=b"{}", delivery_id=delivery_id)


def test_an_unknown_kind_of_proof() -> None:
    with pytest.raises(MillwrightError, match="authentication must be one of"):
        sign_delivery(authentication="basic", secret=TOKEN, body=b"{}")  # type: ignore[arg-type]
