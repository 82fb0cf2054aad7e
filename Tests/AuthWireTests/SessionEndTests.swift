import AuthWire
import Testing

@Suite("The end of a session")
struct SessionEndTests {
    private static let day = 86_400.0

    private static func status(
        life days: Double, since: Double = 0, fixed: Bool = true, state: SessionState = .active
    ) throws -> SessionStatus {
        var status = SessionStatus(session: try SessionName("work"), provider: "id", state: state)
        (status.signedInAt, status.issuedAt, status.endsAt) = (0, since * day, days * day)
        status.isEndFixed = fixed
        return status
    }

    @Test(
        "a warning covers at most half of the life",
        arguments: [
            (90, [83, 89]), (14, [7, 13]), (13, [12]), (2, [1]), (1.9, []), (0.02, []), (-1, []),
        ] as [(Double, [Double])])
    func lives(days: Double, warned: [Double]) throws {
        let end = SessionEnd(try Self.status(life: days))
        guard let end else { return #expect(warned.isEmpty) }
        var found: [Double] = []
        var now = 0.0
        while let next = end.nextChange(after: now) {
            if end.warning(at: next) != nil { found.append(next / Self.day) }
            now = next
        }
        #expect(found == warned && now == days * Self.day)
        #expect(end.warning(at: now) == nil && end.warning(at: 0) == nil)
    }

    @Test("a moving end counts from the last renewal, and a session that needs a sign-in has no warning")
    func starts() throws {
        let now = 9.5 * Self.day
        #expect(SessionEnd(try Self.status(life: 10))?.warning(at: now) == .day)
        #expect(SessionEnd(try Self.status(life: 10, since: 9, fixed: false)) == nil)
        #expect(SessionEnd(try Self.status(life: 10, since: 7, fixed: false))?.warning(at: now) == .day)
        for state in SessionState.allCases where state != .active && state != .stale {
            #expect(SessionEnd(try Self.status(life: 10, state: state)) == nil)
        }
        var unknown = try Self.status(life: 10)
        unknown.endsAt = nil
        #expect(SessionEnd(unknown) == nil)
    }

    /// - Parameter start: of the former token.
    private static func renewed(
        at start: Double = 0, after seconds: Double, ends: (former: Double, new: Double)
    ) throws -> Bool? {
        var former = try status(life: 10)
        (former.issuedAt, former.endsAt) = (start, ends.former)
        var new = former
        (new.issuedAt, new.endsAt) = (start + seconds, ends.new)
        return SessionEnd.isFixed(from: former, to: new)
    }

    @Test(
        "an end is fixed if a renewal moved it by less than half of the time between the two",
        arguments: [
            (3600, 0, true), (3600, -1, true), (3600, 1, true), (3600, 1799, true), (3600, 1800, false),
            (3600, 3600, false), (4, 1.5, true), (4, -3600, true), (4, 2, false),
        ] as [(Double, Double, Bool)])
    func fixed(interval: Double, move: Double, isFixed: Bool) throws {
        #expect(try Self.renewed(after: interval, ends: (1e6, 1e6 + move)) == isFixed)
    }

    @Test(
        "whether an end is fixed is not known from renewals that are too close",
        arguments: [0, 0.1, 1, 2, 3.9, -60] as [Double])
    func tooClose(interval: Double) throws {
        for move in [0, 0.5, 1, interval] {
            #expect(try Self.renewed(after: interval, ends: (1e6, 1e6 + move)) == nil)
        }
    }

    /// How a server reports an end: the lifetime in whole seconds, or the date.
    enum Report: CaseIterable {
        case lifetimeDown, lifetimeUp, lifetimeNearest, date

        /// As authd knows the end: a lifetime counts from the request, which came to the server a moment before.
        func end(_ end: Double, requestedAt now: Double, delay: Double) -> Double {
            let left = end - now - delay
            return switch self {
            case .lifetimeDown: now + left.rounded(.down)
            case .lifetimeUp: now + left.rounded(.up)
            case .lifetimeNearest: now + left.rounded()
            case .date: end.rounded(.down)
            }
        }
    }

    @Test(
        "whole seconds do not make a fixed end look like a moving one, nor a moving one like a fixed one",
        arguments: Report.allCases)
    func wholeSeconds(report: Report) throws {
        let delays = [(0.0, 0.0), (0.9, 0.0), (0.0, 0.9)]
        for interval in [4.1, 4.3, 5, 7.7, 60, 3600] {
            for part in 0..<10 {
                for (former, new) in delays {
                    let (start, life) = (1e6 + Double(part) / 10, 864_000.5)
                    func ends(_ later: Double) -> (Double, Double) {
                        (
                            report.end(start + life, requestedAt: start, delay: former),
                            report.end(start + later + life, requestedAt: start + interval, delay: new)
                        )
                    }
                    #expect(try Self.renewed(at: start, after: interval, ends: ends(0)) == true)
                    #expect(try Self.renewed(at: start, after: interval, ends: ends(interval)) == false)
                }
            }
        }
    }
}
