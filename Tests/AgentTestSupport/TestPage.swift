package import AuthModel
package import AuthWire
import Synchronization

/// The page that a browser comes back to, as a test sees it.
package final class TestPage: RedirectListening, RedirectListener {
    private struct State {
        var isOpen = false
        var failure: AgentError?
        var shown: [RedirectPage] = []
        var arrivals: AsyncStream<RedirectVisit>.Continuation?
    }

    package static let address = "http://127.0.0.1:4711/callback"

    private let state = Mutex(State())

    package var isOpen: Bool { state.withLock { $0.isOpen } }
    package var shown: [RedirectPage] { state.withLock { $0.shown } }

    package var redirectURI: String { Self.address }

    package let visits: AsyncStream<RedirectVisit>

    package init() {
        let (stream, arrivals) = AsyncStream<RedirectVisit>.makeStream()
        visits = stream
        state.withLock { $0.arrivals = arrivals }
    }

    package func listen(
        at redirect: LoopbackRedirect, as identity: TLSIdentity?
    ) async throws(AgentError) -> any RedirectListener {
        let failure = state.withLock { state in
            state.isOpen = state.failure == nil
            return state.failure
        }
        if let failure { throw failure }
        return self
    }

    /// From now on nothing can listen.
    package func fail(_ error: AgentError) { state.withLock { $0.failure = error } }

    package func read(_ files: TLSIdentityFiles) async throws(TLSIdentityError) -> (certificates: String, key: Secret) {
        throw TLSIdentityError("there are none")
    }

    package func visit(_ query: String) {
        let visit = RedirectVisit(query: query) { [self] page in state.withLock { $0.shown.append(page) } }
        _ = state.withLock { $0.arrivals }?.yield(visit)
    }

    package func close() {
        let arrivals = state.withLock { state in
            state.isOpen = false
            return state.arrivals
        }
        arrivals?.finish()
    }
}

/// A browser that does what a test says with each address.
package final class TestBrowser: BrowserOpening {
    private let visited = Mutex<[String]>([])
    private let act: @Sendable (String) async throws(AgentError) -> Void

    package init(_ act: @escaping @Sendable (String) async throws(AgentError) -> Void = { _ in }) { self.act = act }

    package var opened: [String] { visited.withLock { $0 } }

    package func show(_ url: String) async throws(AgentError) {
        visited.withLock { $0.append(url) }
        try await act(url)
    }
}

/// Notices as a test sees them.
package final class TestNotices: Notifier {
    private let notices = Mutex<[Notice]>([])

    package init() {}

    package var shown: [Notice] { notices.withLock { $0 } }

    package func show(_ notice: Notice) { notices.withLock { $0.append(notice) } }
    package func withdraw(_ subject: Notice.Subject) { notices.withLock { $0.removeAll { $0.subject == subject } } }
    package func responses() -> AsyncStream<NoticeResponse> { AsyncStream { $0.finish() } }
}
