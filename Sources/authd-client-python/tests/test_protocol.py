from __future__ import annotations

import asyncio
import importlib
import os
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List

import pytest

from authd_client import (
    AgentError, AsyncClient, AuthdError, BadReply, Client, ClientClosed, ConnectionLost, NoAgent, OtherUser,
    SignInRequired, TimedOut, TooLong, socket_path,
)
from conftest import SECRET, FakeAgent, Reply


def both(path: str, timeout: float = 10) -> Iterator[Any]:
    """The same call of both clients, as a function."""
    yield lambda name, *params, **more: getattr(Client(path, timeout), name)(*params, **more)
    yield lambda name, *params, **more: asyncio.run(getattr(AsyncClient(path, timeout), name)(*params, **more))


def test_socket_path() -> None:
    assert socket_path("/a/s") == "/a/s"
    assert socket_path(environment={"AUTHD_SOCKET": "/b/s", "XDG_RUNTIME_DIR": "/c"}) == "/b/s"
    assert socket_path(environment={"AUTHD_SOCKET": "", "XDG_RUNTIME_DIR": "/c"}) == "/c/authd/socket"
    for bad in ("relative", "/" + "x" * 107, "/a\0b"):
        with pytest.raises(AuthdError) as raised:
            socket_path(bad)
        assert raised.value.kind == "validation"


def test_unused_runtime_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4294967290)
    with pytest.raises(AuthdError) as raised:
        socket_path(environment={"XDG_RUNTIME_DIR": "relative"})
    assert "not an absolute path" in raised.value.message


def test_no_agent(tmp_path: Path) -> None:
    for call in both(str(tmp_path / "none")):
        with pytest.raises(NoAgent) as raised:
            call("status")
        assert raised.value.kind == "no_agent" and raised.value.retryable and "no such file" in str(raised.value)
        assert raised.value.hint is not None and "authd.socket" in raised.value.hint


def test_results(agent: FakeAgent) -> None:
    agent.reply = lambda method, params: agent.token(expires_at=12)
    for call in both(agent.path):
        token = call("token", "one", origin="https://a.example", min_valid=2.5)
        assert (token.access_token, token.session, token.expires_at, token.valid) == (SECRET, "one", 12, 60)
        assert token.authorization == f"Bearer {SECRET}" and SECRET not in repr(token)
        assert agent.requests[-1]["params"] == {
            "session": "one", "origin": "https://a.example", "min_valid_ms": 2500}
    agent.reply = lambda method, params: {"status": 200, "headers": {"a": "b"}, "body": {"x": 1}}
    for call in both(agent.path):
        response = call("request", "POST", "/x", body={"secret": SECRET}, query={"q": 1})
        assert (response.status, response.json(), response.headers) == (200, {"x": 1}, {"a": "b"})
    agent.reply = lambda method, params: {"status": 200, "headers": {}, "body_base64": "AAE="}
    for call in both(agent.path):
        assert call("request", "POST", "/x", content=b"\0").content == b"\0\1"
        assert agent.requests[-1]["params"]["body_base64"] == "AA=="


def test_errors_of_the_agent(agent: FakeAgent) -> None:
    agent.reply = lambda method, params: agent.error(
        "rate_limited", retryable=True, retry_after_ms=1500, http_status=429, provider_message="Slow", details=["a"])
    for call in both(agent.path):
        with pytest.raises(AgentError) as raised:
            call("token")
        error = raised.value
        assert (error.kind, error.message, error.retryable, error.retry_after) == ("rate_limited", "No.", True, 1.5)
        assert (error.http_status, error.provider_message, error.details) == (429, "Slow", ["a"])
        assert error.hint == "try again in 1.5 s"
    agent.reply = lambda method, params: agent.error("sign_in_required", cause="refused")
    for call in both(agent.path):
        with pytest.raises(SignInRequired) as refused:
            call("token")
        assert refused.value.cause == "refused" and "authc login" in str(refused.value)


@pytest.mark.parametrize("reply, error", [
    (b"no json\n", BadReply), (b"[1]\n", BadReply), (b"[" * 100000 + b"\n", BadReply),
    (b'{"jsonrpc":"2.0","id":7,"result":{}}\n', BadReply), (b'{"id":1,"result":"' + SECRET.encode() + b'"}\n', BadReply),
    (b'{"id":1,"result":{"access_token":7}}\n', BadReply), (b'{"access_token":"' + SECRET.encode() + b'"\n', BadReply),
    (b"\xff" + SECRET.encode() + b"\n", BadReply), (b"x" * (13 << 20), TooLong), (None, ConnectionLost),
    (b'{"id":null,"error":{"code":-32000,"message":"Too many.","data":{"kind":"busy"}}}\n', AgentError),
])
def test_bad_replies(agent: FakeAgent, reply: Reply, error: Any) -> None:
    agent.reply = lambda method, params: reply
    for call in both(agent.path):
        with pytest.raises(error) as raised:
            call("token")
        assert SECRET not in full_trace(raised.value)


def test_no_answer(agent: FakeAgent) -> None:
    agent.reply = lambda method, params: b""
    for call in both(agent.path, timeout=0.05):
        with pytest.raises(TimedOut) as raised:
            call("token")
        assert raised.value.kind == "timeout" and raised.value.retryable


def test_long_and_invalid_requests(agent: FakeAgent) -> None:
    for call in both(agent.path):
        with pytest.raises(TooLong) as long:
            call("request", "POST", "/", body=SECRET * 100000)
        with pytest.raises(AuthdError) as invalid:
            call("call", "token.reject", {"access_token": SECRET, "x": object()})
        assert invalid.value.kind == "validation"
        with pytest.raises(AuthdError) as surrogate:
            call("request", "POST", "/", body=float("nan"))
        for error in (long.value, invalid.value, surrogate.value):
            assert SECRET not in full_trace(error)
    assert agent.requests == []


def test_no_secret_in_a_traceback(agent: FakeAgent) -> None:
    agent.reply = lambda method, params: agent.error("refused")
    for call in both(agent.path):
        uses: List[Callable[[], Any]] = [
            lambda: call("reject", SECRET), lambda: call("call", "token.reject", {"access_token": SECRET}),
            lambda: call("request", "POST", "/", body={"password": SECRET}),
        ]
        for use in uses:
            with pytest.raises(AgentError) as raised:
                use()
            assert SECRET not in full_trace(raised.value)


def test_connections_are_used_again_and_replaced(agent: FakeAgent) -> None:
    agent.reply = lambda method, params: agent.token()
    client = Client(agent.path)
    for _ in range(3):
        client.token()
    assert agent.connections == 1
    agent.reply = lambda method, params: None
    with pytest.raises(ConnectionLost):
        client.token()
    assert len(agent.requests) == 4
    agent.reply = lambda method, params: agent.token()
    client.token()
    assert agent.connections == 2
    client.close()
    with pytest.raises(ClientClosed):
        client.token()


def test_at_most_32_calls_run_at_once(agent: FakeAgent) -> None:
    lock, full = threading.Lock(), threading.Event()
    running, most = 0, 0

    def reply(method: str, params: Dict[str, Any]) -> Reply:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
            if running == 32:
                full.set()
        full.wait(30)
        with lock:
            running -= 1
        return agent.token()

    agent.reply = reply

    async def play() -> None:
        async with AsyncClient(agent.path) as client:
            await asyncio.gather(*[client.token() for _ in range(100)])
            before = agent.connections
            await client.token()
            assert agent.connections == before

    asyncio.run(play())
    assert most == 32


def test_threads_do_not_wait_for_each_other(agent: FakeAgent) -> None:
    go = threading.Event()

    def reply(method: str, params: Dict[str, Any]) -> Reply:
        if params.get("session") == "slow":
            go.wait(30)
        return agent.token()

    agent.reply = reply
    client = Client(agent.path)
    slow = threading.Thread(target=lambda: client.token("slow"))
    slow.start()
    client.token("fast")
    assert slow.is_alive()
    go.set()
    slow.join(30)


def test_a_cancelled_call_does_not_disturb_the_next(agent: FakeAgent) -> None:
    async def play() -> None:
        agent.reply = lambda method, params: b""
        async with AsyncClient(agent.path) as client:
            task = asyncio.ensure_future(client.token())
            while not agent.requests:
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            agent.reply = lambda method, params: agent.token()
            assert (await client.token()).session == "one"

    asyncio.run(play())


def event(name: str) -> bytes:
    return b'{"jsonrpc":"2.0","method":"event","params":{"topic":"agent","event":"%s","at":1}}\n' % name.encode()


def test_events_reconnect_and_end(agent: FakeAgent) -> None:
    answer = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
    agent.reply = lambda method, params: answer + event("snapshot") + b'{"method":"news","params":{}}\n' + event("more")
    events = Client(agent.path).events(["session"], "one")
    assert [next(events).name for _ in range(2)] == ["snapshot", "more"]
    assert agent.requests[-1]["params"] == {"topics": ["session"], "session": "one"}
    assert events.next(0.01) is None
    for connection in agent._held:
        connection.shutdown(2)
    assert [next(events).name for _ in range(3)] == ["disconnected", "snapshot", "more"]
    threading.Timer(0.01, events.close).start()
    assert list(events) == []
    agent.reply = lambda method, params: agent.error("validation")
    with pytest.raises(AgentError):
        next(Client(agent.path).events())

    async def play() -> None:
        agent.reply = lambda method, params: answer + event("snapshot")
        async with AsyncClient(agent.path).events() as events:
            assert (await events.__anext__()).name == "snapshot"
            for connection in agent._held:
                try:
                    connection.shutdown(2)
                except OSError:
                    pass
            assert (await events.__anext__()).name == "disconnected"
            assert (await events.__anext__()).name == "snapshot"
        async for _ in events:
            raise AssertionError("it is closed")

    asyncio.run(play())


def test_secrets_are_not_sent_to_another_users_agent(agent: FakeAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() == 0:
        import socket
        import struct

        other = struct.pack("iII", 1, 65534, 65534)
        real = socket.socket.getsockopt

        def getsockopt(self: socket.socket, level: int, name: int, *size: int) -> Any:
            return other if name == socket.SO_PEERCRED else real(self, level, name, *size)

        monkeypatch.setattr(socket.socket, "getsockopt", getsockopt)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 4294967290)
    agent.reply = lambda method, params: agent.token()
    for call in both(agent.path):
        # What it asks for is the agent's to refuse.
        call("token")
        uses: List[Callable[[], Any]] = [
            lambda: call("reject", SECRET), lambda: call("call", "login.start", {}), lambda: call("call", "a.new.method"),
            lambda: call("call", "token.proof", {"access_token": SECRET}),
        ]
        for use in uses:
            before = len(agent.requests)
            with pytest.raises(OtherUser) as raised:
                use()
            assert raised.value.kind == "denied" and len(agent.requests) == before


def test_a_child_process_opens_its_own_connection(agent: FakeAgent) -> None:
    agent.reply = lambda method, params: agent.token()
    client = Client(agent.path)
    client.token()
    child = os.fork()
    if child == 0:
        try:
            client.token()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    client.token()
    assert agent.connections == 2


@pytest.mark.parametrize("name", ["httpx", "requests"])
def test_other_packages_are_optional(name: str) -> None:
    script = f"""
import sys
sys.modules["{name}"] = None
import authd_client
try:
    import authd_client.{name}_auth
except ImportError:
    sys.exit(0)
sys.exit(1)
"""
    assert subprocess.run([sys.executable, "-B", "-c", script]).returncode == 0
    importlib.import_module(f"authd_client.{name}_auth")


def full_trace(error: BaseException) -> str:
    """What a program prints that shows local variables, without this file's frames, and all that the errors hold."""
    text = ""
    seen = []
    one: Any = error
    while one is not None and one not in seen:
        seen.append(one)
        trace = traceback.TracebackException(type(one), one, one.__traceback__, capture_locals=True)
        text += "".join(
            f"{frame.filename} {frame.locals}\n" for frame in trace.stack
            if f"{os.sep}authd_client{os.sep}" in frame.filename or "json" in frame.filename)
        text += f"{one!r} {vars(one)}"
        one = one.__cause__ or one.__context__
    return text
