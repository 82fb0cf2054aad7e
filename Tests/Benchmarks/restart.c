// From the start of an agent to a token, when the service manager has kept its sessions: restart COUNT SOCKET PROGRAM [ARGUMENT…]
// Does the manager's part: holds the socket, keeps the descriptors that the agent stores (FDSTORE=1, sd_notify(3)), and passes them
// to the next run (sd_listen_fds(3)). Each time, the agent is ended, a client connects and asks, and the program is started. Prints
// the median and the 99th percentile in milliseconds, and the median of the whole restart, the end of the former run included.
#define _GNU_SOURCE
#include "samples.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"token.get\",\"params\":{\"timeout_ms\":5000}}\n";
static char answer[1 << 16];

enum { most = 8 };
static struct {
    int descriptor;
    char name[64];
} stored[most];
static int stored_count;
static int listener, notifications, is_ready;
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void fail(const char *what)
{
    fprintf(stderr, "restart: %s\n", what);
    exit(70);
}

static int bound(const char *path, int type)
{
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof place.sun_path) exit(64);
    strcpy(place.sun_path, path);
    unlink(path);
    int made = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    if (made < 0 || bind(made, (struct sockaddr *)&place, sizeof place) != 0) fail(path);
    return made;
}

static pid_t start(char **command)
{
    is_ready = 0;
    pid_t parent = getpid(), child = fork();
    if (child < 0) fail("fork");
    if (child > 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(0);
    char number[16], names[1024] = "api";
    // First above all numbers that are needed: one of them may have the number of another.
    int kept[most + 1] = {fcntl(listener, F_DUPFD_CLOEXEC, 64)};
    for (int index = 0; index < stored_count; index++) {
        kept[index + 1] = fcntl(stored[index].descriptor, F_DUPFD_CLOEXEC, 64);
        strcat(strcat(names, ":"), stored[index].name);
    }
    for (int index = 0; index <= stored_count; index++)
        if (dup2(kept[index], 3 + index) < 0) _exit(70);
    snprintf(number, sizeof number, "%d", stored_count + 1);
    setenv("LISTEN_FDS", number, 1);
    setenv("LISTEN_FDNAMES", names, 1);
    snprintf(number, sizeof number, "%d", getpid());
    setenv("LISTEN_PID", number, 1);
    execv(command[0], command);
    _exit(127);
}

static void forget(int index)
{
    close(stored[index].descriptor);
    stored[index] = stored[--stored_count];
}

// Receives one message of the agent within this many milliseconds. Returns -1 if there is none.
static int notified(int timeout)
{
    char text[4096], control[CMSG_SPACE(sizeof(int) * most)];
    struct iovec vector = {text, sizeof text - 1};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct pollfd event = {.fd = notifications, .events = POLLIN};
    if (poll(&event, 1, timeout) <= 0) return -1;
    ssize_t length = recvmsg(notifications, &message, MSG_CMSG_CLOEXEC);
    if (length < 0) fail("recvmsg");
    text[length] = 0;
    char *name = strstr(text, "FDNAME=");
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_type == SCM_RIGHTS) {
        if (!name || stored_count == most) fail("a descriptor without a name, or too many");
        memcpy(&stored[stored_count].descriptor, CMSG_DATA(head), sizeof(int));
        snprintf(stored[stored_count].name, sizeof stored[0].name, "%.*s", (int)strcspn(name + 7, "\n"), name + 7);
        stored_count++;
    } else if (strstr(text, "FDSTOREREMOVE=1") && name) {
        for (int index = stored_count - 1; index >= 0; index--) {
            size_t size = strlen(stored[index].name);
            if (strncmp(name + 7, stored[index].name, size) == 0 && strchr("\n", name[7 + size])) forget(index);
        }
    }
    if (strstr(text, "READY=1")) is_ready = 1;
    return 0;
}

// Returns when there is input. Receives notifications until then: with many sessions their queue is soon full.
static void await_answer(int peer)
{
    double deadline = now() + 10e9;
    struct pollfd events[] = {{.fd = peer, .events = POLLIN}, {.fd = notifications, .events = POLLIN}};
    while (!events[0].revents) {
        double left = (deadline - now()) / 1e6;
        if (left <= 0 || poll(events, 2, (int)left + 1) < 0) fail("no answer within 10 s");
        if (events[1].revents) notified(0);
    }
}

static void end(pid_t child)
{
    int status;
    double deadline = now() + 20e9;
    kill(child, SIGTERM);
    // It may store until its end.
    while (waitpid(child, &status, WNOHANG) == 0) {
        notified(1);
        if (now() > deadline) {
            kill(child, SIGKILL);
            fail("the agent does not end");
        }
    }
    while (notified(0) >= 0) continue;
    if (stored_count == 0) fail("no session is stored");
}

int main(int count, char **words)
{
    if (count < 4 || atoi(words[1]) <= 0 || strlen(words[2]) + 8 >= sizeof address.sun_path) return 64;
    size_t times = (size_t)atoi(words[1]);
    double *samples = calloc(times, sizeof *samples), *wholes = calloc(times, sizeof *wholes), summary[2], whole[2];
    char path[sizeof address.sun_path + 8];
    strcpy(address.sun_path, words[2]);
    snprintf(path, sizeof path, "%s.notify", words[2]);
    listener = bound(words[2], SOCK_STREAM);
    notifications = bound(path, SOCK_DGRAM);
    if (!samples || !wholes || listen(listener, 16) != 0 || setenv("NOTIFY_SOCKET", path, 1) != 0) return 70;
    // The first run reads the store.
    pid_t child = start(words + 3);
    while (stored_count == 0)
        if (notified(10000) < 0) fail("the agent stores nothing");
    for (size_t index = 0; index < times; index++) {
        double former = now();
        end(child);
        int peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        double begin = now();
        if (connect(peer, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
        if (write(peer, request, sizeof request - 1) != sizeof request - 1) fail("write");
        child = start(words + 3);
        await_answer(peer);
        ssize_t length = read(peer, answer, sizeof answer);
        samples[index] = now() - begin;
        wholes[index] = now() - former;
        if (length <= 0 || !memmem(answer, (size_t)length, "\"access_token\"", 14)) fail("no token");
        close(peer);
        while (!is_ready)
            if (notified(10000) < 0) fail("the agent does not become ready");
    }
    end(child);
    summarize(samples, times, summary);
    summarize(wholes, times, whole);
    printf("%.1f %.1f %.1f\n", summary[0] / 1e6, summary[1] / 1e6, whole[0] / 1e6);
}
