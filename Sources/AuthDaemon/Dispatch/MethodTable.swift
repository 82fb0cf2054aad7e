import AuthAgent
import AuthWire

/// One handler for each method, registered by its type.
struct MethodTable: Sendable {
    let wait: RequestWait
    private var handlers: [String: any MethodHandler] = [:]

    init(wait: RequestWait) {
        self.wait = wait
    }

    func answer(_ request: RPCRequest) -> RequestHandling {
        do throws(AgentError) {
            guard let handler = handlers[request.method] else { throw .methodNotFound(request.method) }
            return try handler.answer(request.params)
        } catch {
            return .now(.failure(error))
        }
    }

    /// Any handler.
    mutating func on<Method: AgentMethod>(
        _: Method.Type, _ answer: @escaping @Sendable (Method) throws(AgentError) -> RequestHandling
    ) {
        handlers[Method.name] = Handler(reply: answer)
    }

    /// A handler that answers from memory.
    mutating func now<Method: AgentMethod>(
        _: Method.Type, _ result: @escaping @Sendable (Method) throws(AgentError) -> Method.Result
    ) {
        on(Method.self) { request throws(AgentError) in
            let value = try result(request)
            return .now(.success(value.json))
        }
    }

    /// A handler that answers from memory, once the store has been read: what is not in memory may be in the store.
    mutating func known<Method: AgentMethod>(
        _: Method.Type, _ result: @escaping @Sendable (Method) throws(AgentError) -> Method.Result
    ) {
        on(Method.self) { [wait] request throws(AgentError) in
            guard !wait.isStarting else {
                return wait.value { () async throws(AgentError) in
                    let value = try result(request)
                    return value.json
                }
            }
            let value = try result(request)
            return .now(.success(value.json))
        }
    }

    /// A handler that waits for `work`.
    /// - Parameter limit: the caller's own time limit.
    mutating func later<Method: AgentMethod>(
        _: Method.Type, within limit: @escaping @Sendable (Method) -> Duration? = { _ in nil },
        _ work: @escaping @Sendable (Method) async throws(AgentError) -> Method.Result
    ) {
        on(Method.self) { [wait] request in
            wait.value(within: limit(request)) { () async throws(AgentError) in
                let value = try await work(request)
                return value.json
            }
        }
    }
}

/// Reads the params of one method and answers the request.
///
/// A type, not a closure: Swift 6.3.1 crashes on a closure that reads the params and calls another one.
private protocol MethodHandler: Sendable {
    func answer(_ params: JSON?) throws(AgentError) -> RequestHandling
}

private struct Handler<Method: AgentMethod>: MethodHandler {
    let reply: @Sendable (Method) throws(AgentError) -> RequestHandling

    func answer(_ params: JSON?) throws(AgentError) -> RequestHandling {
        let request = try Method(params: params)
        return try reply(request)
    }
}

/// How long a request may wait. Requests wait until the store has been read once.
struct RequestWait: Sendable {
    let board: StateBoard
    let limits: ConnectionLimits

    var isStarting: Bool { board.store.state == .starting }

    /// - Parameter asked: the caller's own time limit.
    func value(
        within asked: Duration? = nil, _ work: @escaping @Sendable () async throws(AgentError) -> JSON
    ) -> RequestHandling {
        answer(within: asked) { () async throws(AgentError) in .value(try await work()) }
    }

    /// The same for a result that is JSON text already, because it may be large.
    func text(
        within asked: Duration?, _ work: @escaping @Sendable () async throws(AgentError) -> [UInt8]
    ) -> RequestHandling {
        answer(within: asked) { () async throws(AgentError) in .text(try await work()) }
    }

    private func answer(within asked: Duration?, _ work: @escaping RequestTask.Work) -> RequestHandling {
        let limit = asked.map { min($0, limits.longestAnswer) } ?? limits.answer
        guard isStarting else { return .later(within: limit, work) }
        return .later(within: limit) { [board] () async throws(AgentError) in
            for await _ in board.changes() where board.store.state != .starting { break }
            return try await work()
        }
    }
}
