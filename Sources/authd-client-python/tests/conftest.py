"""An agent made for a test, and what Tests/EndToEndTests/Clients/PythonClientTests.swift passes on about the real one."""
from __future__ import annotations

import json
import os
import socket
import threading
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Union

import pytest

SECRET = "tok-SECRET-4711"
Reply = Union[Dict[str, Any], bytes, None]


class FakeAgent:
    """Answers each line with what ``reply`` returns: a result, bytes as they are, or nothing and the connection's end."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "socket")
        self.reply: Callable[[str, Dict[str, Any]], Reply] = lambda method, params: {}
        self.requests: List[Dict[str, Any]] = []
        self.connections = 0
        self._held: List[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def error(self, kind: str, **data: Any) -> bytes:
        error = {"code": -32000, "message": "No.", "data": {"kind": kind, "retryable": False, **data}}
        return json.dumps({"jsonrpc": "2.0", "id": 1, "error": error}).encode() + b"\n"

    def token(self, token: str = SECRET, **more: Any) -> Dict[str, Any]:
        return {"access_token": token, "token_type": "Bearer", "session": "one", "valid_ms": 60000, **more}

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._held.append(connection)
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            self._answer(connection)
        except OSError:
            # The client has gone.
            pass

    def _answer(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines:
            for line in lines:
                request = json.loads(line)
                self.requests.append(request)
                reply = self.reply(request["method"], request["params"])
                if reply is None:
                    # Without this the end of makefile() alone would close it.
                    connection.shutdown(socket.SHUT_RDWR)
                    return
                if isinstance(reply, dict):
                    reply = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": reply}).encode() + b"\n"
                connection.sendall(reply)

    def end(self) -> None:
        self._listener.close()
        for connection in self._held:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[FakeAgent]:
    made = FakeAgent(tmp_path)
    yield made
    made.end()


@pytest.fixture(scope="session")
def live() -> Dict[str, Any]:
    """The server and the sessions of the real agent, whose socket is in the environment."""
    text = os.environ.get("AUTHD_TEST")
    if text is None:
        pytest.skip("needs the agent that PythonClientTests starts")
    found: Dict[str, Any] = json.loads(text)
    return found
