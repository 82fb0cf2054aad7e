import AuthModel
import Synchronization

/// A long response, which the provider sends when the test says so.
final class ScriptedDownload: Sendable {
    enum Step: Sendable {
        case bytes([UInt8])
        case end
        /// The provider's connection is lost.
        case loss
    }

    private struct State {
        var passed = 0
        var isWaiting = false
    }

    /// What is received before it is known that the response is long.
    static let head = Array("head".utf8)

    private let steps = AsyncStream<Step>.makeStream()
    private let state = Mutex(State())

    func order(_ steps: Step...) {
        for step in steps { self.steps.continuation.yield(step) }
    }

    /// How many bytes the agent has accepted after the head.
    var passed: Int { state.withLock { $0.passed } }
    /// Whether the agent is asked to accept a piece that it could not pass on at once.
    var isWaiting: Bool { state.withLock { $0.isWaiting } }

    /// Sends it as the HTTP client does.
    func send(to sink: any HTTPResponseSink) async throws(TransportError) -> HTTPResponse {
        let head = HTTPResponse(
            status: 200, headers: [("content-type", "application/octet-stream")], body: Self.head)
        guard sink.begin(head) else { return head }
        for await step in steps.stream {
            switch step {
            case .bytes(let bytes):
                let passed = bytes.withUnsafeBytes { sink.pass($0) }
                state.withLock { $0.passed += passed }
                guard passed < bytes.count else { continue }
                state.withLock { $0.isWaiting = true }
                try await sink.receive(Array(bytes.dropFirst(passed)))
                state.withLock { ($0.isWaiting, $0.passed) = (false, $0.passed + bytes.count - passed) }
            case .end: return HTTPResponse(status: 200, headers: head.headers, body: [])
            case .loss: throw .connectionLost(host: "sample.example", reason: "the test ends it")
            }
        }
        throw .cancelled
    }
}
