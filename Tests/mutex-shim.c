// For the thread sanitizer: linked into the programs of its build (Tests/sanitize).
//
// A Mutex of Swift first tries to lock with an atomic operation, which is compiled into our code, so the sanitizer sees it.
// If another thread has the lock, Swift's library waits for it in the kernel, and the library is not instrumented: what one
// thread wrote before its unlock and another one reads after its lock would be reported as a race. These functions take the
// place of the library's three, call them, and report the order of the two threads to the sanitizer.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
// The mutex.
#define SELF __attribute__((swift_context)) void *

// Synchronization._MutexHandle._lockSlow(_: UInt32), ._tryLockSlow() and ._unlockSlow().
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock_mutex(uint32_t thread, SELF mutex) __asm__(LOCK);
SWIFT bool try_mutex(SELF mutex) __asm__(TRY_LOCK);
SWIFT void unlock_mutex(SELF mutex) __asm__(UNLOCK);

static SWIFT void (*lock_in_library)(uint32_t, SELF);
static SWIFT bool (*try_in_library)(SELF);
static SWIFT void (*unlock_in_library)(SELF);

static void *in_library(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function)
        abort();
    return function;
}

// Before any other thread.
__attribute__((constructor)) static void find(void)
{
    *(void **)&lock_in_library = in_library(LOCK);
    *(void **)&try_in_library = in_library(TRY_LOCK);
    *(void **)&unlock_in_library = in_library(UNLOCK);
}

SWIFT void lock_mutex(uint32_t thread, SELF mutex)
{
    lock_in_library(thread, mutex);
    __tsan_acquire(mutex);
}

SWIFT bool try_mutex(SELF mutex)
{
    bool is_locked = try_in_library(mutex);
    if (is_locked)
        __tsan_acquire(mutex);
    return is_locked;
}

SWIFT void unlock_mutex(SELF mutex)
{
    __tsan_release(mutex);
    unlock_in_library(mutex);
}
