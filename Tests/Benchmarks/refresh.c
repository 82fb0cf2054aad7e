// A renewal by the agent, and the request that it sends to the provider, in turn: refresh COUNT SOCKET PORT
// Both are on connections that stay open. The difference is what the agent takes for itself. The agent sends a provider at most ten
// renewals in a second, so there is a pause before each.
#define _GNU_SOURCE
#include "samples.h"
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static const char line[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.refresh\",\"params\":{}}\n";
static const char post[] = "POST /refresh HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
    "Content-Length: 29\r\n\r\n{\"refresh_token\":\"refresh-10\"}";
static char answer[1 << 16];

struct way {
    int peer;
    const char *request, *mark;
    size_t length;
};

static double trip(const void *candidate)
{
    const struct way *way = candidate;
    nanosleep(&(struct timespec){.tv_nsec = 150000000}, NULL);
    double start = now();
    if (write(way->peer, way->request, way->length) != (ssize_t)way->length) exit(70);
    size_t length = 0;
    // The answer ends with a line feed or the brace of its body; either comes with the rest.
    do {
        ssize_t more = read(way->peer, answer + length, sizeof answer - length);
        if (more <= 0) exit(70);
        length += (size_t)more;
    } while (answer[length - 1] != '\n' && answer[length - 1] != '}' && length < sizeof answer);
    double end = now();
    if (!memmem(answer, length, way->mark, strlen(way->mark))) {
        fprintf(stderr, "no renewal: %.*s", (int)length, answer);
        exit(70);
    }
    return end - start;
}

int main(int count, char **words)
{
    if (count != 4 || atoi(words[1]) <= 0 || strlen(words[2]) >= sizeof((struct sockaddr_un *)0)->sun_path) return 64;
    struct sockaddr_un agent = {.sun_family = AF_UNIX};
    strcpy(agent.sun_path, words[2]);
    struct sockaddr_in provider = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((unsigned short)atoi(words[3]))};
    struct way ways[2] = {
        {socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), line, "\"active\"", sizeof line - 1},
        {socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), post, "\"access_token\"", sizeof post - 1},
    };
    if (connect(ways[0].peer, (struct sockaddr *)&agent, sizeof agent) != 0
        || connect(ways[1].peer, (struct sockaddr *)&provider, sizeof provider) != 0) {
        perror("connect");
        return 69;
    }
    compare((size_t)atoi(words[1]), 1, trip, &ways[0], &ways[1]);
}
