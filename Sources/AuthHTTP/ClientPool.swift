import AsyncHTTPClient
import AuthModel
import NIOCore
import Synchronization

/// The pools of connections, one for each origin and route: so that those to one origin can be closed alone.
///
/// Invariant: a request is given the present pool of its place only; an earlier one lives as long as requests use it, and
/// whoever gives it back last closes it, or it is abandoned. So every pool is closed once.
final class ClientPool: Sendable {
    /// A pool lent to one request.
    struct Lease: Sendable {
        let client: HTTPClient
        fileprivate let number: Int
    }

    private struct PoolKey: Hashable {
        let origin: Origin
        let route: ProxyRules.Route
    }

    private struct Entry {
        let client: HTTPClient
        let key: PoolKey
        var leases = 0
    }

    private struct State {
        var lastNumber = 0
        /// Pools with lower numbers than this were closed under their requests.
        var firstValid = 0
        /// Every pool that is not closed, by its number.
        var entries: [Int: Entry] = [:]
        /// Where new requests go.
        var current: [PoolKey: Int] = [:]
        var closed = false

        /// Takes the pools of these places out of use.
        /// - Returns: those that no request uses.
        mutating func retire(_ isIncluded: (PoolKey) -> Bool) -> [HTTPClient] {
            var unused: [HTTPClient] = []
            for (key, number) in current where isIncluded(key) {
                current[key] = nil
                guard entries[number]?.leases == 0, let entry = entries.removeValue(forKey: number) else { continue }
                unused.append(entry.client)
            }
            return unused
        }

        mutating func removeAll() -> [HTTPClient] {
            defer { (entries, current) = ([:], [:]) }
            return entries.values.map(\.client)
        }
    }

    private let state = Mutex(State())
    private let group: any EventLoopGroup
    private let settings: @Sendable (ProxyRules.Route) -> HTTPClient.Configuration

    init(group: any EventLoopGroup, settings: @escaping @Sendable (ProxyRules.Route) -> HTTPClient.Configuration) {
        self.group = group
        self.settings = settings
    }

    /// Nil once the shelf is closed.
    func borrow(_ route: ProxyRules.Route, to origin: Origin) -> Lease? {
        state.withLock { state in
            guard !state.closed else { return nil }
            let key = PoolKey(origin: origin, route: route)
            if let number = state.current[key], let client = state.entries[number]?.client {
                state.entries[number]?.leases += 1
                return Lease(client: client, number: number)
            }
            let client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: settings(route))
            state.lastNumber += 1
            state.entries[state.lastNumber] = Entry(client: client, key: key, leases: 1)
            state.current[key] = state.lastNumber
            return Lease(client: client, number: state.lastNumber)
        }
    }

    func release(_ lease: Lease) async {
        let client = state.withLock { state -> HTTPClient? in
            guard var entry = state.entries[lease.number] else { return nil }
            entry.leases -= 1
            guard entry.leases == 0, state.current[entry.key] != lease.number else {
                state.entries[lease.number] = entry
                return nil
            }
            state.entries[lease.number] = nil
            return entry.client
        }
        await Self.shutDown(client.map { [$0] } ?? [])
    }

    /// Later requests begin on new connections. Pools that nobody uses are closed before this returns.
    func renew() async {
        await Self.shutDown(state.withLock { $0.retire { _ in true } })
    }

    /// The same for requests to these origins.
    func renew(to origins: Set<Origin>) async {
        await Self.shutDown(state.withLock { $0.retire { origins.contains($0.origin) } })
    }

    /// Closes every pool; requests in flight end with an error, later ones begin on new connections.
    func abandon() async {
        let all = state.withLock { state in
            state.firstValid = state.lastNumber + 1
            return state.removeAll()
        }
        await Self.shutDown(all)
    }

    func isAbandoned(_ lease: Lease) -> Bool {
        state.withLock { lease.number < $0.firstValid }
    }

    /// Closes every pool; requests in flight end with an error.
    func close() async {
        let all = state.withLock { state in
            state.closed = true
            return state.removeAll()
        }
        await Self.shutDown(all)
    }

    /// All at once, since each may wait for the goodbye of a server that is gone.
    private static func shutDown(_ clients: [HTTPClient]) async {
        await withDiscardingTaskGroup { group in
            for client in clients {
                group.addTask {
                    // The one error there is says that a connection was in use or did not end cleanly: it is gone.
                    try? await client.shutdown()
                }
            }
        }
    }
}
