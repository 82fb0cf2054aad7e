import Glibc

enum StandardInput {
    /// A file or /dev/null has its end behind it as soon as it is read, and epoll(7) takes neither. What can be watched
    /// is what has no position: a pipe, a socket, a terminal (lseek(2), ESPIPE).
    static var canBeWatched: Bool {
        lseek(0, 0, SEEK_CUR) < 0 && errno == ESPIPE
    }
}
