"""A backend whose tokens programs use: git's own http-backend, a Docker registry, a small Kubernetes API, and registries of
packages for pip, cargo, npm and Terraform, each behind a check of the token.

It listens on ports of the system's choice, prints "port N", "TLS port N" and "certificate FILE", and serves both until its
input ends. Its arguments are a folder with repositories, and a folder for the registry. GET /log lists what arrived, with
the scheme of its credentials; POST /control/revoke ends the present access token.
"""
import base64
import ctypes
import hashlib
import http.client
import http.server
import io
import itertools
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile

repositories, images = sys.argv[1:3]
numbers = itertools.count(1)
state = {"token": None, "refresh": None}
log = []


def ends_with_us():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def start_registry():
    configuration = os.path.join(images, "registry.yml")
    with open(configuration, "w") as file:
        json.dump({
            "version": "0.1", "log": {"level": "info"}, "http": {"addr": "127.0.0.1:0"},
            "storage": {"filesystem": {"rootdirectory": images}},
        }, file)
    process = subprocess.Popen(
        ["docker-registry", "serve", configuration], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL, text=True, preexec_fn=ends_with_us)
    for line in process.stderr:
        found = re.search(r"listening on 127\.0\.0\.1:(\d+)", line)
        if found:
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return int(found.group(1))
    sys.exit("the registry did not start")


def new_tokens():
    number = next(numbers)
    state.update(token=f"token-{number}", refresh=f"refresh-{number}")
    return {"access_token": state["token"], "refresh_token": state["refresh"], "expires_in": 600,
            "user": {"id": "7", "email": "ada@example.org"}}


def wheel():
    """A package for pip without code (PEP 427)."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        folder = "one-1.0.dist-info"
        archive.writestr(f"{folder}/METADATA", "Metadata-Version: 2.1\nName: one\nVersion: 1.0\n")
        archive.writestr(f"{folder}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{folder}/RECORD", f"{folder}/METADATA,,\n{folder}/WHEEL,,\n{folder}/RECORD,,\n")
    return data.getvalue()


def crate():
    """A package for cargo."""
    data = io.BytesIO()
    files = {"Cargo.toml": '[package]\nname = "one"\nversion = "1.0.0"\nedition = "2021"\n', "src/lib.rs": ""}
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"one-1.0.0/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return data.getvalue()


def module():
    """A module for Terraform."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("main.tf", 'output "one" {\n  value = 1\n}\n')
    return data.getvalue()


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def reply(self, status, body=b"", headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        names = {name.lower() for name, _ in headers}
        for name, value in headers:
            self.send_header(name, value)
        if "content-type" not in names:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def read_body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def token(self):
        header = self.headers.get("Authorization") or ""
        scheme, _, value = header.partition(" ")
        if header and not value:
            # As cargo sends it.
            scheme, value = "plain", header
        if scheme == "Basic":
            value = base64.b64decode(value).decode().partition(":")[2]
        log.append(f"{self.command} {self.path.split('?')[0]} {scheme or 'none'}")
        return value

    def handle_any(self):
        body = self.read_body()
        path = self.path.split("?")[0]
        if path == "/log":
            return self.reply(200, log)
        if path == "/control/revoke":
            state["token"] = None
            return self.reply(200, {})
        if path == "/login":
            return self.reply(200, new_tokens())
        if path == "/control/hold":
            # The next renewal waits for /control/release.
            state["hold"] = threading.Event()
            return self.reply(200, {})
        if path == "/control/release":
            state["held"].set()
            return self.reply(200, {})
        if path == "/refresh":
            if hold := state.pop("hold", None):
                state["held"] = hold
                log.append("a renewal is held")
                hold.wait()
            if json.loads(body)["refresh_token"] != state["refresh"]:
                log.append("a renewal is refused")
                return self.reply(401, {"message": "unknown refresh token"})
            return self.reply(200, new_tokens())
        if path == "/.well-known/terraform.json":
            return self.reply(200, {"modules.v1": "/modules/"})
        if path == "/module.zip":
            return self.reply(200, module(), [("Content-Type", "application/zip")])
        if path == "/links":
            return self.reply(200, f'<a href="https://127.0.0.1:{state["TLS port"]}/linked">'.encode(),
                              [("Content-Type", "text/html")])
        if path == "/elsewhere":
            return self.reply(302, {}, [("Location", f"http://localhost:{self.server.server_port}/arrived")])
        token = self.token()
        if not token or token != state["token"]:
            return self.reply(401, {"message": "who are you?"}, [("WWW-Authenticate", 'Basic realm="programs"')])
        if path.startswith("/git/"):
            return self.git(path.removeprefix("/git"), body)
        if path.startswith("/v2/"):
            return self.registry(body)
        if path in packages:
            return self.reply(200, *packages[path])
        if path == "/modules/ada/one/null/1.0.0/download":
            return self.reply(204, b"", [("X-Terraform-Get", f"https://127.0.0.1:{self.server.server_port}/module.zip")])
        return self.reply(200, {"kind": "Status", "apiVersion": "v1", "status": "Success", "major": "1", "minor": "32",
                                "gitVersion": "v1.32.0"})

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    def git(self, path, body):
        """git-http-backend(1), a CGI program."""
        environment = dict(
            os.environ, GIT_PROJECT_ROOT=repositories, GIT_HTTP_EXPORT_ALL="1", REMOTE_USER="ada", PATH_INFO=path,
            REQUEST_METHOD=self.command, QUERY_STRING=self.path.partition("?")[2],
            CONTENT_TYPE=self.headers.get("Content-Type") or "", CONTENT_LENGTH=str(len(body)),
            HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding") or "",
            GIT_PROTOCOL=self.headers.get("Git-Protocol") or "")
        done = subprocess.run(["git", "http-backend"], input=body, env=environment, stdout=subprocess.PIPE)
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        headers = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n") if ": " in line]
        status = int(dict(headers).get("Status", "200").split()[0])
        self.reply(status, rest, [(name, value) for name, value in headers if name != "Status"])

    def registry(self, body):
        connection = http.client.HTTPConnection("127.0.0.1", registry_port)
        headers = {name: ", ".join(self.headers.get_all(name)) for name in self.headers.keys()
                   if name.lower() not in ("authorization", "transfer-encoding", "content-length")}
        connection.request(self.command, self.path, body, headers)
        answer = connection.getresponse()
        data = answer.read()
        kept = [(name, value) for name, value in answer.getheaders()
                if name.lower() not in ("content-length", "transfer-encoding", "connection")]
        if self.command == "HEAD":
            self.send_response(answer.status)
            for name, value in kept + [("Content-Length", answer.getheader("Content-Length") or "0")]:
                self.send_header(name, value)
            self.end_headers()
        else:
            self.reply(answer.status, data, kept)


def serve(context=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.daemon_threads = True
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def throwaway_certificate(folder):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    key, certificate = os.path.join(folder, "key"), os.path.join(folder, "certificate")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate], check=True, stderr=subprocess.DEVNULL)
    context.load_cert_chain(certificate, key)
    return context


registry_port = start_registry() if images else 0
port = serve()
archive = crate()
# What a program asks for, with a Content-Type if it needs one.
packages = {
    "/simple/one/": (b'<a href="/files/one-1.0-py3-none-any.whl">one</a>', [("Content-Type", "text/html")]),
    "/files/one-1.0-py3-none-any.whl": (wheel(),),
    "/index/config.json": ({"dl": f"http://127.0.0.1:{port}/crates", "auth-required": True},),
    "/index/3/o/one": ({"name": "one", "vers": "1.0.0", "deps": [], "features": {}, "yanked": False,
                        "cksum": hashlib.sha256(archive).hexdigest()},),
    "/crates/one/1.0.0/download": (archive,),
    "/npm/one": ({"name": "one", "dist-tags": {"latest": "1.0.0"},
                  "versions": {"1.0.0": {"name": "one", "version": "1.0.0", "dist": {}}}},),
    "/modules/ada/one/null/versions": ({"modules": [{"versions": [{"version": "1.0.0"}]}]},),
}
print(f"port {port}", flush=True)
with tempfile.TemporaryDirectory() as folder:
    # Kubernetes clients and Terraform send credentials over TLS only.
    state["TLS port"] = serve(throwaway_certificate(folder))
    print(f"TLS port {state['TLS port']}", flush=True)
    print(f"certificate {folder}/certificate", flush=True)
    sys.stdin.read()
