"""Why a call has no result."""
from __future__ import annotations

from typing import Any, Dict, List, Optional

JSON = Dict[str, Any]

#: Kinds that may succeed later, for an agent that does not say.
_RETRYABLE = frozenset([
    "offline", "captive_portal", "provider_unreachable", "provider_error", "bad_reply", "rate_limited", "timeout", "busy",
    "keyring_locked",
])


class AuthdError(Exception):
    """The base of all errors of this package. None of them holds a secret."""

    def __init__(
        self, kind: str, message: str, hint: Optional[str] = None, retryable: bool = False,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        #: A word for programs: a kind of the protocol, or ``no_agent``, ``closed`` or ``bad_answer``.
        self.kind = kind
        self.message = message
        #: What the user can try.
        self.hint = hint
        #: Whether the same call may succeed later.
        self.retryable = retryable
        #: In seconds.
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class NoAgent(AuthdError):
    """No agent listens on the socket, or it cannot be reached."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            "no_agent", f"no agent answers on {path} ({reason})",
            "start it: `systemctl --user start authd.socket`, or `authd`", retryable=True)


class TimedOut(AuthdError):
    """The time limit passed first. The agent may still perform the call."""

    def __init__(self) -> None:
        super().__init__(
            "timeout", "the agent did not answer in time", "try again, or allow more time", retryable=True)


class ConnectionLost(AuthdError):
    """The agent ended the connection before it answered. The call is not repeated, because the agent may have performed it."""

    def __init__(self) -> None:
        super().__init__(
            "closed", "the agent closed the connection before it answered",
            "check its settings with `authd --check`, and try again", retryable=True)


class ClientClosed(AuthdError):
    """The client was closed."""

    def __init__(self) -> None:
        super().__init__("closed", "the client is closed")


class TooLong(AuthdError):
    """A request over the agent's limit, which was not sent, or a response over the client's."""

    def __init__(self, limit: int) -> None:
        super().__init__("too_large", f"a message is longer than {limit} bytes")


class OtherUser(AuthdError):
    """A request with a secret was not sent, because the agent on the socket runs as another user."""

    def __init__(self, user_id: Optional[int]) -> None:
        who = "an unknown user" if user_id is None else f"user {user_id}"
        super().__init__(
            "denied", f"the agent on the socket runs as {who}, not as you, so the secret was not sent",
            "to reach your own agent, unset AUTHD_SOCKET and XDG_RUNTIME_DIR, or give the path of its socket")


class BadReply(AuthdError):
    """A response that does not match the protocol."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "bad_answer", f"invalid response: {reason}", "check whether another program uses the socket")


class AgentError(AuthdError):
    """The agent's error. ``kind`` is a kind of the protocol."""

    def __init__(self, error: JSON) -> None:
        data = error.get("data")
        data = data if isinstance(data, dict) else {}
        kind = _text(data, "kind") or "internal"
        message = _text(error, "message") or "The agent returned an error without a message."
        retry = data.get("retry_after_ms")
        retryable = data.get("retryable")
        super().__init__(
            kind, message, retryable=retryable if isinstance(retryable, bool) else kind in _RETRYABLE,
            retry_after=max(0, retry) / 1000 if isinstance(retry, (int, float)) else None)
        code, status, details = error.get("code"), data.get("http_status"), data.get("details")
        self.code: int = code if isinstance(code, int) else -32000
        #: A word that says more.
        self.cause = _text(data, "cause")
        #: The provider's own.
        self.http_status: Optional[int] = status if isinstance(status, int) else None
        self.provider_message = _text(data, "provider_message")
        self.details: List[str] = [one for one in details if isinstance(one, str)] if isinstance(details, list) else []
        self.hint = self._hint()

    @staticmethod
    def of(error: JSON) -> AgentError:
        made = AgentError(error)
        return SignInRequired(error) if made.kind in ("not_signed_in", "sign_in_required") else made

    def _hint(self) -> Optional[str]:
        if "authc " in self.message:
            return None
        if self.kind in ("not_signed_in", "sign_in_required"):
            return "sign in: `authc login`"
        if self.kind == "keyring_locked" and self.cause != "keyring_waiting":
            return "unlock the keyring; authd continues by itself"
        if self.kind == "keyring_unavailable":
            return "`authc version` shows the state of the store"
        if self.kind == "unknown_session":
            return "`authc list` shows the sessions"
        if self.kind == "unknown_provider":
            return "`authc provider list` shows the providers"
        if self.retry_after is not None:
            return f"try again in {self.retry_after:g} s"
        return None


class SignInRequired(AgentError):
    """Nobody is signed in, or the user must sign in again."""


def _text(object: JSON, key: str) -> Optional[str]:
    value = object.get(key)
    return value if isinstance(value, str) else None
