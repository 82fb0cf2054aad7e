import AuthMachines
import AuthModel
import AuthWire
import Testing

/// What the buttons of notices open.
@Suite("Windows of notices")
struct NoticeWindowTests {
    private static let session = NoticeMachineTests.status(.signInRequired).session
    private static let subject = Notice.Subject.session(session)

    private static func moment(_ seconds: Int) -> Moment { NoticeMachineTests.moment(.seconds(seconds)) }

    /// Shows that a session has ended.
    private static func machine() -> NoticeMachine {
        var machine = NoticeMachine()
        machine.handle(.turned(on: true), at: moment(0))
        machine.handle(.changed(ended), at: moment(0))
        return machine
    }

    private static let ended = NoticeInput(sessions: [NoticeMachineTests.status(.signInRequired)])
    private static let active = NoticeInput(sessions: [NoticeMachineTests.status(.active)])

    private static func click(
        _ machine: inout NoticeMachine, _ seconds: Int, key: String = "sign-in"
    ) -> [NoticeAction] {
        machine.handle(.chosen(subject, key: key, activation: "token"), at: moment(seconds)).actions
    }

    @Test("the button about a sealed store opens that, not the agent's lock")
    func sealedStore() {
        #expect(SignInCommand.openStore.arguments == ["store", "unlock"])
        #expect(Notice.sealed.command == "authc store unlock")
        #expect(Notice.sealed.message.hasSuffix(": authc store unlock"))
    }

    @Test("a sign-in opens one window, with the desktop's token, however often the user clicks")
    func once() throws {
        var machine = Self.machine()
        let notice = try #require(machine.shown.values.first)
        #expect(
            Self.click(&machine, 1) == [.publish(.chosen, notice), .openWindow(notice, activation: "token")])
        #expect(Self.click(&machine, 1).isEmpty)
        #expect(Self.click(&machine, 60, key: "default").isEmpty)
        // A terminal that hands over to another process is gone at once.
        machine.handle(.windowClosed(Self.subject, signedIn: false, nil), at: Self.moment(61))
        #expect(!Self.click(&machine, 62).isEmpty)
        machine.handle(.windowClosed(Self.subject, signedIn: false, nil), at: Self.moment(62))
        #expect(Self.click(&machine, 71).isEmpty)
        #expect(!Self.click(&machine, 72).isEmpty)
    }

    @Test("a window that stays open disables the button for 15 minutes only")
    func stuck() {
        var machine = Self.machine()
        #expect(!Self.click(&machine, 1).isEmpty)
        #expect(Self.click(&machine, 900).isEmpty)
        #expect(!Self.click(&machine, 901).isEmpty)
    }

    @Test("a click after the session is healed, or before anything was wrong, opens nothing")
    func healed() {
        var machine = Self.machine()
        machine.handle(.changed(Self.active), at: Self.moment(1))
        #expect(Self.click(&machine, 2).isEmpty)
        var other = NoticeMachine()
        #expect(Self.click(&other, 2).isEmpty)
    }

    @Test("a sign-in in the browser reports its success for ten seconds")
    func success() throws {
        var machine = Self.machine()
        _ = Self.click(&machine, 1)
        machine.handle(.dismissed(Self.subject), at: Self.moment(1))
        machine.handle(.changed(Self.active), at: Self.moment(20))
        let turn = machine.handle(.windowClosed(Self.subject, signedIn: true, nil), at: Self.moment(20))
        let notice = try #require(machine.shown[Self.subject])
        #expect(notice.reason == .signedIn && notice.button == nil)
        #expect(turn.actions == [.show(notice), .publish(.shown, notice)])
        #expect(turn.wakeUp == Self.moment(30).boot)
        #expect(
            machine.handle(.wake, at: Self.moment(30)).actions
                == [.withdraw(Self.subject), .publish(.withdrawn, notice)])
        // The sessions' state may come after the end of the command.
        var late = Self.machine()
        _ = Self.click(&late, 1)
        late.handle(.windowClosed(Self.subject, signedIn: true, nil), at: Self.moment(20))
        #expect(late.shown[Self.subject]?.reason == .signInRequired)
        late.handle(.changed(Self.active), at: Self.moment(21))
        #expect(late.shown[Self.subject]?.reason == .signedIn)
    }

    @Test("a failure is shown although the notice was closed, with a terminal as the next way")
    func failure() throws {
        var machine = Self.machine()
        _ = Self.click(&machine, 1)
        machine.handle(.dismissed(Self.subject), at: Self.moment(1))
        #expect(machine.shown.isEmpty)
        machine.handle(.windowClosed(Self.subject, signedIn: false, .inBrowser), at: Self.moment(30))
        let failed = try #require(machine.shown[Self.subject])
        #expect(failed.reason == .signInFailed && failed.message.contains("authc login shop -s shop"))
        #expect(failed.button?.action == .signIn(terminal: true))
        #expect(Self.click(&machine, 31).contains(.openWindow(failed, activation: "token")))
        machine.handle(.windowClosed(Self.subject, signedIn: false, .noTerminal), at: Self.moment(32))
        let none = try #require(machine.shown[Self.subject])
        #expect(none.reason == .noTerminal && none.button == nil && none.message.contains("authc login shop"))
        #expect(Self.click(&machine, 60).isEmpty)
        // The user has seen it. It is not shown again as something else.
        machine.handle(.dismissed(Self.subject), at: Self.moment(61))
        machine.handle(.changed(Self.ended), at: Self.moment(62))
        #expect(machine.shown.isEmpty)
        machine.handle(.changed(Self.active), at: Self.moment(63))
        machine.handle(.changed(Self.ended), at: Self.moment(64))
        #expect(machine.shown[Self.subject]?.reason == .signInRequired)
    }

    @Test("a window that closes without a result leaves a closed notice closed")
    func given() {
        var machine = Self.machine()
        _ = Self.click(&machine, 1)
        machine.handle(.dismissed(Self.subject), at: Self.moment(1))
        machine.handle(.windowClosed(Self.subject, signedIn: false, nil), at: Self.moment(30))
        machine.handle(.changed(Self.ended), at: Self.moment(31))
        #expect(machine.shown.isEmpty)
    }

    // MARK: The end of a refresh token

    private static let day = 86_400

    /// A session whose refresh token ends in 30 days.
    private static func ending(fixed: Bool, issuedAt: Int = 0) -> NoticeInput {
        var status = NoticeMachineTests.status(.active)
        let start = moment(0).wall.unixSeconds
        (status.signedInAt, status.issuedAt) = (start, start + Double(issuedAt))
        status.endsAt = start + Double(30 * day)
        status.isEndFixed = fixed
        return NoticeInput(sessions: [status])
    }

    @Test("the end of a refresh token is shown 7 days and 1 day before, with an alarm for both")
    func ends() throws {
        var machine = NoticeMachine()
        machine.handle(.turned(on: true), at: Self.moment(0))
        let view = Self.ending(fixed: true)
        var turn = machine.handle(.changed(view), at: Self.moment(0))
        #expect(turn.actions.isEmpty && turn.wakeUp == Self.moment(23 * Self.day).boot)
        turn = machine.handle(.wake, at: Self.moment(23 * Self.day))
        let week = try #require(machine.shown[Self.subject])
        #expect(week.reason == .endsWithinWeek && week.button?.key == "sign-in")
        #expect(turn.actions == [.show(week), .publish(.shown, week)])
        #expect(turn.wakeUp == Self.moment(29 * Self.day).boot)
        // Closing the first one does not close the second.
        machine.handle(.dismissed(Self.subject), at: Self.moment(24 * Self.day))
        #expect(machine.handle(.wake, at: Self.moment(28 * Self.day)).actions.isEmpty)
        machine.handle(.wake, at: Self.moment(29 * Self.day))
        let last = try #require(machine.shown[Self.subject])
        #expect(last.reason == .endsWithinDay)
        #expect(Self.click(&machine, 29 * Self.day).contains(.openWindow(last, activation: "token")))
        // A new sign-in moves the end.
        let active = machine.handle(.changed(Self.active), at: Self.moment(29 * Self.day + 60)).actions
        #expect(active == [.withdraw(Self.subject), .publish(.withdrawn, last)])
    }

    @Test("a token whose end moves with each renewal is not reported while it is renewed")
    func moves() {
        var machine = NoticeMachine()
        machine.handle(.changed(Self.ending(fixed: false, issuedAt: 24 * Self.day)), at: Self.moment(25 * Self.day))
        #expect(machine.shown.isEmpty)
        machine.handle(.wake, at: Self.moment(29 * Self.day))
        #expect(machine.shown.values.map(\.reason) == [.endsWithinDay])
    }

    @Test("a session that has another notice has no second one about its end")
    func oneForEach() {
        var machine = NoticeMachine()
        var view = Self.ending(fixed: true)
        view.sessions[0].state = .stale
        machine.handle(.changed(view), at: Self.moment(29 * Self.day))
        #expect(machine.shown.values.map(\.reason) == [.endsWithinDay])
        machine.handle(.wake, at: Self.moment(29 * Self.day + 600))
        #expect(machine.shown.values.map(\.reason) == [.stale])
        view.sessions[0].state = .signInRequired
        machine.handle(.changed(view), at: Self.moment(29 * Self.day + 601))
        #expect(machine.shown.values.map(\.reason) == [.signInRequired])
    }
}
