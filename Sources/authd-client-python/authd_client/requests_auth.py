"""The authentication class for requests: ``requests.get(url, auth=SessionAuth())``."""
from __future__ import annotations

from typing import Any, Optional

import requests
from requests.auth import AuthBase
from requests.cookies import extract_cookies_to_jar
from requests.utils import rewind_body

from ._auth import belongs_elsewhere, origin_of
from ._client import Client
from ._errors import AuthdError
from ._types import Token


class SessionAuth(AuthBase):
    """Adds a session's token to requests to the session's own origin, and to no other.

    A request to another origin is sent without a token, as is one that was redirected there. After a 401 the token is reported to
    the agent, and the request is sent once more with another token, if there is one and the body can be sent again.
    """

    def __init__(self, session: Optional[str] = None, *, client: Optional[Client] = None) -> None:
        """Without ``session``, the agent finds the session by the origin of the request."""
        self.session = session
        self._client = client

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SessionAuth) and (self.session, self._client) == (other.session, other._client)

    __hash__ = object.__hash__

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        client = self._client = self._client or Client()
        try:
            token = client.token(self.session, origin=origin_of(request.url or ""))
        except AuthdError as error:
            if not belongs_elsewhere(error):
                raise
            return request
        _add(client, request, token)
        request.hooks["response"].append(_Attempt(client, origin_of(request.url or ""), token))
        return request


class _Attempt:
    """Follows one request and its redirects: requests calls it with each response."""

    def __init__(self, client: Client, origin: str, token: Token) -> None:
        self._client = client
        self._origin = origin
        self._token = token
        self._is_repeated = False

    def __call__(self, response: requests.Response, **arguments: Any) -> requests.Response:
        if self._is_refused(response):
            response = self._repeat(response, arguments)
        target = response.headers.get("Location")
        if response.is_redirect and target is not None:
            # requests copies the headers from here, and keeps them from http to https.
            if origin_of(requests.compat.urljoin(response.url, target)) != self._origin:
                for name in ("Authorization", "DPoP"):
                    response.request.headers.pop(name, None)
        return response

    def _is_refused(self, response: requests.Response) -> bool:
        return (
            response.status_code == 401 and not self._is_repeated and origin_of(response.url) == self._origin
            and response.request.headers.get("Authorization") == self._token.authorization)

    def _repeat(self, response: requests.Response, arguments: Any) -> requests.Response:
        self._is_repeated = True
        request = response.request
        try:
            if self._client.status(self._token.session).renews:
                self._client.reject(self._token)
            other = self._client.token(self._token.session, origin=self._origin)
            if other.access_token == self._token.access_token or not _rewind(request):
                return response
            # Its connection can be used again only after its body was read.
            response.content
            response.close()
            # Redirects that follow copy the headers of this request.
            _add(self._client, request, other)
        except AuthdError:
            # The response stands. The next request reports what is wrong.
            return response
        self._token = other
        again = request.copy()
        jar: Any = getattr(again, "_cookies")
        extract_cookies_to_jar(jar, request, response.raw)  # type: ignore[no-untyped-call]
        again.prepare_cookies(jar)
        connection: Any = getattr(response, "connection")
        repeated: requests.Response = connection.send(again, **arguments)
        repeated.history.append(response)
        repeated.request = request
        return repeated


def _add(client: Client, request: requests.PreparedRequest, token: Token) -> None:
    request.headers["Authorization"] = token.authorization
    if token.token_type.lower() == "dpop":
        proof = client.call("token.proof", {
            "session": token.session, "method": request.method, "url": request.url, "access_token": token.access_token,
        })
        request.headers["DPoP"] = str(proof.get("proof"))


def _rewind(request: requests.PreparedRequest) -> bool:
    """Whether the body can be sent again: a text, or a file that is set back to its beginning."""
    if request.body is None or isinstance(request.body, (bytes, str)):
        return True
    if not isinstance(getattr(request, "_body_position", None), int):
        return False
    try:
        rewind_body(request)
        return True
    except requests.exceptions.UnrewindableBodyError:
        return False
