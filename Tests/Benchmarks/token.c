// What `authc token` does, with nothing around it: token SOCKET
// Connects, sends one token.get, reads one line, prints the token. Exit status 1 when there is none.
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"token.get\",\"params\":{}}\n";
static const char key[] = "\"access_token\":\"";

int main(int count, char **words)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (count != 2 || strlen(words[1]) >= sizeof address.sun_path) return 64;
    strcpy(address.sun_path, words[1]);

    int agent = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (agent < 0 || connect(agent, (struct sockaddr *)&address, sizeof address) != 0) return 69;
    if (write(agent, request, sizeof request - 1) != sizeof request - 1) return 70;

    static char answer[1 << 16];
    size_t length = 0;
    while (length < sizeof answer - 1 && !memchr(answer, '\n', length)) {
        ssize_t more = read(agent, answer + length, sizeof answer - 1 - length);
        if (more <= 0) return 70;
        length += (size_t)more;
    }
    char *token = strstr(answer, key);
    char *end = token ? strchr(token += sizeof key - 1, '"') : NULL;
    if (!end) return 1;
    *end++ = '\n';
    return write(STDOUT_FILENO, token, (size_t)(end - token)) == end - token ? 0 : 70;
}
