#!/usr/bin/python3
"""The servers of the network tests: `provider ADDRESS LIFE-FILE [CERTIFICATE]`, `portal ADDRESS [CERTIFICATE]`,
`slow ADDRESS TARGET SECONDS`. With a certificate and its key in a file they speak HTTPS.

While there is a file LIFE-FILE.ended it ends each session that is renewed.
LIFE-FILE holds the life of the next access tokens, and by how much this clock is wrong, in seconds.
Each prints `port N` when it listens, and then a line for each request or connection. The provider rotates its refresh
tokens: one that is used twice ends the session, as RFC 9700 section 4.14.2 asks for.
"""
import http.server
import json
import os
import secrets
import socket
import ssl
import sys
import threading
import time


def say(text):
    print(text, flush=True)


class Provider(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    refresh_tokens = {}
    lock = threading.Lock()
    life_file = ""

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        credentials = "bare" if "Authorization" not in self.headers and self.command == "GET" else "full"
        say(f"{self.command} {self.path} {status} {credentials} from {self.client_address[0]}:{self.client_address[1]}")

    def life_and_shift(self):
        with open(self.life_file, encoding="ascii") as file:
            life, shift = file.read().split()
        return int(life), int(shift)

    def date_time_string(self, timestamp=None):
        return super().date_time_string((timestamp or time.time()) + self.life_and_shift()[1])

    def grant(self):
        life, shift = self.life_and_shift()
        refresh = secrets.token_urlsafe(16)
        self.refresh_tokens[refresh] = True
        return {
            "access_token": secrets.token_urlsafe(16), "refresh_token": refresh,
            **({"expires_at": time.time() + shift + life} if shift else {"expires_in": life}),
            "user": {"id": "7", "email": "ada@example.org"},
        }

    def do_POST(self):
        fields = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        with self.lock:
            if self.path == "/login":
                return self.answer(200, self.grant())
            if self.path == "/notes":
                return self.answer(200, {})
            token = fields.get("refresh_token")
            if self.refresh_tokens.get(token) and not os.path.exists(self.life_file + ".ended"):
                self.refresh_tokens[token] = False
                return self.answer(200, self.grant())
            if token in self.refresh_tokens:
                say("REUSED")
            return self.answer(400, {"error": "invalid_grant"})

    def do_GET(self):
        refused = "Authorization" not in self.headers or os.path.exists(self.life_file + ".ended")
        self.answer(401 if refused else 200, {"user": {"id": "7"}})

    def log_message(self, *arguments):
        pass


class Portal(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        held = "SECRETS" if body or "Authorization" in self.headers else "nothing"
        page = b"<!doctype html><title>Welcome to the hotel</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)
        say(f"{self.command} {self.path} carried {held}")

    do_POST = do_GET

    def log_message(self, *arguments):
        pass


def serve(handler, address, certificate=None):
    server = http.server.ThreadingHTTPServer((address, 0), handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    say(f"port {server.server_address[1]}")
    server.serve_forever()


def slow(address, target, seconds):
    """A TCP proxy: what comes from the target comes that much later."""
    listener = socket.create_server((address, 0))
    say(f"port {listener.getsockname()[1]}")

    def pump(source, sink, delay):
        while data := source.recv(65536):
            time.sleep(delay)
            sink.sendall(data)
        sink.close()

    while True:
        near, _ = listener.accept()
        say("connection")
        far = socket.create_connection((address, int(target)))
        threading.Thread(target=pump, args=(near, far, 0), daemon=True).start()
        threading.Thread(target=pump, args=(far, near, float(seconds)), daemon=True).start()


if sys.argv[1] == "provider":
    Provider.life_file = sys.argv[3]
    serve(Provider, sys.argv[2], *sys.argv[4:])
elif sys.argv[1] == "portal":
    serve(Portal, *sys.argv[2:])
else:
    slow(*sys.argv[2:5])
