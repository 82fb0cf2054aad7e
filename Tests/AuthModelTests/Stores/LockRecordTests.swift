import AuthModel
import Testing

@Suite("The record of the agent's lock")
struct LockRecordTests {
    private func date(_ seconds: Double) -> WallTime { WallTime(unixSeconds: seconds) }

    @Test("its bytes are the ones that later versions read")
    func bytes() {
        #expect(String(decoding: LockRecord().encoded, as: UTF8.self) == "authd-lock 1\nunlocked\nend\n")
        let record = LockRecord(
            lock: .init(since: date(1_800_000_000), reason: .loginSessions), failures: [date(7), date(8)])
        #expect(
            String(decoding: record.encoded, as: UTF8.self)
                == "authd-lock 1\nlocked 1800000000 login_sessions\nfailed 7\nfailed 8\nend\n")
        #expect(LockRecord(record.encoded) == record && LockRecord(LockRecord().encoded) == LockRecord())
    }

    @Test("whatever else is in the file is not a record, nor is any part of one")
    func damaged() {
        let record = LockRecord(
            lock: .init(since: date(1_800_000_000), reason: .idle), failures: [date(7), date(8), date(9)])
        for count in 0..<record.encoded.count { #expect(LockRecord(Array(record.encoded.prefix(count))) == nil) }
        for text in [
            "\n", "unlocked\n", "authd-lock 2\nunlocked\nend\n", "authd-lock 1\nunlocked\nend\n\n",
            "authd-lock 1\nlocked\nend\n", "authd-lock 1\nlocked 1 never\nend\n", "authd-lock 1\nlocked x idle\nend\n",
            "authd-lock 1\nunlocked\nfailed\nend\n", "authd-lock 1\nunlocked \nend\n", "authd-lock 1\nend\nend\n",
            "authd-lock 1\nunlocked\nfailed 1\nfailed 2\nfailed 3\nfailed 4\nend\n",
            "authd-lock 1\nunlocked\0\nend\n",
            // Dates that no clock has.
            "authd-lock 1\nlocked \(Int64.max) idle\nend\n", "authd-lock 1\nunlocked\nfailed \(Int64.min)\nend\n",
        ] {
            #expect(LockRecord(Array(text.utf8)) == nil, "\(text)")
        }
        #expect(LockRecord([0xFF, 0xFE, 0x0A]) == nil)
    }

    @Test("a clock that was set back does not make a pause longer than five minutes")
    func clockSetBack() {
        let future = [date(10_000), date(10_001), date(10_002)]
        #expect(LockRecord(failures: future).pause(at: date(50)) == date(350))
        #expect(LockRecord(failures: future).recentFailures(at: date(50)) == 3)
        var record = LockRecord(failures: future)
        record.recordFailure(at: date(50))
        #expect(record.failures == [date(50), date(50), date(50)])
        #expect(record.pause(at: date(349)) == date(350) && record.pause(at: date(350)) == nil)
    }
}
