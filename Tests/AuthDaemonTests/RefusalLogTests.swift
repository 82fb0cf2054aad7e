import AuthWire
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("Refused connections in the log", .timeLimit(.minutes(1)))
struct RefusalLogTests {
    private static func instant(_ seconds: Int64) -> ExecutorInstant { ExecutorInstant(sinceStart: .seconds(seconds)) }

    @Test("the first one is a line, those of the next minute are counted, and so on")
    func counted() {
        var log = RefusalLog()
        #expect(log.refused(at: Self.instant(0)) == .log)
        #expect(log.refused(at: Self.instant(1)) == .count(until: Self.instant(60)))
        for second in 2...50 { #expect(log.refused(at: Self.instant(Int64(second))) == .count(until: nil)) }
        // The line of the count is a little late.
        #expect(log.refused(at: Self.instant(61)) == .count(until: nil))
        #expect(log.resetCount(at: Self.instant(62)) == 51)
        #expect(log.refused(at: Self.instant(63)) == .count(until: Self.instant(122)))
        #expect(log.resetCount(at: Self.instant(122)) == 1)
    }

    @Test("after a minute without refusals, the next one is a line again")
    func quiet() {
        var log = RefusalLog()
        #expect(log.refused(at: Self.instant(0)) == .log)
        #expect(log.refused(at: Self.instant(60)) == .log)
        #expect(log.refused(at: Self.instant(119)) == .count(until: Self.instant(120)))
        #expect(log.resetCount(at: Self.instant(120)) == 1)
        #expect(log.refused(at: Self.instant(180)) == .log)
    }

    private static func reported(_ lines: Lines) -> [String] { lines.taken().filter { !$0.hasPrefix("debug: ") } }

    @Test("a crowd of refusals is two lines, whatever its size, and the rest is logged at the end")
    func crowd() async throws {
        var limits = ConnectionLimits()
        limits.connectionsPerProcess = 1
        let lines = Lines()
        try await TestServer.run(limits: limits, time: ManualTime(), logger: lines.logger) { rig in
            try await onThread {
                let client = try rig.dial()
                #expect(try client.ask("agent.ping")["result"] != nil)
                func refuse(_ count: Int) throws {
                    for _ in 1...count { #expect(try rig.dial().json().errorKind == "busy") }
                }
                try refuse(100)
                let first = Self.reported(lines)
                #expect(first.count == 1 && first[0].hasPrefix("info: Closed a connection: Process "), "\(first)")
                rig.pass(.seconds(60))
                #expect(try client.ask("agent.ping")["result"] != nil)
                #expect(Self.reported(lines) == ["info: 99 more connections were closed within a minute."])
                try refuse(3)
                #expect(Self.reported(lines) == [])
            }
        }
        #expect(Self.reported(lines) == ["info: 3 more connections were closed within a minute."])
    }
}
