"""The client that blocks."""
from __future__ import annotations

import os
import random
import select
import socket
import threading
import time
from types import TracebackType
from typing import Any, Iterator, List, Mapping, Optional, Type, Union

from ._errors import JSON, AgentError, AuthdError, ClientClosed, ConnectionLost, TimedOut
from ._protocol import (
    CALLS_AT_ONCE, CONNECT_PAUSE, DEFAULT_TIMEOUT, FIRST_PAUSE, IDLE_CONNECTIONS, LONGEST_PAUSE, READ_BYTES,
    SUBSCRIBE_TIMEOUT, Hidden, LineBuffer, Message, connect, request_line, request_params, require_own_server,
    sends_secrets, socket_path, subscription, token_params,
)
from ._types import Event, Response, SessionStatus, Token


class _Connection:
    """One connection, for one call at a time. It cannot be used after an error."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._lines = LineBuffer()

    @staticmethod
    def open(path: str, deadline: float) -> _Connection:
        while True:
            made = connect(path)
            if made is not None:
                return _Connection(made)
            if time.monotonic() >= deadline:
                raise TimedOut()
            time.sleep(CONNECT_PAUSE)

    @property
    def is_idle(self) -> bool:
        """Whether nothing has arrived, not even the connection's end."""
        return not self._ready(select.POLLIN, time.monotonic())

    def call(self, method: str, params: Hidden[JSON], deadline: float) -> Hidden[JSON]:
        self.send(method, params, deadline)
        while True:
            message = self.next(deadline)
            if message is None:
                raise TimedOut()
            if message.result is not None:
                return message.result

    def send(self, method: str, params: Hidden[JSON], deadline: float) -> None:
        line = request_line(method, params)
        if sends_secrets(method, params):
            require_own_server(self._socket)
        sent = 0
        while sent < len(line.value):
            try:
                sent += self._socket.send(memoryview(line.value)[sent:])
                continue
            except (BlockingIOError, InterruptedError):
                pass
            except OSError:
                break
            if not self._ready(select.POLLOUT, deadline):
                raise TimedOut()
        else:
            return
        raise ConnectionLost()

    def next(self, deadline: float, wake: Optional[socket.socket] = None) -> Optional[Message]:
        """The next message, or ``None`` if the deadline passes or ``wake`` is readable first."""
        while True:
            line = self._lines.next()
            if line is not None:
                return Message.parse(line)
            if not self._ready(select.POLLIN, deadline, wake):
                return None
            self._lines.append(self._receive())

    def _receive(self) -> Hidden[bytes]:
        try:
            return Hidden(self._socket.recv(READ_BYTES))
        except OSError:
            pass
        raise ConnectionLost()

    def _ready(self, interest: int, deadline: float, wake: Optional[socket.socket] = None) -> bool:
        poll = select.poll()
        poll.register(self._socket, interest)
        if wake is not None:
            poll.register(wake, select.POLLIN)
        while True:
            left = deadline - time.monotonic()
            ready = [descriptor for descriptor, _ in poll.poll(max(0, min(left, 86400)) * 1000)]
            if wake is not None and wake.fileno() in ready:
                return False
            if ready:
                return True
            if left <= 0:
                return False

    def close(self) -> None:
        self._socket.close()


class Client:
    """Calls the agent and waits for the result. Threads may share a client.

    Each call has a separate connection while it runs; a few are kept for later calls. A call on a lost connection fails and is
    not repeated, because the agent may have performed it. The next call connects again.
    """

    def __init__(self, socket: Optional[str] = None, timeout: float = DEFAULT_TIMEOUT) -> None:
        """``socket`` is the path of the agent's socket, ``timeout`` the time limit of a call in seconds."""
        self.socket_path = socket_path(socket)
        self.timeout = timeout
        self._lock = threading.Lock()
        self._idle: List[_Connection] = []
        self._room = threading.BoundedSemaphore(CALLS_AT_ONCE)
        self._process = os.getpid()
        self._is_closed = False

    def call(self, method: str, params: Optional[JSON] = None, *, timeout: Optional[float] = None) -> JSON:
        """The result of any method of the protocol. It may hold secrets."""
        hidden = Hidden(dict(params or {}))
        params = None
        return self._call(method, hidden, timeout).value

    def token(
        self, session: Optional[str] = None, *, origin: Optional[str] = None, min_valid: Optional[float] = None,
        scopes: Optional[List[str]] = None, audience: Optional[str] = None, timeout: Optional[float] = None,
    ) -> Token:
        """An access token that is valid now, and for ``min_valid`` seconds longer if the provider's lifetimes allow.

        ``origin`` is where the caller sends the token, such as ``https://api.example.org``: the agent refuses with the kind
        ``denied`` if the session does not belong there. A program that does not name its session should name this.
        """
        params = token_params(session, origin, min_valid, scopes, audience)
        return Token.of(self._call("token.get", params, timeout))

    def reject(
        self, access_token: Union[str, Token], session: Optional[str] = None, *, timeout: Optional[float] = None,
    ) -> SessionStatus:
        """Reports that a backend answered 401 to this token. The agent renews it if it is still the current one."""
        if isinstance(access_token, Token):
            session, access_token = session or access_token.session, access_token.access_token
        params = Hidden({"session": session, "access_token": access_token})
        access_token = ""
        return SessionStatus.of(self._call("token.reject", params, timeout).value)

    def status(self, session: Optional[str] = None, *, timeout: Optional[float] = None) -> SessionStatus:
        return SessionStatus.of(self._call("session.status", Hidden({"session": session}), timeout).value)

    def sessions(self, *, timeout: Optional[float] = None) -> List[SessionStatus]:
        found = self._call("session.list", Hidden({}), timeout).value.get("sessions")
        return [SessionStatus.of(one) for one in found or []]

    def request(
        self, method: str, path: str, *, session: Optional[str] = None, query: Optional[JSON] = None,
        headers: Optional[Mapping[str, str]] = None, body: Any = None, content: Optional[bytes] = None,
        queue: bool = False, timeout: Optional[float] = None,
    ) -> Response:
        """Lets the agent send a request with the session's token. ``body`` is sent as JSON, ``content`` as it is.

        Any response but 2xx is raised as an ``AgentError`` with its ``http_status``.
        """
        params = request_params(session, method, path, query, headers, body, content, queue)
        body = content = headers = query = None
        return Response.of(self._call("api.request", params, timeout))

    def events(self, topics: Optional[List[str]] = None, session: Optional[str] = None) -> Events:
        """Events from now on, after a snapshot. Each has a separate connection."""
        return Events(self.socket_path, topics, session)

    def close(self) -> None:
        """Closes the idle connections. Later calls fail."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.socket_path!r})"

    def _call(self, method: str, params: Hidden[JSON], timeout: Optional[float]) -> Hidden[JSON]:
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        if not self._room.acquire(timeout=max(0, deadline - time.monotonic())):
            raise TimedOut()
        try:
            connection = self._connection(deadline)
            usable = False
            try:
                result = connection.call(method, params, deadline)
                usable = True
            finally:
                self._put_back(connection, usable)
            return result
        finally:
            self._room.release()

    def _connection(self, deadline: float) -> _Connection:
        while True:
            with self._lock:
                if self._is_closed:
                    raise ClientClosed()
                if self._process != os.getpid():
                    # The parent uses its connections.
                    self._idle, self._process = [], os.getpid()
                found = self._idle.pop() if self._idle else None
            if found is None:
                return _Connection.open(self.socket_path, deadline)
            if found.is_idle:
                return found
            found.close()

    def _put_back(self, connection: _Connection, usable: bool) -> None:
        with self._lock:
            if usable and not self._is_closed and len(self._idle) < IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.close()


class Events:
    """An endless iterator of the agent's events.

    The first event is a snapshot. If the connection ends, one event ``disconnected`` of the topic ``agent`` follows, and another
    snapshot after the next connection. It ends after :meth:`close`, which another thread may call.
    """

    def __init__(self, path: str, topics: Optional[List[str]], session: Optional[str]) -> None:
        self._path = path
        self._params = subscription(topics, session)
        self._connection: Optional[_Connection] = None
        self._is_disconnected = False
        self._pause = FIRST_PAUSE
        # Closed by the reader: a descriptor that is polled must not be used again for something else.
        self._wake, self._close = socket.socketpair()

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        event = self.next()
        if event is None:
            raise StopIteration
        return event

    def next(self, timeout: Optional[float] = None) -> Optional[Event]:
        """The next event; ``None`` if the time passes first, or after :meth:`close`.

        Raises the agent's error if it will never accept this subscription.
        """
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while not self._is_closed():
            try:
                if self._connection is None:
                    self._subscribe()
                event = self._next(deadline)
                if event is not None:
                    self._is_disconnected, self._pause = False, FIRST_PAUSE
                    return event
                if time.monotonic() >= deadline:
                    return None
                continue
            except AuthdError as error:
                if isinstance(error, AgentError) and not error.retryable:
                    self.__exit__(None, None, None)
                    raise
            self._disconnect()
            if not self._is_disconnected:
                self._is_disconnected = True
                return Event("agent", "disconnected", time.time())
            pause = self._pause * random.uniform(0.5, 1)
            self._pause = min(self._pause * 2, LONGEST_PAUSE)
            if pause >= deadline - time.monotonic():
                pause = max(0, deadline - time.monotonic())
            self._is_closed(pause)
            if time.monotonic() >= deadline:
                return None
        self._disconnect()
        return None

    def close(self) -> None:
        """Ends the iteration, in whichever thread it waits."""
        self._close.close()

    def __enter__(self) -> Events:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType],
    ) -> None:
        self.close()
        self._disconnect()

    def _subscribe(self) -> None:
        deadline = time.monotonic() + SUBSCRIBE_TIMEOUT
        self._connection = _Connection.open(self._path, deadline)
        self._connection.call("events.subscribe", self._params, deadline)

    def _next(self, deadline: float) -> Optional[Event]:
        while self._connection is not None:
            message = self._connection.next(deadline, self._wake)
            if message is None:
                return None
            if message.event is not None:
                return Event.of(message.event)
        return None

    def _is_closed(self, wait: float = 0) -> bool:
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        return bool(poll.poll(wait * 1000))

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
