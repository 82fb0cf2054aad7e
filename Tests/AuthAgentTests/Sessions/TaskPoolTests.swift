import AuthAgent
import AuthConcurrency
import Testing

@Suite("The task pool", .timeLimit(.minutes(1)))
struct TaskPoolTests {
    private let pool = TaskPool()
    private let notes = RecordedNotes()

    @Test("does work that was accepted before it ran, even if it is cancelled by then")
    func cancelledBefore() async {
        #expect(pool.order { notes.add(Task.isCancelled ? "cancelled" : "not cancelled") })
        await Task {
            withUnsafeCurrentTask { if let task = $0 { task.cancel() } }
            await pool.run()
        }.value
        #expect(notes.all == ["cancelled"])
    }

    @Test("does the work that its last work submits, and only then ends")
    func ordersMore() async {
        let hold = Hold()
        pool.order {
            await hold.pass()
            for number in 1...3 { #expect(pool.order { notes.add("more \(number)") }) }
        }
        let run = Task { await pool.run() }
        await hold.isReached()
        run.cancel()
        await run.value
        #expect(notes.all.sorted() == ["more 1", "more 2", "more 3"])
    }

    @Test("that is cancelled waits for work in progress, accepts work meanwhile, and then refuses it")
    func stopWhileBusy() async {
        let (begun, go) = (OneShot<Void>(), OneShot<Void>())
        pool.order {
            begun.send(())
            _ = await withoutCancellation { await go.value() }
            notes.add("begun")
        }
        let run = Task {
            await pool.run()
            notes.add("end")
        }
        _ = await begun.value()
        run.cancel()
        #expect(pool.order { notes.add("late") })
        go.send(())
        await run.value
        #expect(notes.all.sorted() == ["begun", "end", "late"])
        #expect(notes.all.last == "end")
        #expect(!pool.order { notes.add("too late") })
        #expect(notes.all.count == 3)
    }

    @Test("loses no work that is ordered from many tasks while it is cancelled")
    func race() async {
        let done = Counter()
        let run = Task { await pool.run() }
        let accepted = await withTaskGroup(of: Int.self) { group in
            for _ in 1...8 {
                group.addTask {
                    var accepted = 0
                    for _ in 1...200 where pool.order({ _ = done.next() }) { accepted += 1 }
                    return accepted
                }
            }
            group.addTask {
                run.cancel()
                return 0
            }
            return await group.reduce(0, +)
        }
        await run.value
        #expect(done.next() == accepted + 1)
    }
}
