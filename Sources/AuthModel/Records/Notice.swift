package import AuthWire

/// Something that requires action by the user. It contains names, and nothing secret.
package struct Notice: Sendable, Hashable {
    /// There is at most one notice for each subject.
    package enum Subject: Sendable, Hashable {
        case session(SessionName)
        case keyring
        /// A sign-in on another machine, which uses the browser of this one through the listener.
        case signInCode(ListenerName)
    }

    package enum Reason: String, Sendable {
        case signInRequired = "sign_in_required"
        case keyringLocked = "keyring_locked"
        case stale
        case insufficientScope = "insufficient_scope"
        /// Nothing can renew the session after that.
        case endsWithinWeek = "ends_within_week"
        case endsWithinDay = "ends_within_day"
        /// The result of a sign-in that a notice's button began.
        case signedIn = "signed_in"
        case signInCode = "sign_in_code"
        case signInFailed = "sign_in_failed"
        /// A notice's button could not open a terminal.
        case noTerminal = "no_terminal"
    }

    package enum Action: Sendable, Hashable {
        /// Tries now what has failed.
        case retry
        /// Has the keyring ask the user.
        case unlock
        /// Asks for the passphrase in a terminal.
        case enterPassphrase
        /// Signs in, with the browser if that is enough and `terminal` is false, otherwise in a terminal.
        case signIn(terminal: Bool)

        /// Whether it opens something on the screen.
        package var opensWindow: Bool { self != .retry && self != .unlock }
    }

    /// What the user can choose.
    package struct Button: Sendable, Hashable {
        /// The key of the action on the bus.
        package let key: String
        package let label: String
        package let action: Action

        /// The key of a click on the notice itself (Desktop Notifications Specification 1.2, "Actions").
        package static let wholeNotice = "default"

        package func answers(to key: String) -> Bool { key == self.key || key == Self.wholeNotice }

        static let tryNow = Button(key: "try-now", label: "Try now", action: .retry)
        static let unlock = Button(key: "unlock", label: "Unlock", action: .unlock)
        static let enterPassphrase = Button(key: "enter-passphrase", label: "Unlock", action: .enterPassphrase)
        static let signIn = Button(key: "sign-in", label: "Sign in", action: .signIn(terminal: false))
        static let signInInTerminal = Button(
            key: "sign-in", label: "Try in a terminal", action: .signIn(terminal: true))
    }

    package let subject: Subject
    package let reason: Reason
    package let title: String
    package let message: String
    /// What to type.
    package let command: String?
    /// `nil`: nothing can be done with a click.
    package let button: Button?

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
    package let command: SignInCommand

    package init(session: SessionName, provider: String, scopes: [String], command: SignInCommand) {
        self.session = session
        self.provider = provider
        self.scopes = scopes
        self.command = command
    }
}

extension Notice {
    /// Desktops may read markup, so a command with its characters is not part of the text. The scopes in it come from the
    /// provider: a command that a shell would read in another way has no button.
    package static func insufficientScope(_ missing: MissingScopes) -> Notice {
        let command = missing.command.text
        let isPlain = !hasMarkup(command)
        return Notice(
            subject: .session(missing.session), reason: .insufficientScope,
            title: "\(missing.provider) requires more rights",
            message: "A call with session \(missing.session) was refused. "
                + (isPlain ? "To grant what it needs, in a terminal: \(command)" : "Its error names what to do."),
            command: command, button: SignInCommand.isPlain(missing.command.arguments) ? .signIn : nil)
    }

    package static func signIn(_ status: SessionStatus) -> Notice {
        let command = signInCommand(status)
        if status.cause == AgentError.originChangedCause {
            return Notice(
                subject: .session(status.session), reason: .signInRequired,
                title: "The profile \(status.provider) names another origin",
                message: "authd keeps session \(status.session) and sends nothing there. If you changed the profile: "
                    + "authc trust -s \(status.session). To sign in there: \(command)",
                command: command, button: signInButton(status))
        }
        return Notice(
            subject: .session(status.session), reason: .signInRequired, title: "Sign in to \(status.provider) again",
            message: "The session \(status.session) has ended. In a terminal: \(command)", command: command,
            button: signInButton(status))
    }

    /// - Parameter wait: how long it has not been renewed.
    package static func stale(_ status: SessionStatus, after wait: Duration) -> Notice {
        let command = "authc refresh -s \(status.session)"
        let minutes = Int(wait.seconds) / 60
        return Notice(
            subject: .session(status.session), reason: .stale,
            title: "\(status.provider) has not renewed a session for \(minutes) minutes",
            message: "authd keeps session \(status.session) and will try again. To try now: \(command)",
            command: command, button: .tryNow)
    }

    /// - Parameter isLastDay: whether it ends within a day, and not within a week.
    package static func ending(_ status: SessionStatus, isLastDay: Bool) -> Notice {
        let command = signInCommand(status)
        return Notice(
            subject: .session(status.session), reason: isLastDay ? .endsWithinDay : .endsWithinWeek,
            title: "Sign in to \(status.provider) within \(isLastDay ? "a day" : "7 days")",
            message: "After that, authd cannot renew session \(status.session). To sign in now: \(command)",
            command: command, button: signInButton(status))
    }

    package static let keyring = Notice(
        subject: .keyring, reason: .keyringLocked, title: "Your keyring is locked",
        message: "A program waits for a session in it. Unlock it to continue.", command: nil, button: .unlock)

    /// The passphrase is entered in `authc`, never on the desktop.
    package static let sealed = Notice(
        subject: .keyring, reason: .keyringLocked, title: "Your sessions are locked",
        message: "A program waits for a session that is sealed with a passphrase. "
            + "In a terminal: \(SignInCommand.openStore.text)",
        command: SignInCommand.openStore.text, button: .enterPassphrase)

    package static func signedIn(_ status: SessionStatus) -> Notice {
        Notice(
            subject: .session(status.session), reason: .signedIn, title: "Signed in to \(status.provider)",
            message: "Session \(status.session) is active.", command: nil, button: nil)
    }

    /// The code of a sign-in on another machine. `nil` if a text in it has characters of markup: then only the other
    /// machine shows the code.
    package static func code(
        _ device: DeviceAuthorization, _ signIn: RemoteSignIn, at listener: ListenerName
    ) -> Notice? {
        let words = [device.userCode, device.verificationURI, signIn.provider]
        guard !words.contains(where: hasMarkup) else { return nil }
        return Notice(
            subject: .signInCode(listener), reason: .signInCode, title: "Enter the code \(device.userCode)",
            message: "At \(device.verificationURI), to sign another machine in to \(signIn.provider).", command: nil,
            button: nil)
    }

    /// Scalars: a bracket with a combining mark is another character, but a desktop still sees the bracket.
    private static func hasMarkup(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0 == "<" || $0 == ">" || $0 == "&" }
    }

    /// The notice after its button has failed.
    package func failed(_ failure: NoticeFailure) -> Notice {
        let hint = command.map { ". In a terminal: \($0)" } ?? "."
        let name = session.map { " of session \($0)" } ?? ""
        return switch failure {
        case .inBrowser:
            Notice(
                subject: subject, reason: .signInFailed, title: "You are not signed in",
                message: "The sign-in\(name) in the browser did not complete\(hint)", command: command,
                button: button.map { _ in .signInInTerminal })
        case .noTerminal:
            Notice(
                subject: subject, reason: .noTerminal, title: "authd cannot open a terminal",
                message: "No terminal program could be started\(hint)", command: command, button: nil)
        }
    }

    package var info: NoticeInfo {
        NoticeInfo(reason: reason.rawValue, title: title, message: message, command: command)
    }

    /// `nil` for a URL with characters that have a meaning to a shell.
    private static func signInButton(_ status: SessionStatus) -> Button? {
        SignInCommand.isPlain([status.provider, status.environment ?? "default"]) ? .signIn : nil
    }

    private static func signInCommand(_ status: SessionStatus) -> String {
        CommandText.login(status.provider, session: status.session)
    }
}

/// Why the action of a notice's button failed.
package enum NoticeFailure: Sendable, Hashable {
    case inBrowser, noTerminal
}
