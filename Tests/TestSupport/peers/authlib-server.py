"""An authorization server of Authlib for Flask, as its documentation sets it up: with PKCE, registration (RFC 7591), its
management (RFC 7592) and revocation. Redirect URIs are compared exactly.

Alice is signed in and consents at once. With the arguments "resources SECONDS", access tokens are Authlib's JWTs (RFC 9068),
for the resource that each request names (RFC 8707). It listens on a port of the system's choice, prints "port N", and serves until its
input ends.
"""
import os
import secrets
import sys
import threading
import time

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.integrations.flask_oauth2 import AuthorizationServer  # noqa: E402
from authlib.oauth2 import OAuth2Error  # noqa: E402
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, TokenMixin  # noqa: E402
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant  # noqa: E402
from authlib.oauth2.rfc7009 import RevocationEndpoint  # noqa: E402
from authlib.oauth2.rfc7591 import ClientRegistrationEndpoint  # noqa: E402
from authlib.oauth2.rfc7592 import ClientConfigurationEndpoint  # noqa: E402
from authlib.oauth2.rfc7636 import CodeChallenge  # noqa: E402
from authlib.oauth2.rfc9068 import JWTBearerTokenGenerator  # noqa: E402
from flask import Flask, jsonify, request  # noqa: E402
from joserfc.jwk import ECKey  # noqa: E402
from werkzeug.serving import WSGIRequestHandler, make_server  # noqa: E402

clients, codes, tokens = {}, {}, []


class User(str):
    def get_user_id(self):
        return str(self)


class Client(ClientMixin):
    def __init__(self, info, metadata):
        self.info, self.metadata, self.management = info, metadata, secrets.token_urlsafe(16)

    client_id = property(lambda self: self.info["client_id"])
    client_secret = property(lambda self: self.info["client_secret"])
    client_info = property(lambda self: self.info)
    client_metadata = property(lambda self: self.metadata)

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return self.metadata["redirect_uris"][0]

    def get_allowed_scope(self, scope):
        allowed = self.metadata.get("scope", "").split()
        return " ".join(word for word in (scope or "").split() if word in allowed)

    def check_client(self, client):
        """As the holder of its own registration access token."""
        return client is self

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri in self.metadata["redirect_uris"]

    def check_client_secret(self, secret):
        return secrets.compare_digest(self.client_secret, secret)

    def check_endpoint_auth_method(self, method, endpoint):
        return method == self.metadata.get("token_endpoint_auth_method", "client_secret_basic")

    def check_response_type(self, kind):
        return kind in self.metadata.get("response_types", ["code"])

    def check_grant_type(self, kind):
        return kind in self.metadata.get("grant_types", ["authorization_code"])


class Code(dict, AuthorizationCodeMixin):
    __getattr__ = dict.get

    def get_redirect_uri(self):
        return self["redirect_uri"]

    def get_scope(self):
        return self["scope"]


class Token(dict, TokenMixin):
    __getattr__ = dict.get

    def check_client(self, client):
        return self["client_id"] == client.client_id

    def get_scope(self):
        return self["scope"]

    def get_expires_in(self):
        return self["expires_in"]

    def is_expired(self):
        return time.time() > self["issued_at"] + self["expires_in"]

    def is_revoked(self):
        return self["revoked"]


class CodeGrant(AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]

    def save_authorization_code(self, code, request):
        codes[code] = Code(
            code=code, client_id=request.client.client_id, redirect_uri=request.payload.redirect_uri,
            scope=request.payload.scope, code_challenge=request.payload.data.get("code_challenge"),
            code_challenge_method=request.payload.data.get("code_challenge_method"))

    def query_authorization_code(self, code, client):
        found = codes.get(code)
        return found if found and found["client_id"] == client.client_id else None

    def delete_authorization_code(self, code):
        del codes[code["code"]]

    def authenticate_user(self, code):
        return User("alice")


class RefreshGrant(RefreshTokenGrant):
    INCLUDE_NEW_REFRESH_TOKEN = True
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]
    used = 0

    def authenticate_refresh_token(self, token):
        return next((found for found in tokens if found["refresh_token"] == token and not found["revoked"]), None)

    def authenticate_user(self, token):
        return User("alice")

    def revoke_old_credential(self, token):
        RefreshGrant.used += 1
        token["revoked"] = True


class Revocation(RevocationEndpoint):
    def query_token(self, token, hint):
        return next((found for found in tokens if token in (found["access_token"], found["refresh_token"])), None)

    def revoke_token(self, token, request):
        token["revoked"] = True


class Registration(ClientRegistrationEndpoint):
    def authenticate_token(self, request):
        return "anybody"

    def get_server_metadata(self):
        return metadata()

    def generate_client_registration_info(self, client, request):
        return {
            "registration_client_uri": f"{base}/register/{client.client_id}",
            "registration_access_token": client.management,
        }

    def save_client(self, info, metadata, request):
        clients[info["client_id"]] = Client(info, metadata)
        return clients[info["client_id"]]


class Configuration(ClientConfigurationEndpoint):
    def authenticate_token(self, request):
        shown = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return next((client for client in clients.values() if client.management == shown), None)

    def authenticate_client(self, request):
        return clients.get(request.uri.rsplit("/", 1)[1])

    def check_permission(self, client, request):
        return client is request.credential

    def revoke_access_token(self, request, token):
        pass

    def delete_client(self, client, request):
        del clients[client.client_id]

    def get_server_metadata(self):
        return metadata()

    def generate_client_registration_info(self, client, request):
        return {"registration_client_uri": request.uri, "registration_access_token": client.management}


class ResourceTokens(JWTBearerTokenGenerator):
    key = ECKey.generate_key("P-256")

    def get_jwks(self):
        return self.key

    def get_audiences(self, client, user, scope):
        return request.form.get("resource") or base


def metadata():
    return {
        "issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token",
        "registration_endpoint": base + "/register", "revocation_endpoint": base + "/revoke",
        "response_types_supported": ["code"], "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"], "scopes_supported": ["read", "write"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
    }


def save_token(token, request):
    tokens.append(
        Token(token, client_id=request.client.client_id, issued_at=time.time(), revoked=False))


app = Flask("peer")
server = AuthorizationServer(app, query_client=clients.get, save_token=save_token)
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
server.init_app(app)
if sys.argv[1:2] == ["resources"]:
    server.register_token_generator(
        "default",
        ResourceTokens("authlib", "ES256", lambda **_: secrets.token_urlsafe(24), lambda client, grant_type: int(sys.argv[2])))
server.register_grant(CodeGrant, [CodeChallenge(required=True)])
server.register_grant(RefreshGrant)
server.register_endpoint(Revocation)
server.register_endpoint(Registration)
server.register_endpoint(Configuration)


@app.get("/.well-known/oauth-authorization-server")
def published():
    return jsonify(metadata())


@app.get("/authorize")
def authorize():
    try:
        grant = server.get_consent_grant(end_user=User("alice"))
    except OAuth2Error as error:
        return server.handle_error_response(request, error)
    return server.create_authorization_response(grant=grant, grant_user=User("alice"))


@app.post("/token")
def token():
    return server.create_token_response()


@app.post("/revoke")
def revoke():
    return server.create_endpoint_response("revocation")


@app.post("/register")
def register():
    return server.create_endpoint_response("client_registration")


@app.route("/register/<client>", methods=["GET", "PUT", "DELETE"])
def manage(client):
    return server.create_endpoint_response("client_configuration")


@app.get("/clients")
def registered():
    """For the test: what was registered."""
    return jsonify([client.metadata for client in clients.values()])


@app.get("/refreshes")
def refreshes():
    """For the test: how often a refresh token was used."""
    return jsonify(RefreshGrant.used)


@app.post("/tokens/revoke")
def revoke_all():
    """For the test: the user has withdrawn the consent."""
    for found in tokens:
        found["revoked"] = True
    return jsonify({})


@app.post("/clients/forget")
def forget():
    """For the test: no client is known any more."""
    clients.clear()
    return jsonify({})


class Quiet(WSGIRequestHandler):
    def log(self, *arguments):
        pass


listener = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
base = f"http://127.0.0.1:{listener.server_port}"


def end_with_input():
    sys.stdin.buffer.read()
    listener.shutdown()


threading.Thread(target=end_with_input, daemon=True).start()
print(f"port {listener.server_port}", flush=True)
listener.serve_forever(poll_interval=0.1)
