// sd-daemon(3) and sd-journal(3) as one module, and what of Linux itself Swift's Glibc does not show
// (it is compiled without _GNU_SOURCE, and variadic functions are not imported).
#pragma once
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

// fcntl(2), "Open file description locks".
static const int authd_ofd_setlk = 37;

// SO_PEERCRED of unix(7): struct ucred is these three. Returns 0, or -1 with errno set.
struct authd_peer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

static inline int authd_peer_of(int fd, struct authd_peer *peer) {
    socklen_t length = sizeof *peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &length);
}

// PR_SET_DUMPABLE(2const) with SUID_DUMP_DISABLE. Returns 0, or -1 with errno set.
static inline int authd_forbid_dumps(void) {
    return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
}

// memfd_create(2): closed on exec, to be sealed, and never a program where the kernel knows of that (6.3). The descriptor, or
// -1 with errno set.
static inline int authd_memfd(const char *name) {
    const unsigned closed_on_exec = 1, allows_sealing = 2, no_program = 8;
    long made = syscall(SYS_memfd_create, name, closed_on_exec | allows_sealing | no_program);
    return (int)(made >= 0 ? made : syscall(SYS_memfd_create, name, closed_on_exec | allows_sealing));
}

// F_ADD_SEALS and F_GET_SEALS of fcntl(2), and the seals: no more seals, not shorter, not longer, not written to but by who
// has mapped it before.
static const int authd_add_seals = 1033, authd_get_seals = 1034;
static const int authd_seals = 0x1 | 0x2 | 0x4 | 0x10;

// Declared by sys/socket.h for programs built with _GNU_SOURCE only.
int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);

// accept(2): closed on exec, and never blocking. The descriptor, or -1 with errno set.
static inline int authd_accept(int listener) { return accept4(listener, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK); }

// PR_SET_NAME(2const): of the calling thread, at most 15 bytes.
static inline int authd_name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }
