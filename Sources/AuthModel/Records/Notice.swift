package import AuthWire

/// Something that requires action by the user. It contains names, and nothing secret.
package struct Notice: Sendable, Hashable {
    /// There is at most one notice for each subject.
    package enum Subject: Sendable, Hashable {
        case session(SessionName)
        case keyring
    }

    package enum Reason: String, Sendable {
        case signInRequired = "sign_in_required"
        case keyringLocked = "keyring_locked"
        case stale
        case insufficientScope = "insufficient_scope"
    }

    package let subject: Subject
    package let reason: Reason
    package let title: String
    package let message: String
    /// What to type.
    package let command: String?
    /// The label of the notice's button.
    package let action: String

    package var session: SessionName? {
        if case .session(let name) = subject { name } else { nil }
    }
}

/// The scopes that a call required and its session does not have.
package struct MissingScopes: Sendable, Equatable {
    package let session: SessionName
    package let provider: String
    package let scopes: [String]
    /// What grants them.
    package let command: String

    package init(session: SessionName, provider: String, scopes: [String], command: String) {
        self.session = session
        self.provider = provider
        self.scopes = scopes
        self.command = command
    }
}

extension Notice {
    /// Desktops may read markup, so a command with its characters is not part of the text.
    package static func insufficientScope(_ missing: MissingScopes) -> Notice {
        let isPlain = !missing.command.contains { "<>&".contains($0) }
        return Notice(
            subject: .session(missing.session), reason: .insufficientScope,
            title: "\(missing.provider) requires more rights",
            message: "A call with session \(missing.session) was refused. "
                + (isPlain
                    ? "To grant what it needs, in a terminal: \(missing.command)" : "Its error names what to do."),
            command: missing.command, action: "Sign in")
    }

    package static func signIn(_ status: SessionStatus) -> Notice {
        let command = "authc login \(status.provider) -s \(status.session)"
        if status.cause == AgentError.originChangedCause {
            return Notice(
                subject: .session(status.session), reason: .signInRequired,
                title: "The profile \(status.provider) names another origin",
                message: "authd keeps session \(status.session) and sends nothing there. If you changed the profile: "
                    + "authc trust -s \(status.session). To sign in there: \(command)",
                command: command, action: "Sign in")
        }
        return Notice(
            subject: .session(status.session), reason: .signInRequired, title: "Sign in to \(status.provider) again",
            message: "The session \(status.session) has ended. In a terminal: \(command)", command: command,
            action: "Sign in")
    }

    /// - Parameter wait: how long it has not been renewed.
    package static func stale(_ status: SessionStatus, after wait: Duration) -> Notice {
        let command = "authc refresh -s \(status.session)"
        let minutes = Int(wait.seconds) / 60
        return Notice(
            subject: .session(status.session), reason: .stale,
            title: "\(status.provider) has not renewed a session for \(minutes) minutes",
            message: "authd keeps session \(status.session) and will try again. To try now: \(command)",
            command: command, action: "Try now")
    }

    package static let keyring = Notice(
        subject: .keyring, reason: .keyringLocked, title: "Your keyring is locked",
        message: "A program waits for a session in it. Unlock it to continue.",
        command: nil,
        action: "Unlock")

    /// The passphrase is entered in `authc`, never on the desktop.
    package static let sealed = Notice(
        subject: .keyring, reason: .keyringLocked, title: "Your sessions are locked",
        message: "A program waits for a session that is sealed with a passphrase. In a terminal: authc store unlock",
        command: "authc store unlock", action: "Unlock")

    package var info: NoticeInfo {
        NoticeInfo(reason: reason.rawValue, title: title, message: message, command: command)
    }
}
