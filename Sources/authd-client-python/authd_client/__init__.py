"""A client of authd, the per-user agent that holds sign-in sessions.

``Client`` blocks, ``AsyncClient`` is for asyncio. Both need the standard library only. ``authd_client.httpx_auth`` and
``authd_client.requests_auth`` add a session's token to the requests of httpx and requests, if these are installed.
"""
from ._async import AsyncClient, AsyncEvents
from ._client import Client, Events
from ._errors import (
    AgentError, AuthdError, BadReply, ClientClosed, ConnectionLost, NoAgent, OtherUser, SignInRequired, TimedOut, TooLong,
)
from ._protocol import DEFAULT_TIMEOUT, socket_path
from ._types import Event, Response, SessionStatus, Token, User

__version__ = "0.1.0"

__all__ = [
    "AgentError", "AsyncClient", "AsyncEvents", "AuthdError", "BadReply", "Client", "ClientClosed", "ConnectionLost",
    "DEFAULT_TIMEOUT", "Event", "Events", "NoAgent", "OtherUser", "Response", "SessionStatus", "SignInRequired",
    "TimedOut", "Token", "TooLong", "User", "socket_path",
]
