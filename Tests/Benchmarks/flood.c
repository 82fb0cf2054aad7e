// A program that asks too much of the agent, until it is ended: flood KIND SOCKET [CONNECTIONS]
// requests: as many requests at once as the agent reads, answers read; tokens: the same with plain requests for a token;
// garbage: lines that are not JSON, on a new connection whenever one is closed; connections: connects, asks and closes;
// pieces: many connections, each with an incomplete line that grows; crowd: many connections, each with a few short requests at once,
// and the next ones when these are answered.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.status\",\"params\":{\"session\":\"app-template\"}}\n";
static const char token[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"token.get\",\"params\":{}}\n";
static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"agent.ping\"}\n";
static const char garbage[] = "{\"jsonrpc\":\n";
static const char *path;
static char output[1 << 16], input[1 << 16];

static int connected(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) exit(64);
    strcpy(address.sun_path, path);
    int peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (peer < 0) exit(70);
    while (connect(peer, (struct sockaddr *)&address, sizeof address) != 0) {
        // The agent does not accept as fast, or refuses so many.
        if (errno != EAGAIN && errno != ECONNREFUSED && errno != EINTR) exit(69);
        poll(NULL, 0, 1);
    }
    return peer;
}

// Sends the line without end, and reads what comes.
static void lines(const char *line, size_t length)
{
    size_t filled = 0;
    for (; filled + length <= sizeof output; filled += length) memcpy(output + filled, line, length);
    for (;;) {
        int peer = connected();
        size_t sent = 0;
        for (;;) {
            struct pollfd event = {.fd = peer, .events = POLLIN | POLLOUT};
            if (poll(&event, 1, -1) < 0) exit(70);
            if (event.revents & POLLIN) {
                ssize_t count = recv(peer, input, sizeof input, MSG_DONTWAIT);
                if (count == 0 || (count < 0 && errno != EAGAIN)) break;
            }
            if (event.revents & POLLOUT) {
                ssize_t count = send(peer, output + sent, filled - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
                if (count < 0 && errno != EAGAIN) break;
                if (count > 0) sent = (sent + (size_t)count) % filled;
            } else if (event.revents & (POLLHUP | POLLERR)) {
                break;
            }
        }
        close(peer);
    }
}

static void connections(void)
{
    for (;;) {
        int peer = connected();
        if (send(peer, request, sizeof request - 1, MSG_NOSIGNAL) > 0) {
            ssize_t count = read(peer, input, sizeof input);
            if (count < 0) exit(70);
        }
        close(peer);
    }
}

static void pieces(void)
{
    enum { most = 64 };
    struct pollfd peers[most];
    memset(output, 'x', sizeof output);
    output[0] = '"';
    for (int index = 0; index < most; index++) peers[index] = (struct pollfd){.fd = connected(), .events = POLLOUT};
    for (;;) {
        if (poll(peers, most, -1) < 0) exit(70);
        for (int index = 0; index < most; index++) {
            if (peers[index].revents == 0) continue;
            if (send(peers[index].fd, output, 512, MSG_DONTWAIT | MSG_NOSIGNAL) > 0 || errno == EAGAIN) continue;
            close(peers[index].fd);
            peers[index].fd = connected();
        }
    }
}

static void crowd(int most)
{
    // Few enough to be answered in one turn of a connection.
    enum { burst = 3 };
    struct pollfd *peers = calloc((size_t)most, sizeof *peers);
    int *missing = calloc((size_t)most, sizeof *missing);
    if (!peers || !missing) exit(70);
    size_t length = 0;
    for (int index = 0; index < burst; index++, length += sizeof ping - 1) memcpy(output + length, ping, sizeof ping - 1);
    for (int index = 0; index < most; index++) peers[index] = (struct pollfd){.fd = connected(), .events = POLLIN};
    for (;;) {
        for (int index = 0; index < most; index++) {
            if (missing[index] > 0) continue;
            // There is always room for it.
            if (send(peers[index].fd, output, length, MSG_NOSIGNAL) != (ssize_t)length) exit(70);
            missing[index] = burst;
        }
        if (poll(peers, (nfds_t)most, -1) < 0) exit(70);
        for (int index = 0; index < most; index++) {
            if (peers[index].revents == 0) continue;
            ssize_t count = recv(peers[index].fd, input, sizeof input, MSG_DONTWAIT);
            if (count <= 0) exit(70);
            for (ssize_t at = 0; at < count; at++) missing[index] -= input[at] == '\n';
        }
    }
}

int main(int count, char **words)
{
    if (count < 3 || count > 4) return 64;
    path = words[2];
    if (count == 4 && strcmp(words[1], "crowd") == 0 && atoi(words[3]) > 0) crowd(atoi(words[3]));
    if (count != 3) return 64;
    if (strcmp(words[1], "requests") == 0) lines(request, sizeof request - 1);
    if (strcmp(words[1], "tokens") == 0) lines(token, sizeof token - 1);
    if (strcmp(words[1], "garbage") == 0) lines(garbage, sizeof garbage - 1);
    if (strcmp(words[1], "connections") == 0) connections();
    if (strcmp(words[1], "pieces") == 0) pieces();
    return 64;
}
