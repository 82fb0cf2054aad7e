// The system's headers for Embedded Swift, which has no Glibc module.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// Functions with variable arguments, and macros, which Swift does not import.

static inline int start_errno(void) { return errno; }

static inline int start_open(const char *path) { return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); }

// A program to be started from its descriptor (open(2), O_PATH, which has this name without _GNU_SOURCE).
static inline int start_open_program(const char *path) { return open(path, __O_PATH | O_CLOEXEC); }

// With the environment of this process. Returns -1 with errno set, or not at all.
static inline int start_run(int program, char *const *words)
{
    extern char **environ;
    return fexecve(program, words, environ);
}

static inline int start_is_open(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

// PR_SET_DUMPABLE(2const) with SUID_DUMP_DISABLE. Returns 0, or -1 with errno set.
static inline int start_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L); }

// 0 if the terminal does not report it (TIOCGWINSZ(2const)).
static inline int start_columns(int descriptor)
{
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static inline int start_is_regular(const struct stat *info) { return S_ISREG(info->st_mode); }
