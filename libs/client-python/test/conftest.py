"""What the tests share: a real service, and an environment in which nothing is set for the client."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Dict, Iterator, NamedTuple, NoReturn, Optional

import pytest

PACKAGE = Path(__file__).resolve().parent.parent
CHECKOUT = PACKAGE.parent.parent
STARTS_WITHIN_SECONDS = 180
ENDS_WITHIN_SECONDS = 20
# Below those that a system gives to whoever asks for any.
PORTS = range(14_000, 18_000)

sys.path.insert(0, str(PACKAGE / "src"))


class Service(NamedTuple):
    """A Millwright service that runs."""

    url: str
    api_key: str


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The service of MILLWRIGHT_TEST_URL and MILLWRIGHT_TEST_KEY, else one of its own from the checkout, as built."""
    url, key = os.environ.get("MILLWRIGHT_TEST_URL"), os.environ.get("MILLWRIGHT_TEST_KEY")
    if url and key:
        yield Service(url, key)
        return
    yield from started(tmp_path_factory.mktemp("service"))


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the client is set, unless the test sets it."""
    for name in [name for name in os.environ if name.startswith("MILLWRIGHT_") and not name.startswith("MILLWRIGHT_TEST_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def document() -> Any:
    """The API document."""
    return json.loads((CHECKOUT / "schemas/generated/openapi.json").read_text("utf-8"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def started(folder: Path, more: Optional[Dict[str, str]] = None) -> Iterator[Service]:
    """A service with its data in the folder. `more`: variables besides those that it needs."""
    node = shutil.which("node")
    if node is None or not (CHECKOUT / "dist/apps/cli/main.js").exists():
        cannot("Node.js" if node is None else "the built service (dist; `npm test` builds it)")
    port, key = free_port(), "mw_" + "k" * 43
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(folder),
        "MILLWRIGHT_PORT": str(port),
        "MILLWRIGHT_DATA_DIR": str(folder / "data"),
        "MILLWRIGHT_ADMIN_KEY": key,
        "MILLWRIGHT_DISK_RESERVE_MB": "1",
        "MILLWRIGHT_LOG_LEVEL": "error",
        **(more or {}),
    }
    said = folder / "service.log"
    with said.open("wb") as log:
        command = [node, str(CHECKOUT / "apps/cli/millwright.mjs"), "start"]
        process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        until_ready(f"http://127.0.0.1:{port}", process, said)
        yield Service(f"http://127.0.0.1:{port}", key)
    finally:
        ended(process)


def until_ready(url: str, process: subprocess.Popen[bytes], said: Path) -> None:
    deadline = time.monotonic() + STARTS_WITHIN_SECONDS
    while not is_ready(url):
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the service did not start:\n{said.read_text('utf-8', 'replace')}")
        time.sleep(0.05)


def is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def ended(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(ENDS_WITHIN_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    while True:
        port = random.choice(PORTS)
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def cannot(what: str) -> NoReturn:
    if os.environ.get("REQUIRE_PYTHON_CLIENT") == "1":
        pytest.fail(f"missing is {what}")
    pytest.skip(f"missing is {what}")
