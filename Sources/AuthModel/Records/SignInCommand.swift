import AuthWire

/// The command that signs in to a session again, in the way in which it was signed in.
package struct SignInCommand: Sendable, Equatable {
    /// The arguments of `authc`.
    package let arguments: [String]
    /// It needs the browser, and no answers.
    package let usesBrowser: Bool

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

    /// For a user who types it.
    package var text: String { (["authc"] + arguments).map(ShellWord.quoted).joined(separator: " ") }

    /// Whether no shell reads anything else in these words. Some terminals join arguments, and have a shell run them.
    package static func isPlain(_ arguments: [String]) -> Bool { arguments.allSatisfy { ShellWord.quoted($0) == $0 } }
}
