import AsyncHTTPClient
import AuthModel
import NIOCore
import Synchronization

/// Pools of connections, one for each origin and route, so that the connections to one origin can be closed separately. Requests
/// that leave no connection open have other pools; the one that was used last stays.
///
/// Invariant: a request gets the current pool of its key. A former pool lives as long as requests use it; the last one to
/// release it closes it, unless all pools are abandoned first. So every pool is closed once.
final class ClientPool: Sendable {
    struct Lease: Sendable {
        let client: HTTPClient
        fileprivate let number: Int
    }

    private struct PoolKey: Hashable {
        let origin: Origin
        let route: ProxyRules.Route
        /// For requests that leave no connection open.
        var closes = false
    }

    private struct Entry {
        let client: HTTPClient
        let key: PoolKey
        var leases = 0
    }

    private struct State {
        var lastNumber = 0
        /// Pools with lower numbers were closed while requests used them.
        var firstValid = 0
        var entries: [Int: Entry] = [:]
        var current: [PoolKey: Int] = [:]
        var closed = false

        /// Removes the pools of these keys from use.
        /// - Returns: the ones that no request uses.
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
    private let settings: @Sendable (ProxyRules.Route, Origin) -> HTTPClient.Configuration

    init(
        group: any EventLoopGroup,
        settings: @escaping @Sendable (ProxyRules.Route, Origin) -> HTTPClient.Configuration
    ) {
        self.group = group
        self.settings = settings
    }

    /// - Parameter closes: the request closes its connection. Without a pool of the origin, whose connection it may use, one is
    ///   used that may stay: a new one would read all trusted certificates for a single connection.
    /// - Returns: `nil` after ``close()``.
    func borrow(_ route: ProxyRules.Route, to origin: Origin, closes: Bool = false) -> Lease? {
        state.withLock { state in
            guard !state.closed else { return nil }
            var key = PoolKey(origin: origin, route: route)
            if closes, state.current[key] == nil { key.closes = true }
            if let number = state.current[key], let client = state.entries[number]?.client {
                state.entries[number]?.leases += 1
                return Lease(client: client, number: number)
            }
            let client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: settings(route, origin))
            state.lastNumber += 1
            state.entries[state.lastNumber] = Entry(client: client, key: key, leases: 1)
            state.current[key] = state.lastNumber
            return Lease(client: client, number: state.lastNumber)
        }
    }

    func release(_ lease: Lease) async {
        let unused = state.withLock { state -> [HTTPClient] in
            guard var entry = state.entries[lease.number] else { return [] }
            entry.leases -= 1
            let key = entry.key
            guard entry.leases == 0, state.current[key] != lease.number else {
                state.entries[lease.number] = entry
                // Each of them has read all trusted certificates.
                return key.closes ? state.retire { $0.closes && $0 != key } : []
            }
            state.entries[lease.number] = nil
            return [entry.client]
        }
        await Self.shutDown(unused)
    }

    /// Later requests use new connections. Unused pools are closed before this returns.
    func renew() async {
        await Self.shutDown(state.withLock { $0.retire { _ in true } })
    }

    func renew(to origins: Set<Origin>) async {
        await Self.shutDown(state.withLock { $0.retire { !$0.closes && origins.contains($0.origin) } })
    }

    /// Closes every pool. Requests in flight end with an error, later ones use new connections.
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

    /// Closes every pool. Requests in flight end with an error.
    func close() async {
        let all = state.withLock { state in
            state.closed = true
            return state.removeAll()
        }
        await Self.shutDown(all)
    }

    /// All at once, because each may wait for the TLS close_notify of a dead server.
    private static func shutDown(_ clients: [HTTPClient]) async {
        await withDiscardingTaskGroup { group in
            for client in clients {
                group.addTask {
                    // The only error says that a connection was in use or did not end cleanly: it is closed.
                    try? await client.shutdown()
                }
            }
        }
    }
}
