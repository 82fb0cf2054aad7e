// From a request to the event of it at the last subscriber: fanout SUBSCRIBERS TIMES SOCKET SESSION OTHER
// All subscribe to the events of SESSION. It and OTHER become the default session in turn; each time, SESSION has changed. OTHER is
// the default one at first, and TIMES is even. Prints the median and the 99th percentile, in µs.
#define _GNU_SOURCE
#include "connected.h"
#include "samples.h"
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

// The agent gives one process 256 connections.
enum { most = 250, parts = 4 };
static char input[1 << 20];

// The lines that arrived on a connection. An event is much shorter than the buffer.
static int lines(int peer)
{
    ssize_t length = recv(peer, input, sizeof input, MSG_DONTWAIT);
    if (length == 0) exit(70);
    int found = 0;
    for (ssize_t at = 0; at < length; at++) found += input[at] == '\n';
    return found;
}

static void request(int peer, const char *method, const char *session)
{
    char line[512];
    int length = snprintf(
        line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{\"session\":\"%s\"}}\n", method, session);
    if (write(peer, line, (size_t)length) != length) exit(70);
}

// Waits until each connection has `each` lines more.
static void receive(struct pollfd *peers, int count, int each)
{
    int missing[most], left = count;
    for (int index = 0; index < count; index++) missing[index] = each;
    while (left > 0) {
        if (poll(peers, (nfds_t)count, 10000) <= 0) {
            fputs("an event is missing\n", stderr);
            exit(70);
        }
        for (int index = 0; index < count; index++) {
            if (peers[index].revents == 0 || missing[index] == 0) continue;
            missing[index] -= lines(peers[index].fd);
            if (missing[index] < 0) exit(70);
            left -= missing[index] == 0;
        }
    }
}

// Writes the time at which all connections have the event.
static void subscribe(int count, const char *path, const char *session, int output)
{
    struct pollfd peers[most];
    for (int index = 0; index < count; index++) {
        peers[index] = (struct pollfd){.fd = connected(path), .events = POLLIN};
        request(peers[index].fd, "events.subscribe", session);
    }
    // The response, and a snapshot.
    receive(peers, count, 2);
    for (;;) {
        double time = now();
        if (write(output, &time, sizeof time) != sizeof time) exit(0);
        receive(peers, count, 1);
    }
}

// The last time of all parts.
static double last(int ends, int count)
{
    double time, latest = 0;
    for (int index = 0; index < count; index++) {
        if (read(ends, &time, sizeof time) != sizeof time) exit(70);
        if (time > latest) latest = time;
    }
    return latest;
}

int main(int number, char **words)
{
    int ends[2], left = number == 6 ? atoi(words[1]) : 0, times = number == 6 ? atoi(words[2]) : 0, children = 0;
    if (left <= 0 || left > most * parts || times <= 0 || times % 2 || pipe(ends) != 0) return 64;
    for (; left > 0; left -= most, children++) {
        pid_t parent = getpid(), child = fork();
        if (child < 0) return 70;
        if (child > 0) continue;
        // The children end with this process.
        close(ends[0]);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) return 0;
        subscribe(left < most ? left : most, words[3], words[4], ends[1]);
    }
    close(ends[1]);
    double *samples = calloc((size_t)times, sizeof *samples), summary[2];
    if (!samples) return 70;
    last(ends[0], children);
    // Only now: the agent closes a connection without a line after ten seconds.
    struct pollfd peer = {.fd = connected(words[3]), .events = POLLIN};
    for (int index = -2; index < times; index++) {
        double start = now();
        request(peer.fd, "session.use", words[index % 2 == 0 ? 4 : 5]);
        double end = last(ends[0], children);
        receive(&peer, 1, 1);
        // The first two warm up.
        if (index >= 0) samples[index] = end - start;
    }
    summarize(samples, (size_t)times, summary);
    printf("%.0f %.0f\n", summary[0] / 1e3, summary[1] / 1e3);
}
