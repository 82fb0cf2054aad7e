// Opens connections, asks once on each, and holds them until it is ended: hold COUNT SOCKET
// Prints a line when all are answered.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"agent.ping\"}\n";
// The agent gives one process 256 connections.
enum { most = 250 };

static void hold(int count, const char *path, int done)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    for (int index = 0; index < count; index++) {
        char answer[4096];
        int peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (peer < 0 || connect(peer, (struct sockaddr *)&address, sizeof address) != 0
            || write(peer, ping, sizeof ping - 1) != sizeof ping - 1 || read(peer, answer, sizeof answer) <= 0) {
            perror(path);
            exit(70);
        }
    }
    if (write(done, "", 1) != 1) exit(70);
    pause();
    exit(0);
}

int main(int number, char **words)
{
    int ends[2], left = number == 3 ? atoi(words[1]) : 0, parts = 0;
    if (left <= 0 || strlen(words[2]) >= sizeof((struct sockaddr_un *)0)->sun_path || pipe(ends) != 0) return 64;
    for (; left > 0; left -= most, parts++) {
        pid_t parent = getpid(), child = fork();
        if (child < 0) return 70;
        if (child > 0) continue;
        // The children end with this process.
        close(ends[0]);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) return 0;
        hold(left < most ? left : most, words[2], ends[1]);
    }
    close(ends[1]);
    for (char byte; parts > 0; parts--)
        if (read(ends[0], &byte, 1) != 1) return 70;
    puts("open");
    fflush(stdout);
    pause();
}
