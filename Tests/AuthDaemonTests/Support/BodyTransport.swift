import AgentTestSupport
import AuthAgent
import AuthConcurrency
import AuthModel
import Synchronization

/// A provider that reads each body to its end before it responds, sends long responses, and renews tokens.
final class BodyTransport: HTTPTransport {
    private struct State {
        var statuses: [Int]
        var bodies: [String] = []
        var readings = 0
        var downloads: [ScriptedDownload]
    }

    private let state: Mutex<State>
    private let responds: Bool

    /// - Parameters:
    ///   - statuses: of the first responses; those after them are 200.
    ///   - responds: whether it ever responds to a request without a body.
    ///   - downloads: the responses to requests for streams, in order.
    init(statuses: [Int] = [], responds: Bool = true, downloads: [ScriptedDownload] = []) {
        self.responds = responds
        state = Mutex(State(statuses: statuses, downloads: downloads))
    }

    /// Bodies that were read to their end.
    var bodies: [String] { state.withLock { $0.bodies } }
    /// How many were begun.
    var readings: Int { state.withLock { $0.readings } }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        if let sink = request.sink {
            let download = state.withLock { $0.downloads.isEmpty ? nil : $0.downloads.removeFirst() }
            if let download { return try await download.send(to: sink) }
        }
        guard let source = request.source else {
            guard responds else {
                _ = await OneShot<Void>().value()
                throw .cancelled
            }
            return Self.json(200, #"{"token":"another-token","refreshToken":"another","expiresIn":3600}"#)
        }
        let reading = source.begin()
        state.withLock { $0.readings += 1 }
        var body: [UInt8] = []
        while let piece = try await reading.nextBytes() { body += piece }
        let status = state.withLock { state in
            state.bodies.append(String(decoding: body, as: UTF8.self))
            return state.statuses.isEmpty ? 200 : state.statuses.removeFirst()
        }
        return Self.json(status, #"{"message":"read"}"#)
    }

    private static func json(_ status: Int, _ text: String) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("content-type", "application/json")], body: Array(text.utf8))
    }

    func closeIdleConnections() async {}
}
