// sd-daemon(3) and sd-journal(3) as one module, and what of Linux itself Swift's Glibc does not show
// (it is compiled without _GNU_SOURCE, and variadic functions are not imported).
#pragma once
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

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
