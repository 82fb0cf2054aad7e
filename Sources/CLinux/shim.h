// What of the system's own headers Swift's Glibc module leaves out.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

// Declared by spawn.h for programs built with _GNU_SOURCE only.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

// PR_SET_NAME(2const): the name that ps(1) shows.
static inline int linux_name_process(const char *name) { return prctl(PR_SET_NAME, name, 0L, 0L, 0L); }

// PR_SET_DUMPABLE(2const) with SUID_DUMP_DISABLE. Returns 0, or -1 with errno set.
static inline int linux_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L); }

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
