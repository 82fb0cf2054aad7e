"""Becomes a command to which the kernel refuses filters of system calls: no-filters.py COMMAND...

A filter of its own answers EACCES to prctl(PR_SET_SECCOMP) and seccomp(2), as the filter of a container may."""

import ctypes
import errno
import os
import platform
import struct
import sys

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000 | errno.EACCES
# Of struct seccomp_data.
NUMBER, FIRST_ARGUMENT = 0, 16
CALLS = {"x86_64": (157, 317), "aarch64": (167, 277)}

prctl, seccomp = CALLS[platform.machine()]
rules = [
    (LOAD, 0, 0, NUMBER),
    (EQUAL, 4, 0, seccomp),
    (EQUAL, 0, 2, prctl),
    (LOAD, 0, 0, FIRST_ARGUMENT),
    (EQUAL, 1, 0, PR_SET_SECCOMP),
    (RETURN, 0, 0, ALLOW),
    (RETURN, 0, 0, FAIL),
]
code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *rule) for rule in rules))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
for arguments in [(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(program), 0, 0)]:
    if libc.prctl(arguments[0], *map(ctypes.c_ulong, arguments[1:])) != 0:
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
# Otherwise it would prove nothing.
if libc.prctl(PR_SET_SECCOMP, ctypes.c_ulong(SECCOMP_MODE_FILTER), ctypes.c_ulong(ctypes.addressof(program)), 0, 0) == 0:
    sys.exit("a filter was not refused")
os.execvp(sys.argv[1], sys.argv[1:])
