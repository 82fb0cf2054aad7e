// A server that reads what it gets, and keeps nothing: sink PORT-FILE
// HTTP/1.1 on a port of 127.0.0.1 that the system chooses. The response to a request for /down/N is a body of N MiB; the one for
// /kept/N, whatever else its path has, is JSON of N KiB that may be cached for an hour; any other is "begun". A process for each
// connection.
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

static void say(int peer, const char *text, size_t length, int flags)
{
    while (length > 0) {
        ssize_t sent = send(peer, text, length, MSG_NOSIGNAL | flags);
        if (sent <= 0) exit(0);
        text += sent;
        length -= (size_t)sent;
    }
}

static void give(int peer, const char *fields, unsigned long long length)
{
    int head = snprintf(line, sizeof line, "HTTP/1.1 200 OK\r\n%sContent-Length: %llu\r\n\r\n", fields, length);
    // In one packet with the beginning of the body.
    say(peer, line, (size_t)head, MSG_MORE);
    // A text in JSON.
    memset(piece, 'x', sizeof piece);
    piece[0] = '"';
    for (unsigned long long left = length; left > 0;) {
        size_t size = left < sizeof piece ? left : sizeof piece;
        if (left == size) piece[size - 1] = '"';
        say(peer, piece, size, 0);
        piece[0] = 'x';
        left -= size;
    }
}

static void serve(int peer)
{
    FILE *input = fdopen(peer, "r");
    if (!input || setvbuf(input, NULL, _IOFBF, sizeof piece) != 0) exit(70);
    while (fgets(line, sizeof line, input)) {
        unsigned long long length = 0, down = 0, kept = 0;
        sscanf(line, "GET /down/%llu", &down);
        sscanf(line, "GET /kept/%llu", &kept);
        int chunked = 0, waits = 0;
        while (fgets(line, sizeof line, input) && line[0] != '\r') {
            if (strncasecmp(line, "content-length:", 15) == 0) length = strtoull(line + 15, NULL, 10);
            if (strncasecmp(line, "transfer-encoding:", 18) == 0) chunked = 1;
            if (strncasecmp(line, "expect:", 7) == 0) waits = 1;
        }
        if (waits) say(peer, proceed, sizeof proceed - 1, 0);
        if (!chunked) skip(input, length);
        // No trailers are sent.
        while (chunked && fgets(line, sizeof line, input)) {
            length = strtoull(line, NULL, 16);
            skip(input, length + 2);
            chunked = length > 0;
        }
        if (down > 0) give(peer, "Content-Type: application/octet-stream\r\n", down << 20);
        else if (kept > 0) give(peer, "Content-Type: application/json\r\nCache-Control: max-age=3600\r\n", kept << 10);
        else say(peer, answer, sizeof answer - 1, 0);
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
