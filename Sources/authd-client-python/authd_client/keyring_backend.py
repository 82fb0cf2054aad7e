"""A backend for keyring (PyPI), so that pip, twine and others find a token of the session instead of a stored password."""
from __future__ import annotations

import logging
from typing import Optional
from urllib.parse import urlsplit

from keyring.backend import KeyringBackend
from keyring.credentials import Credential, SimpleCredential
from keyring.errors import PasswordDeleteError, PasswordSetError

from ._client import Client
from ._errors import AuthdError

#: The user name if the caller names none. Servers that accept tokens rarely look at it.
STANDARD_USER = "oauth2"
#: A token that is valid for less than this many seconds is renewed first: the caller may send it several times.
MIN_VALID = 60.0

_log = logging.getLogger("authd_client")


class AuthdKeyring(KeyringBackend):  # type: ignore[no-untyped-call, unused-ignore]
    """Answers for the origins of the user's sessions, and leaves everything else to other backends."""

    #: The lowest that counts as recommended: a password that the user has stored elsewhere is found first.
    priority = 1.0  # type: ignore[assignment, unused-ignore]

    def get_password(self, service: str, username: str) -> Optional[str]:
        origin = _origin(service)
        if origin is None:
            return None
        try:
            with Client() as agent:
                return agent.token(origin=origin, min_valid=MIN_VALID).access_token
        except AuthdError as error:
            # Not a session's origin: another backend may know it.
            if error.kind not in ("denied", "no_agent"):
                _log.warning("authd has no token for %s: %s", origin, error)
        return None

    def get_credential(self, service: str, username: Optional[str]) -> Optional[Credential]:
        user = username or STANDARD_USER
        password = self.get_password(service, user)
        return None if password is None else SimpleCredential(user, password)

    def set_password(self, service: str, username: str, password: str) -> None:
        raise PasswordSetError("authd does not store passwords: sign in with `authc login`")

    def delete_password(self, service: str, username: str) -> None:
        raise PasswordDeleteError("authd does not store passwords: sign out with `authc logout`")


def _origin(service: str) -> Optional[str]:
    """The origin of a URL; ``None`` for a host alone, which could mean a connection without TLS."""
    try:
        parts = urlsplit(service)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in ("https", "http") or not host:
        return None
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}" + (f":{port}" if port else "")
