"""JSON as the standard has it: what Python's own reader takes besides, or ends with, is kept from the callers."""

from __future__ import annotations

import json
from typing import Any, Callable, NoReturn, Optional, Union

_MARK = b"\xef\xbb\xbf"


class TooDeep(ValueError):
    """JSON, but nested more deeply than can be read."""


def parsed(content: Union[str, bytes], parse_float: Optional[Callable[[str], Any]] = None) -> Any:
    """The value in a text, or in bytes of UTF-8; a byte order mark before it is dropped. Raises ValueError, of which TooDeep is one."""
    text = unmarked(content)
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=parse_float)
    except RecursionError:
        raise TooDeep("it is nested too deeply to be read") from None


def unmarked(content: Union[str, bytes]) -> Union[str, bytes]:
    """What stands behind a byte order mark, if there is one."""
    if isinstance(content, bytes):
        return content[len(_MARK) :] if content.startswith(_MARK) else content
    return content[1:] if content.startswith("\ufeff") else content


def may_hold_constants(content: Union[str, bytes]) -> bool:
    """Whether the words that are no JSON (NaN, Infinity) are in a text, be it inside of a string."""
    if isinstance(content, bytes):
        return b"NaN" in content or b"Infinity" in content
    return "NaN" in content or "Infinity" in content


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
