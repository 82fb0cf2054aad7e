"""A stand-in for providers that misbehave. The first part of a path says how; after /good, the second one does.

Its argument is a folder: the certificate of its authority becomes ca.pem there. It listens on ports of the system's choice, prints
"port N", and serves until its input ends. GET /ports returns the other ports, GET /log the requests. Each port with TLS or HTTP/2
misbehaves in one way.
"""
import base64
import datetime
import http.server
import ipaddress
import json
import os
import socket
import ssl
import struct
import sys
import threading
import time
import zlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

folder = sys.argv[1]
log = []
ports = {}
# The longest that an attack goes on, in seconds: longer than any limit of the tests.
LONGEST = 60


class Provider(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def handle_any(self):
        if self.path == "/log":
            return self.reply(log)
        if self.path == "/ports":
            return self.reply(ports)
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        log.append({
            "method": self.command, "path": self.path, "port": self.server.server_port, "host": self.headers.get("Host"),
            "authorization": self.headers.get("Authorization"), "cookie": self.headers.get("Cookie"), "body": self.body,
        })
        parts = self.path.split("?")[0].strip("/").split("/")
        name = parts[1] if parts[0] == "good" and len(parts) > 1 and parts[1] != "login" else parts[0]
        try:
            if name == "oauth":
                return self.oauth(parts[1], "/".join(parts[2:]))
            getattr(self, "serve_" + name.replace("-", "_"))()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_HEAD = handle_any

    # Ways to answer.

    def reply(self, body, status=200, headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for field, value in (("Content-Type", "application/json"), *headers, ("Content-Length", str(len(data)))):
            self.send_header(field, value)
        self.end_headers()
        self.wfile.write(data)

    def raw(self, *pieces):
        self.close_connection = True
        for piece in pieces:
            self.wfile.write(piece)

    def endless(self, head, piece):
        self.raw(head)
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            self.wfile.write(piece)

    def serve_good(self):
        self.reply({"token": "token-good", "expires_in": 3600})

    def serve_steal(self):
        self.reply({"token": "token-stolen"})

    # Bodies.

    def serve_endless_body(self):
        self.endless(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", b" " * 65536)

    def serve_endless_chunks(self):
        self.endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n" * 4096)

    def serve_chunk_extension(self):
        self.endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"x" * 65536)

    def serve_trailers(self):
        self.endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n \r\n0\r\n", b"X-A: " + b"x" * 4000 + b"\r\n")

    def compressed(self, layers, coding):
        packer = zlib.compressobj(9, zlib.DEFLATED, 31 if coding == "gzip" else 15)
        data = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(64)) + packer.flush()
        for _ in range(layers - 1):
            packer = zlib.compressobj(9, zlib.DEFLATED, 31)
            data = packer.compress(data) + packer.flush()
        self.reply(data, headers=[("Content-Encoding", ", ".join([coding] * layers))])

    def serve_gzip(self):
        self.compressed(1, "gzip")

    def serve_deflate(self):
        self.compressed(1, "deflate")

    def serve_gzip_twice(self):
        self.compressed(2, "gzip")

    def serve_deep(self):
        self.reply(b"[" * 200_000 + b"]" * 200_000)

    def serve_values(self):
        self.reply(b'{"token":"x","a":[' + b"0," * 300_000 + b"0]}")

    def serve_keys(self):
        self.reply(b"{" + b",".join(b'"k%d":0' % number for number in range(60_000)) + b"}")

    def serve_half(self):
        self.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"token\"")

    def serve_length(self):
        self.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n{}")

    def serve_two_lengths(self):
        self.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 40\r\n\r\n{}")

    # Heads.

    def serve_endless_headers(self):
        self.endless(b"HTTP/1.1 200 OK\r\n", b"X-A: " + b"x" * 4000 + b"\r\n")

    def serve_huge_header(self):
        self.endless(b"HTTP/1.1 200 OK\r\nX-A: ", b"x" * 65536)

    def serve_huge_reason(self):
        self.endless(b"HTTP/1.1 200 ", b"x" * 65536)

    def serve_early(self):
        self.endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n" * 500)

    def serve_continue(self):
        self.endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)

    def serve_silent(self):
        time.sleep(LONGEST)

    def serve_slow(self):
        self.raw(b"HTTP/1.1 200 OK\r\n")
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            self.wfile.write(b"X")
            time.sleep(0.05)

    def serve_age(self):
        """No copy can be so old. The date is valid, and a day ahead: the sum is beyond 64 bits of seconds."""
        body = b'{"token":"token-good","expires_in":3600}'
        tomorrow = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
        date = tomorrow.strftime("%a, %d %b %Y %H:%M:%S GMT").encode()
        self.raw(
            b"HTTP/1.1 200 OK\r\nDate: %s\r\nAge: 9223372036854775807\r\nContent-Length: %d\r\n\r\n%s" % (date, len(body), body))

    def serve_dates(self):
        self.reply(
            {"token": "token-good", "expires_in": 1e300},
            headers=[("Retry-After", "9" * 300), ("Expires", "Thu, 99 Foo 99999 99:99:99 GMT")])

    def serve_text(self):
        """Words for a terminal instead of for people."""
        self.reply({"message": "\x1b[2J\u202eexe.txt\u200b\x07"}, 400)

    # Other places.

    def away(self, location, status=307):
        self.reply({}, status, [("Location", location)])

    def serve_redirect_file(self):
        self.away("file:///etc/passwd")

    def serve_redirect_script(self):
        self.away("javascript:alert(1)")

    def serve_redirect_other(self):
        self.away(f"http://127.0.0.1:{ports['other']}/steal")

    def serve_redirect_name(self):
        self.away(f"http://localhost:{ports['plain']}/steal")

    def serve_redirect_user(self):
        self.away(f"http://127.0.0.1:{ports['plain']}@127.0.0.1:{ports['other']}/steal")

    def serve_redirect_relative(self):
        self.away(f"//127.0.0.1:{ports['other']}/steal")

    def serve_redirect_loop(self):
        self.away(self.path)

    def serve_redirect_get(self):
        self.away(f"http://127.0.0.1:{ports['other']}/steal", 303)

    def serve_cookies(self):
        names = ["other.example", "127.0.0.2", "0.0.1", "localhost", ".", ""]
        self.reply(
            {"token": "token-good", "expires_in": 3600},
            headers=[("Set-Cookie", f"c{number}=stolen; Domain={name}; Path=/") for number, name in enumerate(names)]
            + [("Set-Cookie", "own=1; Path=/"), ("Set-Cookie", "large=" + "x" * 5000)])

    def serve_seen(self):
        self.reply({"cookie": self.headers.get("Cookie") or ""})

    # OpenID Connect.

    def oauth(self, name, rest):
        base = f"http://127.0.0.1:{ports['plain']}/oauth/"
        if rest == ".well-known/openid-configuration":
            keys = {
                "other-keys": base + "good/jwks", "file-keys": "file:///etc/passwd",
                "endless-keys": f"http://127.0.0.1:{ports['plain']}/endless-body",
                "redirected-keys": f"http://127.0.0.1:{ports['plain']}/redirect-other",
            }.get(name, base + name + "/jwks")
            return self.reply({
                "issuer": base + ("good" if name == "other-issuer" else name), "token_endpoint": base + name + "/token",
                "device_authorization_endpoint": base + name + "/device", "jwks_uri": keys,
                "authorization_endpoint": base + name + "/authorize",
            })
        if rest == "device":
            return self.reply({
                "device_code": "d", "user_code": "ABCD-EFGH", "verification_uri": base + name + "/verify", "interval": 1,
                "expires_in": 60,
            })
        if rest == "jwks":
            return self.reply({"keys": key_set(name)})
        if rest == "token":
            # A token of the good issuer, for whoever points at its keys.
            issuer = base + ("good" if name == "other-keys" else name)
            return self.reply({
                "access_token": "at-" + name, "token_type": "Bearer", "expires_in": 3600,
                "id_token": id_token(issuer, "large" if name == "large-key" else "1"),
            })
        return self.reply({"error": "not found"}, 404)


def number(value):
    return text(value.to_bytes((value.bit_length() + 7) // 8, "big"))


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


signing = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def key_set(name):
    def key(modulus, kid):
        return {"kty": "RSA", "kid": kid, "use": "sig", "n": number(modulus), "e": "AQAB"}

    if name == "large-key":
        # 16,384 bits: one check of a signature takes a second.
        return [key(int.from_bytes(b"\xff" + os.urandom(2047), "big") | 1, "large")]
    if name == "many-keys":
        return [key(int.from_bytes(b"\xff" + os.urandom(1023), "big") | 1, "1") for _ in range(600)]
    return [key(signing.public_key().public_numbers().n, "1")]


def id_token(issuer, kid):
    now = int(time.time())
    claims = {"iss": issuer, "sub": "7", "aud": "authd-test", "iat": now, "exp": now + 600}
    parts = ".".join(text(json.dumps(part).encode()) for part in ({"alg": "RS256", "kid": kid}, claims))
    return parts + "." + text(signing.sign(parts.encode(), padding.PKCS1v15(), hashes.SHA256()))


# Certificates.

def certificate(name, issuer=None, address="127.0.0.1", start=-1, end=1):
    """A key and its certificate in a file; without an issuer it is signed by itself. The times are in days."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = x509.CertificateBuilder(
        issuer[1].subject if issuer else subject, subject, key.public_key(), x509.random_serial_number(),
        now + datetime.timedelta(days=start), now + datetime.timedelta(days=end))
    if name == "authority":
        builder = builder.add_extension(x509.BasicConstraints(True, None), True)
    else:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), False)
    made = builder.sign(issuer[0] if issuer else key, hashes.SHA256())
    file = os.path.join(folder, name + ".pem")
    with open(file, "wb") as output:
        output.write(made.public_bytes(serialization.Encoding.PEM))
        if name != "authority":
            output.write(key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return key, made, file


def context(file, protocol="http/1.1"):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(file)
    made.set_alpn_protocols([protocol])
    return made


# HTTP/2 (RFC 9113), as far as it takes to misuse it.

DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
# Of the static table of HPACK (RFC 7541 appendix A): ":status" is 8, and "200" with it.
OK, EARLY = b"\x88", b"\x08\x03103"


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


class Ended(Exception):
    pass


def exactly(connection, count):
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise Ended
        data += more
    return data


def requested(connection):
    """The stream of the next request."""
    while True:
        head = exactly(connection, 9)
        payload = exactly(connection, int.from_bytes(head[:3], "big"))
        kind, flags, stream = head[3], head[4], int.from_bytes(head[5:9], "big") & 0x7FFFFFFF
        if kind == SETTINGS and not flags & ACK:
            connection.sendall(frame(SETTINGS, ACK, 0))
        if kind == HEADERS:
            return stream
        del payload


def flood(connection, piece):
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        connection.sendall(piece)


def h2_reset(connection, stream):
    while True:
        connection.sendall(frame(RESET, 0, stream, struct.pack(">I", 7)))
        stream = requested(connection)


def h2_continuation(connection, stream):
    connection.sendall(frame(HEADERS, 0, stream, OK))
    flood(connection, frame(CONTINUATION, 0, stream, literal(b"x-a", b"x" * 100) * 100))


def h2_empty_continuation(connection, stream):
    connection.sendall(frame(HEADERS, 0, stream, OK))
    flood(connection, frame(CONTINUATION, 0, stream) * 1000)


def h2_early(connection, stream):
    flood(connection, frame(HEADERS, END_HEADERS, stream, EARLY) * 1000)


def h2_settings(connection, stream):
    """Each must be acknowledged, and nothing is read."""
    flood(connection, frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 100)) * 1000)


def h2_ping(connection, stream):
    flood(connection, frame(PING, 0, 0, b"12345678") * 1000)


def h2_empty_data(connection, stream):
    connection.sendall(frame(HEADERS, END_HEADERS, stream, OK))
    flood(connection, frame(DATA, 0, stream) * 1000)


def h2_data(connection, stream):
    """More than the window of the client."""
    connection.sendall(frame(HEADERS, END_HEADERS, stream, OK))
    flood(connection, frame(DATA, 0, stream, b" " * 16384))


def h2_bomb(connection, stream):
    """One large field in the table, and many references to it."""
    large = b"\x40\x01a\x7f" + b"\xa1\x1e" + b"x" * 4000
    connection.sendall(frame(HEADERS, 0, stream, OK + large))
    flood(connection, frame(CONTINUATION, 0, stream, b"\xbe" * 16000))


def h2_window(connection, stream):
    flood(connection, frame(WINDOW, 0, stream, struct.pack(">I", 1)) * 1000)


def h2_large_frame(connection, stream):
    connection.sendall(frame(HEADERS, END_HEADERS, stream, OK))
    flood(connection, frame(DATA, 0, stream, b" " * ((1 << 24) - 1)))


def h2_goaway(connection, stream):
    connection.sendall(frame(GOAWAY, 0, 0, struct.pack(">II", 0, 11)))


HTTP2 = [
    h2_reset, h2_continuation, h2_empty_continuation, h2_early, h2_settings, h2_ping, h2_empty_data, h2_data, h2_bomb, h2_window,
    h2_large_frame, h2_goaway,
]


def serve_http2(listener, tls, attack):
    def one(plain):
        try:
            with tls.wrap_socket(plain, server_side=True) as connection:
                preface = exactly(connection, 24)
                # A client that did not offer HTTP/2 gets it all the same.
                stream = 1
                connection.sendall(frame(SETTINGS, 0, 0))
                if preface.startswith(b"PRI * HTTP/2.0"):
                    stream = requested(connection)
                log.append({"path": attack.__name__, "first": preface.decode("latin-1")})
                attack(connection, stream)
        except (OSError, Ended):
            pass

    while True:
        threading.Thread(target=one, args=[listener.accept()[0]], daemon=True).start()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    tls = None

    def finish_request(self, request, address):
        """The handshake is done in the thread of its connection."""
        if self.tls:
            request = self.tls.wrap_socket(request, server_side=True)
        super().finish_request(request, address)

    def handle_error(self, request, address):
        # A client that does not trust the certificate.
        pass


def serving(name, tls=None):
    server = Server(("127.0.0.1", 0), Provider)
    server.tls = tls
    ports[name] = server.server_port
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
    return server


authority = certificate("authority")
os.rename(authority[2], os.path.join(folder, "ca.pem"))
plain = serving("plain")
serving("other")
trusted = certificate("trusted", authority)[2]
serving("trusted", context(trusted))
serving("wrong-name", context(certificate("wrong-name", authority, address="127.0.0.2")[2]))
serving("expired", context(certificate("expired", authority, start=-3, end=-1)[2]))
serving("not-yet", context(certificate("not-yet", authority, start=1, end=2)[2]))
serving("self-signed", context(certificate("self-signed")[2]))
for attack in HTTP2:
    listener = socket.create_server(("127.0.0.1", 0))
    ports[attack.__name__.replace("_", "-")] = listener.getsockname()[1]
    threading.Thread(target=serve_http2, args=[listener, context(trusted, "h2"), attack], daemon=True).start()
print(f"port {plain.server_port}", flush=True)
sys.stdin.buffer.read()
