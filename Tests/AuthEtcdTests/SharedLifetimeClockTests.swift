import AuthModel
import AuthWire
import EtcdTestSupport
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

    @Test("stay when a time server moves the clock a little")
    func trimmed() throws {
        var lifetimes = SharedLifetimes()
        let record = try etcdSample()
        lifetimes.wrote(record, at: try Self.moment(.seconds(1)))
        let read = lifetimes.localized(
            record, remaining: .init(nil), age: .init(), at: try Self.moment(.seconds(9), shift: .milliseconds(900)))
        #expect(read.tokens == record.tokens)
    }
}
