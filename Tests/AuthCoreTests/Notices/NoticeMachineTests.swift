import AuthCore
import AuthWire
import Testing

@Suite("What a person is told")
struct NoticeMachineTests {
    private static let start = BootInstant(sinceBoot: .seconds(100))

    /// A session at a moment, and what is shown then.
    struct Row: Sendable, CustomTestStringConvertible {
        let what: String
        let view: NoticeView
        var after = Duration.zero
        let shown: [Notice.Reason]
        var testDescription: String { what }
    }

    private static func status(
        _ state: SessionState, cause: String? = nil, unsaved: Bool = false, named name: String = "shop"
    ) -> SessionStatus {
        guard let session = try? SessionName(name) else { preconditionFailure("no name: \(name)") }
        return SessionStatus(session: session, provider: "shop", state: state, cause: cause, unsaved: unsaved)
    }

    private static let stale = status(.stale, cause: "provider_unreachable")

    @Test(
        "only what needs a person is told",
        arguments: [
            Row(what: "all is well", view: NoticeView(sessions: [status(.active)]), shown: []),
            Row(what: "a sign-in under way", view: NoticeView(sessions: [status(.signingIn)]), shown: []),
            Row(what: "a final no", view: NoticeView(sessions: [status(.signInRequired)]), shown: [.signInRequired]),
            Row(what: "a blip", view: NoticeView(sessions: [stale]), after: .seconds(599), shown: []),
            Row(what: "ten bad minutes", view: NoticeView(sessions: [stale]), after: .seconds(600), shown: [.stale]),
            Row(
                what: "a day without a network", view: NoticeView(sessions: [stale], network: .offline),
                after: .seconds(86_400), shown: []),
            Row(
                what: "a portal", view: NoticeView(sessions: [stale], network: .portal), after: .seconds(86_400),
                shown: []),
            Row(
                what: "its own network is away",
                view: NoticeView(sessions: [status(.stale, cause: "offline")]), after: .seconds(86_400), shown: []),
            Row(
                what: "a locked keyring that nobody wants",
                view: NoticeView(sessions: [status(.keyringLocked)], store: .locked), after: .seconds(86_400), shown: []
            ),
            Row(
                what: "a locked keyring that somebody wants", view: NoticeView(store: .locked, isStoreWanted: true),
                shown: [.keyringLocked]),
            Row(
                what: "a locked keyring that a token waits for",
                view: NoticeView(sessions: [status(.active, unsaved: true)], store: .locked), shown: [.keyringLocked]),
        ])
    func rows(_ row: Row) {
        var machine = NoticeMachine()
        _ = machine.handle(.looked(row.view), at: Self.start)
        _ = machine.handle(.wake, at: Self.start + row.after)
        #expect(machine.shown.values.map(\.reason) == row.shown)
    }

    @Test("it asks to be woken when the ten minutes are over, and is not woken for anything else")
    func alarm() {
        var machine = NoticeMachine()
        var actions = machine.handle(.looked(NoticeView(sessions: [Self.stale])), at: Self.start)
        #expect(actions == [.wakeAt(Self.start + .seconds(600))])
        #expect(machine.handle(.looked(NoticeView(sessions: [Self.stale])), at: Self.start + .seconds(5)).isEmpty)
        actions = machine.handle(.looked(NoticeView(sessions: [Self.status(.active)])), at: Self.start + .seconds(9))
        #expect(actions == [.wakeAt(nil)])
    }

    @Test("a network that comes back begins the ten minutes anew")
    func networkBack() {
        var machine = NoticeMachine()
        _ = machine.handle(.looked(NoticeView(sessions: [Self.stale])), at: Self.start)
        let away = NoticeView(sessions: [Self.stale], network: .offline)
        _ = machine.handle(.looked(away), at: Self.start + .seconds(300))
        _ = machine.handle(.looked(NoticeView(sessions: [Self.stale])), at: Self.start + .seconds(500))
        _ = machine.handle(.wake, at: Self.start + .seconds(1099))
        #expect(machine.shown.isEmpty)
        _ = machine.handle(.wake, at: Self.start + .seconds(1100))
        #expect(machine.shown.count == 1)
    }

    @Test("what has healed is taken back, and told anew when it happens again")
    func healed() throws {
        var machine = NoticeMachine()
        let ended = NoticeView(sessions: [Self.status(.signInRequired)])
        let first = machine.handle(.looked(ended), at: Self.start)
        let notice = try #require(machine.shown.values.first)
        #expect(first == [.show(notice)])
        #expect(notice.command == "authc login shop -s shop" && notice.message.contains("authc login shop -s shop"))
        #expect(machine.handle(.looked(ended), at: Self.start).isEmpty)
        let well = NoticeView(sessions: [Self.status(.active)])
        #expect(machine.handle(.looked(well), at: Self.start) == [.withdraw(notice)])
        #expect(machine.handle(.looked(ended), at: Self.start) == [.show(notice)])
        #expect(machine.handle(.looked(NoticeView()), at: Self.start) == [.withdraw(notice)])
    }

    @Test("what a person has put away stays away until it was over, or is something else")
    func dismissed() {
        var machine = NoticeMachine()
        let session = Self.stale.session
        _ = machine.handle(.looked(NoticeView(sessions: [Self.stale])), at: Self.start)
        _ = machine.handle(.wake, at: Self.start + .seconds(600))
        _ = machine.handle(.dismissed(.session(session)), at: Self.start + .seconds(601))
        _ = machine.handle(.wake, at: Self.start + .seconds(5000))
        #expect(machine.shown.isEmpty)
        let ended = NoticeView(sessions: [Self.status(.signInRequired)])
        _ = machine.handle(.looked(ended), at: Self.start + .seconds(5000))
        #expect(machine.shown.values.map(\.reason) == [.signInRequired])
    }

    @Test("of a hundred that ended five are shown, and the next when one of those is over")
    func many() {
        var machine = NoticeMachine()
        var all = (0..<100).map { Self.status(.signInRequired, named: "s\($0)") }
        #expect(machine.handle(.looked(NoticeView(sessions: all)), at: Self.start).count == NoticeMachine.most)
        all.removeFirst()
        let actions = machine.handle(.looked(NoticeView(sessions: all)), at: Self.start)
        #expect(actions.count == 2 && machine.shown.count == NoticeMachine.most)
    }
}
