// One request, with the id 1, many times on one connection: many TIMES IN-FLIGHT PAUSE NUMBERS SOCKET LINE [FILE]
// In LINE, `#` is replaced by 0 to NUMBERS - 1 in turn, or by A to B - 1 with A-B, and `@` by that number modulo 4. IN-FLIGHT
// requests wait for answers at a time; a request follows the one before it after PAUSE milliseconds at the earliest. Ends after
// TIMES answers, none of them an error, and prints the median and the 99th percentile of the times that they took, in µs (if
// one is in flight); each time is added to FILE, in µs. With TIMES 0 it prints "begun", accepts any answer, goes on until
// SIGTERM, and prints the numbers of answers and of errors.
#define _GNU_SOURCE
#include "connected.h"
#include "samples.h"
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static char request[4096], input[1 << 21];
static const char *line;
static long first, numbers, errors;
static volatile sig_atomic_t ended;

static void finish(int signal)
{
    ended = signal;
}

static size_t written(long index)
{
    size_t length = 0;
    long number = first + index % numbers;
    for (const char *at = line; *at; at++) {
        size_t room = sizeof request - length;
        int more = 1;
        if (*at == '#') more = snprintf(request + length, room, "%ld", number);
        else if (*at == '@') more = snprintf(request + length, room, "%ld", number % 4);
        else request[length] = *at;
        length += (size_t)more;
        if (length >= sizeof request - 1) exit(64);
    }
    request[length++] = '\n';
    return length;
}

static int has(const char *from, const char *end, const char *text)
{
    return memmem(from, (size_t)(end - from), text, strlen(text)) != NULL;
}

// The answers that are complete; keeps the rest.
static int answers(int peer, int strict)
{
    static size_t length;
    ssize_t more = read(peer, input + length, sizeof input - length);
    if (more <= 0) {
        fputs("the connection has ended\n", stderr);
        exit(70);
    }
    length += (size_t)more;
    int lines = 0;
    char *from = input, *end;
    while ((end = memchr(from, '\n', (size_t)(input + length - from)))) {
        if (has(from, end, "\"id\":1,\"error\":") || has(from, end, "\"kind\":\"failed\"")) {
            errors++;
            if (strict) {
                fprintf(stderr, "an error: %.*s\n", (int)(end - from), from);
                exit(70);
            }
        }
        lines++;
        from = end + 1;
    }
    length -= (size_t)(from - input);
    memmove(input, from, length);
    return lines;
}

int main(int count, char **words)
{
    if (count < 7 || count > 8) return 64;
    long times = atol(words[1]), most = atol(words[2]), sent = 0, done = 0;
    double pause = atof(words[3]) * 1e6, next = now();
    const char *end = strchr(words[4], '-');
    first = end ? atol(words[4]) : 0;
    numbers = end ? atol(end + 1) - first : atol(words[4]);
    line = words[6];
    if (times < 0 || most < 1 || numbers < 1) return 64;
    double *begun = calloc((size_t)most, sizeof(double)), *samples = calloc((size_t)times + 1, sizeof(double));
    if (!begun || !samples) return 70;
    int peer = connected(words[5]);
    // The signal arrives in ppoll only.
    sigset_t none, terminated;
    sigemptyset(&none);
    sigemptyset(&terminated);
    sigaddset(&terminated, SIGTERM);
    if (times == 0) {
        sigprocmask(SIG_BLOCK, &terminated, NULL);
        signal(SIGTERM, finish);
    }
    while (times == 0 ? !ended : done < times) {
        while (sent - done < most && (times == 0 || sent < times) && now() >= next) {
            size_t length = written(sent);
            next = now() + pause;
            begun[sent++ % most] = now();
            if (write(peer, request, length) != (ssize_t)length) return 70;
            if (times == 0 && sent == 1) puts("begun"), fflush(stdout);
        }
        struct pollfd event = {.fd = peer, .events = POLLIN};
        double left = next - now();
        struct timespec limit = {.tv_nsec = left > 0 && left < 1e9 ? (long)left : 0};
        int full = sent - done >= most || (times > 0 && sent >= times);
        if (ppoll(&event, 1, full ? NULL : &limit, &none) <= 0) continue;
        double end = now();
        for (int more = answers(peer, times > 0); more > 0; more--, done++)
            if (done < times) samples[done] = end - begun[done % most];
    }
    if (times == 0) {
        printf("%ld %ld\n", done, errors);
        return 0;
    }
    FILE *file = count == 8 ? fopen(words[7], "a") : NULL;
    if (count == 8 && !file) return 70;
    for (long index = 0; file && index < times; index++) fprintf(file, "%.2f\n", samples[index] / 1e3);
    if (file && fclose(file) != 0) return 70;
    double summary[2];
    summarize(samples, (size_t)times, summary);
    printf("%.2f %.2f\n", summary[0] / 1e3, summary[1] / 1e3);
}
