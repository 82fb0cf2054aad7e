import AuthWire

/// Whose waiting requests run in tasks.
protocol RequestOwner: AnyObject {
    /// Unique in the registry.
    var number: Int { get }
    var isConfined: Bool { get }
    func answered(_ ticket: Int, _ result: Result<Payload, AgentError>)
    func ended(_ ticket: Int)
    /// Answers requests that a locked agent does not serve.
    func agentLocked()
}

/// The waiting requests of one connection, or of one client of the message bus: a child of the listener's task, cancelled when
/// the client has disconnected.
struct ConnectionTasks: Sendable {
    /// The number of the connection.
    let number: Int
    /// Ends with the connection.
    let requests: AsyncStream<RequestTask>

    /// Everything is reported to the listener before this returns.
    func run(for listener: Listener) async {
        await withDiscardingTaskGroup { group in
            for await request in requests {
                group.addTask {
                    await request.run { result in
                        listener.perform { $0.answered(request.ticket, of: number, result) }
                    }
                    listener.perform { $0.ended(request.ticket, of: number) }
                }
            }
            group.cancelAll()
        }
        listener.perform { $0.tasksEnded(of: number) }
    }
}
