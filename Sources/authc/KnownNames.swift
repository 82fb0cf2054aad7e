import AuthClient
import AuthWire

/// For a shell that completes a command line: what the agent knows by name; nothing where there is no agent.
enum KnownNames {
    /// A person waits with a finger on the key.
    private static let options = Options(timeout: .seconds(1))

    static func sessions() -> [String] {
        let list = try? options.connect().call(SessionListGet()).value
        return list?.sessions.map(\.session.text) ?? []
    }

    static func providers() -> [String] {
        let list = try? options.connect().call(ProviderListGet()).value
        return list?.providers.map(\.name) ?? []
    }

    /// Of the provider of the session that the command line names, else of the one that is chosen without it.
    /// - Parameter words: the command line so far.
    static func endpoints(_ words: [String]) -> [String] {
        var options = Self.options
        options.session = session(in: words)
        // No rule names one: then it is the agent's own choice.
        let session = (try? options.chosenSession()) ?? nil
        guard let agent = try? options.connect(),
            let status = try? agent.call(SessionStatusGet(SessionParams(session: session))).value,
            let detail = try? agent.call(
                ProviderShow(ProviderParams(provider: status.provider))
            ).value
        else { return [] }
        return detail.endpoints.map(\.name)
    }

    private static func session(in words: [String]) -> String? {
        for (index, word) in words.enumerated() {
            for name in ["-s", "--session"] {
                if word.hasPrefix(name + "=") { return String(word.dropFirst(name.count + 1)) }
                guard word == name, index + 1 < words.count else { continue }
                // Bash takes a = for a word of its own.
                let value = words[index + 1]
                return value == "=" && index + 2 < words.count ? words[index + 2] : value
            }
        }
        return nil
    }
}
