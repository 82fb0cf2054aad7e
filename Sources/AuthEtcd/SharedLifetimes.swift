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
        let version: RecordVersion
        let issuedAt: WallTime
        let expiresAt: WallTime?
        let refreshLife: TokenLife?
    }

    /// Dates that differ by less than this are those of the other host: nothing is gained by replacing them.
    static let tolerance = Duration.seconds(3)

    private var known: [SessionName: Dates] = [:]

    /// These dates are by this host's clock.
    mutating func wrote(_ record: SessionRecord) {
        known[record.session] = Dates(
            version: record.version, issuedAt: record.tokens.issuedAt, expiresAt: record.tokens.expiresAt,
            refreshLife: record.tokens.refreshLife)
    }

    mutating func forget(_ session: SessionName) { known[session] = nil }

    /// Whether its dates are known already.
    func knows(_ record: SessionRecord) -> Bool {
        known[record.session]?.version.hasSameTokens(as: record.version) ?? false
    }

    /// The record with dates of this host.
    /// - Parameters:
    ///   - remaining: when it was written.
    ///   - age: since then.
    mutating func localized(_ record: SessionRecord, remaining: Remaining, age: Age, now: WallTime)
        -> SessionRecord
    {
        var local = record
        if let dates = known[record.session], dates.version.hasSameTokens(as: record.version) {
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
        wrote(local)
        return local
    }
}
