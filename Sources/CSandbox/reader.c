// Landlock hides from a process what belongs to processes outside of its domain, as ptrace(2) would show it: the executable, the
// namespaces, the root folder. This process has no Landlock domain, and reads that.
#define _GNU_SOURCE
#include "CSandbox.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>

static const int longest_wait = 2;
// Below the number of any other descriptor of the reader.
static const int reader_socket = 0;

struct request {
    uint32_t number;
    int32_t question;
    int32_t process;
};

struct answer {
    uint32_t number;  // of the request
    int32_t failure;  // an errno, or 0
    struct sandbox_file file;
    uint32_t length;  // of the text
    char text[4096];
};
static const size_t head_size = offsetof(struct answer, text);

// A file system may invent any time.
static int64_t nanoseconds(const struct statx_timestamp *time) {
    return (int64_t)((uint64_t)time->tv_sec * 1000000000 + time->tv_nsec);
}

int sandbox_describe(int descriptor, const char *path, struct sandbox_file *file) {
    const unsigned wanted = STATX_TYPE | STATX_INO | STATX_SIZE | STATX_MTIME | STATX_CTIME;
    const int flags = AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT | AT_EMPTY_PATH;
    struct statx found;
    // Not the function of the C library, which may make other calls.
    if (syscall(SYS_statx, descriptor, path, flags, wanted | STATX_MNT_ID, &found) < 0) return -1;
    if ((found.stx_mask & wanted) != wanted || !S_ISREG(found.stx_mode)) {
        errno = EINVAL;
        return -1;
    }
    *file = (struct sandbox_file){
        .device = makedev(found.stx_dev_major, found.stx_dev_minor),
        .inode = found.stx_ino,
        .size = found.stx_size,
        .modified = nanoseconds(&found.stx_mtime),
        .changed = nanoseconds(&found.stx_ctime),
        .mount = found.stx_mask & STATX_MNT_ID ? found.stx_mnt_id : 0,
    };
    return 0;
}

// The same as in linux/openat2.h, which the system's headers may lack.
struct opening {
    uint64_t flags, mode, resolve;
};
static const long open_plain = 437;
static const uint64_t no_links = 4, cached = 0x20;

int sandbox_describe_plain(const char *path, struct sandbox_file *file) {
    struct opening how = {.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW, .resolve = no_links | cached};
    int descriptor = (int)syscall(open_plain, AT_FDCWD, path, &how, sizeof how);
    if (descriptor < 0) return -1;
    int result = sandbox_describe(descriptor, "", file);
    int failure = errno;
    close(descriptor);
    errno = failure;
    return result;
}

static void answer(const struct request *request, struct answer *answer) {
    char path[64];
    struct stat found;
    memset(answer, 0, head_size);
    answer->number = request->number;
    // A path is only ever made from a number.
    switch (request->question) {
    case SANDBOX_EXECUTABLE: {
        snprintf(path, sizeof path, "/proc/%d/exe", request->process);
        long length = syscall(SYS_readlinkat, AT_FDCWD, path, answer->text, sizeof answer->text);
        if (length < 0)
            answer->failure = errno;
        else if ((size_t)length == sizeof answer->text)
            answer->failure = ENAMETOOLONG;
        else
            answer->length = (uint32_t)length;
        // All zero if that fails.
        if (answer->failure == 0) sandbox_describe(AT_FDCWD, path, &answer->file);
        return;
    }
    case SANDBOX_USER_NAMESPACE:
        snprintf(path, sizeof path, "/proc/%d/ns/user", request->process);
        if (syscall(SYS_newfstatat, AT_FDCWD, path, &found, 0) < 0)
            answer->failure = errno;
        else
            answer->file.inode = found.st_ino;
        return;
    case SANDBOX_FLATPAK_INFO:
        snprintf(path, sizeof path, "/proc/%d/root/.flatpak-info", request->process);
        if (syscall(SYS_newfstatat, AT_FDCWD, path, &found, AT_SYMLINK_NOFOLLOW) < 0) answer->failure = errno;
        return;
    default: answer->failure = EINVAL;
    }
}

// Any other system call kills the reader (seccomp(2)). On a processor that is not listed here there is no reader.
static int allow_few_calls(void) {
#if defined(__x86_64__)
    const unsigned architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    const unsigned architecture = AUDIT_ARCH_AARCH64;
#else
    errno = ENOSYS;
    return -1;
#endif
#if defined(__x86_64__) || defined(__aarch64__)
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_recvfrom),
        ALLOW(SYS_sendto),
        ALLOW(SYS_readlinkat),
        ALLOW(SYS_newfstatat),
        ALLOW(SYS_statx),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_restart_syscall),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) < 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
#endif
}

static void serve(void) {
    static struct request request;
    static struct answer reply;
    for (;;) {
        long count = recv(reader_socket, &request, sizeof request, 0);
        if (count < 0 && errno == EINTR) continue;
        // The agent has ended.
        if (count != sizeof request) _exit(0);
        answer(&request, &reply);
        size_t length = head_size + reply.length;
        while (send(reader_socket, &reply, length, MSG_NOSIGNAL) < 0)
            if (errno != EINTR) _exit(0);
    }
}

int sandbox_close_from(int first) { return (int)syscall(SYS_close_range, first, ~0U, 0); }

// Nothing here needs a lock or memory that another thread of the parent may have held.
static void run_reader(int socket) {
    sigset_t all;
    sigfillset(&all);
    // The service manager sends SIGTERM to all processes of a unit. The agent still needs the reader then.
    sigprocmask(SIG_SETMASK, &all, NULL);
    if (dup2(socket, reader_socket) < 0 || sandbox_close_from(reader_socket + 1) < 0) _exit(1);
    if (chdir("/") < 0 || prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L) < 0) _exit(1);
    prctl(PR_SET_NAME, "authd-reader", 0L, 0L, 0L);
    if (allow_few_calls() < 0) _exit(1);
    serve();
}

pid_t sandbox_start_reader(int *socket) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return -1;
    struct timeval limit = {.tv_sec = longest_wait};
    pid_t reader = -1;
    if (setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0)
        reader = fork();
    if (reader == 0) run_reader(ends[1]);
    int failure = errno;
    close(ends[1]);
    if (reader < 0) close(ends[0]);
    *socket = reader < 0 ? -1 : ends[0];
    errno = failure;
    return reader;
}

// Receives the answer to a question, and skips those to earlier ones.
static int receive(int socket, uint32_t number, int flags, struct answer *answer) {
    do {
        long count = recv(socket, answer, sizeof *answer, flags);
        if (count < 0 && errno == EINTR) {
            answer->number = number - 1;
            continue;
        }
        if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? SANDBOX_WAITING : SANDBOX_ENDED;
        if (count == 0) errno = EPIPE;
        if (count == 0 || (size_t)count < head_size || answer->length != (size_t)count - head_size) return SANDBOX_ENDED;
    } while (answer->number != number);
    return SANDBOX_ANSWERED;
}

int sandbox_ask(
    int socket, uint32_t number, int question, pid_t process, struct sandbox_file *file, char *text, size_t room,
    size_t *length) {
    const struct request request = {.number = number, .question = question, .process = process};
    struct answer answer;
    while (send(socket, &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        if (errno == EPIPE || errno == ECONNRESET) return SANDBOX_ENDED;
        if (errno != EINTR) return SANDBOX_REFUSED;
    }
    int result = receive(socket, number, 0, &answer);
    if (result != SANDBOX_ANSWERED) return result;
    if (answer.failure == 0 && answer.length > room) answer.failure = ENAMETOOLONG;
    if (answer.failure != 0) {
        errno = answer.failure;
        return SANDBOX_REFUSED;
    }
    *file = answer.file;
    *length = answer.length;
    memcpy(text, answer.text, answer.length);
    return SANDBOX_ANSWERED;
}

int sandbox_await(int socket, uint32_t number) {
    struct answer answer;
    return receive(socket, number, MSG_DONTWAIT, &answer);
}
