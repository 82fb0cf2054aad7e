/// The requests of one connection that wait for something: a child of the listener's task, cancelled when the client
/// has gone.
struct ConnectionTasks: Sendable {
    /// Of the connection.
    let number: Int
    /// Ends when the connection does.
    let requests: AsyncStream<RequestTask>

    /// Every report to the listener is made before this returns.
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
