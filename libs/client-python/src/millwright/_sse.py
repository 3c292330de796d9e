"""Server-sent events out of bytes, by the standard (html.spec.whatwg.org, 9.2). Nothing here reads or waits."""

from __future__ import annotations

import re
from typing import Iterator, List, NamedTuple, Optional

#: What one event may hold: a stream that never ends an event is not kept in memory.
EVENT_BYTES_MAX = 16 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\n|\r")


class ServerSentEvent(NamedTuple):
    """One event as it came."""

    event: str
    """Its name; `message` where it has none."""
    data: str
    """Its data lines, with line feeds between."""
    id: Optional[str]
    """Its own id; None where it has none."""


class EventTooLarge(Exception):
    """An event that is longer than EVENT_BYTES_MAX."""


class ServerSentEventDecoder:
    """Takes a stream in chunks that are cut anywhere; one for each connection."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._is_begin = True
        self._is_after_cr = False
        self._event = ""
        self._data: List[bytes] = []
        self._id: Optional[str] = None
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        """The events that `chunk` completes. Raises EventTooLarge."""
        # A line feed behind a carriage return belongs to it, also when it comes in the next chunk.
        if self._is_after_cr and chunk:
            self._is_after_cr = False
            chunk = chunk[1:] if chunk[:1] == b"\n" else chunk
        place = 0
        for end in _LINE_END.finditer(chunk):
            self._line += chunk[place : end.start()]
            place = end.end()
            event = self._take(self._whole_line())
            if event is not None:
                yield event
        self._is_after_cr = chunk[-1:] == b"\r"
        self._line += chunk[place:]
        if self._size + len(self._line) > EVENT_BYTES_MAX:
            raise EventTooLarge

    def _whole_line(self) -> bytes:
        line = bytes(self._line)
        self._line.clear()
        if self._is_begin:
            self._is_begin = False
            return line[len(_BOM) :] if line.startswith(_BOM) else line
        return line

    def _take(self, line: bytes) -> Optional[ServerSentEvent]:
        if not line:
            return self._dispatched()
        name, _, value = line.partition(b":")
        if value[:1] == b" ":
            value = value[1:]
        if name == b"data":
            self._size += len(value) + 1
            if self._size > EVENT_BYTES_MAX:
                raise EventTooLarge
            self._data.append(value)
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
        return None

    def _dispatched(self) -> Optional[ServerSentEvent]:
        event, data, id = self._event, self._data, self._id
        self._event, self._data, self._id, self._size = "", [], None, 0
        if not data:
            return None
        return ServerSentEvent(event or "message", b"\n".join(data).decode("utf-8", "replace"), id)
