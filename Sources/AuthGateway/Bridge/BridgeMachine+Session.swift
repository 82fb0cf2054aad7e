import AuthMachines
import AuthModel
import AuthWire

/// The session of the protocol from 2025-03-26 to 2025-11-25, and the stream for messages that the server begins.
extension BridgeMachine {
    /// Opens the stream, unless there is one.
    mutating func listen(_ turn: inout BridgeTurn) {
        guard !exchanges.values.contains(where: { $0.purpose == .listening }) else { return }
        begin(BridgeExchange(.listening, nil, url: target.url), &turn)
    }

    /// The server has no such stream (405), or refuses it.
    mutating func noStream(_ head: HTTPResponse, _ id: Int, _ turn: inout BridgeTurn) {
        // A server that fails may have one later.
        if head.status >= 500 || head.status == 429 { return pause(id, &turn) }
        drop(id, &turn)
    }

    /// A 404 with a session: the server has ended it. The program cannot know that, so the bridge begins another one with the
    /// program's own messages, and sends the request again.
    mutating func sessionEnded(_ id: Int, _ turn: inout BridgeTurn) {
        guard let exchange = exchanges[id] else { return }
        guard exchange.purpose == .client else {
            if exchange.purpose == .listening { return drop(id, &turn) }
            return fail(id, .status(404, at: host), &turn)
        }
        if exchange.isResuming {
            return fail(id, lost("\(host) has ended the session of the protocol."), &turn)
        }
        guard let message = exchange.message, let initialize, exchange.sessionReplays < BridgeLimits.sessionReplays
        else {
            return fail(
                id, .badReply("\(host) ended the session of the protocol again. Restart the program's connection."),
                &turn)
        }
        drop(id, &turn)
        // A response belongs to a request of the session that has ended.
        if !message.isResponse {
            queue.insert(Queued(message: message, sessionReplays: exchange.sessionReplays + 1), at: 0)
        }
        // Several requests may learn of it; the first one begins the new session.
        guard session == exchange.session, !isReopening else { return }
        dropStream(&turn)
        endedSession = session
        isReopening = true
        begin(BridgeExchange(.reopening, initialize, url: target.url), &turn)
    }

    /// The answer to `initialize` in the new session.
    mutating func reopened(_ message: BridgeMessage, _ id: Int, _ turn: inout BridgeTurn) {
        drop(id, &turn)
        guard let found = message.json["result"]?["protocolVersion"]?.stringValue, found == version else {
            return failReopening(
                .badReply("\(host) ended the session of the protocol, and does not begin another one like it."), &turn)
        }
        guard let initialized else {
            (isReopening, endedSession) = (false, nil)
            return
        }
        begin(BridgeExchange(.reopened, initialized, url: target.url), &turn)
    }

    /// No request that waits for the new session can be sent.
    mutating func failReopening(_ problem: BridgeProblem, _ turn: inout BridgeTurn) {
        isReopening = false
        if let endedSession { session = endedSession }
        endedSession = nil
        let waiting = queue.flatMap(\.message.requests)
        queue = []
        for request in waiting { turn.act(.write(problem.line(for: request))) }
        note(problem.message, &turn)
    }
}
