"""A client that tries to get a token in another process's name, or to keep the agent from serving others. Arguments: what it
tries, and the agent's socket.

It prints each response that it gets. A flood prints "begun", and goes on until its input ends."""
import array
import ctypes
import errno
import json
import os
import select
import socket
import struct
import subprocess
import sys
import threading
import time

TOKEN = b'{"jsonrpc":"2.0","id":2,"method":"token.get","params":{"session":"shop"}}\n'
# Not the form that is answered without parsing.
PARSED = b'{"id":2,"jsonrpc":"2.0","params":{"session":"shop","min_valid_ms":1},"method":"token.get"}\n'
LEND = (
    b'{"jsonrpc":"2.0","id":2,"method":"login.lend","params":{"issuer":"https://id.example","client_id":"authd","state":"s",'
    b'"code_challenge":"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}}\n'
)
SUBSCRIBE = b'{"jsonrpc":"2.0","id":3,"method":"events.subscribe"}\n'
PING = b'{"jsonrpc":"2.0","id":1,"method":"agent.ping"}\n'


def connect(path):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(60)
    client.connect(path)
    return client


def line(client):
    received = b""
    while not received.endswith(b"\n"):
        try:
            more = client.recv(1)
        except ConnectionResetError:
            break
        if not more:
            break
        received += more
    return received.decode()


def ask(client, request):
    try:
        client.sendall(request)
    except OSError:
        pass
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


def lend(path):
    """Requests the browser of this machine for a sign-in."""
    show(ask(connect(path), LEND))


def wait(path):
    """A request that waits, though not for long."""
    show(ask(connect(path), WAIT.replace(b'"active"', b'"active","timeout_ms":1')))


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
    # With a timeout it does not block, and head(1) would not wait.
    client.setblocking(True)
    os.dup2(client.fileno(), 3)
    script = 'printf "%s\\n" "$1" >&3; head -n 1 <&3'
    done = subprocess.run(
        ["sh", "-c", script, "sh", TOKEN.decode().strip()], pass_fds=[3], capture_output=True, text=True, check=True)
    show(done.stdout)


def become(path):
    """connect, then become another program, which uses the connection itself."""
    client = connect(path)
    show(ask(client, PARSED))
    client.setblocking(True)
    os.dup2(client.fileno(), 3)
    # It may have been this number already.
    os.set_inheritable(3, True)
    script = 'printf "%s\\n" "$1" >&3; read -r answer <&3; printf "%s\\n" "$answer"'
    os.execv("/bin/sh", ["sh", "-c", script, "sh", PARSED.decode().strip()])


def hidden(path):
    """After the first response, the executable can no longer be read: by ordinary users, because the process is not dumpable, and
    by root, because its first thread has ended."""
    client = connect(path)
    show(ask(client, PING))
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)

    def rest():
        # The name between the parentheses has no spaces.
        while open("/proc/self/stat", encoding="ascii").read().split()[2] != "Z":
            time.sleep(0.001)
        show(ask(client, PARSED))
        os._exit(0)

    threading.Thread(target=rest).start()
    # exit(2) of this thread only.
    ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)


def passed(path):
    """The connection is passed to a process that is not a child of the one that has connected."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

    def give():
        client = connect(path)
        show(ask(client, PING))
        descriptors(theirs, b"x", [client.fileno()])

    in_child(give)
    show(ask(received(ours), TOKEN))


def left(path):
    """The connection of a process that has ended: what it requested can be read, and nothing else."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

    def give():
        client = connect(path)
        show(ask(client, SUBSCRIBE + PING))
        descriptors(theirs, b"x", [client.fileno()])

    in_child(give)
    client = received(ours)
    while text := line(client):
        show(text)
    show("")


def other_user(path):
    """The real user is a different one than the effective one, if this process may change it."""
    try:
        os.setresuid(65534, -1, -1)
    except PermissionError:
        pass
    token(path)


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
    """Sends open files with requests. The agent must not keep any, and a kernel that can refuse them does."""
    client = connect(path)
    pass_rights = 83
    try:
        client.getsockopt(socket.SOL_SOCKET, pass_rights)
        show("can refuse")
    except OSError:
        show("cannot refuse")
    opened = [os.open(file, os.O_RDONLY) for _ in range(200)]
    for _ in range(3):
        try:
            descriptors(client, PING, opened)
        except PermissionError:
            show("refused")
            client.sendall(PING)
        show(line(client))


def without_peer_descriptors():
    """The kernel answers SO_PEERPIDFD from now on as before Linux 6.5 (seccomp(2))."""
    so_peerpidfd = 77
    load, equal, end = 0x20, 0x15, 0x06
    getsockopt = {"x86_64": 55, "aarch64": 209}[os.uname().machine]
    # The number of the call and its third argument, in struct seccomp_data.
    program = struct.pack(
        "HBBI" * 6, load, 0, 0, 0, equal, 0, 3, getsockopt, load, 0, 0, 32, equal, 0, 1, so_peerpidfd,
        end, 0, 0, 0x00050000 | errno.ENOPROTOOPT, end, 0, 0, 0x7FFF0000)
    code = ctypes.create_string_buffer(program, len(program))
    filters = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    # PR_SET_NO_NEW_PRIVS, and PR_SET_SECCOMP with a filter.
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, filters, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    with socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)[0] as tried:
        try:
            tried.getsockopt(socket.SOL_SOCKET, so_peerpidfd)
        except OSError as error:
            if error.errno == errno.ENOPROTOOPT:
                return
        raise OSError(0, "SO_PEERPIDFD is there")


def reuse(path, authd, kernel="this"):
    """In a separate process namespace: after the process that has connected has ended, another one has its number. On an older
    kernel the agent has no SO_PEERPIDFD."""
    notify = os.path.dirname(os.path.dirname(path)) + "/notify"
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(notify)
    arguments = [authd, "--store", "memory", "--socket", path]
    prepare = without_peer_descriptors if kernel == "older" else None
    agent = subprocess.Popen(arguments, env=dict(os.environ, NOTIFY_SOCKET=notify), preexec_fn=prepare)
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


# What goes on until standard input ends.

DISCOVER = b'{"jsonrpc":"2.0","id":9,"method":"rpc.discover"}\n'
WAIT = b'{"jsonrpc":"2.0","id":8,"method":"session.wait","params":{"session":"nobody","until":"active"}}\n'


def is_over():
    return bool(select.select([sys.stdin], [], [], 0)[0])


def flood(path, rounds):
    """Each round is one attempt. The agent may refuse it, close the connection, or not accept one."""
    begun = False
    while not is_over():
        try:
            rounds(path)
        except OSError:
            pass
        if not begun:
            begun = True
            print("begun", flush=True)


def some(client, data):
    """As much as the agent takes within a moment."""
    client.settimeout(0.2)
    try:
        client.sendall(data)
    except OSError:
        pass


def without_end(count, data):
    """Connections that stay open for a second, and whose last line has no end."""
    def rounds(path):
        clients = [connect(path) for _ in range(count)]
        for client in clients:
            some(client, data)
        time.sleep(1)
        for client in clients:
            client.close()
    return rounds


def deaf(path):
    """Never reads, and requests what is long."""
    clients = [connect(path) for _ in range(20)]
    for client in clients:
        some(client, b"[" + b",".join([DISCOVER.strip()] * 100) + b"]\n" + DISCOVER * 100)
    time.sleep(0.5)
    for client in clients:
        client.close()


def crowd(path):
    """As many connections as it gets."""
    clients = []
    try:
        for _ in range(2000):
            clients.append(connect(path))
    except OSError:
        pass
    time.sleep(0.5)
    for client in clients:
        client.close()


def churn(path):
    for _ in range(100):
        connect(path).close()


def read_all(client, count):
    """As many lines, or less."""
    reader = client.makefile("rb")
    for _ in range(count):
        if not reader.readline():
            break


def asked(data, count):
    def rounds(path):
        with connect(path) as client:
            client.sendall(data)
            read_all(client, count)
    return rounds


def waiting(path):
    with connect(path) as client:
        client.sendall(WAIT * 200)
        read_all(client, 60)


def inherited(path):
    client = connect(path)
    ask(client, PING)
    in_child(lambda: some(client, TOKEN))
    client.close()


def given(path):
    """Descriptors beside each request."""
    files = [os.open("/dev/null", os.O_RDONLY) for _ in range(50)]
    try:
        with connect(path) as client:
            for _ in range(20):
                try:
                    descriptors(client, PING, files)
                except PermissionError:
                    client.sendall(PING)
                line(client)
    finally:
        for file in files:
            os.close(file)


FLOODS = {
    "half-lines": without_end(100, TOKEN[:30]),
    "huge-lines": without_end(4, b'{"jsonrpc":"2.0","id":1,"method":"agent.ping","params":{"x":"' + b"x" * (2 << 20)),
    "deep": asked((b"[" * 400_000 + b"\n" + b'{"a":' * 200_000 + b"\n") * 2, 2),
    "values": asked((b'{"jsonrpc":"2.0","id":1,"method":"agent.ping","params":{"x":[' + b"{}," * 300_000 + b"0]}}\n") * 2, 2),
    "batches": asked((b"[" + b",".join([PARSED.strip()] * 128) + b"]\n") * 5, 5),
    "broken": asked(b"\xff\xfe{]\n" * 5000, 5000),
    "pings": asked(PING * 5000, 5000),
    "deaf": deaf, "crowd": crowd, "churn": churn, "waiting": waiting, "inherited": inherited, "given": given,
}
if sys.argv[1] in FLOODS:
    flood(sys.argv[2], FLOODS[sys.argv[1]])
    sys.exit()

{
    "token": token, "lend": lend, "wait": wait, "not-dumpable": not_dumpable, "fork": fork, "exec": execute, "become": become, "hidden": hidden, "passed": passed, "mixed": mixed,
    "rights": rights, "reuse": reuse, "left": left, "other-user": other_user, "connect": connect,
}[sys.argv[1]](*sys.argv[2:])
