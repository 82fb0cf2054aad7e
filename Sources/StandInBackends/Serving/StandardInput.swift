import Glibc

enum StandardInput {
    /// A file or /dev/null has its end behind it as soon as it is read, and epoll(7) takes neither.
    static var canBeWatched: Bool {
        var status = stat()
        guard unsafe fstat(0, &status) == 0 else { return false }
        return switch status.st_mode & S_IFMT {
        case S_IFIFO, S_IFSOCK: true
        case S_IFCHR: isatty(0) == 1
        default: false
        }
    }
}
