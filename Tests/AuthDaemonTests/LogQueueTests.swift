import AgentTestSupport
import AuthConcurrency
import AuthModel
import AuthWire
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("Lines of the log", .timeLimit(.minutes(1)))
struct LogQueueTests {
    private static func line(_ text: String) -> LogLine { LogLine(level: .info, message: text, fields: [:]) }

    /// As the journal gets it, with the message alone.
    private static let format: @Sendable (LogLine) -> LogEntry = { LogEntry(fields: [Array($0.message.utf8)]) }

    private static func queue(to log: SlowLog, _ clock: any SystemClock = BootClock()) -> LogQueue {
        LogQueue(to: LogOutput(format: format, write: log.write), clock: clock)
    }

    private static func missing(_ lines: String) -> String {
        "\(lines) missing here: the log did not accept lines fast enough."
    }

    private static func finish(_ queue: LogQueue) async {
        await queue.finish(pause: .seconds(60), within: .seconds(60))
    }

    @Test("block neither callers nor the agent's end if the journal receives nothing; they are written later, in order")
    func hung() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let journal = try NotifySocket(at: folder.path + "/socket")
        let log = SlowLog(receives: true, passing: { journal.sendBlocking($0.bytes) })
        let queue = Self.queue(to: log)
        queue.start()
        queue.add(Self.line("before"))
        #expect(await journal.message { !$0.hasPrefix("X_TEST") } == "before")
        journal.stopReceiving()
        for number in 1...100 { queue.add(Self.line("\(number)")) }
        await queue.finish(pause: .zero)
        // The thread waits in the kernel with the first of them.
        #expect(try await until { log.begun.withLock { $0 } == 2 })
        #expect(log.lines == ["before"])
        journal.receiveAgain()
        for number in 1...100 {
            #expect(await journal.message { !$0.hasPrefix("X_TEST") } == "\(number)")
        }
        await Self.finish(queue)
        #expect(log.lines.count == 101)
        journal.end()
    }

    @Test("are kept until the agent may have threads")
    func kept() async {
        let log = SlowLog(receives: true)
        let queue = Self.queue(to: log)
        for number in 1...3 { queue.add(Self.line("\(number)")) }
        #expect(log.begun.withLock { $0 } == 0)
        queue.start()
        await queue.flush()
        #expect(log.lines == ["1", "2", "3"])
        // The end writes them, too.
        let other = Self.queue(to: log)
        other.add(Self.line("4"))
        await Self.finish(other)
        #expect(log.lines.last == "4")
    }

    @Test("that do not fit are dropped; one line reports how many, before newer lines")
    func tooMany() async throws {
        let log = SlowLog()
        let queue = Self.queue(to: log)
        queue.start()
        let kept = (1...LogQueue.mostLines).map { "\($0)" }
        for text in kept + ["dropped", "dropped"] { queue.add(Self.line(text)) }
        // There is some room again, but less than half.
        log.receive(LogQueue.mostLines / 2)
        #expect(try await until { log.begun.withLock { $0 } == LogQueue.mostLines / 2 + 1 })
        queue.add(Self.line("dropped"))
        log.receive(1)
        #expect(try await until { log.begun.withLock { $0 } == LogQueue.mostLines / 2 + 2 })
        for text in ["a", "b"] { queue.add(Self.line(text)) }
        log.receive(LogQueue.mostLines)
        await Self.finish(queue)
        #expect(log.lines == kept + [Self.missing("3 lines are"), "a", "b"])
    }

    @Test("that were dropped are reported even if no line follows")
    func lastDropped() async throws {
        let log = SlowLog()
        let queue = Self.queue(to: log)
        queue.start()
        let kept = (1...LogQueue.mostLines).map { "\($0)" }
        for text in kept + ["dropped"] { queue.add(Self.line(text)) }
        log.receive(LogQueue.mostLines + 1)
        #expect(try await until { log.lines.count > LogQueue.mostLines })
        #expect(log.lines == kept + [Self.missing("1 line is")])
    }

    @Test("have a limit of bytes; the one that is being written counts")
    func bytes() async throws {
        let log = SlowLog()
        let queue = Self.queue(to: log)
        queue.start()
        let long = String(repeating: "x", count: LogQueue.mostBytes / 4)
        for _ in 1...4 { queue.add(Self.line(long)) }
        #expect(try await until { log.begun.withLock { $0 } == 1 })
        queue.add(Self.line("x"))
        log.receive(10)
        await Self.finish(queue)
        #expect(log.lines == [long, long, long, long, Self.missing("1 line is")])
        // There is room for as many again.
        for _ in 1...4 { queue.add(Self.line(long)) }
        await Self.finish(queue)
        #expect(log.lines.suffix(4) == [long, long, long, long])
    }

    @Test("of the audit log wait in its backlog, are counted if that is full, and do not delay its end")
    func audit() async throws {
        let log = SlowLog()
        let queue = Self.queue(to: log)
        queue.start()
        let audit = AuditLog(clock: BootClock())
        func record(_ count: Int) {
            for _ in 0..<count {
                audit.record(AuditedRequest(method: "agent.reload"), by: nil, rule: AuditEntry.signalRule)
            }
        }
        record(1)
        let agent = AgentLog(level: .info)
        let running = Task {
            await audit.run(
                logger: agent.auditLogger(to: { queue.add($0, isLimited: false) }), flush: { await queue.flush() })
        }
        #expect(try await until { log.begun.withLock { $0 } == 1 })
        record(AuditLog.backlog + 3)
        #expect(audit.list(after: 0, limit: 1).unlogged == 3)
        for _ in 1..<LogQueue.mostLines { queue.add(Self.line("other")) }
        running.cancel()
        await running.value
        // All lines of the audit log are in the queue now, and take no room from others.
        queue.add(Self.line("other"))
        log.receive(3 * LogQueue.mostLines)
        await Self.finish(queue)
        #expect(log.lines.count { $0 == "Audit: agent.reload answered" } == 1 + AuditLog.backlog)
        #expect(log.lines.count { $0 == "other" } == LogQueue.mostLines)
        #expect(log.lines.count == 1 + AuditLog.backlog + LogQueue.mostLines)
    }

    @Test("are written at the agent's end as long as the log accepts one a second")
    func slowEnd() async throws {
        let (log, clock) = (SlowLog(), ManualClock())
        let queue = Self.queue(to: log, clock)
        queue.start()
        for number in 1...3 { queue.add(Self.line("\(number)"), isLimited: number > 1) }
        let begin = clock.bootInstant
        let ending = Task {
            await queue.finish()
            return log.lines
        }
        for number in 1...3 {
            await clock.somebodySleeps(until: begin + .milliseconds(800 * (number - 1)) + LogQueue.longestPause)
            clock.advance(.milliseconds(800))
            log.receive(1)
            // The time of the former one is recorded when the next one is written.
            if number < 3 { #expect(try await until { log.begun.withLock { $0 } == number + 1 }) }
        }
        #expect(await ending.value == ["1", "2", "3"])
    }

    @Test("that a slow log does not accept at the agent's end in time are counted in the last line")
    func tooSlowEnd() async throws {
        let (log, clock) = (SlowLog(), ManualClock())
        let queue = Self.queue(to: log, clock)
        queue.start()
        for number in 1...6 { queue.add(Self.line("\(number)"), isLimited: number % 2 == 0) }
        let begin = clock.bootInstant
        let ending = Task { await queue.finish() }
        await clock.somebodySleeps(until: begin + LogQueue.longestPause)
        for number in 1...3 {
            clock.advance(.milliseconds(800))
            log.receive(1)
            #expect(try await until { log.begun.withLock { $0 } == number + 1 })
        }
        await clock.somebodySleeps(until: begin + LogQueue.longestFinish)
        clock.advance(.milliseconds(800))
        let last = begin + LogQueue.longestFinish + LogQueue.longestPause
        #expect(try await until { clock.hasSleeper(until: last) })
        log.receive(6)
        await ending.value
        #expect(log.lines == ["1", "2", "3", "4", Self.missing("2 lines are")])
    }

    @Test("that a report counts are counted by the last line, if that report is dropped at the agent's end")
    func droppedReport() async throws {
        let (log, clock) = (SlowLog(), ManualClock())
        let queue = Self.queue(to: log, clock)
        let most = LogQueue.mostLines
        for number in 1...most + 5 { queue.add(Self.line("\(number)")) }
        queue.start()
        // With half of the room, lines are accepted again, after a report.
        log.receive(most / 2 + 1)
        #expect(try await until { log.begun.withLock { $0 } == most / 2 + 2 })
        queue.add(Self.line("later"))
        let begin = clock.bootInstant
        let ending = Task { await queue.finish() }
        await clock.somebodySleeps(until: begin + LogQueue.longestPause)
        for number in 1...3 {
            clock.advance(.milliseconds(800))
            log.receive(1)
            #expect(try await until { log.begun.withLock { $0 } == most / 2 + 2 + number })
        }
        await clock.somebodySleeps(until: begin + LogQueue.longestFinish)
        clock.advance(.milliseconds(800))
        let last = begin + LogQueue.longestFinish + LogQueue.longestPause
        #expect(try await until { clock.hasSleeper(until: last) })
        log.receive(2)
        await ending.value
        let written = log.lines.count - 1
        #expect(log.lines.last == Self.missing("\(most + 6 - written) lines are"))
    }

    @Test("are not waited for at the agent's end if the log accepts none")
    func hungEnd() async throws {
        let (log, clock) = (SlowLog(), ManualClock())
        let queue = Self.queue(to: log, clock)
        queue.start()
        for number in 1...2 { queue.add(Self.line("\(number)")) }
        let ending = Task { await queue.finish() }
        let deadline = clock.bootInstant + LogQueue.longestPause
        await clock.somebodySleeps(until: deadline)
        clock.advance(LogQueue.longestPause)
        await ending.value
        #expect(log.lines.isEmpty)
        log.receive(2)
        await Self.finish(queue)
        #expect(log.lines == ["1", "2"])
    }

    @Test("wait if no thread can be made: for the next line, or some moments; the caller does not write them")
    func noThread() async throws {
        let (log, clock) = (SlowLog(receives: true), ManualClock())
        func queue() -> LogQueue {
            LogQueue(
                to: LogOutput(format: Self.format, write: log.write), clock: clock,
                makeThread: LateThread(after: 2).start)
        }
        let waiting = queue()
        waiting.start()
        for number in 1...2 { waiting.add(Self.line("\(number)")) }
        #expect(log.begun.withLock { $0 } == 0)
        waiting.add(Self.line("3"))
        await waiting.flush()
        #expect(log.lines == ["1", "2", "3"])
        // The audit log adds its next line only when this one is written.
        let alone = queue()
        alone.start()
        alone.add(Self.line("4"), isLimited: false)
        async let flushed: Void = alone.flush()
        for _ in 1...2 {
            await clock.somebodySleeps(until: clock.bootInstant + LogQueue.threadPause)
            clock.advance(LogQueue.threadPause)
        }
        await flushed
        #expect(log.lines.last == "4")
    }

    /// Both ends block. No child of another test gets one.
    private static func pipe(in folder: TemporaryFolder) throws -> (reading: CInt, writing: CInt) {
        let path = folder.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        let reading = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let writing = open(path, O_WRONLY | O_CLOEXEC)
        try #require(reading >= 0 && writing >= 0 && fcntl(reading, F_SETFL, 0) == 0)
        return (reading, writing)
    }

    @Test("are written whole and in order to a pipe that somebody has made non-blocking")
    func nonBlocking() async throws {
        let folder = try TemporaryFolder()
        let (reading, writing) = try Self.pipe(in: folder)
        try #require(fcntl(writing, F_SETFL, O_NONBLOCK) == 0)
        let queue = LogQueue(to: LogOutput(format: Self.format, write: { StandardError.write($0, to: writing) }))
        queue.start()
        // Short lines, which are written at once or not, and one that has no room in the pipe. It has 64 KiB at most.
        let text = String(repeating: "x", count: 999) + "\n"
        let long = String(repeating: "y", count: 1 << 17) + "\n"
        let lines = [String](repeating: text, count: 100) + [long, text]
        for line in lines { queue.add(Self.line(line)) }
        // Nobody has read anything yet.
        #expect(
            try await until {
                var writable = pollfd(fd: writing, events: Int16(POLLOUT), revents: 0)
                return poll(&writable, 1, 0) == 0
            })
        async let received = onThread {
            var (all, part) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
            while true {
                let count = read(reading, &part, part.count)
                guard count > 0 else { return all }
                all += part[..<count]
            }
        }
        await Self.finish(queue)
        close(writing)
        #expect(String(decoding: try await received, as: UTF8.self) == lines.joined())
        close(reading)
    }

    @Test("do not delay the agent's end if the reader of the pipe has gone")
    func goneReader() async throws {
        let folder = try TemporaryFolder()
        let (reading, writing) = try Self.pipe(in: folder)
        // While it waits for the reader.
        let queue = LogQueue(to: LogOutput(format: Self.format, write: { StandardError.write($0, to: writing) }))
        queue.start()
        for _ in 1...2 { queue.add(Self.line(String(repeating: "x", count: 1 << 18))) }
        close(reading)
        await Self.finish(queue)
        close(writing)
    }

    @Test("have their fields one after the other, as libsystemd needs them")
    func fields() {
        let entry = LogEntry(fields: [Array("A=1".utf8), [], Array("BC=é".utf8)])
        #expect(entry.bytes == Array("A=1BC=é".utf8))
        #expect(entry.ends == [3, 3, 8])
    }
}

/// The system has no room for a thread at first.
private final class LateThread: Sendable {
    private let refusals: Mutex<Int>

    init(after refusals: Int) { self.refusals = Mutex(refusals) }

    var start: @Sendable (@escaping @Sendable () -> Void) -> Bool {
        { [self] work in
            let isRefused = refusals.withLock { left in
                left -= 1
                return left >= 0
            }
            return !isRefused && SystemThread.start(work)
        }
    }
}

/// Receives as many lines as the test lets it.
private final class SlowLog: Sendable {
    /// How many lines were to be written.
    let begun = Mutex(0)
    private let room = DispatchSemaphore(value: 0)
    private let isFast: Bool
    private let pass: @Sendable (LogEntry) -> Void
    private let written = Mutex<[String]>([])

    init(receives: Bool = false, passing pass: @escaping @Sendable (LogEntry) -> Void = { _ in }) {
        isFast = receives
        self.pass = pass
    }

    var lines: [String] { written.withLock { $0 } }

    var write: @Sendable (LogEntry) -> Void {
        { [self] entry in
            begun.withLock { $0 += 1 }
            if !isFast { room.wait() }
            pass(entry)
            written.withLock { $0.append(String(decoding: entry.bytes, as: UTF8.self)) }
        }
    }

    func receive(_ count: Int) {
        for _ in 0..<count { room.signal() }
    }
}
