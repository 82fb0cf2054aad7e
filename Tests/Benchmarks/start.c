// Start to exit of two programs, in turn: start COUNT PROGRAM [ARGUMENT…] -- PROGRAM [ARGUMENT…]
// The arguments of the first may also contain --. Their output is discarded. A run that does not end with 0 ends the comparison.
#define _GNU_SOURCE
#include "samples.h"
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static posix_spawn_file_actions_t to_nowhere;

static double run(const void *candidate)
{
    char *const *words = candidate;
    pid_t child;
    int status;
    double start = now();
    if (posix_spawn(&child, words[0], &to_nowhere, NULL, words, environ) != 0 || waitpid(child, &status, 0) != child) {
        perror(words[0]);
        exit(70);
    }
    double length = now() - start;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "%s ended with wait status %#x\n", words[0], status);
        exit(70);
    }
    return length;
}

int main(int count, char **words)
{
    int second = count - 1;
    while (second > 2 && strcmp(words[second], "--") != 0) second--;
    if (second < 3 || second >= count - 1 || atoi(words[1]) <= 0) return 64;
    words[second] = NULL;
    posix_spawn_file_actions_init(&to_nowhere);
    posix_spawn_file_actions_addopen(&to_nowhere, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    compare((size_t)atoi(words[1]), 1, run, words + 2, words + second + 1);
}
