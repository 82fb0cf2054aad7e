import AsyncHTTPClient
import NIOCore
import Synchronization

/// The pools of connections, one a route.
///
/// Invariant: a request is given a pool of the present generation only; a pool of an earlier generation lives as long
/// as requests use it, and whoever gives it back last closes it, or it is abandoned. So every pool is closed once.
final class ClientShelf: Sendable {
    /// A pool lent to one request.
    struct Loan: Sendable {
        let client: HTTPClient
        fileprivate let key: Key
    }

    fileprivate struct Key: Hashable, Sendable {
        let generation: Int
        let route: ProxyRules.Route
    }

    private struct Entry {
        let client: HTTPClient
        var loans = 0
    }

    private struct State {
        var generation = 0
        /// Pools of earlier generations than this were closed under their requests.
        var firstKept = 0
        var entries: [Key: Entry] = [:]
        var closed = false
    }

    private let state = Mutex(State())
    private let group: any EventLoopGroup
    private let settings: @Sendable (ProxyRules.Route) -> HTTPClient.Configuration

    init(group: any EventLoopGroup, settings: @escaping @Sendable (ProxyRules.Route) -> HTTPClient.Configuration) {
        self.group = group
        self.settings = settings
    }

    /// Nil once the shelf is closed.
    func borrow(_ route: ProxyRules.Route) -> Loan? {
        state.withLock { state in
            guard !state.closed else { return nil }
            let key = Key(generation: state.generation, route: route)
            let client =
                state.entries[key]?.client
                ?? HTTPClient(eventLoopGroupProvider: .shared(group), configuration: settings(route))
            state.entries[key, default: Entry(client: client)].loans += 1
            return Loan(client: client, key: key)
        }
    }

    func giveBack(_ loan: Loan) async {
        let client = state.withLock { state -> HTTPClient? in
            guard var entry = state.entries[loan.key] else { return nil }
            entry.loans -= 1
            guard entry.loans == 0, loan.key.generation != state.generation else {
                state.entries[loan.key] = entry
                return nil
            }
            state.entries[loan.key] = nil
            return entry.client
        }
        await Self.shutDown(client.map { [$0] } ?? [])
    }

    /// Begins a new generation. Pools that nobody uses are closed before this returns.
    func renew() async {
        let unused = state.withLock { state in
            state.generation += 1
            let unused = state.entries.filter { $0.value.loans == 0 }
            for key in unused.keys { state.entries[key] = nil }
            return unused.values.map(\.client)
        }
        await Self.shutDown(unused)
    }

    /// Begins a new generation and closes every pool of before; requests under way end with an error.
    func abandon() async {
        let all = state.withLock { state in
            state.generation += 1
            state.firstKept = state.generation
            defer { state.entries = [:] }
            return state.entries.values.map(\.client)
        }
        await Self.shutDown(all)
    }

    func isAbandoned(_ loan: Loan) -> Bool {
        state.withLock { loan.key.generation < $0.firstKept }
    }

    /// Closes every pool; requests under way end with an error.
    func close() async {
        let all = state.withLock { state in
            state.closed = true
            defer { state.entries = [:] }
            return state.entries.values.map(\.client)
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
