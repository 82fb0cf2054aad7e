// A server that reads what it gets, and keeps nothing: sink PORT-FILE
// HTTP/1.1 on a port of 127.0.0.1 that the system chooses. The response to each request is "begun". A process for each connection.
#define _GNU_SOURCE
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nbegun\n";
static const char proceed[] = "HTTP/1.1 100 Continue\r\n\r\n";
static char line[1 << 14], piece[1 << 18];

static void skip(FILE *input, unsigned long long left)
{
    while (left > 0) {
        size_t read = fread(piece, 1, left < sizeof piece ? left : sizeof piece, input);
        if (read == 0) exit(0);
        left -= read;
    }
}

static void say(int peer, const char *text, size_t length)
{
    if (send(peer, text, length, MSG_NOSIGNAL) != (ssize_t)length) exit(0);
}

static void serve(int peer)
{
    FILE *input = fdopen(peer, "r");
    if (!input || setvbuf(input, NULL, _IOFBF, sizeof piece) != 0) exit(70);
    while (fgets(line, sizeof line, input)) {
        unsigned long long length = 0;
        int chunked = 0, waits = 0;
        while (fgets(line, sizeof line, input) && line[0] != '\r') {
            if (strncasecmp(line, "content-length:", 15) == 0) length = strtoull(line + 15, NULL, 10);
            if (strncasecmp(line, "transfer-encoding:", 18) == 0) chunked = 1;
            if (strncasecmp(line, "expect:", 7) == 0) waits = 1;
        }
        if (waits) say(peer, proceed, sizeof proceed - 1);
        if (!chunked) skip(input, length);
        // No trailers are sent.
        while (chunked && fgets(line, sizeof line, input)) {
            length = strtoull(line, NULL, 16);
            skip(input, length + 2);
            chunked = length > 0;
        }
        say(peer, answer, sizeof answer - 1);
    }
    exit(0);
}

int main(int count, char **words)
{
    if (count != 2) return 64;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 16) != 0
        || getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        perror("sink");
        return 70;
    }
    FILE *file = fopen(words[1], "w");
    if (!file || fprintf(file, "%d\n", ntohs(address.sin_port)) < 0 || fclose(file) != 0) return 70;
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        int peer = accept(listener, NULL, NULL);
        pid_t parent = getpid();
        if (peer >= 0 && fork() == 0) {
            // The connections end with this process.
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            if (getppid() != parent) return 0;
            serve(peer);
        }
        close(peer);
    }
}
