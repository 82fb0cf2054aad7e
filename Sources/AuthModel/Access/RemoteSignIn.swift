/// A sign-in on another machine that is to use the browser of this one.
package struct RemoteSignIn: Sendable, Equatable {
    /// What the other machine calls itself.
    package let host: String
    package let provider: String
    /// The issuer, or the authorization endpoint of a provider without one.
    package let server: String
    package let scopes: [String]
    package let isDevice: Bool
    /// What the terminal of the other machine shows for this request.
    package let code: String?

    package init(
        host: String, provider: String, server: String, scopes: [String], isDevice: Bool, code: String? = nil
    ) {
        (self.host, self.provider, self.server) = (host, provider, server)
        (self.scopes, self.isDevice, self.code) = (scopes, isDevice, code)
    }

    func lines(_ program: ConsentProgram, from listener: ListenerName) -> [String] {
        let lines = [
            "Request: a sign-in on another machine, with \(isDevice ? "a code and " : "")the browser of this one",
            host.isEmpty ? "The machine gives no name" : "The machine calls itself: \(host)",
            "Provider: \(provider) (\(server))",
            "Scopes: " + (scopes.isEmpty ? "the provider's usual ones" : scopes.joined(separator: " ")),
            "Connected through: \(listener.rawValue), by \(Self.name(of: program.subject)) "
                + "(process \(program.subject.processID))",
        ]
        return code.map { ["Agree only if the terminal of the other machine shows \($0)"] + lines } ?? lines
    }

    private static func name(of subject: PresenceSubject) -> String {
        guard let path = subject.executable else { return "an unknown program" }
        return subject.isExecutableUncertain ? "a program that is not verified, shown as \(path)" : path
    }
}
