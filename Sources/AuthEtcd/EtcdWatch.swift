import AuthConcurrency
import AuthModel
import AuthWire
import Synchronization

extension EtcdClient {
    /// Reads what changes in a range of keys until the stream ends.
    ///
    /// - Parameters:
    ///   - end: what all keys of the range are less than.
    ///   - revision: the first one of interest.
    ///   - receive: gets each message, including the one that ends the watch. Returns why the watch must end; `nil`: it
    ///     continues.
    /// - Returns: why it ended.
    func watch(
        _ start: String, to end: [UInt8], from revision: Int64,
        receive: @escaping @Sendable (WatchMessage) async -> ClusterFault?
    ) async -> ClusterFault {
        guard let endpoint else { return .unreachable(reason: "no endpoint is configured") }
        let token: Secret?
        do throws(EtcdAttemptError) {
            token = try await self.token(at: endpoint, within: EtcdLimits.attempt)
        } catch {
            return error.fault
        }
        var message = prepared(.watch(start, to: end, from: revision), at: endpoint, token: token)
        // A member without a leader ends the watch, instead of staying silent (etcd, "hasleader").
        message.headers.append(HTTPField("Grpc-Metadata-hasleader", "true"))
        let fault = await stream(message, receive)
        if case .tokenExpired = fault { forget(token) }
        return fault
    }

    /// After a watch at that member: another one is used, unless all of them would say the same.
    func watchEnded(_ end: ClusterFault, at endpoint: String?) {
        switch end {
        case .tokenExpired, .compacted, .denied, .wentBack: break
        default: if let endpoint { failed(endpoint) }
        }
    }

    private func stream(
        _ message: HTTPRequest, _ receive: @escaping @Sendable (WatchMessage) async -> ClusterFault?
    ) async -> ClusterFault {
        let ended = OneShot<ClusterFault>()
        let receiver = WatchReceiver(receive, ended)
        return await withTaskGroup(of: ClusterFault.self) { group in
            group.addTask { [transport] in
                do throws(TransportError) {
                    try await transport.stream(message, limit: EtcdLimits.attempt, to: receiver)
                } catch {
                    return .watchLost(reason: error.reason)
                }
                return receiver.end ?? .watchLost(reason: "the stream ended")
            }
            // A member may leave the connection open after the end of a watch.
            group.addTask { await ended.value() ?? .watchLost(reason: "the call was cancelled") }
            let first = await group.next()
            group.cancelAll()
            return first ?? .watchLost(reason: "the call was cancelled")
        }
    }
}

/// Splits the stream of a watch into lines, one message each.
private final class WatchReceiver: HTTPLiveReceiver {
    private struct State {
        var line: [UInt8] = []
        /// An error response, which is not a watch.
        var failedStatus: Int?
        var end: ClusterFault?
    }

    private let receiveMessage: @Sendable (WatchMessage) async -> ClusterFault?
    private let ended: OneShot<ClusterFault>
    private let state = Mutex(State())

    init(_ receive: @escaping @Sendable (WatchMessage) async -> ClusterFault?, _ ended: OneShot<ClusterFault>) {
        receiveMessage = receive
        self.ended = ended
    }

    /// `nil` if nothing but the end of the stream has ended it.
    var end: ClusterFault? {
        state.withLock { state in
            if let end = state.end { return end }
            return state.failedStatus.map { status in
                EtcdRefusal(status: status, bytes: state.line).watchFault
            }
        }
    }

    func begin(_ head: HTTPResponse) async {
        if head.status != 200 { state.withLock { $0.failedStatus = head.status } }
    }

    func receive(_ piece: [UInt8]) async {
        let lines = state.withLock { state -> [[UInt8]] in
            guard state.end == nil else { return [] }
            guard state.line.count + piece.count <= EtcdLimits.watchLine else {
                state.end = .invalid(reason: "a message of a watch that is too long")
                return []
            }
            state.line += piece
            guard state.failedStatus == nil, piece.contains(UInt8(ascii: "\n")) else { return [] }
            var lines = state.line.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            state.line = Array(lines.removeLast())
            return lines.filter { !$0.isEmpty }.map(Array.init)
        }
        for line in lines { await pass(line) }
        if let end = state.withLock({ $0.end }) { ended.send(end) }
    }

    private func pass(_ line: [UInt8]) async {
        guard state.withLock({ $0.end }) == nil else { return }
        let message: WatchMessage
        do throws(ClusterFault) {
            guard let json = try? JSON(parsing: line, values: EtcdLimits.jsonValues) else {
                throw .invalid(reason: "a message of a watch that is not JSON")
            }
            message = try WatchMessage(json)
        } catch {
            state.withLock { $0.end = error }
            return
        }
        if case .cancelled(let fault) = message { state.withLock { $0.end = fault } }
        guard let end = await receiveMessage(message) else { return }
        state.withLock { $0.end = $0.end ?? end }
    }
}
