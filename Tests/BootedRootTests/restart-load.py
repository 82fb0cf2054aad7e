"""restart-load.py SOCKET COUNT UNIT: asks for tokens on several connections, as fast as it can, while the unit is restarted
COUNT times. Before each restart every connection has some requests answered, so that no request meets two restarts. Prints a
line of JSON: requests, per_second (restarts included), retries, refused (requests that a second attempt did not get a token
for), and tokens (how many different ones there were)."""

import json
import socket
import subprocess
import sys
import threading
import time

CLIENTS, REQUESTS, TIMEOUT = 8, 125, 60
path, count, unit = sys.argv[1], int(sys.argv[2]), sys.argv[3]
request = b'{"jsonrpc":"2.0","id":1,"method":"token.get","params":{}}\n'
changed = threading.Condition()
seen = {"requests": 0, "retries": 0, "refused": []}
tokens = set()
ending = threading.Event()


class Client:
    connection = None
    ended = 0

    def attempt(self):
        if not self.connection:
            self.connection = socket.socket(socket.AF_UNIX)
            self.connection.connect(path)
            self.lines = self.connection.makefile("rb")
        self.connection.sendall(request)
        line = self.lines.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("closed")
        return json.loads(line)["result"]["access_token"]

    def disconnect(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def run(self):
        while not ending.is_set():
            problems = []
            for _ in range(2):
                try:
                    tokens.add(self.attempt())
                    break
                except (OSError, KeyError, ValueError) as error:
                    problems.append(repr(error))
                    self.disconnect()
            with changed:
                self.ended += 1
                seen["requests"] += 1
                seen["retries"] += len(problems) == 1
                if len(problems) == 2:
                    seen["refused"].append(problems)
                changed.notify_all()


clients = [Client() for _ in range(CLIENTS)]
threads = [threading.Thread(target=client.run, daemon=True) for client in clients]
begin = time.monotonic()
for thread in threads:
    thread.start()
for number in range(count + 1):
    with changed:
        wanted = [client.ended + REQUESTS for client in clients]
        if not changed.wait_for(lambda: all(c.ended >= w for c, w in zip(clients, wanted)), timeout=TIMEOUT):
            sys.exit(f"a connection had no {REQUESTS} answers in {TIMEOUT} s: {seen}")
    if number < count:
        subprocess.run(["systemctl", "--user", "restart", unit], check=True)
ending.set()
for thread in threads:
    thread.join(TIMEOUT)
rate = round(seen["requests"] / (time.monotonic() - begin))
print(json.dumps(seen | {"per_second": rate, "tokens": len(tokens)}))
