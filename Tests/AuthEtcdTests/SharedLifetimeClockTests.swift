import AuthModel
import AuthWire
import EtcdTestSupport
import Synchronization
import Testing

@testable import AuthEtcd

@Suite("Dates of shared tokens after a clock was set")
struct SharedLifetimeClockTests {
    /// A moment so long after the record was issued, by a clock that was set by `shift`.
    private static func moment(_ elapsed: Duration, shift: Duration = .zero) throws -> Moment {
        let issuedAt = try etcdSample().tokens.issuedAt
        return Moment(boot: BootInstant(sinceBoot: .seconds(500) + elapsed), wall: issuedAt + (elapsed + shift))
    }

    @Test("follow the clock of the host, for its own tokens and for those of another host", arguments: [-600, 600])
    func set(seconds: Int) throws {
        let shift = Duration.seconds(seconds)
        for isOwn in [true, false] {
            var lifetimes = SharedLifetimes()
            let record = try etcdSample()
            let remaining = SharedLifetimes.Remaining(of: record, at: record.tokens.issuedAt)
            if isOwn { lifetimes.wrote(record, at: try Self.moment(.seconds(1))) }
            func read(_ record: SessionRecord, at moment: Moment) -> TokenSet {
                lifetimes.localized(record, remaining: remaining, age: .init(time: .seconds(10)), at: moment).tokens
            }
            #expect(read(record, at: try Self.moment(.seconds(10))) == record.tokens)
            let later = read(record, at: try Self.moment(.seconds(100), shift: shift))
            #expect(later.issuedAt == record.tokens.issuedAt + shift)
            #expect(later.expiresAt == record.tokens.expiresAt.map { $0 + shift })
            // Not a second time.
            #expect(read(record, at: try Self.moment(.seconds(200), shift: shift)) == later)
            // Another host has corrected its dates: those of this host stay.
            var corrected = record
            corrected.corrections += 1
            corrected.tokens.expiresAt = corrected.tokens.expiresAt.map { $0 + .seconds(7) }
            #expect(read(corrected, at: try Self.moment(.seconds(300), shift: shift)) == later)
        }
    }

    @Test("are not those of other tokens with the same generation")
    func otherTokens() throws {
        var lifetimes = SharedLifetimes()
        let record = try etcdSample()
        lifetimes.wrote(record, at: try Self.moment(.seconds(1)))
        var other = record
        other.tokens.accessToken = Secret("theirs")
        other.tokens.expiresAt = record.tokens.issuedAt + .seconds(600)
        let remaining = SharedLifetimes.Remaining(of: other, at: other.tokens.issuedAt)
        #expect(!lifetimes.knows(other))
        let read = lifetimes.localized(other, remaining: remaining, age: .init(), at: try Self.moment(.zero))
        #expect(read.tokens == other.tokens)
    }

    @Test("stay when a time server moves the clock a little")
    func trimmed() throws {
        var lifetimes = SharedLifetimes()
        let record = try etcdSample()
        lifetimes.wrote(record, at: try Self.moment(.seconds(1)))
        let read = lifetimes.localized(
            record, remaining: .init(nil), age: .init(), at: try Self.moment(.seconds(9), shift: .milliseconds(900)))
        #expect(read.tokens == record.tokens)
    }

    @Test(
        "follow a clock that is set during a write, and other hosts see the same lifetime of the token",
        arguments: [-600, 600], [true, false])
    func setDuringWrite(seconds: Int, isBeforeLease: Bool) async throws {
        let (clock, shift) = (SetClock(), Duration.seconds(seconds))
        let place = Base64.encode(Array("/p/sessions/work".utf8))
        let etcd = OneKey()
        let stored = Mutex<String?>(nil)
        let lives = Mutex<[String?]>([])
        let transport = ScriptedTransport { path, body throws(TransportError) in
            let header = #""header":{"cluster_id":"1","revision":"7"}"#
            if path == "lease/grant" {
                lives.withLock { $0.append(body["TTL"]?.stringValue) }
                return (200, "{\(header),\"ID\":\"5\",\"TTL\":\"3600\"}")
            }
            if path == "kv/range", body["key"]?.stringValue == place {
                if isBeforeLease { clock.set(by: shift) }
                guard let value = stored.withLock({ $0 }) else { return try etcd.answer(path, body) }
                let entry = "{\"key\":\"\(place)\",\"mod_revision\":\"7\",\"value\":\"\(value)\"}"
                return (200, "{\(header),\"kvs\":[\(entry)]}")
            }
            let put = body["success"]?[0]?["request_put"]
            if path == "kv/txn", put?["key"]?.stringValue == place {
                if !isBeforeLease { clock.set(by: shift) }
                stored.withLock { $0 = put?["value"]?.stringValue }
            }
            return try etcd.answer(path, body)
        }
        let store = EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: MemoryLocal(),
            transport: transport, clock: clock, pause: { _ in await Task.yield() })
        let record = try etcdSample()
        try await store.save(record)
        #expect(lives.withLock { $0 } == ["3600"])
        let read = try #require(try await store.load(record.session)).tokens
        #expect(read.issuedAt == record.tokens.issuedAt + shift)
        #expect(read.expiresAt == record.tokens.expiresAt.map { $0 + shift })
    }

    @Test("count the time for which a host was stopped before it got the remaining lifetime")
    func stopped() async throws {
        let clock = SetClock()
        let record = try etcdSample()
        let place = Base64.encode(Array("/p/lifetimes/work".utf8))
        let etcd = OneKey()
        let transport = ScriptedTransport { path, body throws(TransportError) in
            let header = #""header":{"cluster_id":"1","revision":"7"}"#
            if path == "lease/timetolive" {
                clock.pass(.seconds(11))
                return (200, "{\(header),\"ID\":\"5\",\"TTL\":\"3500\",\"grantedTTL\":\"3600\"}")
            }
            guard path == "kv/range", body["key"]?.stringValue == place else { return try etcd.answer(path, body) }
            return (200, "{\(header),\"kvs\":[{\"key\":\"\(place)\",\"lease\":\"5\",\"mod_revision\":\"7\"}]}")
        }
        let store = EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: MemoryLocal(),
            transport: transport, clock: clock, pause: { _ in await Task.yield() })
        let begin = clock.now().wall
        let content = await store.sharedContent(
            of: record, at: Moment(boot: clock.bootInstant, wall: record.tokens.issuedAt))
        let read = try await store.localized(record, try JSON(parsing: content.revealBytes()), .unread)
        #expect(read.tokens.expiresAt == begin + .seconds(3500))
    }
}

private final class SetClock: SystemClock {
    private let shift = Mutex(Duration.zero)
    private let passed = Mutex(Duration.zero)

    func set(by shift: Duration) { self.shift.withLock { $0 = shift } }

    func pass(_ time: Duration) { passed.withLock { $0 += time } }

    func now() -> Moment {
        Moment(
            boot: BootInstant(sinceBoot: .seconds(500) + passed.withLock { $0 }),
            wall: WallTime(unixSeconds: 1_800_000_000) + shift.withLock { $0 } + passed.withLock { $0 })
    }

    func sleep(until deadline: BootInstant) async throws {}
}
