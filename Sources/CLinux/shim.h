// What of the system's own headers Swift's Glibc module leaves out.
#pragma once

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>

// Declared by spawn.h for programs built with _GNU_SOURCE only.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

// PR_SET_NAME(2const): the name that ps(1) shows.
static inline int linux_name_process(const char *name) { return prctl(PR_SET_NAME, name, 0L, 0L, 0L); }

// PR_SET_DUMPABLE(2const) with SUID_DUMP_DISABLE. Returns 0, or -1 with errno set.
static inline int linux_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L); }
