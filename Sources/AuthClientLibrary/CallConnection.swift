import AuthConnection
import AuthWire

/// A connection whose methods are known by name only, and whose results and events keep members that this library does
/// not know.
///
/// Sendable, because one thread at a time has it: ``Connections`` lends it to one call, and a caller of authclient_next(3) is
/// the only one of its kind.
final class CallConnection: @unchecked Sendable {
    /// Events that arrived before the response to the subscription.
    private static let maxEvents = 1024

    private let connection: AgentConnection
    private var events: [JSON] = []
    /// Whether everything that was sent has been answered.
    private(set) var isIdle = true

    init(_ connection: AgentConnection) {
        self.connection = connection
    }

    /// Whether the agent has sent something, or has ended the connection.
    var hasInput: Bool { connection.hasInput }

    var descriptor: Int32 { connection.fileDescriptor }

    func result(of request: RPCRequest, deadline: Deadline) throws(ClientError) -> JSON {
        isIdle = false
        let id = try connection.begin(request, sendsSecrets: request.sendsSecrets, deadline: deadline)
        while let message = try next(deadline: deadline) {
            switch message {
            case .result(.integer(id), let result):
                isIdle = true
                return result
            case .failure(.integer(id), let error):
                isIdle = true
                throw .agent(error)
            // Without an id: of the connection, such as too many of them.
            case .failure(.null, let error): throw .agent(error)
            case .notification(AgentEvent.method, let event?): try append(event)
            case .result, .failure, .notification: break
            }
            // An agent that sends many events must not block the caller.
            guard !deadline.hasPassed else { throw .timedOut }
        }
        throw .timedOut
    }

    /// The next event; `nil` if there is none now.
    func nextEvent() throws(ClientError) -> JSON? {
        guard events.isEmpty else { return events.removeFirst() }
        while let message = try next(deadline: .now) {
            switch message {
            case .notification(AgentEvent.method, let event?): return event
            case .failure(_, let error): throw .agent(error)
            case .result, .notification: break
            }
        }
        return nil
    }

    private func append(_ event: JSON) throws(ClientError) {
        guard events.count < Self.maxEvents else { throw .tooManyEvents(limit: Self.maxEvents) }
        events.append(event)
    }

    private func next(deadline: Deadline) throws(ClientError) -> RPCMessage? {
        guard let line = try connection.nextLine(deadline: deadline) else { return nil }
        do throws(AgentError) {
            return try RPCMessage(line: line)
        } catch {
            throw .badReply(error.message)
        }
    }
}

extension RPCRequest {
    /// Whether what follows happens on the same connection, which a call does not keep.
    var belongsToConnection: Bool {
        switch method {
        case EventsSubscribe.name, EventsUnsubscribe.name, APIWrite.name, APIRead.name, APIClose.name: true
        case APIRequest.name, APICall.name: params?["stream"] != nil
        default: false
        }
    }

    /// Whether it may only go to an agent of the same user. A method that is not known counts as one with secrets.
    fileprivate var sendsSecrets: Bool {
        guard let type = AgentMethods.named(method) else { return true }
        return type.sendsSecrets(with: params)
    }
}

extension AgentMethod {
    /// Params that the agent will refuse may hold a secret as well.
    fileprivate static func sendsSecrets(with params: JSON?) -> Bool {
        (try? Self(params: params))?.sendsSecrets ?? true
    }
}
