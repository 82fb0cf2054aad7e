"""Results of calls."""
from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass, field
from typing import Any, Dict, Optional, Tuple, Type, TypeVar

from ._errors import JSON, BadReply
from ._protocol import Hidden

T = TypeVar("T")


def _member(object: JSON, key: str, kind: Type[T]) -> T:
    value = _optional(object, key, kind)
    if value is None:
        raise BadReply(f"{key} is missing")
    return value


def _optional(object: JSON, key: str, kind: Type[T]) -> Optional[T]:
    value = object.get(key)
    if value is None:
        return None
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return kind(value)  # type: ignore[call-arg]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise BadReply(f"{key} is not a {kind.__name__}")
    return value


@dataclass(frozen=True)
class Token:
    """A token that is valid now. The token itself is in ``access_token`` and not in the repr."""

    access_token: str = field(repr=False)
    #: As the provider spells it, usually ``Bearer``.
    token_type: str
    session: str
    #: Unix seconds; ``None``: the provider does not say.
    expires_at: Optional[float] = None
    #: For how many seconds it is valid, which may be less than requested.
    valid: Optional[float] = None

    @property
    def authorization(self) -> str:
        """The value of the ``Authorization`` header (RFC 6750 §2.1)."""
        kind = "Bearer" if self.token_type.lower() == "bearer" else self.token_type
        return f"{kind} {self.access_token}"

    @staticmethod
    def of(result: Hidden[JSON]) -> Token:
        valid = _optional(result.value, "valid_ms", float)
        return Token(
            _member(result.value, "access_token", str), _member(result.value, "token_type", str),
            _member(result.value, "session", str), _optional(result.value, "expires_at", float),
            None if valid is None else valid / 1000)


@dataclass(frozen=True)
class User:
    id: Optional[str] = None
    email: Optional[str] = None
    name: Optional[str] = None
    verified: Optional[bool] = None


@dataclass(frozen=True)
class SessionStatus:
    session: str
    provider: str
    #: ``active``, ``stale``, ``sign_in_required``, ``signed_out``, ``keyring_locked`` or ``signing_in``.
    state: str
    environment: Optional[str] = None
    cause: Optional[str] = None
    message: Optional[str] = None
    user: Optional[User] = None
    #: Whether the agent renews it without the user.
    renews: bool = True
    #: Unix seconds.
    expires_at: Optional[float] = None
    is_default: bool = False
    #: All members, as the agent sent them.
    raw: JSON = field(default_factory=dict, repr=False, compare=False)

    @staticmethod
    def of(raw: JSON) -> SessionStatus:
        user = _optional(raw, "user", dict)
        renews = _optional(raw, "renews", bool)
        return SessionStatus(
            _member(raw, "session", str), _member(raw, "provider", str), _member(raw, "state", str),
            _optional(raw, "environment", str), _optional(raw, "cause", str), _optional(raw, "message", str),
            None if user is None else User(
                _optional(user, "id", str), _optional(user, "email", str), _optional(user, "name", str),
                _optional(user, "verified", bool)),
            True if renews is None else renews, _optional(raw, "expires_at", float),
            _optional(raw, "default", bool) or False, raw)


@dataclass(frozen=True)
class Response:
    """The provider's response to a request that the agent sent."""

    status: int
    #: Names in lower case.
    headers: Dict[str, str] = field(repr=False)
    content: bytes = field(repr=False)
    from_cache: bool = False
    #: The entry of the outbox, if the request is queued.
    queued: Optional[str] = None

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")

    def json(self) -> Any:
        return json.loads(self.content)

    @staticmethod
    def of(result: Hidden[JSON]) -> Response:
        headers = _optional(result.value, "headers", dict) or {}
        return Response(
            _member(result.value, "status", int), {str(key): str(value) for key, value in headers.items()},
            _content(result), _optional(result.value, "from_cache", bool) or False,
            _optional(result.value, "queued", str))


def _content(result: Hidden[JSON]) -> bytes:
    if "body" in result.value:
        if isinstance(result.value["body"], str):
            return result.value["body"].encode()
        return json.dumps(result.value["body"], ensure_ascii=False).encode()
    try:
        return base64.b64decode(_optional(result.value, "body_base64", str) or "", validate=True)
    except (ValueError, binascii.Error):
        pass
    raise BadReply("body_base64 is not base64")


@dataclass(frozen=True)
class Event:
    """Something that happened. The first one of a connection is ``agent.snapshot``."""

    topic: str
    name: str
    #: Unix seconds.
    at: float
    session: Optional[str] = None
    #: All members, as the agent sent them.
    raw: JSON = field(default_factory=dict, repr=False, compare=False)

    @property
    def status(self) -> Optional[SessionStatus]:
        """Of an event of a session."""
        status = _optional(self.raw, "status", dict)
        return None if status is None else SessionStatus.of(status)

    @property
    def sessions(self) -> Tuple[SessionStatus, ...]:
        """Of a snapshot."""
        sessions = (_optional(self.raw, "snapshot", dict) or {}).get("sessions")
        return tuple(SessionStatus.of(one) for one in sessions or [] if isinstance(one, dict))

    @staticmethod
    def of(raw: JSON) -> Event:
        return Event(
            _member(raw, "topic", str), _member(raw, "event", str), _member(raw, "at", float),
            _optional(raw, "session", str), raw)
