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

    @Test("an end is fixed if a renewal did not move it, give or take a rounded second")
    func fixed() throws {
        func renewed(after seconds: Double, endMovedBy: Double) throws -> Bool? {
            let former = try Self.status(life: 10)
            var new = former
            new.issuedAt = (former.issuedAt ?? 0) + seconds
            new.endsAt = (former.endsAt ?? 0) + endMovedBy
            return SessionEnd.isFixed(from: former, to: new)
        }
        #expect(try renewed(after: 3600, endMovedBy: 0) == true)
        #expect(try renewed(after: 3600, endMovedBy: -1) == true)
        #expect(try renewed(after: 3600, endMovedBy: 1) == true)
        #expect(try renewed(after: 3600, endMovedBy: 3600) == false)
        #expect(try renewed(after: 0, endMovedBy: 0) == nil)
    }
}
