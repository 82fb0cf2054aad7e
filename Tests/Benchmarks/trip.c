// Round trips of one line on two open connections, in turn: trip WAIT COUNT SOCKET SOCKET [SESSIONS]
// COUNT is how many on each, or with an `s` behind it for how many seconds. The line is a token.get; a trip ends with the line feed of its answer. WAIT is how the client waits for that: in poll, as clients
// with a deadline or an event loop do, or in read. The kernel also wakes the latter when the server reads the request, because
// there is room to write again; a server that has run for long enough is then interrupted.
// With SESSIONS the first server is asked for the tokens of s0, s1 and so on in turn, so many, and the second for ten at most.
#define _GNU_SOURCE
#include "connected.h"
#include "samples.h"
#include <poll.h>
#include <string.h>
#include <unistd.h>

static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"token.get\",\"params\":{}}\n";
// More than there are in a minute.
enum { timed_samples = 1 << 24 };
static char answer[1 << 16];
static int polls;

struct server {
    int peer, sessions;
};

static double trip(const void *candidate)
{
    static unsigned asked;
    int peer = ((const struct server *)candidate)->peer, sessions = ((const struct server *)candidate)->sessions;
    char named[128];
    const char *line = request;
    size_t size = sizeof request - 1;
    if (sessions > 0) {
        size = (size_t)snprintf(
            named, sizeof named, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"token.get\",\"params\":{\"session\":\"s%u\"}}\n",
            asked++ % (unsigned)sessions);
        line = named;
    }
    double start = now();
    if (write(peer, line, size) != (ssize_t)size) exit(70);
    size_t length = 0;
    do {
        struct pollfd event = {.fd = peer, .events = POLLIN};
        if (polls && poll(&event, 1, -1) != 1) exit(70);
        ssize_t more = read(peer, answer + length, sizeof answer - length);
        if (more <= 0) exit(70);
        length += (size_t)more;
    } while (answer[length - 1] != '\n' && length < sizeof answer);
    double end = now();
    // An error would be answered faster than a token. An echo has its request's method in it.
    if (!memmem(answer, length, "\"access_token\"", 14) && !memmem(answer, length, "\"method\"", 8)) {
        fprintf(stderr, "no token: %.*s", (int)length, answer);
        exit(70);
    }
    return end - start;
}

int main(int count, char **words)
{
    if (count < 5 || count > 6 || atoi(words[2]) <= 0) return 64;
    polls = strcmp(words[1], "poll") == 0;
    if (!polls && strcmp(words[1], "read") != 0) return 64;
    int sessions = count == 6 ? atoi(words[5]) : 0;
    struct server first = {connected(words[3]), sessions}, second = {connected(words[4]), sessions < 10 ? sessions : 10};
    int most = atoi(words[2]);
    double end = HUGE_VAL;
    if (words[2][strlen(words[2]) - 1] == 's') {
        end = now() + most * 1e9;
        most = timed_samples;
    }
    // Runs long enough to be warm, short enough for both to meet the same machine.
    compare_until(end, (size_t)most, 100, trip, &first, &second);
}
