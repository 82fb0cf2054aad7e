import AuthModel
import AuthWire

/// A message on its way to the server, or a stream, over all its attempts.
struct BridgeExchange {
    enum Purpose {
        /// A message of the program.
        case client
        /// The program's `initialize`, sent again because the server has ended the session.
        case reopening
        /// The program's `notifications/initialized` after that.
        case reopened
        /// The stream for messages that the server begins (GET).
        case listening
        /// `tools/list`, for the headers that a call needs (2026-07-28).
        case learning
        /// The end of the session (DELETE).
        case ending
    }

    enum Phase: Equatable {
        case asking
        case sent
        /// A response that is one JSON document.
        case collecting
        case streaming
        case pausing(until: BootInstant)
        /// The server has refused it for its headers, and is asked which ones it needs.
        case learning
    }

    let purpose: Purpose
    let message: BridgeMessage?
    /// Requests without a response.
    var waiting: [RPCID]
    let statelessVersion: String?
    var call: CallID?
    var phase = Phase.asking
    var url: String

    var token: BridgeToken?
    /// Why the request was sent without a token.
    var anonymity: BridgeProblem?
    var hasRenewedToken = false
    var nonce: String?
    var redirects = 0

    /// `Mcp-Session-Id` of the last attempt.
    var session: String?
    var sessionReplays = 0
    var hasLearned = false

    var status = 0
    var body: [UInt8] = []
    var events: EventStreamParser?
    /// A stream of an earlier attempt is continued (GET).
    var isResuming = false
    /// The attempt has brought a message.
    var hasMessage = false
    /// Attempts in a row to open the stream again.
    var failures = 0

    init(_ purpose: Purpose, _ message: BridgeMessage?, url: String, sessionReplays: Int = 0) {
        self.purpose = purpose
        self.message = message
        self.url = url
        self.sessionReplays = sessionReplays
        waiting = message?.requests ?? []
        statelessVersion = message?.statelessVersion
    }

    var method: String {
        switch purpose {
        case .listening: "GET"
        case .ending: "DELETE"
        case .client, .reopening, .reopened, .learning: isResuming ? "GET" : "POST"
        }
    }

    /// Whether its message has not been accepted yet.
    var isUnsent: Bool { !isResuming && (phase == .asking || phase == .sent) }

    /// Whether the server may have performed the request: it was sent, and not refused. A server that fails (500, 502, 504) may
    /// have done so before.
    var mayBePerformed: Bool {
        if isResuming { return true }
        return switch phase {
        case .asking, .pausing, .learning: false
        case .sent, .collecting, .streaming: !(300..<500).contains(status) && status != 503
        }
    }

    /// How long to wait before the stream is opened again.
    func pause() -> Duration {
        let growing = min(
            BridgeLimits.reconnectPause * (1 << min(failures, 10)), BridgeLimits.longestPause)
        let least = hasMessage ? Duration.zero : BridgeLimits.shortestPause
        return max(events?.retry ?? .zero, failures == 0 && events?.retry != nil ? least : growing)
    }

    /// The event to continue after; `nil` if the server has named none that a header can carry.
    var resumable: String? {
        guard statelessVersion == nil, let id = events?.lastEventID, !id.isEmpty,
            id.utf8.count <= BridgeLimits.headerBytes, RoutingHeaders.isPlain(id)
        else { return nil }
        return id
    }
}
