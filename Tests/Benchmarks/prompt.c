// What `authc prompt` does, with nothing around it: prompt FILE
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words)
{
    if (count != 2) return 64;
    int file = open(words[1], O_RDONLY | O_CLOEXEC);
    if (file < 0) return 69;
    char line[4096];
    ssize_t length = read(file, line, sizeof line);
    if (length < 0) return 70;
    // The first word is the agent's process: what follows holds while that is there.
    char *words_after = memchr(line, ' ', (size_t)length);
    if (!words_after) return 0;
    char process[32] = "/proc/";
    size_t digits = (size_t)(words_after - line);
    if (digits > sizeof process - 7) return 70;
    memcpy(process + 6, line, digits);
    if (access(process, F_OK) != 0) return 0;
    size_t left = (size_t)(line + length - ++words_after);
    return write(STDOUT_FILENO, words_after, left) == (ssize_t)left ? 0 : 70;
}
