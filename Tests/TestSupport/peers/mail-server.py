"""A dovecot that accepts a backend's tokens, for IMAP and submission. What is submitted arrives in Ada's own mailbox.

Its argument is an empty folder. It listens on ports of the system's choice, prints "port N" of a small backend with sign-in,
renewal and introspection (RFC 7662), then "imap N", "submission N" and "certificate FILE", and serves until its input ends.
GET /log lists whether each introspected token was active; POST /control/revoke ends the present access token.
"""
import ctypes
import grp
import http.server
import itertools
import json
import os
import pwd
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import urllib.parse

folder = sys.argv[1]
numbers = itertools.count(1)
state = {"token": None, "refresh": None}
log = []
mailbox = os.path.join(folder, "mail", "ada@example.org")
# As root, dovecot reads mail as another user.
owner = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())


def ends_with_us():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Backend(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply(200, log)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        if self.path == "/introspect":
            token = urllib.parse.parse_qs(body).get("token", [""])[0]
            is_active = token == state["token"]
            log.append("active" if is_active else "inactive")
            return self.reply(200, {"active": is_active, "username": "ada@example.org"} if is_active
                              else {"active": False})
        if self.path == "/control/revoke":
            state["token"] = None
            return self.reply(200, {})
        if self.path == "/refresh" and json.loads(body)["refresh_token"] != state["refresh"]:
            return self.reply(401, {"message": "unknown refresh token"})
        number = next(numbers)
        state.update(token=f"token-{number}", refresh=f"refresh-{number}")
        self.reply(200, {"access_token": state["token"], "refresh_token": state["refresh"], "expires_in": 600,
                         "user": {"id": "7", "email": "ada@example.org"}})


class Relay(socketserver.StreamRequestHandler):
    """The SMTP server that dovecot passes messages on to (RFC 5321)."""

    def handle(self):
        def say(line):
            self.wfile.write(line.encode() + b"\r\n")

        say("220 relay")
        while line := self.rfile.readline().decode().strip():
            verb = line.split()[0].upper()
            if verb == "EHLO":
                say("250-relay\r\n250 8BITMIME")
            elif verb == "DATA":
                say("354 go on")
                text = b""
                while (part := self.rfile.readline()) not in (b".\r\n", b""):
                    text += part
                deliver(text)
                say("250 kept")
            elif verb == "QUIT":
                return say("221 bye")
            else:
                say("250 ok")


def deliver(text):
    """As maildir(5) says."""
    name = f"{next(numbers)}.relay"
    with open(os.path.join(mailbox, "tmp", name), "wb") as file:
        file.write(text)
        os.fchown(file.fileno(), owner.pw_uid, owner.pw_gid)
    os.rename(os.path.join(mailbox, "tmp", name), os.path.join(mailbox, "new", name))


def serve(server):
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def start_dovecot(backend, relay):
    imap, submission = free_port(), free_port()
    for name in ("", "tmp", "new", "cur"):
        os.makedirs(os.path.join(mailbox, name), exist_ok=True)
        os.chown(os.path.join(mailbox, name), owner.pw_uid, owner.pw_gid)
    # Another user passes through, to the mail only.
    for name in (folder, os.path.dirname(folder)) if os.getuid() == 0 else ():
        os.chmod(name, 0o711)
    key, certificate = os.path.join(folder, "key"), os.path.join(folder, "certificate")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", key, "-out", certificate], check=True, stderr=subprocess.DEVNULL)
    # Without root, all of dovecot runs as one user and cannot confine itself.
    users = "" if os.getuid() == 0 else f"""
default_internal_user = {owner.pw_name}
default_login_user = {owner.pw_name}
default_internal_group = {grp.getgrgid(owner.pw_gid).gr_name}
""" + "".join(f"service {name} {{\n  chroot =\n}}\n" for name in ("anvil", "imap-login", "submission-login"))
    with open(os.path.join(folder, "oauth2.conf"), "w") as file:
        file.write(f"""
introspection_mode = post
introspection_url = http://127.0.0.1:{backend}/introspect
username_attribute = username
active_attribute = active
active_value = true
""")
    with open(os.path.join(folder, "dovecot.conf"), "w") as file:
        file.write(f"""
protocols = imap submission
listen = 127.0.0.1
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
ssl = required
ssl_cert = <{certificate}
ssl_key = <{key}
auth_mechanisms = xoauth2 oauthbearer
mail_location = maildir:{folder}/mail/%u
first_valid_uid = 1
submission_relay_host = 127.0.0.1
submission_relay_port = {relay}
{users}
passdb {{
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = {folder}/oauth2.conf
}}
userdb {{
  driver = static
  args = uid={owner.pw_uid} gid={owner.pw_gid} home={mailbox}
}}
service imap-login {{
  inet_listener imap {{
    port = 0
  }}
  inet_listener imaps {{
    port = {imap}
    ssl = yes
  }}
}}
service submission-login {{
  inet_listener submission {{
    port = {submission}
  }}
}}
""")
    process = subprocess.Popen(
        ["/usr/sbin/dovecot", "-F", "-c", os.path.join(folder, "dovecot.conf")],
        stdin=subprocess.DEVNULL, preexec_fn=ends_with_us)
    return process, imap, submission, certificate


backend = serve(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend))
dovecot, imap, submission, certificate = start_dovecot(
    backend, serve(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Relay)))
print(f"port {backend}\nimap {imap}\nsubmission {submission}\ncertificate {certificate}", flush=True)
sys.stdin.read()
dovecot.terminate()
dovecot.wait()
