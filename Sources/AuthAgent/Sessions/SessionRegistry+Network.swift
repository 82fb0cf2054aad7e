internal import AuthMachines
internal import AuthModel
internal import AuthWire

/// The network that the sessions' providers are reached through.
extension SessionRegistry {
    /// Reports the network to the store, the sessions and the board, until it is cancelled.
    /// - Parameter changed: called when the board has another state of the network, even if there are no sessions.
    func followNetwork(_ changed: @escaping @Sendable () -> Void) async {
        await context.network.run(
            NetworkMonitor.Reactions(
                publish: { [board] in
                    board.put(network: $0, providers: $1)
                    changed()
                },
                publishSkews: { [board] in board.put(clockSkews: $0) },
                publishMetered: { [board] in board.put(isMetered: $0) },
                connectionsEnd: { [storage] in await storage.store.networkChanged(endsConnections: true) },
                notifySessions: { [storage] in
                    await storage.store.networkChanged(endsConnections: false)
                    for session in self.all { await self.sendNetworkState(session) }
                },
                prepareForSleep: { await self.drain() },
                clockSet: { for session in self.all { await session.handle(.clockSet) } }))
    }

    func sendNetworkState(_ session: Session) async {
        while true {
            let origin = await session.origin
            if await session.networkChanged(await context.network.news(of: origin), at: origin) { return }
        }
    }

    /// Reports to the network where the providers of all sessions are.
    func updateNetworkOrigins() async {
        let version = nextReadingVersion()
        var places: [String: Set<Probe>] = [:]
        for session in all {
            let record = await session.record
            if let probe = context.providers.probe(record) { places[record.provider, default: []].insert(probe) }
        }
        await context.network.use(places, version: version)
    }
}
