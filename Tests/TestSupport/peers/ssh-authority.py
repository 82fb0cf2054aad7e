"""A certificate authority for ssh behind a sign-in, which signs with the real ssh-keygen and answers as Vault's ssh/sign does.

Its argument is an empty folder, which gets the authority's keys: `ca`, and `other`, a user's key that nobody asks for. It
listens on a port of the system's choice, prints "port N", and serves until its input ends. POST /control/mode sets how it
answers: normal, short (a certificate for less than a minute), plain, refuse, empty, garbage, broken, old, other, host, history
(others come first), ahead (of a machine whose clock is slow). GET /log lists the requests for a signature.
"""
import base64
import getpass
import http.server
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading

folder = sys.argv[1]
numbers = itertools.count(1)
state = {"token": None, "refresh": None, "mode": "normal"}
log = []
lock = threading.Lock()


def make_key(name):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", os.path.join(folder, name)],
                   check=True, stdin=subprocess.DEVNULL)


def sign(public_key, *options):
    """The certificate of a public key (ssh-keygen(1), CERTIFICATES)."""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "key.pub")
        with open(path, "w") as file:
            file.write(public_key + "\n")
        subprocess.run(["ssh-keygen", "-q", "-s", os.path.join(folder, "ca"), "-I", "ada", "-n", getpass.getuser(),
                        *options, path], check=True, stdin=subprocess.DEVNULL)
        with open(os.path.join(place, "key-cert.pub")) as file:
            return file.read()


def cut(certificate):
    """The certificate without its last bytes."""
    kind, data = certificate.split()[:2]
    return kind + " " + base64.b64encode(base64.b64decode(data)[:-40]).decode()


def other_key():
    with open(os.path.join(folder, "other.pub")) as file:
        return file.read().strip()


class Server(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def reply(self, status, body, kind="application/json"):
        data = json.dumps(body).encode() if kind == "application/json" else body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply(200, log)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if self.path == "/control/mode":
            state["mode"] = body["mode"]
            return self.reply(200, {})
        if self.path in ("/login", "/refresh"):
            if self.path == "/refresh" and body["refresh_token"] != state["refresh"]:
                return self.reply(401, {"message": "unknown refresh token"})
            number = next(numbers)
            state.update(token=f"token-{number}", refresh=f"refresh-{number}")
            return self.reply(200, {"access_token": state["token"], "refresh_token": state["refresh"], "expires_in": 600,
                                    "user": {"id": "7", "email": "ada@example.org"}})
        if self.headers.get("Authorization") != f"Bearer {state['token']}":
            return self.reply(401, {"message": "who are you?"})
        with lock:
            log.append(f"{self.path} {body['public_key'].split()[0]}")
        self.answer(state["mode"], body["public_key"])

    def answer(self, mode, key):
        if mode == "refuse":
            return self.reply(403, {"message": "ada may not use this role"})
        if mode == "plain":
            return self.reply(200, sign(key, "-V", "-1m:+10m"), "text/plain")
        certificates = {
            "empty": lambda: "",
            "garbage": lambda: "ssh-ed25519-cert-v01@openssh.com AAAAB3NzaC1yc2E= ada",
            "broken": lambda: cut(sign(key, "-V", "-1m:+10m")),
            "old": lambda: sign(key, "-V", "-20m:-10m"),
            "other": lambda: sign(other_key(), "-V", "-1m:+10m"),
            "host": lambda: sign(key, "-h", "-V", "-1m:+10m"),
            "ahead": lambda: sign(key, "-V", "+2m:+10m"),
            "short": lambda: sign(key, "-V", "-1m:+50s"),
        }
        certificate = certificates.get(mode, lambda: sign(key, "-V", "-1m:+10m"))()
        data = {"serial_number": "1", "signed_key": certificate}
        if mode == "history":
            data = {"former": [certificates["old"](), certificates["other"]()]} | data
        self.reply(200, {"request_id": "1", "data": data})


make_key("ca")
make_key("other")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"port {server.server_port}", flush=True)
sys.stdin.read()
