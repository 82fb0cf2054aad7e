/* Sets the machine's clock forward by a nanosecond (adjtimex(2)): for the kernel a set clock like any other.
 * Ends with 77 where that is not allowed. */
#include <errno.h>
#include <stdio.h>
#include <sys/timex.h>

int main(void)
{
    struct timex change = {.modes = ADJ_SETOFFSET | ADJ_NANO, .time.tv_usec = 1};

    if (adjtimex(&change) >= 0)
        return 0;
    if (errno == EPERM)
        return 77;
    perror("adjtimex");
    return 70;
}
