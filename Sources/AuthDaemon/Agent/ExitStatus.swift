/// How `authd` ends (sysexits.h, as the contract has them). The unit does not start it again after 64, 75, 77 and 78.
package enum ExitStatus: Int32, Sendable {
    case done = 0
    case wrongUsage = 64
    case internalError = 70
    /// The system refused something that authd cannot be without: a socket, a folder.
    case systemError = 71
    /// Another authd serves this socket.
    case alreadyRunning = 75
    /// It must not run here: as root for another user, or in a folder that others can enter.
    case refused = 77
    /// Settings or profiles are broken, or ask for what this version does not have.
    case badConfiguration = 78
}

/// Why `authd` does not start, for the user.
package struct StartRefusal: Error, Sendable, Equatable {
    package let status: ExitStatus
    package let message: String

    package init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }
    /// - Parameter status: of a failure.
    package static func wrapping<Value>(
        as status: ExitStatus = .systemError, _ work: () throws -> Value
    ) throws(StartRefusal) -> Value {
        do {
            return try work()
        } catch {
            throw StartRefusal(status, "\(error)")
        }
    }
}
