import Glibc

/// Opens descriptors 0 to 2 if the program was started without them.
enum StandardDescriptors {
    /// The socket to the agent must not get the number of a closed stdout: a token would be written to it. A write to such a
    /// stdout still fails, because `/dev/null` is open for reading only.
    static func keep() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            guard unsafe open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY) >= 0 else { return }
        }
    }
}
