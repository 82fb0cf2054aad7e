"""A protected resource of the MCP SDK whose authorization server is another one (RFC 9728). The argument is that server's URL.

It asks that server about each token (RFC 7662), and accepts only tokens for itself. It listens on a port of the system's choice,
prints "port N", and serves until its input ends.
"""
import sys

import httpx2
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from mcp_provider import listen, serve
from pydantic import AnyHttpUrl
from starlette.responses import JSONResponse

issuer = sys.argv[1]
listener, base = listen()


async def post(path, **form):
    async with httpx2.AsyncClient(trust_env=False) as http:
        return (await http.post(issuer + path, data=form)).json()


class Introspection:
    """A token as its server describes it."""

    async def verify_token(self, token):
        found = await post("/introspect", token=token)
        if not found["active"]:
            return None
        return AccessToken(
            token=token, client_id=found["client_id"], scopes=found["scope"].split(), expires_at=found["exp"],
            resource=found["aud"])


mcp = MCPServer(
    "resource", token_verifier=Introspection(),
    auth=AuthSettings(
        issuer_url=AnyHttpUrl(issuer), required_scopes=["user"], resource_server_url=AnyHttpUrl(base + "/mcp"),
        validate_token_resource=True))


@mcp.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@mcp.custom_route("/expire", methods=["POST"])
async def expire(request):
    """For the test: every access token has ended."""
    return JSONResponse(await post("/expire"))


serve(mcp.streamable_http_app(stateless_http=True, json_response=True), listener)
