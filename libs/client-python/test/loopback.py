"""A server on loopback that does exactly what a test says, and knows which connections its clients have left."""

from __future__ import annotations

import queue
import socket
import threading
from typing import Callable, List

PATIENCE_SECONDS = 20


class Connection:
    """One connection of a client."""

    def __init__(self, peer: socket.socket) -> None:
        self._peer = peer
        self._rest = b""
        self.left = threading.Event()

    def request(self) -> bytes:
        """The head of the next request; its body is read too. Empty when the client has gone."""
        while b"\r\n\r\n" not in self._rest:
            part = self._received()
            if not part:
                return b""
            self._rest += part
        head, self._rest = self._rest.split(b"\r\n\r\n", 1)
        length = sum(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        while len(self._rest) < length:
            self._rest += self._received() or b"\0" * length
        self._rest = self._rest[length:]
        return head

    def send(self, part: bytes) -> bool:
        """Whether it could be sent."""
        try:
            self._peer.sendall(part)
            return True
        except OSError:
            return False

    def wait_until_left(self) -> None:
        """Returns when the client has closed the connection."""
        while self._received():
            pass

    def close(self) -> None:
        self._peer.close()

    def _received(self) -> bytes:
        try:
            return self._peer.recv(65536)
        except OSError:
            return b""


class Loopback:
    """Serves each connection with `serve`, in a thread of its own."""

    def __init__(self, serve: Callable[[Connection], None]) -> None:
        self._serve = serve
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self._listener.getsockname()[1]
        self.connections: List[Connection] = []
        self._accepted: "queue.Queue[Connection]" = queue.Queue()
        threading.Thread(target=self._accept, daemon=True).start()

    def connection(self) -> Connection:
        """The next connection that was made."""
        return self._accepted.get(timeout=PATIENCE_SECONDS)

    def __enter__(self) -> Loopback:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)  # which closing alone would not tell the thread that accepts
        self._listener.close()
        for connection in self.connections:
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            peer.settimeout(PATIENCE_SECONDS)
            connection = Connection(peer)
            self.connections.append(connection)
            self._accepted.put(connection)
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection: Connection) -> None:
        self._serve(connection)
        connection.wait_until_left()
        connection.left.set()
        connection.close()


def json_answer(body: bytes, status: bytes = b"200 OK", headers: bytes = b"") -> bytes:
    """A whole answer."""
    length = str(len(body)).encode()
    return b"HTTP/1.1 " + status + b"\r\nContent-Type: application/json\r\nContent-Length: " + length + b"\r\n" + headers + b"\r\n" + body
