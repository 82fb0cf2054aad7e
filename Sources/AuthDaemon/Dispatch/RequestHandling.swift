import AuthAgent
import AuthMachines
import AuthModel
import AuthWire

enum RequestHandling {
    /// From memory, on the loop.
    case now(Result<JSON, AgentError>)
    /// From memory, as JSON text.
    case rendered([UInt8])
    /// From memory, or with this work if something has to be waited for first.
    case live(LiveToken, RequestTask.Work)
    case later(WaitingRequest)
    /// With a stream that lives until its task ends.
    case open(StreamOpening)
    /// With a stream of this connection.
    case onStream(String, @Sendable (APIStream) -> RequestHandling)
    /// With a socket for the body or the response of this stream.
    case bodySocket(APIStream, for: BodyDirection)
    case subscribe(SubscribeParams)
    case unsubscribe(SubscribeParams)

    /// With work that waits.
    static func later(
        within limit: Duration?, endsAtLock: Bool = true, _ work: @escaping RequestTask.Work
    ) -> RequestHandling {
        .later(WaitingRequest(limit: limit, endsAtLock: endsAtLock, work: work))
    }

    /// The same handling with another result, other work and another stream. Tokens and texts in memory, and what is
    /// done with a stream that is open, stay as they are.
    func wrapping(
        now: (Result<JSON, AgentError>) -> Result<JSON, AgentError> = { $0 },
        work: (@escaping RequestTask.Work) -> RequestTask.Work = { $0 },
        opening: (StreamOpening) -> StreamOpening = { $0 }
    ) -> RequestHandling {
        switch self {
        case .now(let result): return .now(now(result))
        case .later(var waiting):
            waiting.work = work(waiting.work)
            return .later(waiting)
        case .open(let former): return .open(opening(former))
        case .rendered, .live, .onStream, .bodySocket, .subscribe, .unsubscribe: return self
        }
    }

    /// The same handling of a request that a locked agent serves, too.
    func continuingWhenLocked() -> RequestHandling {
        guard case .later(var waiting) = self else { return self }
        waiting.endsAtLock = false
        return .later(waiting)
    }
}

enum BodyDirection {
    /// The client writes the body, from this offset on.
    case upload(from: Int)
    /// The client reads the rest of the response.
    case download
}

/// A request whose result has to be waited for. Its work begins when the store has been read once.
struct WaitingRequest: Sendable {
    /// The caller's time limit; `nil`: the usual one.
    let limit: Duration?
    /// Whether a lock of the agent ends it.
    var endsAtLock = true
    /// Whether the end of the client's input ends it. ssh passes on the end of a forwarded connection only in this way.
    var endsWithInput = false
    /// Records the result that is sent.
    var trail: AuditTrail?
    /// What is recorded instead of the params, once it is known.
    var description: LateDescription?
    /// Throws if the work would certainly fail. It runs before the user is asked about the request, if that is
    /// required.
    var precheck: (@Sendable () async throws(AgentError) -> Void)?
    var work: RequestTask.Work
}

/// A call with a streamed body or response.
struct StreamOpening: Sendable {
    /// The client's name for the stream.
    let name: String
    /// What the rules decided about.
    var request: AccessRequest?
    /// Called once; `send` receives the response of the call.
    var make: @Sendable (_ send: @escaping APIStream.Respond) throws(AgentError) -> APIStream
    /// Returns when the stream has ended.
    var run: @Sendable (APIStream) async -> Void

    /// The same opening with other errors.
    func changingErrors(_ change: @escaping @Sendable (AgentError) -> AgentError) -> StreamOpening {
        var changed = self
        changed.make = { [make] send throws(AgentError) in
            do throws(AgentError) {
                return try make { send($0.mapError(change)) }
            } catch {
                throw change(error)
            }
        }
        return changed
    }
}
