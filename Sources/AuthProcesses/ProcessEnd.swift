package import Glibc

/// How a child process ended (waitpid(2)).
package enum ProcessEnd: Sendable, Equatable {
    case exit(status: CInt)
    case signal(CInt)

    /// Waits for the end.
    package init(of child: pid_t) {
        var status: CInt = 0
        while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
        self.init(status)
    }

    /// - Returns: `nil` if it has not ended.
    package init?(ofEnded child: pid_t) {
        var status: CInt = 0
        guard unsafe waitpid(child, &status, WNOHANG) != 0 else { return nil }
        self.init(status)
    }

    private init(_ status: CInt) {
        let signal = status & 0x7f
        self = signal == 0 ? .exit(status: status >> 8 & 0xff) : .signal(signal)
    }

    /// As shells report it: 128 + n for signal n.
    package var shellStatus: CInt {
        switch self {
        case .exit(let status): status
        case .signal(let number): 128 + number
        }
    }
}
