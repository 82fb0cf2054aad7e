// What of the system's own headers Swift's Glibc module leaves out.
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <malloc.h>
#include <netinet/in.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

// Declared by spawn.h and unistd.h for programs built with _GNU_SOURCE only.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int pipe2(int ends[2], int flags);

// PR_SET_NAME(2const): the name that ps(1) shows.
static inline int linux_name_process(const char *name) { return prctl(PR_SET_NAME, name, 0L, 0L, 0L); }

// PR_SET_DUMPABLE(2const) with SUID_DUMP_DISABLE. Returns 0, or -1 with errno set.
static inline int linux_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L); }

// PR_SET_PDEATHSIG(2const): the signal that this process gets when its parent ends; execve(2) keeps it. Returns 0, or -1 with
// errno set.
static inline int linux_end_with_parent(int signal) { return prctl(PR_SET_PDEATHSIG, (long)signal, 0L, 0L, 0L); }

// sendfile(2) from `offset` on, without a copy. Returns the number of bytes, 0 at the end of the file, or -1 with errno set.
static inline long linux_send_file(int to, int from, int64_t offset, size_t count) {
    off_t begin = (off_t)offset;
    return syscall(SYS_sendfile, to, from, &begin, count);
}

// memfd_create(2), close-on-exec: a file in memory without a name in any folder.
static inline int linux_memory_file(const char *name) { return (int)syscall(SYS_memfd_create, name, 1U); }

// flock(2), exclusive and non-blocking. Returns 0, or -1 with errno set. Wrapped because Swift imports flock as a
// structure.
static inline int linux_lock(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB); }
// The same, but waits until the lock is released; EINTR after a signal.
static inline int linux_lock_waiting(int descriptor) { return flock(descriptor, LOCK_EX); }

// Whether a file system is in memory: TMPFS_MAGIC or RAMFS_MAGIC (statfs(2)).
static inline int linux_is_in_memory(int descriptor) {
    struct statfs found;
    return fstatfs(descriptor, &found) == 0 && (found.f_type == 0x01021994 || found.f_type == 0x858458f6);
}

// Whether other machines may have the file system: NFS, CIFS or SMB (statfs(2)).
static inline int linux_is_on_network(int descriptor) {
    struct statfs found;
    if (fstatfs(descriptor, &found) != 0) return 0;
    uint32_t type = (uint32_t)found.f_type;
    return type == 0x6969 || type == 0xff534d42 || type == 0xfe534d42;
}

// fcntl(2), "Open file description locks".
static const int linux_ofd_setlk = 37;

// SO_PASSCRED of unix(7): what is received brings the credentials of its sender. Sockets from accept(2) inherit it. Returns 0, or
// -1 with errno set.
static inline int linux_pass_credentials(int fd) {
    const int pass_credentials = 16, on = 1;
    return setsockopt(fd, SOL_SOCKET, pass_credentials, &on, sizeof on);
}

// SO_PASSRIGHTS of Linux 6.16: without it sendmsg(2) refuses descriptors (EPERM). Sockets from accept(2) inherit it. An older kernel
// closes them in the thread that receives, and closing some blocks, such as a TCP socket with SO_LINGER.
static inline void linux_refuse_descriptors(int fd) {
    const int pass_rights = 83, off = 0;
    (void)setsockopt(fd, SOL_SOCKET, pass_rights, &off, sizeof off);
}

// Starts polkit's agent for terminals for this process (pkttyagent(1)). It ends with this process. *ready reports end of file when
// the agent is registered or has ended. `end` is SIGTERM: signal.h would declare types here that Swift has from Glibc otherwise.
// Returns its process ID, or -1.
static inline pid_t linux_start_text_agent(int end, int *ready) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        char process[16], descriptor[16];
        __builtin_snprintf(process, sizeof process, "%d", (int)parent);
        __builtin_snprintf(descriptor, sizeof descriptor, "%d", ends[1]);
        if (prctl(PR_SET_PDEATHSIG, end) == 0 && getppid() == parent && fcntl(ends[1], F_SETFD, 0) == 0)
            execlp("pkttyagent", "pkttyagent", "--process", process, "--notify-fd", descriptor, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return -1;
    }
    *ready = ends[0];
    return child;
}

// Finds the owner of the TCP socket with these two ends (sock_diag(7)); ports in the order of this machine. Returns 0, or an errno:
// ENOENT if there is no such socket, and if the kernel does not have the module.
static inline int linux_tcp_owner(
    int family, const void *source, uint16_t source_port, const void *destination, uint16_t destination_port,
    uint32_t *user) {
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } request;
    memset(&request, 0, sizeof request);
    request.head.nlmsg_len = sizeof request;
    request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    request.head.nlmsg_flags = NLM_F_REQUEST;
    request.body.sdiag_family = (uint8_t)family;
    request.body.sdiag_protocol = IPPROTO_TCP;
    request.body.idiag_states = ~0u;
    request.body.id.idiag_sport = htons(source_port);
    request.body.id.idiag_dport = htons(destination_port);
    request.body.id.idiag_cookie[0] = request.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    size_t length = family == AF_INET6 ? 16 : 4;
    memcpy(request.body.id.idiag_src, source, length);
    memcpy(request.body.id.idiag_dst, destination, length);

    int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
    if (netlink < 0) return errno;
    union {
        struct nlmsghdr head;
        char bytes[4096];
    } answer;
    // The kernel has answered when send(2) returns.
    long sent = send(netlink, &request, sizeof request, 0);
    long count = sent < 0 ? -1 : recv(netlink, &answer, sizeof answer, 0);
    int failure = count < 0 ? errno : EBADMSG;
    close(netlink);
    if (count < (long)NLMSG_HDRLEN || !NLMSG_OK(&answer.head, (unsigned)count)) return failure;
    if (answer.head.nlmsg_type == NLMSG_ERROR && count >= (long)NLMSG_LENGTH(sizeof(struct nlmsgerr)))
        return -((struct nlmsgerr *)NLMSG_DATA(&answer.head))->error;
    if (answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY || count < (long)NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
        return failure;
    struct inet_diag_msg *found = (struct inet_diag_msg *)NLMSG_DATA(&answer.head);
    // A socket that its process has closed has no owner: the kernel says 0, which is root.
    if (found->idiag_inode == 0) return ENOENT;
    *user = found->idiag_uid;
    return 0;
}
