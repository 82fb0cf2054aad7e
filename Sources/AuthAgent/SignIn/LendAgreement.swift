import AuthConcurrency
import AuthMachines
import AuthModel
import AuthWire

/// What the user agrees to. It is valid while the rules of the listener and the profile still make the same offer.
struct LendAgreement: Sendable {
    let offer: LendOffer
    let listener: ListenerName
    private let call: LoginLend
    private let tables: StateBroadcast<ListenerTables>
    private let providers: ProviderClient

    /// - Throws: why the browser is not lent.
    init(
        _ call: LoginLend, at listener: ListenerName, by tables: StateBroadcast<ListenerTables>,
        _ providers: ProviderClient
    ) throws(AgentError) {
        (self.call, self.listener, self.tables, self.providers) = (call, listener, tables, providers)
        let rules = (tables.current ?? ListenerTables())[listener]
        offer = try LendOffer(call, by: rules, at: listener, in: providers.profiles)
    }

    /// - Throws: why it is no longer valid; `stopping` if the task was cancelled, because the client no longer waits.
    func check() throws(AgentError) {
        if Task.isCancelled { throw .stopping }
        try check((tables.current ?? ListenerTables())[listener])
    }

    /// Returns when new rules have ended it; `nil`: the task was cancelled first.
    func ended() async -> AgentError? {
        let request = ConfinedRequest(method: LoginLend.name, access: LoginLend.access, at: listener)
        for await tables in tables.states() {
            if let refusal = request.refusal(by: tables[listener]) { return refusal }
            do throws(AgentError) { try check(tables[listener]) } catch { return error }
        }
        return nil
    }

    private func check(_ rules: ListenerRules) throws(AgentError) {
        guard try LendOffer(call, by: rules, at: listener, in: providers.profiles) == offer else {
            throw AgentError(
                .conflict, "The settings or the profile have changed meanwhile: try again.", cause: "changed")
        }
    }
}
