// What of the system's own headers Swift's Glibc module leaves out.
#pragma once

#include <spawn.h>
#include <sys/timerfd.h>

// Declared by spawn.h for programs built with _GNU_SOURCE only.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
