// Round trips of one line on two open connections, in turn: trip COUNT SOCKET SOCKET
// The line is a token.get; a trip ends with the line feed of its answer.
#define _GNU_SOURCE
#include "samples.h"
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"token.get\",\"params\":{}}\n";
static char answer[1 << 16];

static int connected(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) exit(64);
    strcpy(address.sun_path, path);
    int peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (peer < 0 || connect(peer, (struct sockaddr *)&address, sizeof address) != 0) {
        perror(path);
        exit(69);
    }
    return peer;
}

static double trip(const void *candidate)
{
    int peer = *(const int *)candidate;
    double start = now();
    if (write(peer, request, sizeof request - 1) != sizeof request - 1) exit(70);
    size_t length = 0;
    do {
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
    if (count != 4 || atoi(words[1]) <= 0) return 64;
    int first = connected(words[2]), second = connected(words[3]);
    // Runs long enough to be warm, short enough for both to meet the same machine.
    compare((size_t)atoi(words[1]), 100, trip, &first, &second);
}
