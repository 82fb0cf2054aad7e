// What `authc prompt` does, with nothing around it: prompt FILE
#include <fcntl.h>
#include <unistd.h>

int main(int count, char **words)
{
    if (count != 2) return 64;
    int file = open(words[1], O_RDONLY | O_CLOEXEC);
    if (file < 0) return 69;
    char line[4096];
    ssize_t length = read(file, line, sizeof line);
    return length >= 0 && write(STDOUT_FILENO, line, (size_t)length) == length ? 0 : 70;
}
