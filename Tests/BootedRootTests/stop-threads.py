"""stop-threads.py PID NAME: stops the threads of a process that have this name (proc(5), comm), new ones too, with ptrace(2). Its
other threads run. Prints "stopped" and goes on until the process has ended."""

import ctypes
import os
import pathlib
import sys
import time

SEIZE, INTERRUPT, WALL = 0x4206, 0x4207, 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
process, name = pathlib.Path("/proc") / sys.argv[1], sys.argv[2]


def threads():
    for task in process.glob("task/*"):
        try:
            if (task / "comm").read_text().strip() == name:
                yield int(task.name)
        except OSError:
            pass  # It has ended.


def stop(thread):
    for request in (SEIZE, INTERRUPT):
        if libc.ptrace(request, thread, None, None) != 0:
            return os.strerror(ctypes.get_errno())
    os.waitpid(thread, WALL)
    return None


held = {}
told = False
while process.exists():
    for thread in threads():
        if thread not in held:
            held[thread] = stop(thread)
    if None not in held.values():
        sys.exit(f"no thread {name} was stopped: {held}")
    if not told:
        print("stopped", flush=True)
        told = True
    # The end of a traced thread is seen by its tracer first.
    try:
        while os.waitpid(-1, WALL | os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        break
    time.sleep(0.02)
