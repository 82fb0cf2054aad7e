// Requests for a token in a second on many open connections, at two servers in turn:
// rate CONNECTIONS IN-FLIGHT SLICES SOCKET SOCKET
// Each connection always waits for IN-FLIGHT answers. A slice takes 200 ms. Prints the median of the slices of each server, in
// requests in a second, and the ratio of neighbours.
#define _GNU_SOURCE
#include "samples.h"
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"token.get\",\"params\":{}}\n";
enum { most_connections = 4096, most_in_flight = 64 };
static const double slice = 200e6;
static char output[sizeof request * most_in_flight], input[1 << 16];

struct server {
    int poller, connections, in_flight;
    int peers[most_connections];
};

static void fail(const char *what)
{
    perror(what);
    exit(70);
}

static void begin(struct server *server, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) exit(64);
    strcpy(address.sun_path, path);
    server->poller = epoll_create1(EPOLL_CLOEXEC);
    for (int index = 0; index < server->connections; index++) {
        int peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (peer < 0) fail("socket");
        // As long as the server has not accepted the former ones.
        while (connect(peer, (struct sockaddr *)&address, sizeof address) != 0)
            if (errno != EAGAIN) fail(path);
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = (unsigned)index};
        server->peers[index] = peer;
        if (epoll_ctl(server->poller, EPOLL_CTL_ADD, peer, &event) != 0) fail("epoll_ctl");
    }
}

static void ask(int peer, int count)
{
    size_t length = (sizeof request - 1) * (size_t)count;
    // There is always room for as many requests as were just answered.
    if (send(peer, output, length, MSG_NOSIGNAL) != (ssize_t)length) fail("send");
}

// Answers that came on one connection.
static int answers(int peer)
{
    ssize_t length = recv(peer, input, sizeof input, MSG_DONTWAIT);
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (length <= 0) fail("recv");
    if (memmem(input, (size_t)length, "\"error\"", 7)) {
        fprintf(stderr, "no token: %.*s", (int)length, input);
        exit(70);
    }
    int lines = 0;
    for (const char *at = input; (at = memchr(at, '\n', (size_t)(input + length - at))); at++) lines++;
    return lines;
}

// Nothing is in flight before and after.
static double play(const struct server *server)
{
    struct epoll_event events[256];
    long done = 0, missing = 0;
    double start = now(), end = start + slice;
    for (int index = 0; index < server->connections; index++) ask(server->peers[index], server->in_flight);
    missing = (long)server->connections * server->in_flight;
    double time = start;
    while (missing > 0) {
        int ready = epoll_wait(server->poller, events, 256, 10000);
        if (ready <= 0) fail("epoll_wait");
        time = now();
        for (int index = 0; index < ready; index++) {
            int peer = server->peers[events[index].data.u32], count = answers(peer);
            done += count;
            if (time < end && count > 0) ask(peer, count);
            else missing -= count;
        }
    }
    return (double)done / ((now() - start) / 1e9);
}

int main(int count, char **words)
{
    if (count != 6) return 64;
    static struct server servers[2];
    int slices = atoi(words[3]);
    for (int side = 0; side < 2; side++) {
        servers[side].connections = atoi(words[1]);
        servers[side].in_flight = atoi(words[2]);
    }
    if (servers[0].connections < 1 || servers[0].connections > most_connections || servers[0].in_flight < 1
        || servers[0].in_flight > most_in_flight || slices < 1) return 64;
    for (int index = 0; index < most_in_flight; index++)
        memcpy(output + (sizeof request - 1) * (size_t)index, request, sizeof request - 1);
    double *samples[2] = {calloc((size_t)slices, sizeof(double)), calloc((size_t)slices, sizeof(double))};
    if (!samples[0] || !samples[1]) return 70;
    for (int side = 0; side < 2; side++) {
        begin(&servers[side], words[4 + side]);
        play(&servers[side]);
    }
    for (int index = 0; index < slices; index++)
        for (int side = 0; side < 2; side++) {
            // Neither always comes second.
            int which = (side + index) % 2;
            samples[which][index] = play(&servers[which]);
        }
    double ratio = ratio_of_neighbours(samples, (size_t)slices, 1);
    double ours = median(samples[0], (size_t)slices), theirs = median(samples[1], (size_t)slices);
    printf("%.0f %.0f %.3f\n", ours, theirs, ratio);
}
