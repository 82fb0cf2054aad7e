import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Notices")
struct NoticeMachineTests {
    static func moment(_ elapsed: Duration = .zero) -> Moment {
        Moment(
            boot: BootInstant(sinceBoot: .seconds(100) + elapsed),
            wall: WallTime(unixSeconds: 1_800_000_000 + elapsed.seconds))
    }

    /// A session at a moment, and what is shown then.
    struct Row: Sendable, CustomTestStringConvertible {
        let what: String
        let view: NoticeInput
        var after = Duration.zero
        let shown: [Notice.Reason]
        var testDescription: String { what }
    }

    static func status(
        _ state: SessionState, cause: String? = nil, unsaved: Bool = false, named name: String = "shop",
        at provider: String = "shop"
    ) -> SessionStatus {
        guard let session = try? SessionName(name) else { preconditionFailure("no name: \(name)") }
        return SessionStatus(session: session, provider: provider, state: state, cause: cause, unsaved: unsaved)
    }

    private static let stale = status(.stale, cause: "provider_unreachable")

    @Test(
        "only what needs a user is reported",
        arguments: [
            Row(what: "all is well", view: NoticeInput(sessions: [status(.active)]), shown: []),
            Row(what: "a sign-in in progress", view: NoticeInput(sessions: [status(.signingIn)]), shown: []),
            Row(what: "a final no", view: NoticeInput(sessions: [status(.signInRequired)]), shown: [.signInRequired]),
            Row(what: "a blip", view: NoticeInput(sessions: [stale]), after: .seconds(599), shown: []),
            Row(what: "ten bad minutes", view: NoticeInput(sessions: [stale]), after: .seconds(600), shown: [.stale]),
            Row(
                what: "a day without a network", view: NoticeInput(sessions: [stale], network: .offline),
                after: .seconds(86_400), shown: []),
            Row(
                what: "a portal", view: NoticeInput(sessions: [stale], network: .portal), after: .seconds(86_400),
                shown: []),
            Row(
                what: "its own network is away",
                view: NoticeInput(sessions: [status(.stale, cause: "offline")]), after: .seconds(86_400), shown: []),
            Row(
                what: "a locked keyring that no request needs",
                view: NoticeInput(sessions: [status(.keyringLocked)], store: .locked), after: .seconds(86_400),
                shown: []
            ),
            Row(
                what: "a locked keyring that a request needs",
                view: NoticeInput(store: .locked, isStoreRequested: true),
                shown: [.keyringLocked]),
            Row(
                what: "a locked keyring that a token waits for",
                view: NoticeInput(sessions: [status(.active, unsaved: true)], store: .locked), shown: [.keyringLocked]),
        ])
    func rows(_ row: Row) {
        var machine = NoticeMachine()
        machine.handle(.changed(row.view), at: Self.moment())
        machine.handle(.wake, at: Self.moment(row.after))
        #expect(machine.shown.values.map(\.reason) == row.shown)
    }

    @Test("missing scopes are reported once, and not beside another notice about the session")
    func missingScopes() throws {
        var machine = NoticeMachine()
        let missing = MissingScopes(
            session: try SessionName("shop"), provider: "shop", scopes: ["write"],
            command: SignInCommand(arguments: ["login", "shop", "-s", "shop", "--scope", "write"]))
        let view = NoticeInput(sessions: [Self.status(.active)], missingScopes: [missing])
        let first = machine.handle(.changed(view), at: Self.moment()).actions
        let notice = try #require(machine.shown.values.first)
        #expect(first == [.publish(.shown, notice)])
        #expect(notice.reason == .insufficientScope && notice.message.contains(missing.command.text))
        #expect(notice.button?.key == "sign-in")
        #expect(machine.handle(.changed(view), at: Self.moment()).actions.isEmpty)
        machine.handle(.dismissed(notice.subject), at: Self.moment())
        #expect(machine.handle(.changed(view), at: Self.moment()).actions.isEmpty)
        let ended = NoticeInput(sessions: [Self.status(.signInRequired)], missingScopes: [missing])
        machine.handle(.changed(ended), at: Self.moment())
        #expect(machine.shown.values.map(\.reason) == [.signInRequired])
        // A scope that a desktop reads as markup, and one that a shell would run.
        for scope in ["<b>", "<\u{301}b>\u{301}", "$(reboot)", "a;reboot", "`reboot`", "a b", "a'b"] {
            let odd = MissingScopes(
                session: missing.session, provider: "shop", scopes: [scope],
                command: SignInCommand(arguments: ["login", "shop", "--scope", scope]))
            let notice = Notice.insufficientScope(odd)
            #expect(!notice.message.unicodeScalars.contains("<") && notice.button == nil, "\(scope)")
        }
    }

    @Test("it asks to be woken when the ten minutes are over, and is not woken for anything else")
    func alarm() {
        var machine = NoticeMachine()
        let stale = NoticeInput(sessions: [Self.stale])
        let due = Self.moment(.seconds(600)).boot
        var turn = machine.handle(.changed(stale), at: Self.moment())
        #expect(turn.wakeUp == due && turn.actions.isEmpty)
        turn = machine.handle(.changed(stale), at: Self.moment(.seconds(5)))
        #expect(turn.wakeUp == due && turn.actions.isEmpty)
        turn = machine.handle(.changed(NoticeInput(sessions: [Self.status(.active)])), at: Self.moment(.seconds(9)))
        #expect(turn.wakeUp == nil && turn.actions.isEmpty)
    }

    @Test("a network that comes back begins the ten minutes again")
    func networkBack() {
        var machine = NoticeMachine()
        let stale = NoticeInput(sessions: [Self.stale])
        machine.handle(.changed(stale), at: Self.moment())
        let away = NoticeInput(sessions: [Self.stale], network: .offline)
        machine.handle(.changed(away), at: Self.moment(.seconds(300)))
        machine.handle(.changed(stale), at: Self.moment(.seconds(500)))
        machine.handle(.wake, at: Self.moment(.seconds(1099)))
        #expect(machine.shown.isEmpty)
        machine.handle(.wake, at: Self.moment(.seconds(1100)))
        #expect(machine.shown.count == 1)
    }

    @Test("the command for a provider that is a URL can be pasted into a shell")
    func quotedProvider() {
        let status = Self.status(.signInRequired, at: "https://mcp.example/mcp?team=a&b")
        #expect(Notice.signIn(status).command == "authc login 'https://mcp.example/mcp?team=a&b' -s shop")
    }

    @Test("what has healed is withdrawn, and reported again when it happens again")
    func healed() throws {
        var machine = NoticeMachine()
        let ended = NoticeInput(sessions: [Self.status(.signInRequired)])
        let first = machine.handle(.changed(ended), at: Self.moment()).actions
        let notice = try #require(machine.shown.values.first)
        #expect(first == [.publish(.shown, notice)])
        #expect(notice.command == "authc login shop -s shop" && notice.message.contains("authc login shop -s shop"))
        #expect(machine.handle(.changed(ended), at: Self.moment()).actions.isEmpty)
        let well = NoticeInput(sessions: [Self.status(.active)])
        #expect(machine.handle(.changed(well), at: Self.moment()).actions == [.publish(.withdrawn, notice)])
        #expect(machine.handle(.changed(ended), at: Self.moment()).actions == [.publish(.shown, notice)])
        #expect(machine.handle(.changed(NoticeInput()), at: Self.moment()).actions == [.publish(.withdrawn, notice)])
    }

    @Test("the desktop shows them while it is turned on, and none after the agent's end")
    func desktop() throws {
        var machine = NoticeMachine()
        let ended = NoticeInput(sessions: [Self.status(.signInRequired)])
        machine.handle(.changed(ended), at: Self.moment())
        let notice = try #require(machine.shown.values.first)
        #expect(machine.handle(.turned(on: true), at: Self.moment()).actions == [.show(notice)])
        #expect(machine.handle(.turned(on: true), at: Self.moment()).actions.isEmpty)
        #expect(machine.handle(.turned(on: false), at: Self.moment()).actions == [.withdraw(notice.subject)])
        machine.handle(.turned(on: true), at: Self.moment())
        #expect(
            machine.handle(.changed(NoticeInput()), at: Self.moment()).actions
                == [.withdraw(notice.subject), .publish(.withdrawn, notice)])
        #expect(
            machine.handle(.changed(ended), at: Self.moment()).actions == [.show(notice), .publish(.shown, notice)])
        #expect(machine.handle(.ended, at: Self.moment()).actions == [.withdraw(notice.subject)])
    }

    @Test("a choice is reported, and tries what can be tried; an unknown action does nothing")
    func chosen() throws {
        var machine = NoticeMachine()
        let subject = Notice.Subject.session(Self.stale.session)
        machine.handle(.turned(on: true), at: Self.moment())
        machine.handle(.changed(NoticeInput(sessions: [Self.stale])), at: Self.moment())
        #expect(machine.handle(.chosen(subject, key: "default"), at: Self.moment()).actions.isEmpty)
        machine.handle(.wake, at: Self.moment(.seconds(600)))
        let stale = try #require(machine.shown.values.first)
        for key in ["default", "try-now", "try-now"] {
            #expect(
                machine.handle(.chosen(subject, key: key), at: Self.moment(.seconds(601))).actions
                    == [.publish(.chosen, stale), .retry(stale)])
        }
        for key in ["", "sign-in", "unlock", "Try now", String(repeating: "x", count: 10_000)] {
            #expect(machine.handle(.chosen(subject, key: key), at: Self.moment(.seconds(601))).actions.isEmpty)
        }
        machine.handle(.turned(on: false), at: Self.moment(.seconds(602)))
        #expect(machine.handle(.chosen(subject, key: "default"), at: Self.moment(.seconds(602))).actions.isEmpty)
    }

    @Test("a notice is shown again a minute after the user has chosen to try again, unless it is over or closed")
    func retried() throws {
        let subject = Notice.Subject.session(Self.stale.session)
        var machine = NoticeMachine()
        machine.handle(.turned(on: true), at: Self.moment())
        machine.handle(.changed(NoticeInput(sessions: [Self.stale])), at: Self.moment())
        machine.handle(.wake, at: Self.moment(.seconds(600)))
        let stale = try #require(machine.shown.values.first)
        let turn = machine.handle(.chosen(subject, key: "try-now"), at: Self.moment(.seconds(700)))
        #expect(turn.wakeUp == Self.moment(.seconds(760)).boot)
        #expect(machine.handle(.wake, at: Self.moment(.seconds(759))).actions.isEmpty)
        var (over, closed) = (machine, machine)
        #expect(machine.handle(.wake, at: Self.moment(.seconds(760))).actions == [.show(stale)])
        #expect(machine.handle(.wake, at: Self.moment(.seconds(900))).actions.isEmpty)
        over.handle(.changed(NoticeInput()), at: Self.moment(.seconds(759)))
        #expect(over.handle(.wake, at: Self.moment(.seconds(760))).actions.isEmpty)
        closed.handle(.dismissed(subject), at: Self.moment(.seconds(759)))
        #expect(closed.handle(.wake, at: Self.moment(.seconds(760))).actions.isEmpty)
    }

    @Test("a keyring is asked to open, and a passphrase needs a window")
    func unlock() {
        for (kind, opens) in [(StoreKind.secretService, false), (.sealedFile, true)] {
            var machine = NoticeMachine()
            machine.handle(.turned(on: true), at: Self.moment())
            let view = NoticeInput(store: .locked, storeKind: kind, isStoreRequested: true)
            machine.handle(.changed(view), at: Self.moment())
            let actions = machine.handle(.chosen(.keyring, key: "default"), at: Self.moment()).actions
            #expect(actions.contains { if case .openWindow = $0 { true } else { false } } == opens)
            #expect(actions.contains { if case .retry = $0 { true } else { false } } == !opens)
        }
    }

    @Test("a notice that the user has closed stays away until it was over, or is something else")
    func dismissed() {
        var machine = NoticeMachine()
        let session = Self.stale.session
        machine.handle(.changed(NoticeInput(sessions: [Self.stale])), at: Self.moment())
        machine.handle(.wake, at: Self.moment(.seconds(600)))
        machine.handle(.dismissed(.session(session)), at: Self.moment(.seconds(601)))
        machine.handle(.wake, at: Self.moment(.seconds(5000)))
        #expect(machine.shown.isEmpty)
        let ended = NoticeInput(sessions: [Self.status(.signInRequired)])
        machine.handle(.changed(ended), at: Self.moment(.seconds(5000)))
        #expect(machine.shown.values.map(\.reason) == [.signInRequired])
    }

    @Test("five of a hundred ended sessions are shown, and the next one when one of those is withdrawn")
    func many() {
        var machine = NoticeMachine()
        var all = (0..<100).map { Self.status(.signInRequired, named: "s\($0)") }
        let first = machine.handle(.changed(NoticeInput(sessions: all)), at: Self.moment()).actions
        #expect(first.count == NoticeMachine.maxShown)
        all.removeFirst()
        let next = machine.handle(.changed(NoticeInput(sessions: all)), at: Self.moment()).actions
        #expect(next.count == 2 && machine.shown.count == NoticeMachine.maxShown)
    }
}
