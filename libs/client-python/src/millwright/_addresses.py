"""Address and key of a service, from options and the environment. What is wrong is named, never repeated."""

from __future__ import annotations

import os
import re
from typing import Dict, Optional

import httpx

from ._errors import MillwrightError
from ._options import API_PATH, DEFAULT_BASE_URL

_VISIBLE_ASCII = re.compile(r"[\x21-\x7e]+")
#: What URL parsing would make an address of all the same is none: missing or leaning slashes, blanks, line ends.
_ADDRESS = re.compile(r"https?://[^\s\\\x00-\x20\x7f/?#][^\s\\\x00-\x20\x7f]*", re.IGNORECASE)
#: What a key that is read from a file often has behind it.
_FINAL_LINE_END = re.compile(r"\r?\n\Z")
_PORT_MAX = 65_535
_LOOPBACK = re.compile(r"127(\.[0-9]{1,3}){3}")


def read_base_url(option: Optional[str]) -> httpx.URL:
    """The address of the API without a final slash, from the option or MILLWRIGHT_BASE_URL. Raises MillwrightError."""
    if option is not None:
        url = read_url(option, "base_url")
    else:
        url = read_url(_variable("MILLWRIGHT_BASE_URL") or DEFAULT_BASE_URL, "MILLWRIGHT_BASE_URL")
    path = url.raw_path.decode("ascii").rstrip("/")
    return url.copy_with(raw_path=(path if path.endswith(API_PATH) else path + API_PATH).encode("ascii"))


def read_url(text: str, source: str) -> httpx.URL:
    """An http(s) address without user, query and fragment. Raises MillwrightError that names its source."""
    if not isinstance(text, str):
        raise MillwrightError(f"{source} must be text")
    url = _parsed(text)
    if url is None or not (url.port is None or 1 <= url.port <= _PORT_MAX):
        raise MillwrightError(f"{source} must be an absolute http or https address")
    if url.userinfo:
        raise MillwrightError(f"{source} must not hold a user or password")
    if "?" in text or "#" in text:
        raise MillwrightError(f"{source} must not have a query or fragment")
    return url


def read_api_key(option: Optional[str]) -> str:
    """The API key, from the option or MILLWRIGHT_API_KEY. Raises MillwrightError that says both ways."""
    if option is not None and not isinstance(option, str):
        raise MillwrightError("api_key must be text")
    given = option if option is not None else _variable("MILLWRIGHT_API_KEY")
    if given is None or not given.strip():
        raise MillwrightError("an API key is needed: give the option api_key, or set MILLWRIGHT_API_KEY")
    key = _FINAL_LINE_END.sub("", given)
    if _VISIBLE_ASCII.fullmatch(key):
        return key
    source = "MILLWRIGHT_API_KEY" if option is None else "api_key"
    raise MillwrightError(f"{source} must hold visible ASCII characters only, without spaces or line ends")


def read_environment_headers() -> Dict[str, str]:
    """Headers of MILLWRIGHT_CUSTOM_HEADERS, one `Name: value` a line. Raises MillwrightError, without what is there."""
    headers: Dict[str, str] = {}
    for line in (_variable("MILLWRIGHT_CUSTOM_HEADERS") or "").splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip():
            headers[name.strip()] = value.strip()
        elif line.strip():
            raise MillwrightError("MILLWRIGHT_CUSTOM_HEADERS must hold one header a line, as in `Name: value`")
    return headers


def is_loopback(url: httpx.URL) -> bool:
    """Whether what is sent there stays on this machine."""
    host = url.host
    return host in ("localhost", "::1") or host.endswith(".localhost") or _LOOPBACK.fullmatch(host) is not None


def shown_host(url: httpx.URL) -> str:
    """Host and port, for messages."""
    return url.netloc.decode("ascii")


def _parsed(text: str) -> Optional[httpx.URL]:
    try:
        url = httpx.URL(text) if _ADDRESS.fullmatch(text) else None
        return url if url is not None and url.host else None  # a name may be found to be none when it is read
    except (httpx.InvalidURL, ValueError, TypeError, AttributeError):
        return None


def _variable(name: str) -> Optional[str]:
    value = os.environ.get(name)
    return value if value and value.strip() else None
