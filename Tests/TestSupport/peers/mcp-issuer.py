"""An authorization server of the MCP SDK for resources elsewhere, as its example with two servers sets it up (simple-auth).

Alice is signed in and consents at once. Resource servers ask it about tokens (RFC 7662). With the argument "no-refresh" it gives
no refresh tokens, as that example does. It listens on a port of the system's choice, prints "port N", and serves until its input
ends.
"""
import sys

from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import ClientRegistrationOptions
from mcp_provider import Provider, listen, serve
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

listener, base = listen()
provider = Provider(gives_refresh_tokens="no-refresh" not in sys.argv)


async def introspect(request):
    token = await provider.load_access_token(str((await request.form()).get("token")))
    if not token:
        return JSONResponse({"active": False})
    return JSONResponse({
        "active": True, "client_id": token.client_id, "scope": " ".join(token.scopes), "exp": token.expires_at,
        "token_type": "Bearer", "aud": token.resource})


routes = create_auth_routes(
    provider=provider, issuer_url=AnyHttpUrl(base),
    client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["user"], default_scopes=["user"]))
routes.append(Route("/introspect", introspect, methods=["POST"]))
serve(Starlette(routes=routes + provider.routes_for_the_test()), listener)
