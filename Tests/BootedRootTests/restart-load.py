"""restart-load.py SOCKET COUNT UNIT: offers 1,000 requests for a token per second while the unit is restarted COUNT times. The
requests have a fixed schedule. Each is sent when it is due, or right after the one before it on its connection: those that a
restart delays are sent afterwards, and none is left out. Before each restart every connection has some requests answered, so
that no request meets two restarts. Prints a line of JSON: requests, offered (how many were due), per_second (offered), during
(how many became due during each restart), retries, refused (requests without a token after a second attempt, 20 at most),
tokens (how many different ones there were), and slowest_ms (the longest time from when a request was due to its answer)."""

import json
import socket
import subprocess
import sys
import threading
import time

CLIENTS, PER_SECOND, REQUESTS, TIMEOUT = 50, 1000, 20, 60
path, count, unit = sys.argv[1], int(sys.argv[2]), sys.argv[3]
request = b'{"jsonrpc":"2.0","id":1,"method":"token.get","params":{}}\n'
changed = threading.Condition()
seen = {"requests": 0, "retries": 0, "refused": [], "during": [], "slowest_ms": 0}
tokens = set()
ending = threading.Event()
begin = time.monotonic()
end = float("inf")


def offered(until):
    """How many are due by then."""
    return int((until - begin) * PER_SECOND) + 1


class Client:
    connection = None
    ended = 0

    def __init__(self, number):
        self.number = number

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
        # The clients take turns in the schedule.
        while True:
            due = begin + (self.ended * CLIENTS + self.number) / PER_SECOND
            ending.wait(max(0, due - time.monotonic()))
            if due > end:
                return
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
                if len(problems) == 2 and len(seen["refused"]) < 20:
                    seen["refused"].append(problems)
                seen["slowest_ms"] = max(seen["slowest_ms"], round((time.monotonic() - due) * 1000))
                changed.notify_all()


clients = [Client(number) for number in range(CLIENTS)]
threads = [threading.Thread(target=client.run, daemon=True) for client in clients]
for thread in threads:
    thread.start()
for number in range(count + 1):
    with changed:
        wanted = [client.ended + REQUESTS for client in clients]
        if not changed.wait_for(lambda: all(c.ended >= w for c, w in zip(clients, wanted)), timeout=TIMEOUT):
            sys.exit(f"a connection had no {REQUESTS} answers in {TIMEOUT} s: {seen}")
    if number < count:
        before = offered(time.monotonic())
        subprocess.run(["systemctl", "--user", "restart", unit], check=True)
        seen["during"].append(offered(time.monotonic()) - before)
end = time.monotonic()
ending.set()
for thread in threads:
    thread.join(TIMEOUT)
total = offered(end)
rate = round(total / (end - begin))
print(json.dumps(seen | {"offered": total, "per_second": rate, "tokens": len(tokens)}))
