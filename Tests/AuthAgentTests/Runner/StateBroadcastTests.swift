import AuthConcurrency
import Dispatch
import Testing

@Suite("A state that is sent to listeners", .timeLimit(.minutes(1)))
struct StateBroadcastTests {
    /// The thread that cancels a task holds the task's lock while it ends the task's listener, and the listener needs that lock
    /// to resume.
    @Test("a change and the cancellation of a listener at the same time do not wait for each other")
    func cancelledMeanwhile() async {
        for _ in 1...6000 {
            let broadcast = StateBroadcast(0)
            let states = broadcast.states()
            let hasBegun = OneShot<Void>()
            let listener = Task { for await _ in states { hasBegun.send(()) } }
            _ = await hasBegun.value()
            DispatchQueue.concurrentPerform(iterations: 2) { thread in
                if thread == 0 {
                    for state in 1...20 { broadcast.set(state) }
                } else {
                    listener.cancel()
                }
            }
            await listener.value
        }
    }

    @Test("listeners receive changes of several threads in their order, and the last one in any case")
    func order() async {
        let broadcast = StateBroadcast(0)
        let (threads, changes) = (4, 2000)
        let listeners = (1...3).map { _ in
            let states = broadcast.states()
            return Task {
                var received: [Int] = []
                for await state in states {
                    received.append(state)
                    if state == threads * changes { break }
                }
                return received
            }
        }
        DispatchQueue.concurrentPerform(iterations: threads) { _ in
            for _ in 1...changes { broadcast.update { $0 = ($0 ?? 0) + 1 } }
        }
        #expect(broadcast.current == threads * changes)
        for listener in listeners {
            let received = await listener.value
            #expect(received.last == threads * changes)
            #expect(zip(received, received.dropFirst()).allSatisfy { $0 < $1 })
        }
    }
}
