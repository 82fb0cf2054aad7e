"""An MCP server of the MCP SDK with its authorization server, as its examples set them up.

Alice is signed in and consents at once. Tokens are for the resource of the request for authorization. With the argument
"sessions" it keeps sessions and streams, and stores events so that a broken stream can be continued; with "open" nobody has to
sign in. It listens on a port of the system's choice, prints "port N", and serves until its input ends.
"""
import asyncio
import json
import secrets
import socket
import sys
import threading
import time
from typing import Annotated

import uvicorn
from mcp.server.auth.provider import AccessToken, AuthorizationCode, RefreshToken, construct_redirect_uri
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.shared.auth import OAuthToken
from pydantic import AnyHttpUrl, Field
from starlette.responses import JSONResponse


class Provider:
    """Everything in memory; a refresh token is good once."""

    def __init__(self):
        self.clients, self.codes, self.access, self.refresh = {}, {}, {}, {}
        self.refreshes = 0

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
        return self.access.get(token)

    async def revoke_token(self, token):
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    def give(self, client, scopes, resource):
        access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.access[access] = AccessToken(
            token=access, client_id=client.client_id, scopes=scopes, expires_at=int(time.time()) + 3600,
            resource=resource)
        self.refresh[refresh] = (RefreshToken(token=refresh, client_id=client.client_id, scopes=scopes), resource)
        return OAuthToken(
            access_token=access, token_type="Bearer", expires_in=3600, refresh_token=refresh, scope=" ".join(scopes))


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
base = f"http://127.0.0.1:{listener.getsockname()[1]}"
provider = Provider()
authorization = {} if "open" in sys.argv else dict(
    auth_server_provider=provider,
    auth=AuthSettings(
        issuer_url=AnyHttpUrl(base), resource_server_url=AnyHttpUrl(base + "/mcp"), required_scopes=["read"],
        validate_token_resource=True,
        client_registration_options=ClientRegistrationOptions(
            enabled=True, valid_scopes=["read", "write"], default_scopes=["read"]),
        revocation_options=RevocationOptions(enabled=True)))
mcp = MCPServer("peer", **authorization)


@mcp.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def with_sessions(tool):
    """Only then are there more tools than one."""
    return mcp.tool()(tool) if "sessions" in sys.argv else tool


@with_sessions
async def broken(context: Context) -> str:
    """Ends the connection of its own stream, and goes on."""
    await context.close_sse_stream()
    # The client comes back after the server's pause.
    await resumed.wait()
    return "continued"


@with_sessions
async def changed(context: Context) -> str:
    """Tells of a change on the stream of the session."""
    await listening.wait()
    await context.session.send_tool_list_changed()
    return "told"


@with_sessions
async def route(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Wants its parameter in a header too."""
    return region


class Events(EventStore):
    """The events of every stream, in their order."""

    def __init__(self):
        self.events = []

    async def store_event(self, stream_id, message):
        self.events.append((stream_id, message))
        return str(len(self.events))

    async def replay_events_after(self, last_event_id, send_callback):
        first = int(last_event_id)
        stream = self.events[first - 1][0]
        for index, (name, message) in enumerate(self.events[first:], first + 1):
            if name == stream and message is not None:
                await send_callback(EventMessage(message, str(index)))
        return stream


class Record:
    """Keeps what each request to the endpoint has, before the SDK sees it."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http" and scope["path"] == "/mcp":
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            requests.append({"method": scope["method"], **{
                name: value for name, value in headers.items() if name.startswith("mcp-") or name == "last-event-id"}})
            if "last-event-id" in headers:
                resumed.set()
            if scope["method"] == "GET":
                async def begun(message):
                    await send(message)
                    listening.set()
                return await self.app(scope, receive, begun)
        await self.app(scope, receive, send)


requests, resumed, listening = [], asyncio.Event(), asyncio.Event()


@mcp.custom_route("/requests", methods=["GET"])
async def seen(request):
    """For the test: the requests to the endpoint so far."""
    return JSONResponse(requests)


@mcp.custom_route("/forget", methods=["POST"])
async def forget(request):
    """For the test: the server has restarted, and knows no session."""
    mcp.session_manager._server_instances.clear()
    return JSONResponse({})


@mcp.custom_route("/clients", methods=["GET"])
async def clients(request):
    """For the test: what was registered."""
    return JSONResponse([json.loads(client.model_dump_json()) for client in provider.clients.values()])


@mcp.custom_route("/refreshes", methods=["GET"])
async def refreshes(request):
    """For the test: how often a refresh token was used."""
    return JSONResponse(provider.refreshes)


@mcp.custom_route("/expire", methods=["POST"])
async def expire(request):
    """For the test: every access token has ended."""
    provider.access.clear()
    return JSONResponse({})


def end_with_input():
    sys.stdin.buffer.read()
    server.should_exit = True


if "sessions" in sys.argv:
    app = mcp.streamable_http_app(event_store=Events(), retry_interval=100)
else:
    app = mcp.streamable_http_app(stateless_http=True, json_response=True)
server = uvicorn.Server(uvicorn.Config(Record(app), log_level="error"))
threading.Thread(target=end_with_input, daemon=True).start()
listener.listen(64)
print(f"port {listener.getsockname()[1]}", flush=True)
server.run(sockets=[listener])
