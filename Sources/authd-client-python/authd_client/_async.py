"""The client for asyncio."""
from __future__ import annotations

import asyncio
import random
import socket
import time
from types import TracebackType
from typing import Any, AsyncIterator, List, Mapping, Optional, Type, Union

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
    async def open(path: str) -> _Connection:
        while True:
            made = connect(path)
            if made is not None:
                return _Connection(made)
            await asyncio.sleep(CONNECT_PAUSE)

    @property
    def is_idle(self) -> bool:
        """Whether nothing has arrived, not even the connection's end."""
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    async def call(self, method: str, params: Hidden[JSON]) -> Hidden[JSON]:
        line = request_line(method, params)
        if sends_secrets(method, params):
            require_own_server(self._socket)
        await self._send(line)
        while True:
            message = await self.next()
            if message.result is not None:
                return message.result

    async def next(self) -> Message:
        while True:
            line = self._lines.next()
            if line is not None:
                return Message.parse(line)
            self._lines.append(await self._receive())

    async def _send(self, line: Hidden[bytes]) -> None:
        try:
            await asyncio.get_running_loop().sock_sendall(self._socket, line.value)
            return
        except OSError:
            pass
        raise ConnectionLost()

    async def _receive(self) -> Hidden[bytes]:
        try:
            return Hidden(await asyncio.get_running_loop().sock_recv(self._socket, READ_BYTES))
        except OSError:
            pass
        raise ConnectionLost()

    def close(self) -> None:
        self._socket.close()


class AsyncClient:
    """Calls the agent from asyncio. Tasks of one event loop may share a client.

    Each call has a separate connection while it runs; a few are kept for later calls. A call on a lost connection fails and is
    not repeated, because the agent may have performed it. The next call connects again. A cancelled call ends its connection.
    """

    def __init__(self, socket: Optional[str] = None, timeout: float = DEFAULT_TIMEOUT) -> None:
        """``socket`` is the path of the agent's socket, ``timeout`` the time limit of a call in seconds."""
        self.socket_path = socket_path(socket)
        self.timeout = timeout
        self._idle: List[_Connection] = []
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._room: Optional[asyncio.Semaphore] = None
        self._is_closed = False

    async def call(self, method: str, params: Optional[JSON] = None, *, timeout: Optional[float] = None) -> JSON:
        """The result of any method of the protocol. It may hold secrets."""
        hidden = Hidden(dict(params or {}))
        params = None
        return (await self._call(method, hidden, timeout)).value

    async def token(
        self, session: Optional[str] = None, *, origin: Optional[str] = None, min_valid: Optional[float] = None,
        scopes: Optional[List[str]] = None, audience: Optional[str] = None, timeout: Optional[float] = None,
    ) -> Token:
        """An access token that is valid now, and for ``min_valid`` seconds longer if the provider's lifetimes allow.

        ``origin`` is where the caller sends the token, such as ``https://api.example.org``: the agent refuses with the kind
        ``denied`` if the session does not belong there. A program that does not name its session should name this.
        """
        params = token_params(session, origin, min_valid, scopes, audience)
        return Token.of(await self._call("token.get", params, timeout))

    async def reject(
        self, access_token: Union[str, Token], session: Optional[str] = None, *, timeout: Optional[float] = None,
    ) -> SessionStatus:
        """Reports that a backend answered 401 to this token. The agent renews it if it is still the current one."""
        if isinstance(access_token, Token):
            session, access_token = session or access_token.session, access_token.access_token
        params = Hidden({"session": session, "access_token": access_token})
        access_token = ""
        return SessionStatus.of((await self._call("token.reject", params, timeout)).value)

    async def status(self, session: Optional[str] = None, *, timeout: Optional[float] = None) -> SessionStatus:
        return SessionStatus.of((await self._call("session.status", Hidden({"session": session}), timeout)).value)

    async def sessions(self, *, timeout: Optional[float] = None) -> List[SessionStatus]:
        found = (await self._call("session.list", Hidden({}), timeout)).value.get("sessions")
        return [SessionStatus.of(one) for one in found or []]

    async def request(
        self, method: str, path: str, *, session: Optional[str] = None, query: Optional[JSON] = None,
        headers: Optional[Mapping[str, str]] = None, body: Any = None, content: Optional[bytes] = None,
        queue: bool = False, timeout: Optional[float] = None,
    ) -> Response:
        """Lets the agent send a request with the session's token. ``body`` is sent as JSON, ``content`` as it is.

        Any response but 2xx is raised as an ``AgentError`` with its ``http_status``.
        """
        params = request_params(session, method, path, query, headers, body, content, queue)
        body = content = headers = query = None
        return Response.of(await self._call("api.request", params, timeout))

    def events(self, topics: Optional[List[str]] = None, session: Optional[str] = None) -> AsyncEvents:
        """Events from now on, after a snapshot. Each has a separate connection."""
        return AsyncEvents(self.socket_path, topics, session)

    async def close(self) -> None:
        """Closes the idle connections. Later calls fail."""
        self._is_closed = True
        self._drop_idle()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType],
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({self.socket_path!r})"

    async def _call(self, method: str, params: Hidden[JSON], timeout: Optional[float]) -> Hidden[JSON]:
        loop = asyncio.get_running_loop()
        if self._loop is not loop or self._room is None:
            # A client may outlive one asyncio.run().
            self._loop, self._room = loop, asyncio.Semaphore(CALLS_AT_ONCE)
            self._drop_idle()
        try:
            return await asyncio.wait_for(
                self._call_in_turn(self._room, method, params), self.timeout if timeout is None else timeout)
        except asyncio.TimeoutError:
            pass
        raise TimedOut()

    async def _call_in_turn(self, room: asyncio.Semaphore, method: str, params: Hidden[JSON]) -> Hidden[JSON]:
        async with room:
            connection = await self._connection()
            usable = False
            try:
                result = await connection.call(method, params)
                usable = True
            finally:
                if usable and not self._is_closed and len(self._idle) < IDLE_CONNECTIONS:
                    self._idle.append(connection)
                else:
                    connection.close()
            return result

    async def _connection(self) -> _Connection:
        if self._is_closed:
            raise ClientClosed()
        while self._idle:
            found = self._idle.pop()
            if found.is_idle:
                return found
            found.close()
        return await _Connection.open(self.socket_path)

    def _drop_idle(self) -> None:
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


class AsyncEvents:
    """An endless asynchronous iterator of the agent's events.

    The first event is a snapshot. If the connection ends, one event ``disconnected`` of the topic ``agent`` follows, and another
    snapshot after the next connection. Use it with ``async with``, or close it: it has a separate connection.
    """

    def __init__(self, path: str, topics: Optional[List[str]], session: Optional[str]) -> None:
        self._path = path
        self._params = subscription(topics, session)
        self._connection: Optional[_Connection] = None
        self._is_disconnected = False
        self._is_closed = False
        self._pause = FIRST_PAUSE

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        """Raises the agent's error if it will never accept this subscription."""
        while not self._is_closed:
            try:
                if self._connection is None:
                    await self._subscribe()
                event = await self._next()
                self._is_disconnected, self._pause = False, FIRST_PAUSE
                return event
            except AuthdError as error:
                if isinstance(error, AgentError) and not error.retryable:
                    self.close()
                    raise
            self._disconnect()
            if not self._is_disconnected:
                self._is_disconnected = True
                return Event("agent", "disconnected", time.time())
            pause = self._pause * random.uniform(0.5, 1)
            self._pause = min(self._pause * 2, LONGEST_PAUSE)
            await asyncio.sleep(pause)
        raise StopAsyncIteration

    def close(self) -> None:
        """Closes the connection; the next event is the end. Cancel the task that waits for an event first."""
        self._is_closed = True
        self._disconnect()

    async def __aenter__(self) -> AsyncEvents:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType],
    ) -> None:
        self.close()

    async def _subscribe(self) -> None:
        try:
            await asyncio.wait_for(self._open(), SUBSCRIBE_TIMEOUT)
            return
        except asyncio.TimeoutError:
            pass
        raise TimedOut()

    async def _open(self) -> None:
        self._connection = await _Connection.open(self._path)
        await self._connection.call("events.subscribe", self._params)

    async def _next(self) -> Event:
        while self._connection is not None:
            message = await self._connection.next()
            if message.event is not None:
                return Event.of(message.event)
        raise ConnectionLost()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
