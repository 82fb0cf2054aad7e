/* Loaded before libc (LD_PRELOAD): clocks are wrong by the two numbers of seconds in the file $CLOCK_SHIM_FILE.
 *
 * The first is added to CLOCK_REALTIME alone, and no timer is notified. The second is time that the machine has slept: it is
 * added to CLOCK_BOOTTIME and CLOCK_REALTIME, and CLOCK_MONOTONIC stays. When it changes, the machine wakes: timers of
 * CLOCK_BOOTTIME whose end has passed expire, and those that watch for a clock that is set (TFD_TIMER_CANCEL_ON_SET) become
 * readable, as timerfd_create(2) says. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000L
#define DESCRIPTORS 1024

struct shift {
    long date, slept;
};

struct timer {
    int is_boot, is_armed, is_notified;
    struct timespec end; /* on the wrong clock */
};

static struct timer timers[DESCRIPTORS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t watched = PTHREAD_ONCE_INIT;

static struct shift shift(void)
{
    struct shift found = {0, 0};
    const char *path = getenv("CLOCK_SHIM_FILE");
    char text[64] = "";
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    if (file < 0)
        return found;
    if (read(file, text, sizeof text - 1) < 0)
        text[0] = 0;
    close(file);
    sscanf(text, "%ld %ld", &found.date, &found.slept);
    return found;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);

    if (result != 0)
        return result;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
        struct shift by = shift();
        now->tv_sec += by.date + by.slept;
    } else if (clock == CLOCK_BOOTTIME) {
        now->tv_sec += shift().slept;
    }
    return result;
}

static int is_set(struct timespec time) { return time.tv_sec != 0 || time.tv_nsec != 0; }

/* The same end on the kernel's clock. One that has passed is at the clock's first nanosecond: zero would disarm the timer. */
static struct timespec in_the_kernel(struct timespec end, long slept)
{
    end.tv_sec -= slept;
    if (end.tv_sec < 0 || !is_set(end))
        end = (struct timespec){0, 1};
    return end;
}

static int set(int descriptor, int flags, const struct itimerspec *value, struct itimerspec *old)
{
    return (int)syscall(SYS_timerfd_settime, descriptor, flags, value, old);
}

static void wake(void)
{
    long slept = shift().slept;

    pthread_mutex_lock(&lock);
    for (int descriptor = 0; descriptor < DESCRIPTORS; descriptor++) {
        struct timer *timer = &timers[descriptor];
        struct itimerspec value = {0};

        if (timer->is_boot && timer->is_armed)
            value.it_value = in_the_kernel(timer->end, slept);
        else if (timer->is_notified)
            value.it_value.tv_nsec = 1;
        else
            continue;
        set(descriptor, TFD_TIMER_ABSTIME, &value, NULL);
    }
    pthread_mutex_unlock(&lock);
}

static void *watch(void *folder)
{
    char events[sizeof(struct inotify_event) + NAME_MAX + 1];
    long slept = shift().slept;
    int queue = inotify_init1(IN_CLOEXEC);

    if (inotify_add_watch(queue, folder, IN_CLOSE_WRITE | IN_MOVED_TO) < 0)
        abort();
    while (read(queue, events, sizeof events) > 0) {
        if (shift().slept == slept)
            continue;
        slept = shift().slept;
        wake();
    }
    return NULL;
}

static void begin_to_watch(void)
{
    static char folder[PATH_MAX];
    const char *path = getenv("CLOCK_SHIM_FILE");
    pthread_t thread;

    if (!path)
        return;
    strncpy(folder, path, sizeof folder - 1);
    pthread_create(&thread, NULL, watch, dirname(folder));
    pthread_detach(thread);
}

int timerfd_create(int clock, int flags)
{
    int descriptor = (int)syscall(SYS_timerfd_create, clock, flags);

    pthread_once(&watched, begin_to_watch);
    if (descriptor >= 0 && descriptor < DESCRIPTORS) {
        pthread_mutex_lock(&lock);
        timers[descriptor] = (struct timer){.is_boot = clock == CLOCK_BOOTTIME};
        pthread_mutex_unlock(&lock);
    }
    return descriptor;
}

int timerfd_settime(int descriptor, int flags, const struct itimerspec *value, struct itimerspec *old)
{
    struct itimerspec changed = *value;
    int result;

    pthread_mutex_lock(&lock);
    if (descriptor >= 0 && descriptor < DESCRIPTORS) {
        struct timer *timer = &timers[descriptor];

        timer->is_armed = is_set(value->it_value);
        timer->is_notified = (flags & TFD_TIMER_CANCEL_ON_SET) != 0;
        timer->end = value->it_value;
        if (timer->is_boot && timer->is_armed && (flags & TFD_TIMER_ABSTIME)) {
            changed.it_value = in_the_kernel(value->it_value, shift().slept);
        } else if (timer->is_boot && timer->is_armed) {
            struct timespec now;

            clock_gettime(CLOCK_BOOTTIME, &now);
            timer->end.tv_nsec += now.tv_nsec;
            timer->end.tv_sec += now.tv_sec + timer->end.tv_nsec / SECOND;
            timer->end.tv_nsec %= SECOND;
        }
    }
    result = set(descriptor, flags, &changed, old);
    pthread_mutex_unlock(&lock);
    return result;
}
