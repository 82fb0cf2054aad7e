import AuthWire

/// The command that signs in to a session again, with the method of its last sign-in.
package struct SignInCommand: Sendable, Equatable {
    /// The arguments of `authc`.
    package let arguments: [String]
    /// The sign-in needs the browser, and no answers.
    package let usesBrowser: Bool

    /// Opens a store that is sealed with a passphrase.
    package static let openStore = SignInCommand(arguments: ["store", "unlock"])

    /// Unlocks the agent.
    package static let unlock = SignInCommand(arguments: ["unlock"])

    package init(arguments: [String], usesBrowser: Bool = false) {
        self.arguments = arguments
        self.usesBrowser = usesBrowser
    }

    /// - Parameter scopes: to request; empty: the profile's.
    package init(of record: SessionRecord, at profile: ProviderProfile, scopes: [String] = []) {
        let method = profile.signIn.first { $0.name == record.method }
        var words = ["login", record.provider, "-s", record.session.text]
        if record.environment != profile.defaultEnvironment { words += ["--environment", record.environment] }
        if let flow = method?.flow, [.device, .paste, .service].contains(flow) {
            words += ["--method", record.method]
        }
        if let resource = record.resource, resource.clientSource == .user {
            words += ["--client-id", resource.clientID]
        }
        for scope in scopes { words += ["--scope", scope] }
        arguments = words
        usesBrowser = method?.flow == .browser && method?.fields.allSatisfy(\.optional) == true
    }

    /// The command as a user types it.
    package var text: String { CommandText.authc(arguments) }

    /// Whether a shell reads these words unchanged. Some terminals join the arguments, and have a shell run them.
    package static func isPlain(_ arguments: [String]) -> Bool { arguments.allSatisfy { ShellWord.quoted($0) == $0 } }
}
