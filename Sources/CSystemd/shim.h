// sd-bus(3), sd-daemon(3), sd-journal(3) and sd-login(3) as one module, and what of Linux itself Swift's Glibc does not show
// (it is compiled without _GNU_SOURCE, and variadic functions are not imported).
#pragma once
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-login.h>
#include <unistd.h>

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

// Whether the socket has SO_PASSCRED. Since Linux 6.16 a connection has what its listening socket had when the client connected.
static inline int authd_passes_credentials(int fd) {
    const int pass_credentials = 16;
    int on = 0;
    socklen_t length = sizeof on;
    return getsockopt(fd, SOL_SOCKET, pass_credentials, &on, &length) == 0 && on;
}

// SO_INQ of Linux 6.17: authd_receive reports how many bytes are left. An older kernel does not.
static inline void authd_report_unread(int fd) {
    const int report_unread = 84, on = 1;
    (void)setsockopt(fd, SOL_SOCKET, report_unread, &on, sizeof on);
}

// recv(2) from a socket with SO_PASSCRED. The sender has the pid -1 if it is unknown. The kernel does not join bytes of two
// senders. `unread`: received bytes that are left; -1 if the kernel does not report them. A descriptor that a client sent before
// the socket refused them is closed.
static inline long authd_receive(int fd, void *bytes, size_t room, struct authd_peer *sender, int *unread) {
    const int credentials = 2, unread_count = 84;
    struct iovec part = {.iov_base = bytes, .iov_len = room};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(struct authd_peer)) + CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    sender->pid = -1;
    sender->uid = (uid_t)-1;
    *unread = -1;
    long count = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    if (count < 0) return count;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
        if (head->cmsg_level != SOL_SOCKET) continue;
        size_t length = head->cmsg_len - CMSG_LEN(0);
        if (head->cmsg_type == credentials && length >= sizeof *sender)
            memcpy(sender, CMSG_DATA(head), sizeof *sender);
        else if (head->cmsg_type == unread_count && length >= sizeof *unread)
            memcpy(unread, CMSG_DATA(head), sizeof *unread);
        else if (head->cmsg_type == SCM_RIGHTS)
            for (size_t at = 0; at + sizeof(int) <= length; at += sizeof(int)) {
                int sent;
                memcpy(&sent, CMSG_DATA(head) + at, sizeof sent);
                close(sent);
            }
    }
    return count;
}

// FIONREAD of tcp(7) and unix(7): how many received bytes have not been read. If the kernel does not report it, 1: a
// needless read fails with EAGAIN, but otherwise bytes would stay unread.
static inline int authd_unread(int fd) {
    int count = 0;
    return ioctl(fd, FIONREAD, &count) == 0 ? count : 1;
}

// SIOCOUTQ of unix(7): how much memory holds what was sent and has not been received. 0 if the kernel does not report it.
static inline int authd_unreceived(int fd) {
    int count = 0;
    return ioctl(fd, TIOCOUTQ, &count) == 0 ? count : 0;
}

// SO_PEERPIDFD of Linux 6.5: a descriptor of the process that connected, or -1 with errno set: ENOPROTOOPT on an older kernel.
static inline int authd_peer_process(int fd) {
    const int peer_pidfd = 77;
    int process = -1;
    socklen_t length = sizeof process;
    return getsockopt(fd, SOL_SOCKET, peer_pidfd, &process, &length) == 0 ? process : -1;
}

// pidfd_open(2): a descriptor of the process that has this number now, or -1 with errno set.
static inline int authd_open_process(pid_t pid) {
    const int pidfd_open_number = 434;
    return (int)syscall(pidfd_open_number, pid, 0);
}

// SO_PEERSEC of unix(7): the label of the peer, with a final zero. The number of bytes, or -1 with errno set.
static inline int authd_peer_label(int fd, char *label, unsigned room) {
    const int peer_security = 31;
    socklen_t length = room;
    return getsockopt(fd, SOL_SOCKET, peer_security, label, &length) == 0 ? (int)length : -1;
}

// A unix(7) socket by its path, or by an abstract name after `@`. sys/un.h is not included: it would declare types here
// that Swift gets from Glibc.
struct authd_address {
    sa_family_t family;
    char path[108];
};

// Returns the length; 0 if the text is neither, or is too long.
static inline socklen_t authd_address_of(const char *text, struct authd_address *address) {
    const size_t before = sizeof address->family, end = text[0] == '/', length = strlen(text);
    if ((text[0] != '/' && text[0] != '@') || length < 2 || length + end > sizeof address->path) return 0;
    memset(address, 0, sizeof *address);
    address->family = AF_UNIX;
    memcpy(address->path, text, length);
    if (text[0] == '@') address->path[0] = 0;
    return (socklen_t)(before + length + end);
}

// sd_notify(3) without blocking, with a descriptor if that is not negative. Returns 0, or an errno: EAGAIN if the queue
// of the socket is full.
static inline int authd_notify(const char *place, const char *text, int descriptor) {
    struct authd_address address;
    struct iovec part = {.iov_base = (void *)text, .iov_len = strlen(text)};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof descriptor)];
    } control;
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_name = &address;
    message.msg_namelen = authd_address_of(place, &address);
    if (message.msg_namelen == 0) return EAFNOSUPPORT;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
        memset(&control, 0, sizeof control);
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof descriptor);
        memcpy(CMSG_DATA(&control.head), &descriptor, sizeof descriptor);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return errno;
    int failure = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
    close(fd);
    return failure;
}

// A connected socket: poll(2) reports POLLOUT when the queue of the other one is not full. Returns -1 if the connection
// fails.
static inline int authd_connect_to_notify(const char *place) {
    struct authd_address address;
    socklen_t length = authd_address_of(place, &address);
    int fd = length ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, length) == 0) return fd;
    close(fd);
    return -1;
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

// AT_EXECFN of getauxval(3): the path that execve(2) was called with; null if the kernel does not say.
static inline const char *authd_started_as(void) { return (const char *)getauxval(AT_EXECFN); }

// PR_SET_NAME(2const): of the calling thread, at most 15 bytes.
static inline int authd_name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

// send(2), with a descriptor for the receiver (SCM_RIGHTS of unix(7)). The descriptor arrives with the first byte. Returns the
// number of bytes, or -1 with errno set.
static inline long authd_send_descriptor(int fd, const void *bytes, size_t count, int passed) {
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message;
    memset(&control, 0, sizeof control);
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof passed);
    memcpy(CMSG_DATA(head), &passed, sizeof passed);
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

// A pipe that holds `size` bytes at least, closed on exec and never blocking (pipe(2), F_SETPIPE_SZ of fcntl(2)). Returns 0, or
// -1 with errno set.
int pipe2(int ends[2], int flags);
static inline int authd_pipe(int ends[2], int size) {
    const int set_pipe_size = 1031;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) return -1;
    if (fcntl(ends[1], set_pipe_size, size) >= size) return 0;
    int failure = errno;
    close(ends[0]);
    close(ends[1]);
    errno = failure;
    return -1;
}

// Two connected sockets for a body (unix(7)), closed on exec and never blocking. ends[0] is the agent's: it cannot send, and
// receives no descriptors if the kernel can refuse them (SO_PASSRIGHTS of Linux 6.16); with `refuses`, it is an error if the
// kernel cannot. An urgent byte (MSG_OOB) would make ends[0] readable without a byte to read, so it is received like the
// others. The kernel holds about `room` bytes from ends[1], or as many as it allows (SO_SNDBUF of socket(7)). Returns 0, or -1
// with errno set.
static inline int authd_body_sockets(int ends[2], int room, bool refuses) {
    const int pass_rights = 83, off = 0, on = 1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) return -1;
    if ((setsockopt(ends[0], SOL_SOCKET, pass_rights, &off, sizeof off) == 0 || !refuses) &&
        shutdown(ends[0], SHUT_WR) == 0 && setsockopt(ends[0], SOL_SOCKET, SO_OOBINLINE, &on, sizeof on) == 0 &&
        setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room) == 0)
        return 0;
    int failure = errno;
    close(ends[0]);
    close(ends[1]);
    errno = failure;
    return -1;
}
