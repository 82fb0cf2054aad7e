"""A member of etcd that misbehaves: hostile-etcd.py MODE. It prints `port N`.

Modes: huge (endless bodies), silent (no response), drip (one byte a second), text (not JSON), html (a page with status 200),
wrong (JSON of other types), empty (no response body), redirect (to another origin), huge-watch (an endless line)."""
import http.server
import json
import socketserver
import sys
import time

mode = sys.argv[1]
header = {"cluster_id": "1", "member_id": "1", "revision": "7", "raft_term": "2"}
wrong = [
    {"header": header, "kvs": [{"key": 5, "mod_revision": "x", "value": []}]},
    {"header": {"revision": "9" * 40}}, {"header": []}, [], "x", 5, None, {"header": header, "kvs": "x"},
    {"header": header, "kvs": {}, "responses": [{"response_range": {"kvs": [{}]}}], "succeeded": 1},
    {"header": header, "kvs": [{"key": "L2E=", "mod_revision": "1", "value": "not base64!"}]},
]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    turn = 0

    def log_message(self, *arguments):
        pass

    def head(self, status=200, kind="application/json", length=None, more=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in more:
            self.send_header(name, value)
        if length is None:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def body(self, text, **rest):
        data = text.encode()
        self.head(length=len(data), **rest)
        self.wfile.write(data)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            self.answer()
        except (BrokenPipeError, ConnectionResetError):
            pass
        if mode in ("huge", "drip", "huge-watch", "silent"):
            self.close_connection = True

    def answer(self):
        if mode == "huge-watch" and not self.path.endswith("/watch"):
            return self.body(json.dumps({"header": header}))
        if mode in ("huge", "huge-watch"):
            self.head()
            self.wfile.write(b'{"result":{"header":')
            while True:
                self.wfile.write(b" " * 65536)
        if mode == "silent":
            return time.sleep(3600)
        if mode == "drip":
            self.head(length=1000)
            while True:
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(1)
        if mode == "text":
            return self.body("nothing of use")
        if mode == "html":
            return self.body("<html>Sign in to this network</html>", kind="text/html")
        if mode == "empty":
            return self.body("")
        if mode == "redirect":
            return self.body("", status=307, more=[("Location", "http://127.0.0.2:1/")])
        Handler.turn += 1
        self.body(json.dumps(wrong[Handler.turn % len(wrong)]))


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
print("port", server.server_address[1], flush=True)
server.serve_forever()
