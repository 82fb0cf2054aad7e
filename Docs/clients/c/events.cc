// Prints the agent's events until its standard input ends: c++ -std=c++17 events.cc $(pkg-config --cflags --libs authclient)
#include <authclient.h>
#include <poll.h>
#include <unistd.h>

#include <iostream>
#include <memory>

struct Closer {
    void operator()(authclient *client) const { authclient_close(client); }
    void operator()(authclient_events *events) const { authclient_events_close(events); }
    void operator()(authclient_error *error) const { authclient_error_free(error); }
    void operator()(char *text) const { authclient_free(text); }
};
template <typename Object> using Owned = std::unique_ptr<Object, Closer>;

static int report(authclient_error *error) {
    Owned<authclient_error> owned(error);
    std::cerr << authclient_error_kind(error) << ": " << authclient_error_message(error) << std::endl;
    return 1;
}

int main() {
    authclient *opened = nullptr;
    authclient_events *subscribed = nullptr;
    authclient_error *error = nullptr;
    if (authclient_open(nullptr, &opened, &error) < 0) return report(error);
    Owned<authclient> client(opened);
    if (authclient_subscribe(opened, R"({"topics": ["session"]})", AUTHCLIENT_DEFAULT_TIMEOUT, &subscribed, &error) < 0)
        return report(error);
    Owned<authclient_events> events(subscribed);

    struct pollfd watched[] = {{authclient_events_fd(subscribed), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    while (true) {
        char *text = nullptr;
        int found;
        while ((found = authclient_next(subscribed, &text, &error)) > 0)
            std::cout << Owned<char>(text).get() << std::endl;
        if (found < 0) return report(error);
        if (poll(watched, 2, -1) > 0 && watched[1].revents) {
            char byte;
            if (read(STDIN_FILENO, &byte, 1) <= 0) return 0;
        }
    }
}
