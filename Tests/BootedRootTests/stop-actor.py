"""stop-actor.py PID SYMBOL COMMAND...: stops the first thread of a process that calls a function, with a breakpoint at its start
(ptrace(2)). The other threads continue. COMMAND causes the call, and is then ended. SYMBOL is the beginning of the function's name
in the program's symbol table (nm(1)). Prints "stopped", and continues until the process has ended."""

import ctypes
import os
import pathlib
import signal
import subprocess
import sys

CONTINUE, SEIZE, TRACE_CLONE, WALL = 7, 0x4206, 8, 0x40000000
BREAKPOINT = {"x86_64": b"\xcc", "aarch64": b"\x00\x00\x20\xd4"}[os.uname().machine]
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
pid, symbol, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
process = pathlib.Path("/proc") / sys.argv[1]


def address():
    """Where the function is in the memory of the process."""
    program = (process / "exe").resolve()
    table = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    rows = [row.split() for row in table.splitlines()]
    # Not the symbols of its parts, whose names only begin with that of the function.
    found = [int(row[0], 16) for row in rows if len(row) == 3 and row[2].startswith(symbol) and row[2].endswith("tF")]
    if len(found) != 1:
        sys.exit(f"{len(found)} functions {symbol}")
    maps = (process / "maps").read_text().splitlines()
    return found[0] + min(int(row.partition("-")[0], 16) for row in maps if row.endswith(str(program)))


def trace():
    """Traces all threads, and those that they start: a breakpoint ends a process that nobody traces."""
    traced = set()
    while True:
        new = {int(task.name) for task in process.glob("task/*")} - traced
        if not new:
            return
        for thread in new:
            # A thread that a traced one has started is traced already.
            if libc.ptrace(SEIZE, thread, None, TRACE_CLONE) != 0 and ctypes.get_errno() not in (1, 3):
                sys.exit(f"ptrace: {os.strerror(ctypes.get_errno())}")
            traced.add(thread)


place = address()
trace()
with open(process / "mem", "r+b", buffering=0) as memory:
    memory.seek(place)
    code = memory.read(len(BREAKPOINT))
    memory.seek(place)
    memory.write(BREAKPOINT)
    caller = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stopped = False
    while True:
        thread, status = os.waitpid(-1, WALL)
        if not os.WIFSTOPPED(status):
            if thread == pid:
                break
            if thread == caller.pid and not stopped:
                sys.exit("the command has ended, and the function was not called")
            continue
        number = os.WSTOPSIG(status)
        if number == signal.SIGTRAP and status >> 16 == 0:
            if not stopped:
                memory.seek(place)
                memory.write(code)
                caller.kill()
                print("stopped", flush=True)
                stopped = True
            continue
        # The thread receives its signal; other stops are those of new threads.
        libc.ptrace(CONTINUE, thread, None, number if status >> 16 == 0 else 0)
if not stopped:
    sys.exit("the process has ended, and the function was not called")
