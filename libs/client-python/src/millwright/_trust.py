"""Whose certificates are trusted: what httpx trusts by itself, read once instead of for each client."""

from __future__ import annotations

import os
import ssl
from functools import lru_cache
from typing import Optional, Tuple, Type

import httpx

_Seen = Tuple[Optional[str], Optional[int]]


def tls_context() -> ssl.SSLContext:
    """The same for all clients, until a variable leads elsewhere, or a file or folder that it leads to has changed.

    A file in a folder that is rewritten in place is not noticed.
    OpenSSL takes 20 to 60 ms of processor time to read the certificates of a hundred authorities.
    """
    file, folder = _seen(os.environ.get("SSL_CERT_FILE")), _seen(os.environ.get("SSL_CERT_DIR"))
    return _tls_context(ssl.SSLContext, file, folder, os.environ.get("SSLKEYLOGFILE"))


@lru_cache(maxsize=1)
def _tls_context(kind: Type[ssl.SSLContext], file: _Seen, folder: _Seen, key_log: Optional[str]) -> ssl.SSLContext:
    """httpx looks at the class, which may have been replaced, and at the variables by itself: whether it has to again."""
    return httpx.create_ssl_context()


def _seen(path: Optional[str]) -> _Seen:
    """A path, and when what is there was changed (ns)."""
    try:
        return path, None if path is None else os.stat(path).st_mtime_ns
    except OSError:
        return path, None
