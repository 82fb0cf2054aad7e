import Glibc

enum StandardInput {
    /// Whether standard input is a pipe, a socket or a terminal, which have no position (lseek(2), ESPIPE). A file or
    /// /dev/null ends at once, and epoll(7) does not support them.
    static var canBeWatched: Bool {
        lseek(0, 0, SEEK_CUR) < 0 && errno == ESPIPE
    }
}
