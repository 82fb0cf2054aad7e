import AuthClient
import AuthWire

/// For a shell that completes a command line: what the agent knows by name; nothing where there is no agent.
enum KnownNames {
    /// A person waits with a finger on the key.
    private static let options = Options(timeout: .seconds(1))

    static func sessions() -> [String] {
        let list = try? options.connect().call(.sessionList, SessionList.init).value
        return list?.sessions.map(\.session.text) ?? []
    }

    static func providers() -> [String] {
        let list = try? options.connect().call(.providerList, ProviderList.init).value
        return list?.providers.map(\.name) ?? []
    }

    /// Of the default session's provider.
    static func endpoints() -> [String] {
        // No rule names one: then it is the agent's own choice.
        let session = (try? options.chosenSession()) ?? nil
        guard let agent = try? options.connect(),
            let status = try? agent.call(.sessionStatus(SessionParams(session: session)), SessionStatus.init).value,
            let detail = try? agent.call(
                .providerShow(ProviderParams(provider: status.provider)), ProviderDetail.init
            ).value
        else { return [] }
        return detail.endpoints.map(\.name)
    }
}
