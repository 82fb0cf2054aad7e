"""What both clients share and no socket is needed for: paths, lines, limits, and what may be sent to whom."""
from __future__ import annotations

import base64
import json
import os
import socket
import stat
import struct
from typing import Any, Generic, List, Mapping, Optional, TypeVar

from ._errors import JSON, AgentError, AuthdError, BadReply, ConnectionLost, NoAgent, OtherUser, TooLong

#: The time limit of a call in seconds. The agent waits up to 60 s for a provider's response.
DEFAULT_TIMEOUT = 70.0
#: A request, as the agent accepts it.
LINE_BYTES = 1 << 20
#: A response has a backend's body of up to 8 MiB, which base64 makes a third longer, and its envelope.
ANSWER_BYTES = 12 << 20
READ_BYTES = 64 << 10
#: Between two attempts to connect if the socket's queue is full.
CONNECT_PAUSE = 0.005
#: The agent answers a subscription from memory.
SUBSCRIBE_TIMEOUT = 10.0
#: The first and the longest pause before events are subscribed again.
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 10.0
#: Calls at once, each on a separate connection. The agent accepts 256 connections of one process.
CALLS_AT_ONCE = 32
#: Connections that are kept for later calls.
IDLE_CONNECTIONS = 4

#: Methods whose params hold no secret. All others are only sent to an agent of the same user.
PLAIN_METHODS = frozenset([
    "agent.info", "agent.ping", "agent.stats", "agent.reload", "agent.lock", "rpc.discover", "provider.list",
    "provider.show", "provider.forget", "login.wait", "login.cancel", "login.resend", "login.lend", "session.list",
    "session.status", "session.use", "session.refresh", "session.validate", "session.logout", "session.wait", "token.get", "token.proof",
    "user.get", "user.update", "api.request", "api.call", "api.write", "api.read", "api.close", "network.status",
    "events.subscribe", "events.unsubscribe", "outbox.list", "outbox.flush", "outbox.drop", "session.trust",
    "audit.list", "consent.list", "consent.answer", "agent.restart", "cluster.status",
    "cluster.join", "cluster.forget", "policy.show", "policy.test", "policy.replay", "policy.apply",
])

T = TypeVar("T")


class Hidden(Generic[T]):
    """A value that does not appear in a repr, and so not in a traceback that shows local variables."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "<secret>"


def sends_secrets(method: str, params: Hidden[JSON]) -> bool:
    if method == "token.proof":
        return params.value.get("access_token") is not None
    return method not in PLAIN_METHODS


def socket_path(path: Optional[str] = None, environment: Optional[Mapping[str, str]] = None) -> str:
    """The path of the agent's socket: ``path``, then ``$AUTHD_SOCKET``, then the user's runtime folder."""
    environment = os.environ if environment is None else environment
    if path is not None:
        return _checked(path, "the path")
    if environment.get("AUTHD_SOCKET"):
        return _checked(environment["AUTHD_SOCKET"], "AUTHD_SOCKET")
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    # A relative folder counts as not set (XDG Base Directory Specification).
    if runtime.startswith("/"):
        return _checked(os.path.join(runtime, "authd/socket"), "XDG_RUNTIME_DIR")
    folder = f"/run/user/{os.getuid()}"
    try:
        info: Optional[os.stat_result] = os.lstat(folder)
    except OSError:
        info = None
    if info is None or info.st_uid != os.getuid() or info.st_mode != stat.S_IFDIR | 0o700:
        state = "not an absolute path" if runtime else "not set"
        raise AuthdError(
            "validation",
            f"there is no private folder for the agent's socket: XDG_RUNTIME_DIR is {state}, and {folder} is missing or open "
            "to others", "set XDG_RUNTIME_DIR to an absolute path, or set AUTHD_SOCKET")
    return _checked(folder + "/authd/socket", folder)


def _checked(path: str, source: str) -> str:
    if not path.startswith("/") or "\0" in path:
        raise AuthdError("validation", f"{source}: the path of the socket must be absolute, such as /run/user/1000/s")
    # sun_path with its ending zero byte (unix(7)).
    if len(os.fsencode(path)) > 107:
        raise AuthdError("validation", f"{source}: the path of the socket has more than 107 bytes", "use a shorter path")
    return path


def connect(path: str) -> Optional[socket.socket]:
    """Tries once to connect. ``None`` if the listener's queue is full. The socket does not block."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
    reason = None
    try:
        # A Unix socket connects at once or fails: EAGAIN means a full queue (unix(7)).
        made.connect(path)
        return made
    except (BlockingIOError, InterruptedError):
        made.close()
        return None
    except OSError as error:
        made.close()
        reason = {2: "no such file", 111: "no program listens"}.get(error.errno or 0, error.strerror or str(error))
    raise NoAgent(path, reason)


def require_own_server(connection: socket.socket) -> None:
    """The agent must run as this user, or as root, which can read this process anyway (SO_PEERCRED, unix(7))."""
    user: Optional[int] = None
    try:
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("iII"))
        user = struct.unpack("iII", credentials)[1]
    except (OSError, struct.error):
        pass
    if user not in (os.geteuid(), 0):
        raise OtherUser(user)


def request_line(method: str, params: Hidden[JSON]) -> Hidden[bytes]:
    """The request with the id 1: a connection carries one call at a time."""
    reason = ""
    try:
        line = json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": method, "params": {k: v for k, v in params.value.items() if v is not None}},
            ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()
        found = Hidden(line + b"\n")
        del line
        if len(found.value) > LINE_BYTES + 1:
            reason = "long"
        else:
            return found
    except (TypeError, ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, TypeError) else "params cannot be written as JSON"
    # Raised here, so that the error has no context whose frames hold the params.
    if reason == "long":
        raise TooLong(LINE_BYTES)
    raise AuthdError("validation", reason)


class LineBuffer:
    """Splits a stream into lines that end with LF, and holds no line longer than the limit."""

    def __init__(self, limit: int = ANSWER_BYTES) -> None:
        self._limit = limit
        self._bytes = bytearray()
        self._searched = 0

    def __repr__(self) -> str:
        return "<LineBuffer>"

    def append(self, more: Hidden[bytes]) -> None:
        if not more.value:
            raise ConnectionLost()
        self._bytes += more.value

    def next(self) -> Optional[Hidden[bytes]]:
        end = self._bytes.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._bytes)
            if len(self._bytes) > self._limit:
                raise TooLong(self._limit)
            return None
        if end > self._limit:
            raise TooLong(self._limit)
        line = Hidden(bytes(self._bytes[:end]))
        del self._bytes[: end + 1]
        self._searched = 0
        return line


class Message:
    """One line of the agent: a result, or an event. An error is raised by :meth:`parse`."""

    def __init__(self, result: Optional[Hidden[JSON]] = None, event: Optional[JSON] = None) -> None:
        self.result = result
        self.event = event

    @staticmethod
    def parse(line: Hidden[bytes]) -> Message:
        message = _json(line)
        if not isinstance(message.value, dict):
            raise BadReply("it is not a JSON object")
        if message.value.get("method") == "event" and isinstance(message.value.get("params"), dict):
            return Message(event=message.value["params"])
        if "method" in message.value:
            # A notification from a newer agent.
            return Message()
        if isinstance(message.value.get("error"), dict):
            # An error without an id, such as too many connections, ends the connection.
            raise AgentError.of(message.value["error"])
        if message.value.get("id") != 1 or not isinstance(message.value.get("result"), dict):
            raise BadReply("it is a response without a request")
        return Message(result=Hidden(message.value["result"]))


def _json(line: Hidden[bytes]) -> Hidden[Any]:
    try:
        return Hidden(json.loads(line.value.decode()))
    except (ValueError, RecursionError):
        pass
    # Raised here, because the parser's error holds the whole line.
    raise BadReply("it is not JSON")


def subscription(topics: Optional[List[str]], session: Optional[str]) -> Hidden[JSON]:
    return Hidden({"topics": topics, "session": session})


def token_params(
    session: Optional[str], origin: Optional[str], min_valid: Optional[float], scopes: Optional[List[str]],
    audience: Optional[str],
) -> Hidden[JSON]:
    return Hidden({
        "session": session, "origin": origin, "min_valid_ms": milliseconds(min_valid), "scopes": scopes,
        "audience": audience,
    })


def request_params(
    session: Optional[str], method: str, path: str, query: Optional[JSON], headers: Optional[Mapping[str, str]],
    body: Any, content: Optional[bytes], queue: bool,
) -> Hidden[JSON]:
    return Hidden({
        "session": session, "method": method, "path": path, "query": query, "headers": dict(headers or {}) or None,
        "body": body, "body_base64": None if content is None else base64.b64encode(content).decode(),
        "queue": queue or None,
    })


def milliseconds(seconds: Optional[float]) -> Optional[int]:
    return None if seconds is None else max(0, int(seconds * 1000))
