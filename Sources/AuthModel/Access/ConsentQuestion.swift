package import AuthWire

/// A program that the user is asked about.
package struct ConsentProgram: Sendable, Hashable {
    /// What an answer is remembered by.
    package enum Identity: Sendable, Hashable {
        /// A file with this content.
        case file(device: UInt64, inode: UInt64, hash: String)
        /// A file whose content could not be read.
        case version(FileVersion)
        case unit(String)
        /// A process and the path of its program, if nothing else identifies the program.
        case running(PresenceSubject)
    }

    package let subject: PresenceSubject
    package let unit: String?
    /// `nil`: an answer counts for one question only.
    package let identity: Identity?

    package init(_ subject: PresenceSubject, unit: String?, identity: Identity?) {
        (self.subject, self.unit, self.identity) = (subject, unit, identity)
    }
}

/// What the user is asked. Requests of one program with the same key share a question.
package struct ConsentQuestion: Sendable, Equatable {
    package struct Key: Sendable, Hashable {
        package enum Program: Sendable, Hashable {
            case identity(ConsentProgram.Identity)
            case process(PresenceSubject)
            /// Another machine, which connects to this listener with any number of processes.
            case listener(ListenerName)
        }

        package let program: Program
        package let session: SessionName?
        package let scopes: AccessRequest.Scopes
        package let listener: ListenerName
        package let access: AccessClass
        /// The method, for the class `admin`: an answer covers only this method.
        package let adminMethod: String?
    }

    package let key: Key
    package let program: ConsentProgram
    /// The method of the first request.
    package let method: String
    /// What the program says.
    package let purpose: String?
    /// The sign-in on another machine, if the question is about one.
    package let signIn: RemoteSignIn?

    package init(
        _ program: ConsentProgram, _ request: AccessRequest, from listener: ListenerName, purpose: String?
    ) {
        key = Key(
            program: program.identity.map(Key.Program.identity) ?? .process(program.subject),
            session: request.target.name, scopes: request.scopes, listener: listener, access: request.access,
            adminMethod: request.access == .admin ? request.method : nil)
        (self.program, method, self.purpose, signIn) = (program, request.method, purpose, nil)
    }

    /// An answer counts for this sign-in only, and a refusal for everything that uses the listener.
    package init(_ program: ConsentProgram, _ signIn: RemoteSignIn, from listener: ListenerName) {
        key = Key(
            program: .listener(listener), session: nil, scopes: .listed(signIn.scopes), listener: listener,
            access: LoginLend.access, adminMethod: nil)
        (self.program, method, purpose, self.signIn) = (program, LoginLend.name, nil, signIn)
    }

    /// The question in a few words.
    package var title: String { signIn == nil ? "Allow this program?" : "Sign in for another machine?" }

    /// The question as it is shown, line by line, with every character escaped that could mislead its reader.
    package var lines: [String] {
        if let signIn { return signIn.lines(program, from: key.listener).map { VisibleText.line($0) } }
        let subject = program.subject
        let path = subject.executable.map { subject.isExecutableUncertain ? "not verified, shown as \($0)" : $0 }
        var lines = ["Program: \(path ?? "unknown") (process \(subject.processID))"]
        lines.append("Unit: \(program.unit ?? "none")")
        lines.append("Request: \(method)" + (key.session.map { " for the session \($0)" } ?? ""))
        switch key.scopes {
        case .none: break
        case .all: lines.append("Scopes: all that the session has")
        case .listed(let scopes): lines.append("Scopes: \(scopes.joined(separator: " "))")
        }
        if key.listener != .api { lines.append("Connected through: \(key.listener.rawValue)") }
        if let purpose { lines.append("The program says: \(purpose)") }
        return lines.map { VisibleText.line($0) }
    }
}

/// What the user has answered.
package enum ConsentAnswer: Sendable, Equatable {
    /// - Parameter remembered: for how long; `nil`: for this question.
    case allowed(remembered: Duration?)
    case refused
}

/// How showing a question has ended.
package enum ConsentReply: Sendable, Equatable {
    case answered(ConsentAnswer)
    /// It is not shown, or no longer, and nobody has answered.
    case notShown
    /// The same, and there is no login session on whose terminal it could be answered.
    case unanswerable
}
