import AuthModel
import AuthWire

/// The dates of tokens that another host has written, by this host's clock.
///
/// Hosts' clocks differ, so a record also has how much of each lifetime was left when it was written. A host computes
/// its own dates from that and from the time since the write, and keeps them as long as the tokens stay.
struct SharedLifetimes: Sendable {
    /// What is left of the access token and of the refresh token; `nil`: not known.
    struct Remaining: Sendable, Equatable {
        var access: Duration?
        var refresh: Duration?

        init(of record: SessionRecord, at now: WallTime) {
            access = record.tokens.expiresAt.map { max(.zero, $0 - now) }
            refresh = record.tokens.refreshLife.map { max(.zero, $0.expiresAt - now) }
        }

        init(_ json: JSON?) {
            func duration(_ key: String) -> Duration? {
                json?[key]?.integerValue.flatMap { $0 >= 0 ? .milliseconds($0) : nil }
            }
            (access, refresh) = (duration("access_left_ms"), duration("refresh_left_ms"))
        }

        var members: [(String, JSON)] {
            [("access_left_ms", access), ("refresh_left_ms", refresh)].compactMap { name, left in
                left.map { (name, .integer(Int64($0 / .milliseconds(1)))) }
            }
        }
    }

    /// How long ago a record was written.
    struct Age: Sendable, Equatable {
        var time = Duration.zero
        /// Otherwise it may be more: the access token has ended, or its end is unknown.
        var isExact = true
    }

    private struct Dates {
        private let version: RecordVersion
        private let tokens: TokenPair
        private(set) var issuedAt: WallTime
        private(set) var expiresAt: WallTime?
        private(set) var refreshLife: TokenLife?
        /// The date of the boot, by the clock that gave these dates.
        private var boot: WallTime

        init(_ record: SessionRecord, at now: Moment) {
            (version, tokens) = (record.version, record.tokens.pair)
            (issuedAt, expiresAt) = (record.tokens.issuedAt, record.tokens.expiresAt)
            refreshLife = record.tokens.refreshLife
            boot = Self.boot(now)
        }

        /// After a restore, other tokens may have the same generation.
        func belong(to record: SessionRecord) -> Bool {
            version.hasSameTokens(as: record.version) && tokens == record.tokens.pair
        }

        /// Corrects the dates if the clock has been set since.
        mutating func correct(at now: Moment) {
            let present = Self.boot(now)
            let shift = present - boot
            guard abs(shift.seconds) >= SharedLifetimes.noticeableShift.seconds else { return }
            boot = present
            issuedAt = issuedAt + shift
            expiresAt = expiresAt.map { $0 + shift }
            refreshLife = refreshLife.map {
                TokenLife(issuedAt: $0.issuedAt + shift, expiresAt: $0.expiresAt + shift)
            }
        }

        private static func boot(_ now: Moment) -> WallTime { now.date(of: BootInstant(nanoseconds: 0)) }
    }

    /// Dates that differ by less than this are those of the other host: nothing is gained by replacing them.
    static let tolerance = Duration.seconds(3)
    /// A time server moves the clock by less than this.
    static let noticeableShift = Duration.seconds(2)

    private var known: [SessionName: Dates] = [:]

    /// These dates are by this host's clock.
    mutating func wrote(_ record: SessionRecord, at now: Moment) {
        known[record.session] = Dates(record, at: now)
    }

    mutating func forget(_ session: SessionName) { known[session] = nil }

    /// Whether its dates are known already.
    func knows(_ record: SessionRecord) -> Bool {
        known[record.session]?.belong(to: record) ?? false
    }

    /// The record with dates of this host.
    /// - Parameters:
    ///   - remaining: when it was written.
    ///   - age: since then.
    mutating func localized(_ record: SessionRecord, remaining: Remaining, age: Age, at moment: Moment)
        -> SessionRecord
    {
        var local = record
        let now = moment.wall
        if var dates = known[record.session], dates.belong(to: record) {
            dates.correct(at: moment)
            known[record.session] = dates
            (local.tokens.issuedAt, local.tokens.expiresAt) = (dates.issuedAt, dates.expiresAt)
            local.tokens.refreshLife = dates.refreshLife
            return local
        }
        if let expiresAt = record.tokens.expiresAt, let left = remaining.access {
            let end = now + max(.zero, left - age.time)
            if abs((end - expiresAt).seconds) >= Self.tolerance.seconds {
                local.tokens.issuedAt = end + (record.tokens.issuedAt - expiresAt)
                local.tokens.expiresAt = end
            }
        }
        if age.isExact, let life = record.tokens.refreshLife, let left = remaining.refresh {
            let end = now + max(.zero, left - age.time)
            if abs((end - life.expiresAt).seconds) >= Self.tolerance.seconds {
                local.tokens.refreshLife = TokenLife(issuedAt: end + (life.issuedAt - life.expiresAt), expiresAt: end)
            }
        }
        wrote(local, at: moment)
        return local
    }
}
