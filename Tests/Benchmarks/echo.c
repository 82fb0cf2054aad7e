// The least a server on a socket can do: echo SOCKET
// One thread, epoll, level-triggered; what comes in goes out. Ends with its parent's SIGTERM.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int watch(int poller, int descriptor)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    return epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event);
}

int main(int count, char **words)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (count != 2 || strlen(words[1]) >= sizeof address.sun_path) return 64;
    strcpy(address.sun_path, words[1]);

    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int poller = epoll_create1(EPOLL_CLOEXEC);
    if (listener < 0 || poller < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0
        || listen(listener, 16) != 0 || watch(poller, listener) != 0) {
        perror(words[1]);
        return 70;
    }
    for (;;) {
        struct epoll_event events[16];
        int ready = epoll_wait(poller, events, 16, -1);
        for (int index = 0; index < ready; index++) {
            int descriptor = events[index].data.fd;
            if (descriptor == listener) {
                int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
                if (peer >= 0) watch(poller, peer);
                continue;
            }
            char bytes[4096];
            ssize_t length = read(descriptor, bytes, sizeof bytes);
            if (length <= 0 || write(descriptor, bytes, (size_t)length) != length) close(descriptor);
        }
    }
}
