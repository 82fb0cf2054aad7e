package import AuthWire

/// What a check of the user's presence is for. Each has an action of polkit.
package enum PresenceAction: String, Sendable, CaseIterable {
    /// A token is released, or used for a call.
    case release
    /// Refresh tokens leave the agent.
    case export
    case unlock
    /// Something is trusted from now on, or the agent is changed.
    case trust

    /// As in org.authd.policy.
    package var polkitAction: String { "org.authd." + rawValue }

    /// Methods with which refresh tokens leave the agent: as a bundle, to files that a passphrase of the caller opens, or to
    /// another host.
    package static let exporting = [SessionExport.name, StoreMigrate.name, StoreRekey.name, ClusterAdmit.name]

    /// For a request of a class other than `status`.
    package init(method: String, _ access: AccessClass) {
        self =
            switch access {
            case _ where Self.exporting.contains(method): .export
            case _ where method == AgentUnlock.name: .unlock
            case .status, .token, .act: .release
            case .account, .admin: .trust
            }
    }
}

/// The process that a check is about: the sender of the request.
package struct PresenceSubject: Sendable, Hashable {
    package let processID: Int32
    /// Its start, in ticks since boot (proc_pid_stat(5)).
    package let startTicks: UInt64
    package let userID: UInt32
    /// `nil` if it cannot be read.
    package let executable: String?
    /// The same as ``CallerIdentity/isExecutableUncertain``: another program may be at the path.
    package let isExecutableUncertain: Bool

    package init(
        processID: Int32, startTicks: UInt64, userID: UInt32, executable: String? = nil,
        isExecutableUncertain: Bool = false
    ) {
        (self.processID, self.startTicks) = (processID, startTicks)
        (self.userID, self.executable) = (userID, executable)
        self.isExecutableUncertain = isExecutableUncertain
    }

    /// - Returns: `nil` if too little is known about the client.
    package init?(_ caller: CallerIdentity) {
        guard caller.processID > 0, let startTicks = caller.startTicks else { return nil }
        self.init(
            processID: caller.processID, startTicks: startTicks, userID: caller.userID, executable: caller.executable,
            isExecutableUncertain: caller.isExecutableUncertain)
    }
}

/// One check. Requests with the same one share it.
package struct PresenceQuestion: Sendable, Hashable {
    package let action: PresenceAction
    package let subject: PresenceSubject
    /// `nil`: all sessions, or none.
    package let session: SessionName?

    package init(_ action: PresenceAction, of subject: PresenceSubject, for session: SessionName? = nil) {
        (self.action, self.subject, self.session) = (action, subject, session)
    }
}

/// How a check has ended.
package enum PresenceAnswer: Sendable, Equatable {
    case passed
    /// By the user, or by the system's rules.
    case refused
    /// No program of the user can ask.
    case noAgent
    /// Nothing was asked, for this reason.
    case unavailable(String)
    /// It was withdrawn.
    case withdrawn
}

/// The checks of the user's presence in the settings.
package struct PresenceSettings: Sendable, Equatable {
    /// Their tokens are released only after a check.
    package var sessions: Set<SessionName> = []
    /// How long a check for the release of a token counts for the same program; `nil`: for one request.
    package var remember: Duration?

    package init() {}
}
