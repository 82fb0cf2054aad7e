"""A FUSE file system with one file, `program`, with invented numbers and times. It stays mounted until the input ends.

Usage: one-file-system.py FOLDER PROGRAM USER: the folder to mount it at, the content of the file, and the user who serves it.
"""

import ctypes
import errno
import os
import select
import struct
import sys

LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, FLUSH, INIT = 1, 2, 3, 14, 15, 18, 25, 26
OPEN_FOLDER, RELEASE_FOLDER, FORGET_MANY = 27, 29, 42
ROOT, FILE = 1, 2
LONG = 3600

folder, program, user = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(program, "rb") as file:
    content = file.read()


def attributes(node):
    mode = 0o040755 if node == ROOT else 0o100755
    size = 0 if node == ROOT else len(content)
    return struct.pack("6Q10I", node, size, 0, 1, 1, 1, 0, 0, 0, mode, 1, user, user, 0, 4096, 0)


def answer(code, node, data):
    """The error and the content of a response; None if there is none."""
    if code in (FORGET, FORGET_MANY):
        return None
    if code == INIT:
        return 0, struct.pack("4I2H2I2H8I", 7, 31, 1 << 17, 0, 16, 12, 1 << 17, 1, 32, 0, *[0] * 8)
    if code == LOOKUP:
        if node != ROOT or data.rstrip(b"\0") != b"program":
            return errno.ENOENT, b""
        return 0, struct.pack("4Q2I", FILE, 0, LONG, LONG, 0, 0) + attributes(FILE)
    if code == GETATTR:
        return 0, struct.pack("Q2I", LONG, 0, 0) + attributes(node)
    if code in (OPEN, OPEN_FOLDER):
        return 0, struct.pack("Q2I", 0, 0, 0)
    if code == READ:
        offset, size = struct.unpack_from("QI", data, 8)
        return 0, content[offset : offset + size]
    if code in (RELEASE, RELEASE_FOLDER, FLUSH):
        return 0, b""
    return errno.ENOSYS, b""


libc = ctypes.CDLL(None, use_errno=True)
# The input ends when the tests end. A signal (PR_SET_PDEATHSIG) would leave the folder mounted.
libc.prctl(1, 0)
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id={user},group_id={user},allow_other"
if libc.mount(b"one-file", folder.encode(), b"fuse.one-file", 2 | 4, options.encode()) != 0:
    sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
try:
    print("ready", flush=True)
    while True:
        ready = select.select([device, 0], [], [])[0]
        if device in ready:
            request = os.read(device, 1 << 18)
            _, code, unique, node = struct.unpack_from("2I2Q", request)
            found = answer(code, node, request[40:])
            if found is not None:
                failure, body = found
                os.write(device, struct.pack("IiQ", 16 + len(body), -failure, unique) + body)
        elif not os.read(0, 1):
            break
finally:
    libc.umount2(folder.encode(), 2)
