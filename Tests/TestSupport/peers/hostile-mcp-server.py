"""A stand-in for MCP servers that misbehave: the path of a request says how.

It listens on a port of the system's choice, prints "port N", and serves until its input ends. GET /log returns the requests.
"""
import gzip
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

log = []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        if self.path == "/log":
            return self.reply(json.dumps(log).encode())
        log.append({"method": "GET", "path": self.path})
        self.send_response(405)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        log.append({"method": "POST", "path": self.path, "authorization": self.headers.get("Authorization")})
        self.answer = json.dumps({"jsonrpc": "2.0", "id": json.loads(body).get("id"), "result": {}}).encode()
        try:
            getattr(self, "serve_" + self.path.strip("/").replace("-", "_"))()
        except (BrokenPipeError, ConnectionResetError):
            log.append({"method": "CLOSED", "path": self.path})
            self.close_connection = True

    def reply(self, body, kind="application/json", headers=(), status=200):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def begin(self, kind, headers=()):
        """A response that ends with its connection."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def endless(self, text):
        while True:
            self.wfile.write(text)

    def serve_good(self):
        self.reply(self.answer)

    def serve_html(self):
        self.reply(b"<html>SECRET-OF-THE-PAGE</html>", "text/html")

    def serve_no_type(self):
        self.reply(b"hello", "")

    def serve_gzip(self):
        self.reply(gzip.compress(b" " * (64 << 20) + self.answer), headers=[("Content-Encoding", "gzip")])

    def serve_huge_header(self):
        self.reply(self.answer, headers=[("X-Large", "x" * 70_000)])

    def serve_many_headers(self):
        self.reply(self.answer, headers=[(f"X-{number}", "x" * 1000) for number in range(2000)])

    def serve_endless_event(self):
        self.begin("text/event-stream")
        self.endless(b"data: " + b"x" * 65536 + b"\n")

    def serve_endless_body(self):
        self.begin("application/json")
        self.endless(b" " * 65536)

    def serve_flood(self):
        """More events than anyone wants, and then the response."""
        self.begin("text/event-stream")
        event = b'data: {"jsonrpc":"2.0","method":"notifications/x","params":{"pad":"' + b"x" * 10_000 + b'"}}\n\n'
        for _ in range(1000):
            self.wfile.write(event)
        self.wfile.write(b"data: " + self.answer + b"\n\n")

    def serve_cut(self):
        self.begin("text/event-stream")
        self.wfile.write(b'data: {"jsonrpc":"2.0","method":"notifications/x"}\n\ndata: {"jsonrpc"')

    def serve_redirect(self):
        port = self.server.server_port
        self.reply(b"", headers=[("Location", f"http://localhost:{port}/good")], status=307)

    def serve_slash(self):
        self.reply(b"", headers=[("Location", "/good")], status=307)

    def serve_silent(self):
        threading.Event().wait()

    def serve_waiting(self):
        """A stream that says nothing, until its connection is closed."""
        self.begin("text/event-stream")
        self.wfile.write(b'data: {"jsonrpc":"2.0","method":"notifications/begun"}\n\n')
        while True:
            self.wfile.write(b":\n")
            threading.Event().wait(0.05)


class Server(ThreadingHTTPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)


def end_with_input():
    sys.stdin.buffer.read()
    server.shutdown()


threading.Thread(target=end_with_input, daemon=True).start()
print(f"port {server.server_port}", flush=True)
server.serve_forever(poll_interval=0.1)
