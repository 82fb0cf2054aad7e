package import AuthMachines
import AuthModel
import AuthWire

/// Decides what a bridge does between a program that speaks MCP on its pipes and a server that speaks it over HTTP.
///
/// Invariants:
/// 1. Each request of the program gets one response: the server's, or one error of the bridge. A cancelled one may get none.
/// 2. Only whole messages are written, each once.
/// 3. A token is sent to the origin of the URL, and nowhere else.
/// 4. A request is sent again only if the server has refused it unperformed: with a 401, with a redirect within the origin, or
///    with the end of its session.
/// 5. After the end of the input nothing is begun but what the program had asked for.
package struct BridgeMachine: Machine {
    package static let wake = BridgeEvent.wake

    struct Queued {
        let message: BridgeMessage
        var sessionReplays = 0
    }

    let target: BridgeTarget
    var exchanges: [Int: BridgeExchange] = [:]
    var calls: [CallID: Int] = [:]
    var queue: [Queued] = []
    /// `initialize` and `notifications/initialized`: nothing overtakes them.
    var exclusive: Int?
    private var lastExchange = 0
    private var lastCall = 0

    /// The session of the protocol, from 2025-03-26 to 2025-11-25.
    var session: String?
    /// The former one, until the new one is complete. If that fails, the next request learns of its end, and tries again.
    var endedSession: String?
    /// The version that was agreed on.
    var version: String?
    var initialize: BridgeMessage?
    var initialized: BridgeMessage?
    var isReopening = false

    /// The parameters of the tools that the server has listed (2026-07-28).
    var toolParameters: [String: [ToolParameter]] = [:]

    private var isPaused = false
    private var lastNote = ""
    private var notes: (until: BootInstant, count: Int)?
    /// The input has ended: when requests are no longer waited for.
    private var drainUntil: BootInstant?
    private var endUntil: BootInstant?
    private var hasEnded = false

    package init(_ target: BridgeTarget) {
        self.target = target
    }

    package typealias BridgeTurn = Turn<BridgeAction, Never>

    package mutating func handle(_ event: BridgeEvent, in turn: inout BridgeTurn) {
        guard !hasEnded else { return }
        switch event {
        case .line(.tooLong): refuseLine("It is longer than \(BridgeLimits.messageBytes >> 20) MiB.", &turn)
        case .line(.text(let line)): accept(line, &turn)
        case .inputEnded: close(until: turn.now.boot + BridgeLimits.drainTime, &turn)
        case .stop: close(until: turn.now.boot, &turn)
        case .token(let call, let answer): received(answer, for: call, &turn)
        case .head(let call, let head): received(head, for: call, &turn)
        case .piece(let call, let piece): received(piece, for: call, &turn)
        case .ended(let call, let error): ended(call, error, &turn)
        case .wake: break
        }
        resume(&turn)
        sendQueued(&turn)
        finish(&turn)
        limitInput(&turn)
        turn.wakeUp = hasEnded ? nil : deadline
    }

    // MARK: The program's messages

    private mutating func accept(_ line: [UInt8], _ turn: inout BridgeTurn) {
        let message: BridgeMessage
        do throws(BridgeMessage.Mistake) {
            message = try BridgeMessage(line)
        } catch {
            let problem: BridgeProblem =
                switch error {
                case .notJSON(let reason): .parseError(reason)
                case .tooManyValues: .invalidMessage("It has too many values.")
                case .notMessage: .invalidMessage("It is not a message of JSON-RPC 2.0.")
                }
            let outline = MessageOutline(line)
            // A response gets none.
            if outline.isResponse { return note(problem.message, &turn) }
            turn.act(.write(problem.line(for: outline.id ?? .null)))
            return
        }
        if let id = message.cancelled, cancel(id, &turn) { return }
        guard message.requests.isEmpty || pendingRequests < BridgeLimits.pendingRequests else {
            let problem = BridgeProblem(
                .busy, "\(BridgeLimits.pendingRequests) requests are waiting for their response.")
            for id in message.requests { turn.act(.write(problem.line(for: id))) }
            return
        }
        // The server may wait for a response before it goes on with what holds up other messages.
        if message.isResponse { return start(Queued(message: message), &turn) }
        queue.append(Queued(message: message))
    }

    private mutating func refuseLine(_ reason: String, _ turn: inout BridgeTurn) {
        turn.act(.write(BridgeProblem.invalidMessage(reason).line(for: .null)))
    }

    private var pendingRequests: Int {
        queue.reduce(0) { $0 + $1.message.requests.count }
            + exchanges.values.reduce(0) { $0 + ($1.purpose == .client ? $1.waiting.count : 0) }
    }

    /// - Returns: whether the notification needs not be sent. In the stateless protocol the end of the connection is the
    ///   cancellation, and the notification is not sent.
    private mutating func cancel(_ id: RPCID, _ turn: inout BridgeTurn) -> Bool {
        if let index = queue.firstIndex(where: { $0.message.requests == [id] }) {
            queue.remove(at: index)
            return true
        }
        let found = exchanges.first { $1.purpose == .client && $1.statelessVersion != nil && $1.waiting == [id] }
        if let found { drop(found.key, &turn) }
        return found != nil || initialize == nil
    }

    /// Starts every message that may be sent now.
    private mutating func sendQueued(_ turn: inout BridgeTurn) {
        var index = 0
        while index < queue.count, exclusive == nil, !isReopening {
            let next = queue[index]
            let isExclusive = next.message.isInitialize || next.message.isInitialized
            // Nothing passes it.
            if isExclusive, index > 0 { break }
            if next.message.requests.isEmpty, isNotifying {
                index += 1
                continue
            }
            queue.remove(at: index)
            start(next, &turn)
        }
    }

    /// Notifications of the program stay in their order.
    private var isNotifying: Bool {
        exchanges.values.contains {
            $0.purpose == .client && $0.waiting.isEmpty && $0.isUnsent && $0.message?.isResponse == false
        }
    }

    private mutating func start(_ next: Queued, _ turn: inout BridgeTurn) {
        let message = next.message
        if message.isInitialize {
            dropStream(&turn)
            (session, endedSession, version, initialized, initialize) = (nil, nil, nil, nil, message)
        } else if message.isInitialized {
            initialized = message
        }
        let id = begin(
            BridgeExchange(.client, message, url: target.url, sessionReplays: next.sessionReplays), &turn)
        if message.isInitialize || message.isInitialized { exclusive = id }
    }

    // MARK: Exchanges

    @discardableResult
    mutating func begin(_ exchange: BridgeExchange, _ turn: inout BridgeTurn) -> Int {
        lastExchange += 1
        exchanges[lastExchange] = exchange
        ask(lastExchange, &turn)
        return lastExchange
    }

    /// Begins the next attempt.
    mutating func ask(_ id: Int, refused: BridgeToken? = nil, _ turn: inout BridgeTurn) {
        guard var exchange = exchanges[id] else { return }
        release(&exchange, &turn)
        lastCall += 1
        let call = CallID(lastCall)
        calls[call] = id
        exchange.call = call
        exchange.phase = .asking
        exchange.status = 0
        exchange.body = []
        turn.act(
            .token(
                call,
                TokenQuestion(method: exchange.method, url: exchange.url, refused: refused, nonce: exchange.nonce)))
        exchanges[id] = exchange
    }

    private mutating func received(_ answer: TokenOutcome, for call: CallID, _ turn: inout BridgeTurn) {
        guard let id = calls[call], var exchange = exchanges[id] else { return }
        switch answer {
        case .token(let token): (exchange.token, exchange.anonymity) = (token, nil)
        case .none(let reason): (exchange.token, exchange.anonymity) = (nil, reason)
        case .failed(let problem):
            // Another attempt would renew the token again, or needs the user.
            let isFinal = exchange.hasRenewedToken || !problem.kind.retryableByDefault
            if exchange.purpose == .listening, isFinal { return drop(id, &turn) }
            return fail(id, problem, &turn)
        }
        let current = exchange.statelessVersion == nil ? session : nil
        guard !exchange.isResuming || exchange.session == current else {
            return fail(id, lost("\(host) has ended the session of the protocol."), &turn)
        }
        exchange.session = current
        do throws(BridgeProblem) {
            let request = try request(of: exchange)
            exchange.phase = .sent
            exchanges[id] = exchange
            turn.act(.send(call, request))
        } catch {
            fail(id, error, &turn)
        }
    }

    /// Ends the attempt in progress.
    mutating func release(_ exchange: inout BridgeExchange, _ turn: inout BridgeTurn) {
        guard let call = exchange.call else { return }
        calls[call] = nil
        exchange.call = nil
        // The rest of a response that needs no attention: its connection can be used again.
        let isRest = exchange.purpose != .listening && exchange.waiting.isEmpty
        turn.act(.release(call, lingers: isRest || exchange.phase == .sent && exchange.status != 0))
    }

    /// Ends an exchange without a word.
    mutating func drop(_ id: Int, _ turn: inout BridgeTurn) {
        guard var exchange = exchanges.removeValue(forKey: id) else { return }
        release(&exchange, &turn)
        if exclusive == id { exclusive = nil }
    }

    mutating func dropStream(_ turn: inout BridgeTurn) {
        for (id, exchange) in exchanges where exchange.purpose == .listening { drop(id, &turn) }
    }

    /// Ends an exchange with an error.
    mutating func fail(_ id: Int, _ problem: BridgeProblem, _ turn: inout BridgeTurn) {
        guard let exchange = exchanges[id] else { return }
        switch exchange.purpose {
        case .listening: return pause(id, &turn)
        case .ending: hasEnded = true
        case .reopening, .reopened: failReopening(problem, &turn)
        case .learning: learned([], &turn)
        case .client:
            var problem = problem
            if exchange.mayBePerformed, !exchange.waiting.isEmpty { problem.requestMayBePerformed() }
            for request in exchange.waiting { turn.act(.write(problem.line(for: request))) }
            note(problem.message, &turn)
        }
        drop(id, &turn)
        if hasEnded { turn.act(.exit) }
    }

    /// The same message is not repeated, and a hostile server cannot fill a log.
    mutating func note(_ text: String, _ turn: inout BridgeTurn) {
        guard text != lastNote else { return }
        lastNote = text
        let now = turn.now.boot
        var (until, count) = notes ?? (now, 0)
        if until <= now { (until, count) = (now + .seconds(60), 0) }
        notes = (until, count + 1)
        if count < BridgeLimits.notesPerMinute {
            turn.act(.note(text))
        } else if count == BridgeLimits.notesPerMinute {
            turn.act(.note("More messages of this minute are left out."))
        }
    }

    // MARK: Time

    mutating func pause(_ id: Int, _ turn: inout BridgeTurn) {
        guard var exchange = exchanges[id] else { return }
        release(&exchange, &turn)
        exchange.phase = .pausing(until: turn.now.boot + exchange.pause())
        exchange.failures += 1
        exchanges[id] = exchange
    }

    private mutating func resume(_ turn: inout BridgeTurn) {
        for (id, exchange) in exchanges {
            if case .pausing(let until) = exchange.phase, until <= turn.now.boot { ask(id, &turn) }
        }
    }

    private var deadline: BootInstant? {
        var all = exchanges.values.compactMap { exchange -> BootInstant? in
            if case .pausing(let until) = exchange.phase { until } else { nil }
        }
        if let until = endUntil ?? drainUntil { all.append(until) }
        return all.min()
    }

    // MARK: The end

    private mutating func close(until: BootInstant, _ turn: inout BridgeTurn) {
        drainUntil = min(drainUntil ?? until, until)
        dropStream(&turn)
    }

    private mutating func finish(_ turn: inout BridgeTurn) {
        guard let drainUntil, !hasEnded else { return }
        if let endUntil {
            guard turn.now.boot >= endUntil else { return }
        } else {
            let isDone = queue.isEmpty && !isReopening && !exchanges.values.contains { $0.purpose == .client }
            guard isDone || turn.now.boot >= drainUntil else { return }
            let late = BridgeProblem(.timeout, "The input ended before \(host) answered.")
            let waiting = queue.flatMap(\.message.requests)
            queue = []
            for request in waiting { turn.act(.write(late.line(for: request))) }
            for (id, exchange) in exchanges {
                if exchange.purpose == .client { fail(id, late, &turn) } else { drop(id, &turn) }
            }
            guard session == nil else {
                endUntil = turn.now.boot + BridgeLimits.deleteTime
                begin(BridgeExchange(.ending, nil, url: target.url), &turn)
                return
            }
        }
        hasEnded = true
        turn.act(.exit)
    }

    private mutating func limitInput(_ turn: inout BridgeTurn) {
        var (count, bytes) = (queue.count, 0)
        for next in queue { bytes += next.message.bytes.count }
        for exchange in exchanges.values where exchange.isUnsent {
            count += 1
            bytes += exchange.message?.bytes.count ?? 0
        }
        let mustPause = bytes > BridgeLimits.unsentBytes || count > BridgeLimits.unsentMessages
        guard mustPause != isPaused else { return }
        isPaused = mustPause
        turn.act(mustPause ? .pauseInput : .resumeInput)
    }
}
