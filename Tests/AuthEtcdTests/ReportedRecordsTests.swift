import AuthModel
import AuthWire
import EtcdTestSupport
import TestSupport
import Testing

@testable import AuthEtcd

@Suite("Records that the watch has reported", .timeLimit(.minutes(2)))
struct ReportedRecordsTests {
    private static let places = EtcdPlaces(prefix: "/p")

    private static func change(
        _ key: String, at revision: Int64, bytes: Int = 5, lease: Int64 = 0, isDeletion: Bool = false
    ) -> WatchChange {
        let value = [UInt8](repeating: 1, count: bytes)
        return WatchChange(
            entry: EtcdEntry(key: "/p/" + key, value: value, modRevision: revision, lease: lease),
            isDeletion: isDeletion)
    }

    private static func reported(_ changes: WatchChange...) -> ReportedRecords {
        var records = ReportedRecords()
        records.apply(changes, at: places)
        return records
    }

    @Test("are used once, with the lease that was written at the same revision")
    func lease() throws {
        let work = try SessionName("work")
        var records = Self.reported(
            Self.change("sessions/work", at: 8), Self.change("lifetimes/work", at: 8, bytes: 0, lease: 70))
        let (first, second) = (records.next(work), records.next(work))
        #expect(first?.record.modRevision == 8 && first?.lifetime == .found(70) && second == nil)
        records = Self.reported(
            Self.change("lifetimes/work", at: 7, lease: 60), Self.change("sessions/work", at: 8),
            Self.change("lifetimes/home", at: 8, lease: 70))
        #expect(records.next(work)?.lifetime == .unread)
    }

    @Test("are not used if a later one was read or written, or reported as gone", arguments: [7, 8, 9] as [Int64])
    func later(used: Int64) throws {
        let work = try SessionName("work")
        var records = Self.reported(Self.change("sessions/work", at: 8))
        records.used(work, at: used)
        records.used(work, at: 1)
        let isUsed = records.next(work) != nil
        #expect(isUsed == (used <= 8))
        records = Self.reported(
            Self.change("sessions/work", at: 8), Self.change("sessions/work", at: 9, isDeletion: true))
        #expect(records.next(work) == nil)
    }

    @Test("are not used after the end of the watch, which may have missed later ones")
    func end() throws {
        let work = try SessionName("work")
        var records = Self.reported(Self.change("sessions/work", at: 8))
        records.watchEnded()
        #expect(records.next(work) == nil)
        // In another history, a lower revision may be later.
        records.used(work, at: 9)
        records.wentBack()
        records.apply([Self.change("sessions/work", at: 5)], at: Self.places)
        #expect(records.next(work)?.record.modRevision == 5)
    }

    @Test("are kept up to a number and a length")
    func limits() throws {
        var records = ReportedRecords()
        for number in 1...65 { records.apply([Self.change("sessions/s\(number)", at: 8)], at: Self.places) }
        let (last, tooMany) = (records.next(try SessionName("s64")), records.next(try SessionName("s65")))
        #expect(last != nil && tooMany == nil)
        records.apply([Self.change("sessions/large", at: 9, bytes: (64 << 10) + 1)], at: Self.places)
        #expect(records.next(try SessionName("large")) == nil)
    }

    @Test("are read without a request for them, with the dates of this host")
    func host() async throws {
        try await TwoHosts.running(clockError: .seconds(600)) { hosts in
            let (one, two) = (hosts.store, hosts.other)
            let name = try SessionName("work")
            var renewed = try etcdSample(generation: 2)
            let (here, there) = (HostClock().now().wall, HostClock(error: .seconds(600)).now().wall)
            (renewed.tokens.issuedAt, renewed.tokens.expiresAt) = (here, here + .seconds(3600))
            _ = try await one.update(renewed, replacesOther: false)
            #expect(try await until { await two.reported.has(name) })
            let found = try #require(try await two.loadReported(name))
            let left = await two.reported.has(name)
            let end = try #require(found.tokens.expiresAt)
            #expect(found.generation == 2 && !left)
            #expect(abs((end - there).seconds - 3600) < 30)
            // Without a report, the record is requested.
            #expect(try await two.loadReported(name) == found)
        }
    }
}

extension ReportedRecords {
    fileprivate func has(_ session: SessionName) -> Bool {
        var copy = self
        return copy.next(session) != nil
    }
}
