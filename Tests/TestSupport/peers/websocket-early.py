"""A client that sends its first message with the handshake, as the library websockets writes both.

Arguments: the URL, and the path of a Unix socket. It prints the status of the handshake and the first two messages.
"""
import socket
import sys

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.uri import parse_uri

url, path = sys.argv[1:3]
protocol = ClientProtocol(parse_uri(url))
protocol.send_request(protocol.connect())
early = b"".join(protocol.data_to_send()) + Frame(Opcode.BINARY, b"early").serialize(mask=True)
with socket.socket(socket.AF_UNIX) as connection:
    connection.settimeout(60)
    connection.connect(path)
    connection.sendall(early)
    seen = []
    while len(seen) < 3:
        data = connection.recv(65536)
        if not data:
            sys.exit("the connection ended")
        protocol.receive_data(data)
        for event in protocol.events_received():
            seen.append(event.data.decode() if isinstance(event, Frame) else f"status {event.status_code}")
print(", ".join(seen))
