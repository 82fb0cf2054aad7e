import AuthConcurrency
import AuthModel
import AuthWire

/// The connection of a process to etcd.
struct EtcdLink: HTTPLiveTransport {
    let run: HostSimulationRun
    let process: Int

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        try await response { run.callEtcd(process, request, $0) }
    }

    func stream(
        _ request: HTTPRequest, limit: Duration, to receiver: any HTTPLiveReceiver
    ) async throws(TransportError) {
        let (lines, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let watch = run.openWatch(process, request, limit: limit, continuation)
        await receiver.begin(HTTPResponse(status: 200, headers: [], body: []))
        for await line in lines { await receiver.receive(line) }
        run.end(watch)
        throw Task.isCancelled ? .cancelled : .connectionLost(host: "etcd", reason: "simulated")
    }

    func closeIdleConnections() async {}
}

/// The connection of a process to the provider.
struct ProviderLink: HTTPTransport {
    let run: HostSimulationRun
    let process: Int

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        try await response { run.callProvider(process, request, $0) }
    }

    func closeIdleConnections() async {}
}

/// Waits for the simulation's answer to this call.
private func response(
    to call: (@escaping HostSimulationRun.Answer) -> Void
) async throws(TransportError) -> HTTPResponse {
    let answer = OneShot<Result<HTTPResponse, TransportError>>()
    call { answer.send($0) }
    guard let result = await answer.value() else { throw .cancelled }
    return try result.get()
}

/// A watch of a process.
///
/// Not shared, as ``SimulatedTime``.
final class SimulatedWatch: @unchecked Sendable {
    let process: Int
    let start: String
    let end: [UInt8]
    /// The first revision that it has not reported.
    var next: Int64
    let lines: AsyncStream<[UInt8]>.Continuation
    var isOpen = true
    /// When its last line arrives: lines stay in order.
    var lastLine = Duration.zero

    init(process: Int, _ body: JSON, _ lines: AsyncStream<[UInt8]>.Continuation) {
        self.process = process
        let request = body["create_request"]
        start = request?["key"]?.text ?? ""
        end = request?["range_end"]?.bytes ?? []
        next = request?["start_revision"]?.wholeNumber ?? 0
        self.lines = lines
    }

    func covers(_ key: String) -> Bool { key >= start && key.utf8.lexicographicallyPrecedes(end) }
}
