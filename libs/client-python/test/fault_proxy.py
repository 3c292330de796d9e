"""The proxy that fails as it is told, as a process of a test; test/support/network/fault-proxy.mjs of the checkout says what it can do."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.request
from typing import Any, Dict, Iterator, List

from conftest import CHECKOUT, cannot


class FaultProxy:
    """Steers one proxy."""

    def __init__(self, url: str, control: str) -> None:
        self.url = url
        self._control = control

    def fail(self, *faults: Dict[str, Any]) -> None:
        """Faults for the requests to come, in order."""
        self._steer("POST", "/faults", list(faults))

    def requests(self) -> List[Dict[str, Any]]:
        """What has come in since the last `forget`."""
        return list(self._steer("GET", "/requests")["requests"])

    def faults_left(self) -> int:
        return int(self._steer("GET", "/requests")["faults_left"])

    def forget(self) -> None:
        self._steer("DELETE", "/")

    def _steer(self, method: str, path: str, body: Any = None) -> Any:
        content = None if body is None else json.dumps(body).encode("utf-8")
        with urllib.request.urlopen(urllib.request.Request(self._control + path, content, method=method), timeout=10) as answer:
            return json.load(answer)


def proxy_before(target: str) -> Iterator[FaultProxy]:
    """A proxy in front of a service, for as long as it is used."""
    node = shutil.which("node")
    if node is None:
        cannot("Node.js")
    command = [node, str(CHECKOUT / "test/support/network/fault-proxy.mjs"), target]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        addresses = json.loads(process.stdout.readline())
        yield FaultProxy(addresses["proxy"], addresses["control"])
        process.stdin.close()
