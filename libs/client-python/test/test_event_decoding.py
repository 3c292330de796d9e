"""Server-sent events by the standard, cut anywhere."""

from __future__ import annotations

from typing import List

import pytest
from millwright import _sse
from millwright._sse import EventTooLarge, ServerSentEvent, ServerSentEventDecoder

TEXT = "\ufeff: hello\n\nid: 1\r\nevent: stdout\r\ndata: größe 🐦\r\n\r\ndata:a\rdata: b\rid\r\rretry: 5\nid: 2\ndata\ndata:  c\n\n".encode()
EVENTS = [
    ServerSentEvent("stdout", "größe 🐦", "1"),
    ServerSentEvent("message", "a\nb", ""),
    ServerSentEvent("message", "\n c", "2"),
]


def decoded(*chunks: bytes) -> List[ServerSentEvent]:
    decoder = ServerSentEventDecoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)]


@pytest.mark.parametrize("cut", range(len(TEXT) + 1))
def test_two_pieces(cut: int) -> None:
    assert decoded(TEXT[:cut], TEXT[cut:]) == EVENTS


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 7, 11])
def test_many_pieces(length: int) -> None:
    assert decoded(*[TEXT[place : place + length] for place in range(0, len(TEXT), length)]) == EVENTS


@pytest.mark.parametrize(
    ("text", "events", "why"),
    [
        (b"", [], "nothing"),
        (b"data: a\n", [], "an event that is not finished is none"),
        (b"event: x\n\ndata: a\n\n", [("message", "a", None)], "a name goes with its event, also one without data"),
        (b"id: 1\0\ndata: a\n\n", [("message", "a", None)], "an id with NUL is none"),
        (b"data: \xff\n\n", [("message", "\ufffd", None)], "what is no UTF-8 is replaced"),
        (b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", [("message", "a", None)], "a mark within is no mark"),
        (b"data: a\n\n\n\ndata: b\n\n", [("message", "a", None), ("message", "b", None)], "empty lines between"),
    ],
)
def test_forms(text: bytes, events: List[ServerSentEvent], why: str) -> None:
    assert decoded(text) == events, why


@pytest.mark.parametrize("piece", [b"data: " + b"x" * 40, b"x" * 50, b"data: xxxxxx\n" * 10])
def test_an_event_has_a_bound(monkeypatch: pytest.MonkeyPatch, piece: bytes) -> None:
    monkeypatch.setattr(_sse, "EVENT_BYTES_MAX", 40)
    with pytest.raises(EventTooLarge):
        decoded(piece)
    assert len(decoded(*[b"data: xxxxxx\n\n"] * 10)) == 10
