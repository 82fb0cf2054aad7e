"""What the authentication classes for httpx and requests share."""
from __future__ import annotations

from urllib.parse import urlsplit

from ._errors import AgentError, AuthdError

#: Methods whose request may be sent again although the server has acted on it (RFC 9110 §9.2.1).
SAFE_METHODS = frozenset(["GET", "HEAD", "OPTIONS", "TRACE"])

_PORTS = {"http": 80, "https": 443}


def origin_of(url: str) -> str:
    """Scheme, host and port (RFC 6454 §4)."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    scheme = parts.scheme.lower()
    port = parts.port if parts.port is not None else _PORTS.get(scheme)
    return f"{scheme}://{'[' + host + ']' if ':' in host else host}:{port}"


def belongs_elsewhere(error: AuthdError) -> bool:
    """Whether the agent gave out no token because the session does not belong to the request's origin."""
    return isinstance(error, AgentError) and error.cause == "other_origin"
