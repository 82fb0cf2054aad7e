// From connect to the first answer of an agent that systemd would start: first COUNT SOCKET PROGRAM [ARGUMENT…]
// Each time the socket is made, the program is started with it when a client connects (sd_listen_fds(3)), asked for a token,
// and ended. Each answer must come within ten seconds. Prints the median and the 99th percentile in milliseconds.
#define _GNU_SOURCE
#include "samples.h"
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"token.get\",\"params\":{\"timeout_ms\":5000}}\n";
static char answer[1 << 16];

static pid_t start(int listener, char **command)
{
    pid_t child = fork();
    if (child != 0) return child;
    char number[16];
    if (dup2(listener, 3) != 3) _exit(70);
    snprintf(number, sizeof number, "%d", getpid());
    setenv("LISTEN_FDS", "1", 1);
    setenv("LISTEN_FDNAMES", "api", 1);
    setenv("LISTEN_PID", number, 1);
    execv(command[0], command);
    _exit(127);
}

static double once(const char *path, char **command)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    unlink(path);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 16) != 0) {
        perror(path);
        exit(70);
    }
    double begin = now();
    if (connect(peer, (struct sockaddr *)&address, sizeof address) != 0) exit(70);
    if (write(peer, request, sizeof request - 1) != sizeof request - 1) exit(70);
    pid_t child = start(listener, command);
    struct pollfd event = {.fd = peer, .events = POLLIN};
    // The socket is open here, so its end does not follow if the program does not start.
    ssize_t length = poll(&event, 1, 10000) == 1 ? read(peer, answer, sizeof answer) : -1;
    double end = now();
    if (length <= 0 || !memmem(answer, (size_t)length, "\"access_token\"", 14)) {
        fprintf(stderr, "no token: %.*s\n", (int)(length < 0 ? 0 : length), answer);
        kill(child, SIGKILL);
        exit(70);
    }
    int status;
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    close(peer);
    close(listener);
    return end - begin;
}

int main(int count, char **words)
{
    if (count < 4 || atoi(words[1]) <= 0 || strlen(words[2]) >= sizeof((struct sockaddr_un *)0)->sun_path) return 64;
    size_t most = (size_t)atoi(words[1]);
    double *samples = calloc(most, sizeof *samples), summary[2];
    if (!samples) return 70;
    // The first one warms up.
    once(words[2], words + 3);
    for (size_t index = 0; index < most; index++) samples[index] = once(words[2], words + 3);
    summarize(samples, most, summary);
    printf("%.1f %.1f\n", summary[0] / 1e6, summary[1] / 1e6);
}
