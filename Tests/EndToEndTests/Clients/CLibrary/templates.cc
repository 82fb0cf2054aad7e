// A program with templates of the standard library, which the Swift runtime inside uses too.
#include <authclient.h>

#include <iostream>
#include <string>
#include <vector>

int main() {
    std::vector<unsigned> numbers;
    for (unsigned i = 0; i < 3; i++) numbers.push_back(i);
    std::string text = std::to_string(numbers.size());
    authclient *client = nullptr;
    char *result = nullptr;
    if (authclient_open(nullptr, &client, nullptr) < 0) return 1;
    if (authclient_call(client, "agent.ping", nullptr, 0, &result, nullptr) < 0) return 2;
    authclient_free(result);
    authclient_close(client);
    std::cout << text << std::endl;
}
