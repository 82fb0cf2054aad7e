import AuthEtcd
import AuthModel
import AuthWire
import Synchronization

/// An etcd of the test's own making: what it answers is a function of the request.
final class ScriptedTransport: HTTPLiveTransport {
    /// One line of a watch after another; a watch without further lines stays open until the test ends it.
    struct Watch: Sendable {
        let lines: [String]
        let end: End

        init(_ lines: [String], then end: End) { (self.lines, self.end) = (lines, end) }

        enum End: Sendable { case stays, ends, fails(TransportError) }
    }

    typealias Answer = @Sendable (_ path: String, _ body: JSON) throws(TransportError) -> (status: Int, body: String)

    typealias AnswerOfHost =
        @Sendable (_ host: String, _ path: String, _ body: JSON) throws(TransportError) -> (status: Int, body: String)

    private let answer: AnswerOfHost
    private let watches: Mutex<[Watch]>
    private let begun = Mutex<[JSON]>([])
    private let hosts = Mutex<[String]>([])
    private let watched = Mutex<[String]>([])

    convenience init(watches: [Watch] = [], _ answer: @escaping Answer) {
        self.init(watches: watches, ofHosts: { (_, path, body) throws(TransportError) in try answer(path, body) })
    }

    /// Its members differ.
    init(watches: [Watch] = [], ofHosts answer: @escaping AnswerOfHost) {
        self.answer = answer
        self.watches = Mutex(watches)
    }

    /// The requests of all watches.
    var requestedWatches: [JSON] { begun.withLock { $0 } }

    /// The hosts that were asked, in order.
    var askedHosts: [String] { hosts.withLock { $0 } }

    /// The hosts of all watches.
    var watchedHosts: [String] { watched.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let (path, body) = try Self.parts(of: request)
        let host = Origin(of: request.url)?.host ?? ""
        hosts.withLock { $0.append(host) }
        let answer = try answer(host, path, body)
        return HTTPResponse(status: answer.status, headers: [], body: Array(answer.body.utf8))
    }

    func stream(
        _ request: HTTPRequest, limit: Duration, to receiver: any HTTPLiveReceiver
    ) async throws(TransportError) {
        let (_, body) = try Self.parts(of: request)
        watched.withLock { $0.append(Origin(of: request.url)?.host ?? "") }
        begun.withLock { $0.append(body) }
        let watch = watches.withLock { $0.isEmpty ? Watch([], then: .stays) : $0.removeFirst() }
        await receiver.begin(HTTPResponse(status: 200, headers: [], body: []))
        for line in watch.lines { await receiver.receive(Array((line + "\n").utf8)) }
        switch watch.end {
        case .ends: return
        case .fails(let error): throw error
        case .stays:
            // Until it is cancelled.
            let (stream, continuation) = AsyncStream<Void>.makeStream()
            for await _ in stream {}
            continuation.finish()
            throw .cancelled
        }
    }

    func closeIdleConnections() async {}

    private static func parts(of request: HTTPRequest) throws(TransportError) -> (path: String, body: JSON) {
        guard let json = try? JSON(parsing: request.body?.revealBytes() ?? []) else { throw .badURL(reason: "no JSON") }
        return (String(Origin.path(of: request.url).dropFirst("/v3/".count)), json)
    }
}
