"""A client that tries to get a token in another process's name. Arguments: what it tries, and the agent's socket.

It prints each response that it gets."""
import array
import ctypes
import json
import os
import socket
import subprocess
import sys

TOKEN = b'{"jsonrpc":"2.0","id":2,"method":"token.get","params":{"session":"shop"}}\n'
# Not the form that is answered without parsing.
PARSED = b'{"id":2,"jsonrpc":"2.0","params":{"session":"shop","min_valid_ms":1},"method":"token.get"}\n'
PING = b'{"jsonrpc":"2.0","id":1,"method":"agent.ping"}\n'


def connect(path):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(60)
    client.connect(path)
    return client


def line(client):
    received = b""
    while not received.endswith(b"\n"):
        more = client.recv(1)
        if not more:
            break
        received += more
    return received.decode()


def ask(client, request):
    client.sendall(request)
    return line(client)


def show(text):
    print(text.strip() or "closed", flush=True)


def in_child(work):
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return child


def descriptors(client, request, numbers):
    client.sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", numbers))])


def received(channel):
    _, found, _, _ = socket.recv_fds(channel, 1, 1)
    client = socket.socket(fileno=found[0])
    client.settimeout(60)
    return client


def token(path):
    show(ask(connect(path), TOKEN))


def not_dumpable(path):
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    token(path)


def fork(path):
    """connect, fork, write: the first bytes of the connection, and later ones."""
    client = connect(path)
    in_child(lambda: show(ask(client, TOKEN)))
    for request in (TOKEN, PARSED):
        client = connect(path)
        show(ask(client, PING))
        in_child(lambda: show(ask(client, request)))


def execute(path):
    """connect, then another program in a child."""
    client = connect(path)
    show(ask(client, PING))
    os.dup2(client.fileno(), 3)
    # With a timeout it does not block, and head(1) would read nothing.
    client.settimeout(None)
    script = 'printf "%s\\n" "$1" >&3; head -n 1 <&3'
    done = subprocess.run(
        ["sh", "-c", script, "sh", TOKEN.decode().strip()], pass_fds=[3], capture_output=True, text=True, check=True)
    show(done.stdout)


def passed(path):
    """The connection is passed to a process that is not a child of the one that has connected."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

    def give():
        client = connect(path)
        show(ask(client, PING))
        descriptors(theirs, b"x", [client.fileno()])

    in_child(give)
    show(ask(received(ours), TOKEN))


def mixed(path):
    """The process that has connected continues after another one has written half a line."""
    client = connect(path)
    in_child(lambda: client.sendall(TOKEN[:20]))
    try:
        client.sendall(TOKEN[20:])
    except OSError:
        pass
    show(line(client))


def rights(path, file):
    """Sends open files with requests. The agent must not keep any."""
    client = connect(path)
    opened = [os.open(file, os.O_RDONLY) for _ in range(200)]
    for _ in range(3):
        descriptors(client, PING, opened)
        show(line(client))


def reuse(path, authd):
    """In a process namespace of its own: after the process that has connected has ended, another one has its number."""
    notify = os.path.dirname(os.path.dirname(path)) + "/notify"
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(notify)
    arguments = [authd, "--store", "memory", "--socket", path]
    agent = subprocess.Popen(arguments, env=dict(os.environ, NOTIFY_SOCKET=notify))
    while b"READY=1" not in manager.recv(4096):
        pass
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

    def give():
        client = connect(path)
        show(ask(client, PING))
        descriptors(theirs, b"x", [client.fileno()])

    number = in_child(give)
    client = received(ours)

    def write():
        if os.getpid() == number:
            print("the same number", flush=True)
            show(ask(client, PING))

    # A thread of the agent may get the number in between, and end.
    while True:
        with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as last:
            last.write(str(number - 1))
        if in_child(write) == number:
            break
    agent.terminate()
    agent.wait()


{
    "token": token, "not-dumpable": not_dumpable, "fork": fork, "exec": execute, "passed": passed, "mixed": mixed,
    "rights": rights, "reuse": reuse,
}[sys.argv[1]](*sys.argv[2:])
