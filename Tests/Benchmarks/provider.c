// A provider that does nothing but answer: provider PORT-FILE [SECONDS]
// HTTP/1.1 on a port of 127.0.0.1 that the system chooses; each POST gets a new access token, which is valid for so long (an hour), and
// a new refresh token with the number of its sign-in, so that the renewals of each can be told apart. A GET gets the number of tokens so far, and how many
// sign-ins have been renewed. One thread.
#define _GNU_SOURCE
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { most = 64, most_sign_ins = 1 << 17 };
static struct {
    char bytes[1 << 14];
    size_t length;
} inputs[most];
static struct pollfd peers[most];
static unsigned long tokens, sign_ins, renewed;
static char is_renewed[most_sign_ins];
static int lifetime = 3600;

// The sign-in of the refresh token in a request; a new one if there is none.
static unsigned long sign_in_of(const char *request, const char *end)
{
    static const char name[] = "\"refresh-";
    const char *token = memmem(request, (size_t)(end - request), name, sizeof name - 1);
    if (!token) return sign_ins++;
    unsigned long number = strtoul(token + sizeof name - 1, NULL, 10);
    if (number < most_sign_ins && !is_renewed[number]) {
        is_renewed[number] = 1;
        renewed++;
    }
    return number;
}

static void answer(int peer, const char *request, const char *end)
{
    char body[256], head[512];
    int length;
    if (strncmp(request, "GET ", 4) == 0) {
        length = snprintf(body, sizeof body, "%lu %lu\n", tokens, renewed);
    } else {
        length = snprintf(
            body, sizeof body, "{\"access_token\":\"access-%lu\",\"refresh_token\":\"refresh-%lu-%lu\",\"expires_in\":%d}", tokens,
            sign_in_of(request, end), tokens, lifetime);
        tokens++;
    }
    int size = snprintf(
        head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", length, body);
    if (send(peer, head, (size_t)size, MSG_NOSIGNAL) != size) exit(70);
}

// Answers each complete request, and keeps the rest.
static void serve(int index)
{
    char *bytes = inputs[index].bytes;
    for (;;) {
        bytes[inputs[index].length] = 0;
        char *end = strstr(bytes, "\r\n\r\n");
        if (!end) return;
        const char *field = strcasestr(bytes, "\r\ncontent-length:");
        size_t body = field && field < end ? strtoul(field + 17, NULL, 10) : 0;
        size_t whole = (size_t)(end + 4 - bytes) + body;
        if (inputs[index].length < whole) return;
        answer(peers[index].fd, bytes, bytes + whole);
        inputs[index].length -= whole;
        memmove(bytes, bytes + whole, inputs[index].length);
    }
}

int main(int count, char **words)
{
    if (count < 2 || count > 3) return 64;
    if (count == 3) lifetime = atoi(words[2]);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 16) != 0
        || getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        perror("provider");
        return 70;
    }
    FILE *file = fopen(words[1], "w");
    if (!file || fprintf(file, "%d\n", ntohs(address.sin_port)) < 0 || fclose(file) != 0) return 70;
    for (int index = 0; index < most; index++) peers[index] = (struct pollfd){.fd = -1, .events = POLLIN};
    peers[0].fd = listener;
    for (;;) {
        if (poll(peers, most, -1) < 0) return 70;
        for (int index = 1; index < most; index++) {
            if (peers[index].fd < 0 || peers[index].revents == 0) continue;
            size_t room = sizeof inputs[index].bytes - 1 - inputs[index].length;
            ssize_t got = read(peers[index].fd, inputs[index].bytes + inputs[index].length, room);
            if (got <= 0) {
                close(peers[index].fd);
                peers[index].fd = -1;
                continue;
            }
            inputs[index].length += (size_t)got;
            serve(index);
        }
        if (peers[0].revents == 0) continue;
        int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        int index = 1;
        while (index < most && peers[index].fd >= 0) index++;
        if (index == most) close(peer);
        else {
            peers[index].fd = peer;
            inputs[index].length = 0;
        }
    }
}
