"""The authentication class for httpx: ``httpx.Client(auth=SessionAuth())``."""
from __future__ import annotations

from typing import AsyncGenerator, Generator, Optional

import httpx

from ._async import AsyncClient
from ._auth import SAFE_METHODS, belongs_elsewhere, origin_of
from ._client import Client
from ._errors import AuthdError
from ._types import Token


class SessionAuth(httpx.Auth):
    """Adds a session's token to requests to the session's own origin, and to no other.

    A request to another origin is sent without a token, as is one that was redirected there: httpx removes the header. (It
    keeps it from port 80 to port 443 of the same host.) After a 401 the token is reported to the agent, and the request is sent
    once more with another token, if there is one and the body can be sent again.
    """

    def __init__(
        self, session: Optional[str] = None, *, client: Optional[Client] = None,
        async_client: Optional[AsyncClient] = None,
    ) -> None:
        """Without ``session``, the agent finds the session by the origin of the request."""
        self.session = session
        self._client = client
        self._async_client = async_client

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        client = self._client = self._client or Client()
        origin = origin_of(str(request.url))
        try:
            token = client.token(self.session, origin=origin)
        except AuthdError as error:
            if not belongs_elsewhere(error):
                raise
            yield request
            return
        _add(request, token, _proof(client, request, token))
        response = yield request
        if not _is_refused(response, origin):
            return
        try:
            if client.status(token.session).renews:
                client.reject(token)
            other = client.token(token.session, origin=origin)
            if other.access_token == token.access_token or not _can_repeat(request, response):
                return
            _add(request, other, _proof(client, request, other))
        except AuthdError:
            # The response stands. The next request reports what is wrong.
            return
        yield request

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        client = self._async_client = self._async_client or AsyncClient()
        origin = origin_of(str(request.url))
        try:
            token = await client.token(self.session, origin=origin)
        except AuthdError as error:
            if not belongs_elsewhere(error):
                raise
            yield request
            return
        _add(request, token, await _async_proof(client, request, token))
        response = yield request
        if not _is_refused(response, origin):
            return
        try:
            if (await client.status(token.session)).renews:
                await client.reject(token)
            other = await client.token(token.session, origin=origin)
            if other.access_token == token.access_token or not _can_repeat(request, response):
                return
            _add(request, other, await _async_proof(client, request, other))
        except AuthdError:
            return
        yield request


def _add(request: httpx.Request, token: Token, proof: Optional[str]) -> None:
    request.headers["Authorization"] = token.authorization
    if proof is not None:
        request.headers["DPoP"] = proof


def _is_refused(response: httpx.Response, origin: str) -> bool:
    """A server that the request was redirected to says nothing about this token."""
    return response.status_code == 401 and origin_of(str(response.request.url)) == origin


def _can_repeat(request: httpx.Request, response: httpx.Response) -> bool:
    """A body from a file or a generator is read once. A server that redirected the request may have acted on it."""
    return isinstance(request.stream, httpx.ByteStream) and (
        not response.history or request.method.upper() in SAFE_METHODS)


def _proof(client: Client, request: httpx.Request, token: Token) -> Optional[str]:
    if token.token_type.lower() != "dpop":
        return None
    proof = client.call("token.proof", {
        "session": token.session, "method": request.method, "url": str(request.url), "access_token": token.access_token,
    })
    return str(proof.get("proof"))


async def _async_proof(client: AsyncClient, request: httpx.Request, token: Token) -> Optional[str]:
    if token.token_type.lower() != "dpop":
        return None
    proof = await client.call("token.proof", {
        "session": token.session, "method": request.method, "url": str(request.url), "access_token": token.access_token,
    })
    return str(proof.get("proof"))
