/// The waiting requests of one connection: a child of the listener's task, cancelled when the client has disconnected.
struct ConnectionTasks: Sendable {
    /// Of the connection.
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
