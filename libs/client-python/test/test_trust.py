"""Certificates are read once for all clients, and again when others are to be trusted."""

from __future__ import annotations

import os
import shutil
import ssl
from pathlib import Path

import certifi
import httpx
import pytest

from millwright import AsyncMillwright, Millwright
from millwright._trust import tls_context

KEY = "mw_" + "k" * 43


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> "list[ssl.SSLContext]":
    """Every context that is made, from a process on that has made none."""
    from millwright import _trust

    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE"):
        monkeypatch.delenv(name, raising=False)
    made: "list[ssl.SSLContext]" = []
    make = httpx.create_ssl_context

    def noted() -> ssl.SSLContext:
        made.append(make())
        return made[-1]

    monkeypatch.setattr(httpx, "create_ssl_context", noted)
    _trust._tls_context.cache_clear()
    return made


def test_clients_share_what_was_read(read: "list[ssl.SSLContext]") -> None:
    for name in ("one", "two"):
        Millwright(api_key=KEY, base_url=f"https://{name}.example").close()
    AsyncMillwright(api_key=KEY, base_url="https://three.example")
    assert len(read) == 1
    assert read[0].verify_mode == ssl.CERT_REQUIRED
    assert read[0].check_hostname


def test_another_file_is_read(read: "list[ssl.SSLContext]", monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = tls_context()
    authorities = tmp_path / "authorities.pem"
    shutil.copy(certifi.where(), authorities)
    monkeypatch.setenv("SSL_CERT_FILE", str(authorities))
    assert tls_context() is not before
    assert tls_context() is tls_context()
    assert len(read) == 2


def test_another_class_of_contexts_is_taken(read: "list[ssl.SSLContext]", monkeypatch: pytest.MonkeyPatch) -> None:
    before, other = tls_context(), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # As truststore puts its own there.
    monkeypatch.setattr(ssl, "SSLContext", type("OfTheSystem", (ssl.SSLContext,), {}))
    monkeypatch.setattr(httpx, "create_ssl_context", lambda: other)
    assert tls_context() is other is not before


def test_a_file_that_was_changed_is_read_again(
    read: "list[ssl.SSLContext]", monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    authorities = tmp_path / "authorities.pem"
    shutil.copy(certifi.where(), authorities)
    monkeypatch.setenv("SSL_CERT_FILE", str(authorities))
    all_of_them = tls_context().cert_store_stats()["x509_ca"]
    one = Path(certifi.where()).read_text("utf-8").split("-----END CERTIFICATE-----")[0] + "-----END CERTIFICATE-----\n"
    authorities.write_text(one, "utf-8")
    os.utime(authorities, ns=(0, 0))  # whatever the clock of the file system can tell apart
    assert tls_context().cert_store_stats()["x509_ca"] == 1 < all_of_them
    assert len(read) == 2
