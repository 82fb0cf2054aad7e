"""What the servers made with the MCP SDK share: an authorization server in memory, and how they are started."""
import json
import secrets
import socket
import sys
import threading
import time

import uvicorn
from mcp.server.auth.provider import AccessToken, AuthorizationCode, RefreshToken, construct_redirect_uri
from mcp.shared.auth import OAuthToken
from starlette.responses import JSONResponse
from starlette.routing import Route


class Provider:
    """Everything in memory; a refresh token is good once."""

    def __init__(self, gives_refresh_tokens=True):
        self.gives_refresh_tokens = gives_refresh_tokens
        self.clients, self.codes, self.access, self.refresh = {}, {}, {}, {}
        self.refreshes = self.refused = 0

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client):
        self.clients[client.client_id] = client

    async def authorize(self, client, params):
        code = AuthorizationCode(
            code=secrets.token_urlsafe(32), scopes=params.scopes or [], expires_at=time.time() + 60,
            client_id=client.client_id, code_challenge=params.code_challenge, redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly, resource=params.resource)
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, client, code):
        return self.codes.get(code)

    async def exchange_authorization_code(self, client, code):
        del self.codes[code.code]
        return self.give(client, code.scopes, code.resource)

    async def load_refresh_token(self, client, token):
        return self.refresh.get(token, (None, None))[0]

    async def exchange_refresh_token(self, client, token, scopes):
        self.refreshes += 1
        _, resource = self.refresh.pop(token.token)
        return self.give(client, scopes or token.scopes, resource)

    async def load_access_token(self, token):
        self.refused += token not in self.access
        return self.access.get(token)

    async def revoke_token(self, token):
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    def give(self, client, scopes, resource):
        access, refresh = secrets.token_urlsafe(32), None
        self.access[access] = AccessToken(
            token=access, client_id=client.client_id, scopes=scopes, expires_at=int(time.time()) + 3600,
            resource=resource)
        if self.gives_refresh_tokens:
            refresh = secrets.token_urlsafe(32)
            self.refresh[refresh] = (
                RefreshToken(token=refresh, client_id=client.client_id, scopes=scopes), resource)
        return OAuthToken(
            access_token=access, token_type="Bearer", expires_in=3600, refresh_token=refresh, scope=" ".join(scopes))

    def routes_for_the_test(self):
        """What was registered, how often a refresh token was used and an access token refused, and the end of all of these."""

        async def clients(request):
            return JSONResponse([json.loads(client.model_dump_json()) for client in self.clients.values()])

        async def refreshes(request):
            return JSONResponse(self.refreshes)

        async def refused(request):
            return JSONResponse(self.refused)

        async def expire(request):
            self.access.clear()
            return JSONResponse({})

        return [
            Route("/clients", clients), Route("/refreshes", refreshes), Route("/refused", refused),
            Route("/expire", expire, methods=["POST"])]


def listen():
    """A socket on a port of the system's choice, and its URL."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    return listener, f"http://127.0.0.1:{listener.getsockname()[1]}"


def serve(app, listener):
    """Prints "port N", and serves until the input ends."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))

    def end_with_input():
        sys.stdin.buffer.read()
        server.should_exit = True

    threading.Thread(target=end_with_input, daemon=True).start()
    listener.listen(64)
    print(f"port {listener.getsockname()[1]}", flush=True)
    server.run(sockets=[listener])
