"""An API whose WebSockets begin in unusual ways: the protocol of the library websockets, on sockets of this program's own.

The path says how: at /early the server's first message is sent with the response to the handshake; /other switches to another
protocol than the requested one, /unrequested switches without a request, and /stuck never answers. GET /log returns the paths
so far. It listens on a port of the system's choice, prints "port N", and serves until its input ends.
"""
import json
import os
import re
import socket
import sys
import threading

from websockets.frames import Frame
from websockets.server import ServerProtocol

log = []
switched = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n"


def received(connection, enough):
    data = b""
    while not enough(data):
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    return data


def reply(connection, value):
    body = json.dumps(value).encode()
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n"
                       b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


def echo(connection, data):
    protocol = ServerProtocol()
    protocol.receive_data(data)
    request, *events = protocol.events_received()
    protocol.send_response(protocol.accept(request))
    protocol.send_binary(b"hello")
    while True:
        for event in events:
            if isinstance(event, Frame) and event.opcode == 2:
                protocol.send_binary(event.data)
        if sending := b"".join(protocol.data_to_send()):
            connection.sendall(sending)
        data = connection.recv(65536)
        if not data:
            return
        protocol.receive_data(data)
        events = protocol.events_received()


def serve(connection):
    with connection:
        data = received(connection, lambda data: b"\r\n\r\n" in data)
        if data is None:
            return
        path = data.split(b" ")[1].decode()
        if path == "/log":
            return reply(connection, log)
        log.append(path)
        if path == "/early":
            echo(connection, data)
        elif path == "/other":
            connection.sendall(switched % b"h2c")
            connection.recv(1)
        elif path == "/unrequested":
            connection.sendall(switched % b"websocket")
            connection.recv(1)
        elif path == "/stuck":
            while connection.recv(65536):
                pass
        else:
            # A sign-in. Unread bytes at the end of the connection would reset it.
            head, _, body = data.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: *(\d+)", head)
            missing = int(length.group(1)) - len(body) if length else 0
            received(connection, lambda data: len(data) >= missing)
            reply(connection, {"token": "token-secret-1", "refresh": "refresh-secret"})


def accept(listener):
    while True:
        threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()


listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=accept, args=[listener], daemon=True).start()
print("port", listener.getsockname()[1], flush=True)
sys.stdin.read()
os._exit(0)
