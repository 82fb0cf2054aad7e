import AuthConcurrency
import Dispatch
import Glibc
import Synchronization
import Testing

@Suite("The thread for work that may wait for a disk", .timeLimit(.minutes(1)))
struct BlockingThreadTests {
    private let thread = BlockingThread()

    @Test("does work one at a time, in the order in which it was submitted")
    func order() async {
        let notes = RecordedNotes()
        let go = DispatchSemaphore(value: 0)
        thread.submit { go.wait() }
        for number in 1...100 { thread.submit { notes.add("\(number)") } }
        #expect(notes.all.isEmpty)
        go.signal()
        let done = await thread.run { notes.all }
        #expect(done == (1...100).map { "\($0)" })
    }

    @Test("does not do it on the caller's thread, and ends when there is none")
    func own() async {
        let mine = pthread_self()
        let isAnother = await thread.run { pthread_equal(pthread_self(), mine) == 0 }
        #expect(isAnother == true)
        // Another one is begun for what comes later.
        let seven = await thread.complete { 7 }
        #expect(seven == 7)
    }

    @Test("work whose caller is cancelled is done all the same; a caller that has to know waits")
    func cancelled() async {
        let notes = RecordedNotes()
        let go = DispatchSemaphore(value: 0)
        thread.submit { go.wait() }
        let given = Task { [thread] in await thread.run { notes.add("given") } }
        given.cancel()
        #expect(await given.value == nil)
        let awaited = Task { [thread] in await thread.complete { notes.add("awaited") } }
        awaited.cancel()
        go.signal()
        await awaited.value
        #expect(notes.all == ["given", "awaited"])
    }
}
