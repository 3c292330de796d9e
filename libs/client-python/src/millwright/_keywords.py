"""What is said of a keyword that a method does not have."""

from __future__ import annotations

import difflib
import inspect
import sys
from types import FrameType
from typing import Any, Iterable, List, Mapping, Optional, Type


def check_names(options: Mapping[str, Any], known: Type[Any]) -> None:
    """Raises TypeError, as Python does, for a name that is no member of the TypedDict `known`; it names the method that was called, and the nearest name."""
    for name in options:
        if name not in known.__annotations__:
            raise TypeError(_words(name, known.__annotations__))


def _words(name: str, known: Iterable[str]) -> str:
    method = _method_with(name)
    if method is None:
        return f"got an unexpected keyword argument '{name}'"
    near = difflib.get_close_matches(name, [*_parameters(method), *known], 1)
    meant = f"; did you mean '{near[0]}'?" if near else ""
    place = getattr(method.f_locals.get("self"), "_place", "")
    return f"{place}{'.' if place else ''}{method.f_code.co_name}() has no parameter '{name}'{meant}"


def _method_with(name: str) -> Optional[FrameType]:
    """The method that has taken this keyword among its options. It is looked for only when a call is wrong."""
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_flags & inspect.CO_VARKEYWORDS:
            has_more = bool(code.co_flags & inspect.CO_VARARGS)
            options = code.co_varnames[code.co_argcount + code.co_kwonlyargcount + has_more]
            if name in frame.f_locals.get(options, ()):
                return frame
        frame = frame.f_back
    return None


def _parameters(method: FrameType) -> List[str]:
    code = method.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return [name for name in names if name != "self"]
