import AuthModel
import AuthWire
import Synchronization

/// A provider's end of the wire in a test: it answers as told, and keeps what it was asked.
final class ScriptedTransport: HTTPTransport {
    typealias Answer = @Sendable (HTTPRequest) async throws(TransportError) -> HTTPResponse
    private struct State {
        var asked: [String] = []
        var closing: [String] = []
        var dropped = 0
        var closed: [String] = []
    }
    private let state = Mutex(State())
    private let answer: Answer

    init(answer: @escaping Answer) {
        self.answer = answer
    }

    /// Method and URL of every request, in order.
    var asked: [String] { state.withLock { $0.asked } }
    /// Those of them that close their connection.
    var closing: [String] { state.withLock { $0.closing } }
    var dropped: Int { state.withLock { $0.dropped } }
    /// The origins whose idle connections were to be closed, in order.
    var closed: [String] { state.withLock { $0.closed } }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let name = "\(request.method) \(request.url)"
        state.withLock { state in
            state.asked.append(name)
            if request.closesConnection { state.closing.append(name) }
        }
        return try await answer(request)
    }

    func closeIdleConnections() async {
        state.withLock { $0.dropped += 1 }
    }

    func closeIdleConnections(to origins: Set<Origin>) async {
        state.withLock { $0.closed += origins.map(\.text).sorted() }
    }
}

/// Reports nothing: the test itself tells the board.
final class SilentNetwork: NetworkWatch {
    private let watched = AsyncStream<Void>.makeStream()

    func readings() -> AsyncStream<NetworkReading> {
        watched.continuation.finish()
        return AsyncStream { _ in }
    }

    /// Returns when the monitor has published its first state, which would replace what a test puts on the board.
    func isWatched() async {
        for await _ in watched.stream {}
    }
}

/// The network as a test wants it.
final class StillNetwork: NetworkWatch {
    let state: Mutex<NetworkState>
    init(_ state: NetworkState = .online) { self.state = Mutex(state) }

    func readings() -> AsyncStream<NetworkReading> {
        AsyncStream { continuation in
            continuation.yield(NetworkReading(reach: .internet, monitor: state.withLock { $0 }))
        }
    }
}
