"""An MCP server of the MCP SDK with its authorization server, as its examples set them up.

Alice is signed in and consents at once. Tokens are for the resource of the request for authorization. With the argument
"sessions" it keeps sessions and streams, and stores events so that a broken stream can be continued; with "open" nobody has to
sign in. It listens on a port of the system's choice, prints "port N", and serves until its input ends.
"""
import asyncio
import sys
from typing import Annotated

from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.streamable_http import EventMessage, EventStore
from mcp_provider import Provider, listen, serve
from pydantic import AnyHttpUrl, Field
from starlette.responses import JSONResponse

listener, base = listen()
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


if "sessions" in sys.argv:
    app = mcp.streamable_http_app(event_store=Events(), retry_interval=100)
else:
    app = mcp.streamable_http_app(stateless_http=True, json_response=True)
app.routes.extend(provider.routes_for_the_test())
serve(Record(app), listener)
