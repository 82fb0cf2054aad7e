"""A client of the library websockets: it sends messages of several sizes through a proxy and prints what comes back.

Arguments: the URL, the path of a Unix socket or "-", and an Origin or "-".
"""
import hashlib
import os
import sys

from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect, unix_connect

url, path, origin = sys.argv[1:4]
options = {"origin": None if origin == "-" else origin, "subprotocols": ["chat"], "proxy": None, "max_size": 8 << 20}
try:
    with (connect(url, **options) if path == "-" else unix_connect(path, url, **options)) as socket:
        for size in (0, 5, 125, 126, 70_000, 3 << 20):
            message = os.urandom(size)
            socket.send(message)
            same = hashlib.sha256(socket.recv()).digest() == hashlib.sha256(message).digest()
            print(size, "same" if same else "different", flush=True)
        print("protocol", socket.subprotocol)
except InvalidStatus as error:
    print("status", error.response.status_code)
