"""Which answers are asked for again, and after how long: the rules alone."""

from __future__ import annotations

from email.utils import format_datetime, formatdate
from datetime import datetime, timezone
from typing import Dict, Optional

import httpx
import pytest
from fake_time import BEGAN_AT
from millwright._retries import is_delivered_again, is_retried, pause_before_retry, retry_after


@pytest.mark.parametrize("status", [408, 409, 429, 500, 501, 502, 503, 504, 599])
def test_what_may_pass(status: int) -> None:
    assert is_retried(status, {})
    assert not is_retried(status, {"x-should-retry": "false"})
    assert is_delivered_again(status, {}) == (status != 409)
    assert not is_delivered_again(status, {"x-should-retry": "false"})
    assert is_delivered_again(status, {"x-should-retry": "true"})


@pytest.mark.parametrize("status", [301, 304, 400, 401, 403, 404, 405, 410, 413, 422, 428])
def test_what_would_say_the_same_again(status: int) -> None:
    assert not is_retried(status, {})
    assert not is_retried(status, {"x-should-retry": "yes"})
    assert is_retried(status, {"x-should-retry": "true"})
    assert not is_delivered_again(status, {})
    assert not is_delivered_again(status, {"x-should-retry": "yes"})
    assert is_delivered_again(status, {"x-should-retry": "true"})


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "0"}, 0.0),
        ({"retry-after-ms": "12.5"}, 0.0125),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "-1", "retry-after": "9"}, 9.0),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 7 "}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "3600"}, 3600.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "+1"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "1e3"}, None),
        ({"retry-after": "1_0"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "٣"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after": "Sun, 99 Nov 2026 10:00:30 GMT"}, None),
        ({"retry-after": "Sun, 22 Nov 2026 10:00:30 GMT"}, 30.0),
        ({"retry-after": "Sunday, 22-Nov-26 10:00:30 GMT"}, 30.0),
        ({"retry-after": "Sun Nov 22 10:00:30 2026"}, 30.0),
        ({"retry-after": "Sun, 22 Nov 2026 10:00:00 GMT"}, 0.0),
        ({"retry-after": "Sun, 22 Nov 2026 09:59:59 GMT"}, None),
    ],
)
def test_what_a_service_asks_for(headers: Dict[str, str], seconds: Optional[float]) -> None:
    assert retry_after(headers, BEGAN_AT) == seconds


def test_the_clock_of_the_tests_shows_what_it_says() -> None:
    assert formatdate(BEGAN_AT, usegmt=True) == "Sun, 22 Nov 2026 10:00:00 GMT"
    assert format_datetime(datetime.fromtimestamp(BEGAN_AT, timezone.utc), usegmt=True).endswith("10:00:00 GMT")
    assert retry_after(httpx.Headers({"Retry-After": "2"}), BEGAN_AT) == 2


@pytest.mark.parametrize(("asked", "pause"), [(0.0, 0.0), (2.5, 2.5), (60.0, 60.0), (61.0, 60.0), (1e12, 60.0)])
def test_what_is_asked_for_has_a_bound(asked: float, pause: float) -> None:
    assert pause_before_retry(5, asked, 0.99) == pause


def test_pauses_double_up_to_a_bound_and_are_shortened_by_chance() -> None:
    assert [pause_before_retry(retry, None, 0) for retry in range(7)] == [0.5, 1, 2, 4, 8, 8, 8]
    assert [pause_before_retry(retry, None, 1) for retry in range(3)] == [0.375, 0.75, 1.5]
    assert pause_before_retry(100_000, None, 0) == 8
