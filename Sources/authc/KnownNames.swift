import AuthClient
import AuthWire

/// Names for a shell's completion, from the agent; none without an agent.
enum KnownNames {
    /// The user waits for the completion.
    private static let options = Options(timeout: .seconds(1))

    static func sessions(_ options: Options = options) -> [String] {
        let list = try? options.connect().call(SessionListGet()).value
        return list?.sessions.map(\.session.text) ?? []
    }

    static func providers(_ options: Options = options) -> [String] {
        let list = try? options.connect().call(ProviderListGet()).value
        return list?.providers.map(\.name) ?? []
    }

    /// The endpoints of the provider of the session that the command line names, otherwise of the chosen session.
    /// - Parameter words: the command line so far.
    static func endpoints(_ words: [String]) -> [String] {
        var options = Self.options
        options.session = session(in: words)
        // Without a rule, the agent chooses.
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
                // Bash passes = as a separate word.
                let value = words[index + 1]
                return value == "=" && index + 2 < words.count ? words[index + 2] : value
            }
        }
        return nil
    }
}
