"""A protected resource and its authorization server, which differ from the RFCs as the test says.

Alice is signed in and consents at once. The first argument is a JSON object with options (see `option`). It listens on a port
of the system's choice, prints "port N", and serves until its input ends. GET /log returns the requests so far; POST /set
changes options, and POST /expire ends every access token.
"""
import base64
import hashlib
import json
import secrets
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

options = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
lock = threading.Lock()
clients, codes, access, refresh, log = {}, {}, {}, {}, []
# The end of the access token that was issued with each refresh token.
ends = {}
# Tokens of another server, with the option accept_any.
seen, ended = set(), set()


def audience(token):
    """The aud claim of a JSON Web Token; None if it is not one."""
    try:
        part = token.split(".")[1]
        return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))).get("aud")
    except (IndexError, ValueError):
        return None


def option(name, default=None):
    return options.get(name, default)


def issuer():
    return base + option("issuer_path", "")


def filled(value):
    """With BASE as the address of this server."""
    return json.loads(json.dumps(value).replace("BASE", base))


def resource_metadata():
    found = {"resource": base + "/mcp", "authorization_servers": [issuer()], "scopes_supported": ["read"]}
    found.update(filled(option("resource", {})))
    return {key: value for key, value in found.items() if value is not None}


def server_metadata():
    found = {
        "issuer": issuer(), "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token",
        "registration_endpoint": base + "/register", "revocation_endpoint": base + "/revoke",
        "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
        "authorization_response_iss_parameter_supported": True,
    }
    found.update(filled(option("server", {})))
    return {key: value for key, value in found.items() if value is not None}


def server_places():
    path = option("issuer_path", "")
    return {
        "rfc8414": "/.well-known/oauth-authorization-server" + path,
        "openid": path + "/.well-known/openid-configuration",
        "openid-inserted": "/.well-known/openid-configuration" + path,
    }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def reply(self, status, body=b"", headers=(), kind="application/json"):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        self.serve("GET")

    def do_HEAD(self):
        self.serve("HEAD")

    def do_POST(self):
        self.serve("POST")

    def serve(self, method):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        target = urllib.parse.urlsplit(self.path)
        if target.path == "/log":
            return self.reply(200, log)
        if target.path == "/set":
            options.update(json.loads(body))
            return self.reply(200, {})
        if target.path == "/refreshes":
            return self.reply(200, sum(entry["form"].get("grant_type") == "refresh_token" for entry in log))
        if target.path == "/expire":
            access.clear()
            ended.update(seen)
            return self.reply(200, {})
        if target.path == "/clients/forget":
            clients.clear()
            return self.reply(200, {})
        form = dict(urllib.parse.parse_qsl(body.decode())) if b"=" in body and body[:1] != b"{" else {}
        query = dict(urllib.parse.parse_qsl(target.query))
        with lock:
            log.append({"method": method, "path": target.path, "query": query, "form": form,
                        "authorization": self.headers.get("Authorization")})
        if any(target.path.startswith(path) for path in option("silent", [])):
            # It never answers.
            threading.Event().wait()
        if target.path.startswith("/.well-known/oauth-protected-resource"):
            return self.metadata(target.path)
        if target.path in server_places().values():
            kinds = [kind for kind, path in server_places().items() if path == target.path]
            if any(kind in option("published", ["rfc8414"]) for kind in kinds):
                return self.reply(200, server_metadata())
            return self.nothing()
        if target.path == "/register" and method == "POST":
            return self.register(json.loads(body))
        if target.path == "/authorize":
            return self.authorize(query)
        if target.path == "/token" and method == "POST":
            return self.token(form)
        if target.path == "/revoke":
            return self.reply(200, {})
        if target.path.startswith("/elsewhere"):
            return self.metadata(target.path)
        return self.resource(method, target.path)

    # The resource

    def resource(self, method, path):
        shown = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        accepted = option("accept_any") or (
            option("accept_audience") and audience(shown) == resource_metadata()["resource"])
        if shown and accepted and shown not in ended:
            seen.add(shown)
            return self.reply(200, {"method": method, "path": path})
        if shown in access:
            token = access[shown]
            wanted = option("required_scope")
            if token["expires"] < time.time():
                return self.challenge('error="invalid_token"')
            if token["resource"] not in (base + path, resource_metadata()["resource"]):
                return self.challenge('error="invalid_token"')
            if wanted and wanted not in token["scopes"]:
                return self.reply(
                    403, {"error": "insufficient_scope"},
                    [("WWW-Authenticate", f'Bearer error="insufficient_scope", scope="{wanted}"')])
            return self.reply(200, {"method": method, "path": path, "scopes": token["scopes"]})
        if method == "GET" and option("get_status", 401) != 401:
            return self.reply(option("get_status"), {"error": "no GET here"})
        return self.challenge(option("challenge", ""))

    def challenge(self, parameters):
        """With its metadata's address, unless that is switched off."""
        if option("challenge", "") is None:
            return self.reply(401, {})
        named = option("metadata_place", "/.well-known/oauth-protected-resource/mcp")
        words = [parameters] if parameters else []
        if named:
            words.append(f'resource_metadata="{named if "://" in named else base + named}"')
        if option("challenge_scope"):
            words.append(f'scope="{option("challenge_scope")}"')
        return self.reply(401, {}, [("WWW-Authenticate", "Bearer " + ", ".join(words))])

    def metadata(self, path):
        kind = option("metadata", "good")
        if kind == "loop":
            place = f"{base}/elsewhere/{secrets.token_hex(4)}"
            return self.reply(401, {}, [("WWW-Authenticate", f'Bearer resource_metadata="{place}"')])
        if kind == "html":
            return self.reply(200, b"<!DOCTYPE html><html><body>Welcome</body></html>", kind="text/html")
        if kind == "large":
            return self.reply(200, b'{"a":"' + b"x" * (2 << 20) + b'"}')
        if kind == "redirect":
            return self.reply(302, b"", [("Location", option("redirect_to"))])
        if kind == "none" or path not in option("metadata_paths", [path]):
            return self.nothing()
        return self.reply(200, resource_metadata())

    def nothing(self):
        """What is at an address without metadata: many servers have their start page everywhere."""
        kind = option("elsewhere", "missing")
        if kind == "html":
            return self.reply(200, b"<!DOCTYPE html><html><body>Welcome</body></html>", kind="text/html")
        if kind == "text":
            return self.reply(200, b"It works!", kind="text/plain")
        if kind == "list":
            return self.reply(200, [])
        if kind == "empty":
            return self.reply(200)
        return self.reply(404, {})

    # The authorization server

    def register(self, request):
        if request.get("application_type") != "native" or "S256" == request.get("client_name"):
            return self.reply(400, {"error": "invalid_client_metadata"})
        name = "c" + secrets.token_hex(8)
        clients[name] = request
        return self.reply(201, {"client_id": name, "token_endpoint_auth_method": "none"})

    def authorize(self, query):
        known = query.get("client_id") in clients or query.get("client_id") in option("known_clients", [])
        if not known or query.get("code_challenge_method") != "S256":
            return self.reply(400, {"error": "invalid_client"})
        if option("requires_resource") and query.get("resource") != resource_metadata()["resource"]:
            return self.reply(400, {"error": "invalid_target"})
        code = secrets.token_urlsafe(16)
        codes[code] = query
        answer = {"code": code, "state": query["state"]}
        if option("iss", "good") == "good":
            answer["iss"] = server_metadata()["issuer"]
        elif option("iss") == "wrong":
            answer["iss"] = "https://somebody-else.example"
        self.reply(302, b"", [("Location", query["redirect_uri"] + "?" + urllib.parse.urlencode(answer))])

    def token(self, form):
        wanted = resource_metadata()["resource"]
        basic = (self.headers.get("Authorization") or "").removeprefix("Basic ")
        if basic:
            name, secret = base64.b64decode(basic).decode().split(":", 1)
            form = {**form, "client_id": name}
            if secret != option("secret"):
                return self.reply(401, {"error": "invalid_client"})
        elif option("secret"):
            return self.reply(401, {"error": "invalid_client"})
        if option("token_failure"):
            return self.reply(option("token_failure")[0], {"error": option("token_failure")[1]})
        if form.get("grant_type") == "authorization_code":
            code = codes.pop(form.get("code"), None)
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            proof = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            if code is None or code["code_challenge"] != proof:
                return self.reply(400, {"error": "invalid_grant"})
            if form.get("client_id") not in clients and form.get("client_id") not in option("known_clients", []):
                return self.reply(401, {"error": "invalid_client"})
            if option("requires_resource") and form.get("resource") != wanted:
                return self.reply(400, {"error": "invalid_target"})
            return self.give(code.get("scope", "").split(), form.get("resource", wanted))
        if form.get("grant_type") == "refresh_token":
            if option("requires_resource") and form.get("resource") not in (wanted, *option("other_resources", [])):
                return self.reply(400, {"error": "invalid_target"})
            if option("renews_late") and time.time() < ends.get(form.get("refresh_token"), 0):
                return self.reply(400, {"error": "invalid_grant"})
            time.sleep(option("refresh_seconds", 0))
            with lock:
                family = refresh.pop(form.get("refresh_token"), None)
            if family is None:
                # Used twice: everything that came of it is revoked (RFC 9700 §4.14.2).
                refresh.clear()
                access.clear()
                return self.reply(400, {"error": "invalid_grant"})
            if option("exclusive"):
                access.clear()
            return self.give(family, wanted if option("ignores_resource") else form.get("resource", wanted))
        return self.reply(400, {"error": "unsupported_grant_type"})

    def give(self, scopes, target):
        token, again = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
        life = option("life", 3600)
        access[token] = {"scopes": scopes, "resource": target, "expires": time.time() + life}
        refresh[again], ends[again] = scopes, access[token]["expires"]
        self.reply(200, {"access_token": token, "token_type": "Bearer", "expires_in": life, "refresh_token": again,
                         "scope": " ".join(scopes)})


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


server = Server(("127.0.0.1", 0), Handler)
base = f"http://127.0.0.1:{server.server_port}"


def end_with_input():
    sys.stdin.buffer.read()
    server.shutdown()


threading.Thread(target=end_with_input, daemon=True).start()
print(f"port {server.server_port}", flush=True)
server.serve_forever(poll_interval=0.1)
