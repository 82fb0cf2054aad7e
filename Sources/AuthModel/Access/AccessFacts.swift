/// What access rules can test about a caller.
package struct AccessFacts: Sendable, Equatable {
    package enum Fact: Sendable, Equatable {
        /// It cannot be read, or was not.
        case unknown
        case absent
        case text(String)

        package init(_ text: String?, isKnown: Bool) {
            self = if let text { .text(text) } else { isKnown ? .absent : .unknown }
        }

        package var text: String? { if case .text(let text) = self { text } else { nil } }
    }

    /// What has to be read for a test.
    package enum Need: Sendable {
        /// Known since the connection.
        case connection
        /// Read once for each connection.
        case process
        /// Facts about the program that the process runs now.
        case program
    }

    package var listener: ListenerName
    package var isOwnUser: Bool
    /// The hard boundary applies to the caller.
    package var isConfined: Bool
    package var sandbox: Fact
    package var executable = Fact.unknown
    package var unit = Fact.unknown
    package var slice = Fact.unknown
    package var label = Fact.unknown
    package var terminal = Fact.unknown
    package var loginSession = Fact.unknown

    package init(
        listener: ListenerName = .api, isOwnUser: Bool = true, isConfined: Bool = false, sandbox: Fact = .absent
    ) {
        (self.listener, self.isOwnUser) = (listener, isOwnUser)
        (self.isConfined, self.sandbox) = (isConfined, sandbox)
    }

    /// The facts of an identity. The audit log shortens long paths; a shortened path is unknown.
    package init(_ caller: CallerIdentity, ownUserID: UInt32) {
        let isKnownSandbox = caller.sandbox != .unknown && (caller.sandbox != nil || !caller.isConfined)
        self.init(
            listener: caller.listener, isOwnUser: caller.userID == ownUserID, isConfined: caller.isConfined,
            sandbox: Fact(isKnownSandbox ? caller.sandbox?.rawValue : nil, isKnown: isKnownSandbox))
        let path = caller.isExecutableUncertain ? nil : caller.executable
        executable = Fact(path.flatMap { $0.hasPrefix("…") ? nil : $0 }, isKnown: false)
        unit = Fact(caller.unit, isKnown: caller.isGroupKnown)
        slice = Fact(caller.slice, isKnown: caller.isGroupKnown)
        loginSession = Fact(caller.loginSession, isKnown: caller.isGroupKnown)
        label = Fact(caller.label.flatMap { $0.hasSuffix("…") ? nil : $0 }, isKnown: caller.isLabelKnown)
        terminal = Fact(caller.terminal, isKnown: caller.startTicks != nil)
    }
}
