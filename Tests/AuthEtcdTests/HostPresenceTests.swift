import AuthModel
import AuthWire
import Testing

@testable import AuthEtcd

@Suite("When a host shows that it is connected")
struct HostPresenceTests {
    private static let start = BootInstant(sinceBoot: .seconds(5000))

    @Test("sixty signs of life an hour change nothing, and four reports do, however often it is checked")
    func requests() {
        var presence = HostPresence(PresenceTimes())
        var counts: [String: Int] = [:]
        // Twice as often as the watch is checked.
        for second in stride(from: 0, to: 3600, by: 15) {
            let now = Self.start + .seconds(second)
            var step = presence.next(at: now)
            while let due = step {
                switch due {
                case .connect:
                    counts["connect", default: 0] += 1
                    presence.reported(under: 7, at: now)
                    step = nil
                case .keepAlive(let lease):
                    #expect(lease == 7)
                    counts["sign", default: 0] += 1
                    step = presence.answered(isAlive: true, at: now)
                case .report:
                    counts["report", default: 0] += 1
                    presence.reported(at: now)
                    step = nil
                }
            }
        }
        #expect(counts == ["connect": 1, "sign": 59, "report": 3])
    }

    @Test("an attempt that failed is repeated after a minute, and not at each check")
    func failing() {
        var presence = HostPresence(PresenceTimes())
        let attempts = stride(from: 0, through: 300, by: 1).filter {
            presence.next(at: Self.start + .seconds($0)) == .connect
        }
        #expect(attempts == [0, 60, 120, 180, 240, 300])
    }

    @Test("a lease that has ended, as after a sleep, is replaced at once")
    func ended() {
        var presence = HostPresence(PresenceTimes())
        #expect(presence.next(at: Self.start) == .connect)
        presence.reported(under: 7, at: Self.start)
        let later = Self.start + .seconds(9000)
        #expect(presence.next(at: later) == .keepAlive(7))
        #expect(presence.answered(isAlive: false, at: later) == .connect)
    }

    @Test("others miss two signs before they take the host for gone")
    func margin() {
        let times = PresenceTimes()
        // The check that a sign waits for comes every 30 s.
        #expect(times.lease > times.sign * 2 && times.sign + .seconds(30) < times.lease)
    }

    @Test("reports are outside of what other hosts watch, and everything that they need is inside")
    func watched() throws {
        let places = EtcdPlaces(prefix: "/authd/ada")
        func isWatched(_ key: String) -> Bool {
            !key.utf8.lexicographicallyPrecedes(places.watched.utf8)
                && key.utf8.lexicographicallyPrecedes(places.watchedEnd)
        }
        let name = try SessionName("zzz")
        #expect(isWatched(places.cluster) && isWatched(places.session(name)) && isWatched(places.holder(name)))
        #expect(!isWatched(places.report("0")) && !isWatched(places.connection("0")))
    }

    @Test("a report of another form, or with a version that is too long, is invalid")
    func hostile() {
        let report = HostReport(version: "0.1.0", writtenAt: WallTime(unixSeconds: 1_800_000_000))
        #expect(HostReport(report.bytes) == report)
        let long = String(repeating: "9", count: 65)
        for text in ["", "{}", #"{"authd":"","at":1}"#, #"{"authd":"1"}"#, #"{"authd":"\#(long)","at":1}"#] {
            #expect(HostReport(Array(text.utf8)) == nil, "\(text)")
        }
    }
}
