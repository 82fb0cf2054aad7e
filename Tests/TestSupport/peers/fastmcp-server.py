"""An MCP server of FastMCP with its own authorization server, which registers clients and rotates refresh tokens.

It consents at once. It listens on a port of the system's choice, prints "port N", and serves until its input ends.
"""
import socket
import sys
import threading

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth.auth import ClientRegistrationOptions, RevocationOptions
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from starlette.responses import JSONResponse


class Provider(InMemoryOAuthProvider):
    refreshes = 0

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        self.refreshes += 1
        return await super().exchange_refresh_token(client, refresh_token, scopes)


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
base = f"http://127.0.0.1:{listener.getsockname()[1]}"
provider = Provider(
    base_url=base, required_scopes=["read"], revocation_options=RevocationOptions(enabled=True),
    client_registration_options=ClientRegistrationOptions(
        enabled=True, valid_scopes=["read", "write"], default_scopes=["read"]))
mcp = FastMCP("peer", auth=provider)


@mcp.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@mcp.custom_route("/refreshes", methods=["GET"])
async def refreshes(request):
    """For the test: how often a refresh token was used."""
    return JSONResponse(provider.refreshes)


@mcp.custom_route("/expire", methods=["POST"])
async def expire(request):
    """For the test: every access token has ended."""
    provider.access_tokens.clear()
    return JSONResponse({})


@mcp.custom_route("/clients", methods=["GET"])
async def clients(request):
    """For the test: how many clients are registered."""
    return JSONResponse(len(provider.clients))


def end_with_input():
    sys.stdin.buffer.read()
    server.should_exit = True


server = uvicorn.Server(uvicorn.Config(mcp.http_app(stateless_http=True, json_response=True), log_level="error"))
threading.Thread(target=end_with_input, daemon=True).start()
listener.listen(64)
print(f"port {listener.getsockname()[1]}", flush=True)
server.run(sockets=[listener])
