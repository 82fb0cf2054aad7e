// Round trips of a request on a connection that has no room for it, and on one that has, in turn: busy COUNT SOCKET
// The first connection waits with as many requests as the agent allows, so that it gets `busy` with `retry_after_ms`.
#define _GNU_SOURCE
#include "connected.h"
#include "samples.h"
#include <string.h>
#include <unistd.h>

// The requests in progress of one connection (ConnectionLimits).
enum { in_progress = 128 };

static const char waiting[] =
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"session.wait\",\"params\":{\"until\":\"signed_out\"}}\n";
static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"outbox.list\"}\n";
static char answer[1 << 16];

struct side {
    int peer;
    const char *expected[2];
};

static double trip(const void *candidate)
{
    const struct side *side = candidate;
    double start = now();
    if (write(side->peer, request, sizeof request - 1) != sizeof request - 1) exit(70);
    size_t length = 0;
    do {
        ssize_t more = read(side->peer, answer + length, sizeof answer - length);
        if (more <= 0) exit(70);
        length += (size_t)more;
    } while (answer[length - 1] != '\n' && length < sizeof answer);
    double end = now();
    for (size_t index = 0; index < 2; index++) {
        if (memmem(answer, length, side->expected[index], strlen(side->expected[index]))) continue;
        fprintf(stderr, "no %s: %.*s", side->expected[index], (int)length, answer);
        exit(70);
    }
    return end - start;
}

int main(int count, char **words)
{
    if (count != 3 || atoi(words[1]) <= 0) return 64;
    struct side busy = {connected(words[2]), {"\"busy\"", "\"retry_after_ms\""}};
    struct side carried = {connected(words[2]), {"\"result\"", "\"entries\""}};
    for (size_t index = 0; index < in_progress; index++)
        if (write(busy.peer, waiting, sizeof waiting - 1) != sizeof waiting - 1) return 70;
    compare((size_t)atoi(words[1]), 100, trip, &busy, &carried);
}
