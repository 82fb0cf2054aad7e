// Round trips of one line on two open connections, in turn: trip WAIT COUNT SOCKET SOCKET
// The line is a token.get; a trip ends with the line feed of its answer. WAIT is how the client waits for that: in poll, as clients
// with a deadline or an event loop do, or in read. The kernel wakes the latter also when the server reads the request, because
// there is room to write again; a server that has run for long enough is then interrupted.
#define _GNU_SOURCE
#include "connected.h"
#include "samples.h"
#include <poll.h>
#include <string.h>
#include <unistd.h>

static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"token.get\",\"params\":{}}\n";
static char answer[1 << 16];
static int polls;

static double trip(const void *candidate)
{
    int peer = *(const int *)candidate;
    double start = now();
    if (write(peer, request, sizeof request - 1) != sizeof request - 1) exit(70);
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
    if (count != 5 || atoi(words[2]) <= 0) return 64;
    polls = strcmp(words[1], "poll") == 0;
    if (!polls && strcmp(words[1], "read") != 0) return 64;
    int first = connected(words[3]), second = connected(words[4]);
    // Runs long enough to be warm, short enough for both to meet the same machine.
    compare((size_t)atoi(words[2]), 100, trip, &first, &second);
}
