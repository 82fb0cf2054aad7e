import AgentTestSupport
import AuthAgent
import AuthConcurrency
import AuthMachines
import AuthModel
import AuthWire
import Glibc
import NIOCore
import Synchronization

@testable import AuthDaemon

/// What requests of a client wait for, and how to end that. The time of a request ends in this way, too.
final class Waits: Sendable {
    private let ends = Mutex<[@Sendable () -> Void]>([])

    func add(_ end: @escaping @Sendable () -> Void) { ends.withLock { $0.append(end) } }

    /// - Returns: whether there was one.
    func endAll() -> Bool {
        let all = ends.withLock { ends in
            defer { ends = [] }
            return ends
        }
        for end in all { end() }
        return !all.isEmpty
    }
}

/// A client without a connection. It does with a line what a connection does.
struct FuzzedClient {
    private typealias Place = PendingRequests.Destination

    private final class Results: Sendable {
        private let list = Mutex<[(place: Place, result: Result<Payload, AgentError>)]>([])

        var all: [(place: Place, result: Result<Payload, AgentError>)] { list.withLock { $0 } }
        func add(_ place: Place, _ result: Result<Payload, AgentError>) { list.withLock { $0.append((place, result)) } }
    }

    private let agent: FuzzedAgent
    private let caller: Caller
    private let waits: Waits
    private let limits = ConnectionLimits()

    /// - Parameter isConfined: it is one of the extra socket.
    init(of agent: FuzzedAgent, isConfined: Bool, waits: Waits) {
        self.agent = agent
        self.waits = waits
        let confinement = Confinement(
            tables: agent.tables, board: agent.board,
            credentialHeaders: { [dispatcher = agent.dispatcher] in dispatcher.credentialHeaders(of: $0) })
        caller = Caller(
            PeerCredentials(processID: getpid(), userID: geteuid()), from: isConfined ? .extra : .api, process: nil,
            confinement: isConfined ? confinement : nil, changes: agent.changes)
    }

    /// The answer to a plain token request from its bytes alone, with its line feed; `nil` if it takes the other way.
    func plainAnswer(to line: [UInt8]) -> [UInt8]? {
        let now = agent.clock.bootInstant
        guard caller.confinement == nil, let plain = PlainTokenRequest(line.span),
            let token = agent.board.liveToken(plain.session, minValid: nil, at: now),
            !agent.access.plainDecision(about: token, by: caller).isRefused
        else { return nil }
        let response = PlainTokenResponse(token: token, validMilliseconds: token.validMilliseconds(at: now))
        var answer = [UInt8](repeating: 0, count: response.maxLength(idLength: plain.id.count))
        let count = answer.withUnsafeMutableBytes { room in
            line[plain.id].withUnsafeBytes { response.write(id: $0, to: room) }
        }
        return Array(answer.prefix(count))
    }

    /// Begins all requests of the line at once, and returns when all have ended.
    /// - Returns: lines without their line feeds.
    func answers(to incoming: RPCIncoming) async -> [[UInt8]] {
        var pending = PendingRequests(limit: limits.requestsPerConnection, batchBytes: limits.batchAnswerBytes)
        let results = Results()
        await withDiscardingTaskGroup { group in
            var connection = Streams()
            for (place, request) in Self.placed(incoming, in: &pending) {
                switch request {
                case .success(let request):
                    begin(agent.dispatcher.answer(request, from: caller), for: place, &connection, results, in: &group)
                case .failure(let problem): results.add(place, .failure(problem.error))
                }
            }
        }
        caller.streamSessions = [:]
        return results.all.compactMap {
            switch pending.deliver($0.result, at: $0.place) {
            case .response(let line)?: line
            case .batch(let pieces)?: pieces.flatMap(\.readableBytesView).dropLast()
            case nil: nil
            }
        }
    }

    /// The streams and subscriptions of the line.
    private struct Streams {
        var open: [String: APIStream] = [:]
        var subscriptions = Subscriptions(limit: 4)
    }

    private static func placed(
        _ incoming: RPCIncoming, in pending: inout PendingRequests
    ) -> [(Place, Result<RPCRequest, RPCProblem>)] {
        switch incoming {
        case .single(.success(let request)): return [(request.id.map(Place.line) ?? .notification, .success(request))]
        case .single(.failure(let problem)): return [(.line(problem.id), .failure(problem))]
        case .batch(let requests):
            let batch = pending.openBatch(of: requests.count)
            return requests.map { request in
                switch request {
                case .success(let call): (call.id.map { .batch(batch, $0) } ?? .silentInBatch(batch), request)
                case .failure(let problem): (.batch(batch, problem.id), request)
                }
            }
        }
    }

    private func begin(
        _ handling: RequestHandling, for place: Place, _ connection: inout Streams, _ results: Results,
        in group: inout DiscardingTaskGroup
    ) {
        switch handling {
        case .now(let result): results.add(place, result.map(Payload.value))
        case .rendered(let json): results.add(place, .success(.text(json)))
        case .live(let token, _): results.add(place, .success(.text(token.json(at: agent.clock.bootInstant))))
        case .later(let request): begin(request, for: place, results, in: &group)
        case .open(let opening): open(opening, for: place, &connection, results, in: &group)
        case .onStream(let name, let use):
            guard let stream = connection.open[name] else { return results.add(place, .failure(.noStream)) }
            begin(use(stream), for: place, &connection, results, in: &group)
        // A descriptor needs a socket.
        case .bodySocket: results.add(place, .failure(.noStream))
        case .subscribe(let params):
            let subscribed = Result { () throws(AgentError) in
                try connection.subscriptions.add(params)
                return Payload.value([:])
            }
            results.add(place, subscribed)
        case .unsubscribe(let params):
            connection.subscriptions.remove(params)
            results.add(place, .success(.value([:])))
        }
    }

    private func begin(
        _ request: WaitingRequest, for place: Place, _ results: Results, in group: inout DiscardingTaskGroup
    ) {
        let limit = limits.answerLimit(request.limit, isConfined: caller.confinement != nil)
        let end = agent.clock.now().boot + limit
        let late = OneShot<AgentError>()
        waits.add { late.send(.late(after: limit)) }
        let (work, trail) = (request.work, request.trail)
        let task = RequestTask(
            ticket: 1,
            kind: .once(within: limit, late: late, { () async throws(AgentError) in try await work(end) }, trail))
        group.addTask { await task.run { results.add(place, $0) } }
    }

    private func open(
        _ opening: StreamOpening, for place: Place, _ connection: inout Streams, _ results: Results,
        in group: inout DiscardingTaskGroup
    ) {
        guard connection.open[opening.name] == nil else { return results.add(place, .failure(.streamNameTaken)) }
        do throws(AgentError) {
            let stream = try opening.make { results.add(place, $0.map { Payload.text($0.rendered) }) }
            connection.open[opening.name] = stream
            caller.streamSessions[opening.name] = opening.request?.target.name
            // The client disconnects.
            waits.add { stream.close(.stopping) }
            let life = opening.run
            group.addTask { await life(stream) }
        } catch {
            results.add(place, .failure(error))
        }
    }
}
