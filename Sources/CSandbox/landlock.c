#define _GNU_SOURCE
#include "CSandbox.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// linux/landlock.h.
struct ruleset {
    uint64_t files, network, scoped;
};
struct __attribute__((packed)) path_rule {
    uint64_t access;
    int32_t parent;
};
static const int create_number = 444, add_number = 445, restrict_number = 446;
static const uint32_t ask_version = 1;
static const int path_beneath = 1;

enum {
    execute = 1 << 0,
    write_file = 1 << 1,
    read_file = 1 << 2,
    read_dir = 1 << 3,
    remove_dir = 1 << 4,
    remove_file = 1 << 5,
    make_char = 1 << 6,
    make_dir = 1 << 7,
    make_reg = 1 << 8,
    make_sock = 1 << 9,
    make_fifo = 1 << 10,
    make_block = 1 << 11,
    make_sym = 1 << 12,
    refer = 1 << 13,    // version 2
    truncate_ = 1 << 14, // version 3
    ioctl_dev = 1 << 15, // version 5
    // What a rule for a file may have.
    for_files = execute | write_file | read_file | truncate_ | ioctl_dev,
};

// Version 6.
enum {
    scope_abstract = 1 << 0,
    scope_signal = 1 << 1,
};

static uint64_t known(int version) {
    uint64_t all = (1 << 13) - 1;
    if (version >= 2) all |= refer;
    if (version >= 3) all |= truncate_;
    if (version >= 5) all |= ioctl_dev;
    return all;
}

int sandbox_landlock_version(void) { return (int)syscall(create_number, NULL, 0, ask_version); }

int sandbox_landlock_create(int version, int abstract) {
    struct ruleset rules = {.files = known(version)};
    // An older kernel refuses a larger structure unless the rest is zero.
    if (version >= 6) rules.scoped = scope_signal | (abstract ? scope_abstract : 0);
    return (int)syscall(create_number, &rules, sizeof rules, 0);
}

int sandbox_landlock_allow(int ruleset, int version, const char *path, int access) {
    int parent = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (parent < 0) return -1;
    uint64_t allowed = 0;
    if (access & SANDBOX_READ) allowed |= read_file | read_dir;
    if (access & SANDBOX_EXECUTE) allowed |= execute;
    if (access & SANDBOX_WRITE)
        allowed |= write_file | remove_dir | remove_file | make_dir | make_reg | make_sock | refer | truncate_;
    if (access & SANDBOX_DEVICE) allowed |= read_file | write_file | truncate_ | ioctl_dev;
    allowed &= known(version);
    struct stat found;
    int result = fstat(parent, &found);
    if (result == 0 && !S_ISDIR(found.st_mode)) allowed &= for_files;
    if (result == 0) {
        struct path_rule rule = {.access = allowed, .parent = parent};
        result = (int)syscall(add_number, ruleset, path_beneath, &rule, 0);
    }
    int failure = errno;
    close(parent);
    errno = failure;
    return result;
}

int sandbox_landlock_restrict(int ruleset) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) < 0) return -1;
    return (int)syscall(restrict_number, ruleset, 0);
}
