"""moto's AWS Security Token Service, and a backend whose tokens it gets.

It listens on a port of the system's choice, prints "port N", and serves until its input ends. GET /log lists which token of
the backend each AssumeRoleWithWebIdentity had, by its number, or 0 for another token. After POST /hold these requests wait for
POST /go; after POST /refuse they are refused as AWS refuses a token that has expired.
"""
import io
import itertools
import json
import logging
import os
import sys
import threading
import urllib.parse

os.environ.update(AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="x", AWS_DEFAULT_REGION="us-east-1")

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app  # noqa: E402
from werkzeug.serving import make_server  # noqa: E402

logging.getLogger("werkzeug").setLevel(logging.ERROR)
moto = DomainDispatcherApplication(create_backend_app)
numbers = itertools.count(1)
tokens = {}
log = []
allowed = threading.Event()
allowed.set()
refusal = b"""<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>
<Code>ExpiredTokenException</Code><Message>Token expired: current date must be before it</Message></Error></ErrorResponse>"""
refuses = []


def application(environ, start_response):
    path = environ["PATH_INFO"]
    if path in ("/login", "/refresh"):
        number = next(numbers)
        tokens[f"token-{number}"] = number
        return reply(start_response, {
            "access_token": f"token-{number}", "refresh_token": f"refresh-{number}", "expires_in": 600,
            "user": {"id": "7", "email": "ada@example.org"}})
    if path == "/log":
        return reply(start_response, log)
    if path in ("/hold", "/go", "/refuse"):
        {"/hold": allowed.clear, "/go": allowed.set, "/refuse": lambda: refuses.append(True)}[path]()
        return reply(start_response, {})
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    form = urllib.parse.parse_qs(body.decode())
    if form.get("Action") == ["AssumeRoleWithWebIdentity"]:
        log.append(tokens.get(form["WebIdentityToken"][0], 0))
        allowed.wait()
        if refuses:
            start_response("400 Bad Request", [("Content-Type", "text/xml"), ("Content-Length", str(len(refusal)))])
            return [refusal]
    return moto(environ, start_response)


def reply(start_response, value):
    body = json.dumps(value).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]


server = make_server("127.0.0.1", 0, application, threaded=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
print("port", server.server_port, flush=True)
sys.stdin.read()
