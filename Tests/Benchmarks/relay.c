// Passes the bytes of a connection on to a server, and back, and does nothing else: relay PORT-FILE SERVER-PORT
// It shows the highest speed that a proxy on this machine can reach. It listens on a port of 127.0.0.1 that the system
// chooses, and has two processes for each connection.
#define _GNU_SOURCE
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static char piece[1 << 18];

static void pass(int from, int to)
{
    ssize_t count;
    while ((count = read(from, piece, sizeof piece)) > 0)
        for (ssize_t begin = 0; begin < count;) {
            ssize_t sent = send(to, piece + begin, count - begin, MSG_NOSIGNAL);
            if (sent < 0) exit(0);
            begin += sent;
        }
    shutdown(to, SHUT_WR);
    exit(0);
}

// A process that ends with the relay.
static int child(void)
{
    pid_t parent = getpid();
    if (fork() != 0) return 0;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) exit(0);
    return 1;
}

int main(int count, char **words)
{
    if (count != 3) return 64;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, target = address;
    target.sin_port = htons(atoi(words[2]));
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 16) != 0
        || getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        perror("relay");
        return 70;
    }
    FILE *file = fopen(words[1], "w");
    if (!file || fprintf(file, "%d\n", ntohs(address.sin_port)) < 0 || fclose(file) != 0) return 70;
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        int client = accept(listener, NULL, NULL);
        int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (client >= 0 && server >= 0 && connect(server, (struct sockaddr *)&target, sizeof target) == 0) {
            if (child()) pass(client, server);
            if (child()) pass(server, client);
        }
        close(client);
        close(server);
    }
}
