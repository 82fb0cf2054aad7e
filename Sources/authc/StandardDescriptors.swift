import Glibc

/// Descriptors 0 to 2 of a program that was started without some of them.
enum StandardDescriptors {
    /// The socket to the agent must not get the number of a closed stdout: a token would be printed into it. What is
    /// written to such a stdout fails, as it did before (`/dev/null` is open for reading alone).
    static func keep() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            guard unsafe open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY) >= 0 else { return }
        }
    }
}
