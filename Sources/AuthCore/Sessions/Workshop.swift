/// Where the work that sessions begin is done: every task of theirs is a child of ``run()``.
package final class Workshop: Sendable {
    package typealias Work = @Sendable () async -> Void

    private let orders: AsyncStream<Work>
    private let desk: AsyncStream<Work>.Continuation

    package init() {
        (orders, desk) = AsyncStream.makeStream()
    }

    /// Has the work done soon; from any thread, without waiting. After ``run()`` has ended it is dropped.
    package func order(_ work: @escaping Work) {
        desk.yield(work)
    }

    /// Does what is ordered, all at once, until it is cancelled; then waits for what has begun.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await work in orders {
                group.addTask { await work() }
            }
            group.cancelAll()
        }
        desk.finish()
    }
}
