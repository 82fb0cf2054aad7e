internal import AuthMachines
internal import AuthModel
package import AuthWire
internal import Synchronization

/// The answers that are kept of all sessions, from any thread.
package final class ResponseCache: Sendable {
    private let cache: Mutex<ResponseCacheStorage>

    /// - Parameter limit: in bytes; 0 keeps nothing.
    package init(limit: Int) {
        cache = Mutex(ResponseCacheStorage(limit: limit))
    }

    func find(_ key: ResponseCacheStorage.Key, for request: HTTPRequest) -> CachedResponse? {
        cache.withLock { $0.find(key, for: request) }
    }

    func put(_ answer: CachedResponse, at key: ResponseCacheStorage.Key) {
        cache.withLock { $0.put(answer, at: key) }
    }

    /// What a write to the path of `key` made out of date: that path, and those of `patterns`.
    func forget(_ key: ResponseCacheStorage.Key, and patterns: [PathPattern]) {
        cache.withLock { cache in
            cache.removeAll { kept in
                kept.session == key.session
                    && (kept.path == key.path || patterns.contains { $0.matches(kept.path) })
            }
        }
    }

    /// Removes the responses of a session that was signed out, and all if the agent is locked or unlocked.
    package func handle(_ event: AgentEvent) {
        if event.lock != nil { cache.withLock { $0.removeAll { _ in true } } }
        guard let session = event.session, event.name == "signed_out" || event.status?.state == .signedOut else {
            return
        }
        cache.withLock { $0.removeAll { $0.session == session } }
    }
}
