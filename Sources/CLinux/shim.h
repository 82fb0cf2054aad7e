// What of the system's own headers Swift's Glibc module leaves out.
#pragma once

#include <sys/timerfd.h>
