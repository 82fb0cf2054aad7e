import AuthConcurrency
package import AuthModel
package import AuthWire

/// What the services of the agent share.
package struct AgentContext: Sendable {
    package let clock: any SystemClock
    package let providers: ProviderClient
    package let board: StateBoard
    package let tasks: AgentTasks
    package let tokenRequests = TokenRequestStatistics()
    let network: NetworkMonitor
    /// Every request to a provider uses it. A request is sent only if the network leads to the provider.
    let transport: any HTTPTransport

    /// - Parameters:
    ///   - cryptography: `nil`: nothing can be signed, and no token is bound to a key.
    ///   - publish: called at each change; it must not wait.
    package init(
        storeKind: StoreKind, transport: any HTTPTransport, cryptography: (any Cryptography)? = nil,
        clock: any SystemClock, network: any NetworkWatch, sleep: any SleepWatch = NeverSleeps(),
        catalog: ProfileCatalog, publish: @escaping @Sendable (AgentEvent) -> Void
    ) {
        self.clock = clock
        tasks = AgentTasks(clock: clock)
        let network = NetworkMonitor(watch: network, sleep: sleep, transport: transport, tasks: tasks)
        self.network = network
        self.transport = GuardedTransport(transport, network: network)
        let signer = ProofSigner(cryptography: cryptography, clock: clock, skew: { await network.skew(of: $0) })
        providers = ProviderClient(profiles: catalog, transport: self.transport, signer: signer)
        board = StateBoard(storeKind: storeKind, clock: clock, publish: publish)
    }

    /// Whether a request to this provider must wait: there is no network for it, and its profile asks for that.
    /// - Parameter rules: of another profile that the request is made for.
    func isOffline(for profile: ProviderProfile, in environment: String, as rules: APIRules? = nil) -> Bool {
        (rules ?? profile.api).waitsForConnectivity && board.network.state == .offline
            && providers.needsNetwork(profile, in: environment)
    }

    /// Waits while the network is metered, if the settings say so.
    /// - Returns: `false` if `stopped` gets its value first, or if the task is cancelled.
    func transfersMayGo(_ record: SessionRecord, unless stopped: OneShot<Void>) async -> Bool {
        guard board.network.transfersWait, providers.needsNetwork(record) else { return true }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask { [board] in
                for await _ in board.changes() where !board.network.transfersWait { return true }
                return false
            }
            group.addTask {
                _ = await stopped.value()
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    /// - Returns: `false` if there is no network until `end`, if `stopped` gets its value, or if the task is cancelled.
    func networkReturns(before end: BootInstant, unless stopped: OneShot<Void>? = nil) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { [board] in
                for await _ in board.changes() where board.network.state != .offline { return true }
                return false
            }
            group.addTask { [clock] in
                try? await clock.sleep(until: end)
                return false
            }
            if let stopped {
                group.addTask {
                    _ = await stopped.value()
                    return false
                }
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}
