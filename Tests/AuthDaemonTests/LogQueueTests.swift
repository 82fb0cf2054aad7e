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

    private static func missing(_ lines: String) -> String {
        "\(lines) missing here: the log did not accept lines fast enough."
    }

    @Test("block neither callers nor the agent's end if the journal receives nothing; they are written later, in order")
    func hung() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let journal = try NotifySocket(at: folder.path + "/socket")
        let queue = LogQueue(to: LogOutput(format: Self.format, write: { journal.sendBlocking($0.bytes) }))
        queue.start()
        queue.add(Self.line("before"))
        #expect(await journal.message { !$0.hasPrefix("X_TEST") } == "before")
        journal.stopReceiving()
        for number in 1...100 { queue.add(Self.line("\(number)")) }
        await queue.finish(within: .zero)
        #expect(!journal.received.contains("1\n2"))
        journal.receiveAgain()
        for number in 1...100 {
            #expect(await journal.message { !$0.hasPrefix("X_TEST") } == "\(number)")
        }
        await queue.finish(within: .seconds(60))
        journal.end()
    }

    @Test("are kept until the agent may have threads")
    func kept() async {
        let log = SlowLog(receives: true)
        let queue = LogQueue(to: LogOutput(format: Self.format, write: log.write))
        for number in 1...3 { queue.add(Self.line("\(number)")) }
        #expect(log.begun.withLock { $0 } == 0)
        queue.start()
        await queue.flush()
        #expect(log.lines == ["1", "2", "3"])
        // The end writes them, too.
        let other = LogQueue(to: LogOutput(format: Self.format, write: log.write))
        other.add(Self.line("4"))
        await other.finish(within: .seconds(60))
        #expect(log.lines.last == "4")
    }

    @Test("that do not fit are dropped; one line reports how many, before newer lines")
    func tooMany() async throws {
        let log = SlowLog()
        let queue = LogQueue(to: LogOutput(format: Self.format, write: log.write))
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
        await queue.finish(within: .seconds(60))
        #expect(log.lines == kept + [Self.missing("3 lines are"), "a", "b"])
    }

    @Test("that were dropped are reported even if no line follows")
    func lastDropped() async throws {
        let log = SlowLog()
        let queue = LogQueue(to: LogOutput(format: Self.format, write: log.write))
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
        let queue = LogQueue(to: LogOutput(format: Self.format, write: log.write))
        queue.start()
        let long = String(repeating: "x", count: LogQueue.mostBytes / 4)
        for _ in 1...4 { queue.add(Self.line(long)) }
        #expect(try await until { log.begun.withLock { $0 } == 1 })
        queue.add(Self.line("x"))
        log.receive(10)
        await queue.finish(within: .seconds(60))
        #expect(log.lines == [long, long, long, long, Self.missing("1 line is")])
        // There is room for as many again.
        for _ in 1...4 { queue.add(Self.line(long)) }
        await queue.finish(within: .seconds(60))
        #expect(log.lines.suffix(4) == [long, long, long, long])
    }

    @Test("of the audit log wait in its backlog, are counted if that is full, and do not delay its end")
    func audit() async throws {
        let log = SlowLog()
        let queue = LogQueue(to: LogOutput(format: Self.format, write: log.write))
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
        // Others do not take the room of the audit log.
        for _ in 1...LogQueue.mostLines { queue.add(Self.line("other")) }
        running.cancel()
        await running.value
        log.receive(3 * LogQueue.mostLines)
        await queue.finish(within: .seconds(60))
        #expect(log.lines.count { $0 == "Audit: agent.reload answered" } == 1 + AuditLog.backlog)
        #expect(log.lines.count { $0 == "other" } == LogQueue.mostLines - 1)
        #expect(log.lines.last == Self.missing("1 line is"))
    }

    @Test("have their fields one after the other, as libsystemd needs them")
    func fields() {
        let entry = LogEntry(fields: [Array("A=1".utf8), [], Array("BC=é".utf8)])
        #expect(entry.bytes == Array("A=1BC=é".utf8))
        #expect(entry.ends == [3, 3, 8])
    }
}

/// Receives as many lines as the test lets it.
private final class SlowLog: Sendable {
    /// How many lines were to be written.
    let begun = Mutex(0)
    private let room = DispatchSemaphore(value: 0)
    private let isFast: Bool
    private let written = Mutex<[String]>([])

    init(receives: Bool = false) {
        isFast = receives
    }

    var lines: [String] { written.withLock { $0 } }

    var write: @Sendable (LogEntry) -> Void {
        { [self] entry in
            begun.withLock { $0 += 1 }
            if !isFast { room.wait() }
            written.withLock { $0.append(String(decoding: entry.bytes, as: UTF8.self)) }
        }
    }

    func receive(_ count: Int) {
        for _ in 0..<count { room.signal() }
    }
}
