/// The sockets that a service manager passes (sd_listen_fds(3)).
package struct ListenVariables: Sendable, Equatable {
    package struct Passed: Sendable, Equatable {
        package let number: Int32
        /// `FileDescriptorName=`, or the name of the unit; "unknown" without one.
        package let name: String
    }

    package static let names = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID"]
    /// More than any unit has.
    private static let most = 64

    package let sockets: [Passed]

    /// Empty if the variables are meant for another process.
    package init(processID: Int32, variable: (String) -> String?) {
        guard let text = variable("LISTEN_PID"), Int32(text) == processID,
            let count = variable("LISTEN_FDS").flatMap(Int32.init), (1...Int32(Self.most)).contains(count)
        else {
            sockets = []
            return
        }
        let names = (variable("LISTEN_FDNAMES") ?? "").split(separator: ":", omittingEmptySubsequences: false)
        sockets = (0..<count).map { index in
            Passed(number: 3 + index, name: index < names.count ? String(names[Int(index)]) : "unknown")
        }
    }
}
