import AuthMachines
@testable import AuthModel
import AuthWire
import Testing

@Suite("Holds of sessions that hosts share")
struct LeaseMachineTests {
    fileprivate static let lease = LeaseID(7)
    fileprivate static let version = RecordVersion(
        signIn: SignInID(signedInAt: WallTime(unixSeconds: 0)), generation: 3, corrections: 0, revision: 1)

    /// The machine, its clock, and what it has decided.
    private struct Bench {
        var machine = LeaseMachine()
        var now = Duration.seconds(1000)
        var actions: [LeaseAction] = []
        var replies: [UInt64: LeaseReply] = [:]
        var wakeUp: BootInstant?

        var boot: BootInstant { BootInstant(sinceBoot: now) }

        mutating func send(_ event: LeaseEvent) {
            let turn = machine.handle(event, at: Moment(boot: boot, wall: WallTime(unixSeconds: 1_800_000_000)))
            actions = turn.actions
            for (caller, reply) in turn.replies { replies[caller.number] = reply }
            wakeUp = turn.wakeUp
        }

        mutating func sleep() throws {
            now = max(now, try #require(wakeUp).sinceBoot)
            send(.wake)
        }

        /// Sleeps, and answers what keeps the lease alive.
        mutating func sleepKeepingLease() throws {
            try sleep()
            guard actions.contains(.keepAlive(LeaseMachineTests.lease)) else { return }
            let others = actions.filter { $0 != .keepAlive(LeaseMachineTests.lease) }
            send(.keptAlive(LeaseMachineTests.lease, .success(.seconds(10)), sentAt: boot))
            actions += others
        }

        mutating func want(_ caller: UInt64, _ session: SessionName = work) {
            send(.wanted(CallerID(caller), session, for: LeaseMachineTests.version))
        }

        mutating func granted(_ lease: LeaseID = lease, lasts: Duration = .seconds(10)) {
            send(.granted(.success(GrantedLease(lease, lasts: lasts)), sentAt: boot))
        }

        /// With a lease, and the session of caller 1.
        static func holding() -> Bench {
            var bench = Bench()
            bench.want(1)
            bench.granted()
            bench.send(.holdEnded(work, lease, .success(.held(nil, after: .answered))))
            return bench
        }
    }

    private static var work: SessionName {
        do { return try SessionName("work") } catch { preconditionFailure("a valid name is refused") }
    }

    private static var home: SessionName {
        do { return try SessionName("home") } catch { preconditionFailure("a valid name is refused") }
    }

    @Test("hang on one lease, which is requested for the first and used for the next")
    func oneLease() {
        var bench = Bench()
        bench.want(1)
        #expect(bench.actions == [.grant])
        bench.want(2, Self.home)
        #expect(bench.actions.isEmpty && bench.replies.isEmpty)
        bench.granted()
        #expect(
            bench.actions == [
                .hold(Self.home, for: Self.version, Self.lease), .hold(Self.work, for: Self.version, Self.lease),
            ])
        bench.send(.holdEnded(Self.work, Self.lease, .success(.held(nil, after: .answered))))
        #expect(bench.replies == [1: .held(nil, isInterrupted: false)])
    }

    @Test("let a request of a renewal begin as long as the lease is kept alive, and by no other caller")
    func mayBegin() throws {
        var bench = Bench()
        func may(_ caller: UInt64) -> Bool { bench.machine.mayBegin(Self.work, for: CallerID(caller), at: bench.boot) }
        bench.want(1)
        bench.want(2)
        bench.granted()
        #expect(!may(1))
        bench.send(.holdEnded(Self.work, Self.lease, .success(.held(nil, after: .answered))))
        #expect(may(1) && !may(2))
        // Long after the first ten seconds of the lease.
        for _ in 1...10 { try bench.sleepKeepingLease() }
        #expect(bench.now >= .seconds(1020) && may(1))
        // A process that was stopped, and is asked before its machine has noticed.
        bench.now += .seconds(10)
        #expect(!may(1))
        // The hold was attached to the former lease.
        bench.send(.wanted(CallerID(3), Self.home, for: Self.version))
        bench.granted(LeaseID(8))
        #expect(!may(1))
    }

    @Test("of renewed tokens last until these are written, or there is nothing to write any more")
    func writing() throws {
        for isWritten in [true, false] {
            var bench = Bench.holding()
            bench.want(2)
            bench.send(.renewed(CallerID(1), Self.work))
            #expect(!bench.machine.mayBegin(Self.work, for: CallerID(1), at: bench.boot))
            // Long after the first ten seconds of the lease.
            for _ in 1...10 { try bench.sleepKeepingLease() }
            #expect(bench.replies.keys.sorted() == [1])
            // A late report about an earlier renewal.
            bench.send(.nothingToWrite(CallerID(9), Self.work))
            #expect(bench.actions.isEmpty && bench.machine.writer(of: Self.work) == CallerID(1))
            bench.send(isWritten ? .written(Self.work) : .nothingToWrite(CallerID(1), Self.work))
            if !isWritten {
                #expect(bench.actions == [.release(Self.work, leaving: .answered)])
                bench.send(.releaseEnded(Self.work))
            }
            #expect(bench.actions.contains(.hold(Self.work, for: Self.version, Self.lease)))
        }
        // A renewal that has not ended is not affected.
        var bench = Bench.holding()
        bench.send(.nothingToWrite(CallerID(1), Self.work))
        #expect(bench.actions.isEmpty && bench.machine.mayBegin(Self.work, for: CallerID(1), at: bench.boot))
    }

    @Test("keep the lease while they last, and not afterwards")
    func kept() throws {
        var bench = Bench.holding()
        try bench.sleep()
        #expect(bench.now == .seconds(1003) && bench.actions == [.keepAlive(Self.lease)])
        bench.send(.keptAlive(Self.lease, .success(.seconds(10)), sentAt: bench.boot))
        try bench.sleep()
        #expect(bench.now == .seconds(1006) && bench.actions == [.keepAlive(Self.lease)])
        bench.send(.keptAlive(Self.lease, .success(.seconds(10)), sentAt: bench.boot))
        bench.send(.written(Self.work))
        #expect(bench.actions.isEmpty && bench.wakeUp == nil)
        // The next one soon after uses it, too.
        bench.now += .seconds(2)
        bench.want(2)
        #expect(bench.actions == [.hold(Self.work, for: Self.version, Self.lease)])
    }

    @Test("need a lease that lasts long enough: it is kept first, or there is a new one")
    func enoughLeft() {
        var bench = Bench.holding()
        bench.send(.written(Self.work))
        bench.now += .seconds(5)
        bench.want(2)
        #expect(bench.actions == [.keepAlive(Self.lease)])
        bench.send(.keptAlive(Self.lease, .success(.seconds(10)), sentAt: bench.boot))
        #expect(bench.actions == [.hold(Self.work, for: Self.version, Self.lease)])
        bench.send(.holdEnded(Self.work, Self.lease, .success(.held(nil, after: .answered))))
        bench.send(.ended(CallerID(2), Self.work, leaving: .answered))
        #expect(bench.actions == [.release(Self.work, leaving: .answered)])
        bench.send(.releaseEnded(Self.work))
        bench.now += .seconds(60)
        bench.want(3)
        #expect(bench.actions == [.grant])
    }

    @Test("begin again under a new lease if etcd has forgotten the former", arguments: [true, false])
    func forgotten(isNoticedByHold: Bool) {
        var bench = Bench()
        bench.want(1)
        bench.granted()
        if isNoticedByHold {
            bench.send(.holdEnded(Self.work, Self.lease, .failure(.cluster(.leaseLost))))
        } else {
            bench.now += .seconds(3)
            bench.send(.wake)
            bench.send(.keptAlive(Self.lease, .success(nil), sentAt: bench.boot))
        }
        #expect(bench.actions == [.grant] && bench.replies.isEmpty)
    }

    @Test("of another host are waited for, until it gives the session back, and looked at every 3 s")
    func taken() throws {
        var bench = Bench()
        bench.want(1)
        bench.granted()
        bench.send(.holdEnded(Self.work, Self.lease, .success(.heldElsewhere)))
        #expect(bench.actions.isEmpty && bench.replies.isEmpty)
        var other = bench
        other.send(.released(Self.work))
        #expect(other.actions == [.hold(Self.work, for: Self.version, Self.lease)])
        try bench.sleep()
        #expect(bench.now == .seconds(1003))
        #expect(bench.actions == [.hold(Self.work, for: Self.version, Self.lease), .keepAlive(Self.lease)])
    }

    @Test("of another host are waited for 75 s, and no longer")
    func takenForLong() throws {
        var bench = Bench()
        bench.want(1)
        bench.granted()
        var lease = Self.lease
        while bench.replies.isEmpty {
            for action in bench.actions {
                switch action {
                case .hold(let session, _, let lease):
                    bench.send(.holdEnded(session, lease, .success(.heldElsewhere)))
                case .grant:
                    lease = LeaseID(lease.number + 1)
                    bench.granted(lease)
                case .keepAlive(let lease): bench.send(.keptAlive(lease, .success(.seconds(10)), sentAt: bench.boot))
                case .release, .claim: Issue.record("nothing is held")
                }
            }
            if bench.actions.isEmpty { try bench.sleep() }
        }
        #expect(bench.replies == [1: .failure(.cluster(.heldElsewhere))])
        #expect(bench.now == .seconds(1075))
    }

    @Test("after a host that ended during its renewal begin once it has had time to write, and replace its intent")
    func abandoned() throws {
        var bench = Bench()
        bench.want(1)
        bench.granted()
        bench.send(.holdEnded(Self.work, Self.lease, .success(.held(nil, after: .abandoned))))
        var checks = 0
        while !bench.actions.contains(.claim(Self.work, for: Self.version, Self.lease)) {
            try bench.sleepKeepingLease()
            guard bench.actions.contains(.hold(Self.work, for: Self.version, Self.lease)) else { continue }
            checks += 1
            // A failure of etcd changes nothing either.
            let isDown = checks.isMultiple(of: 2)
            bench.send(
                .holdEnded(
                    Self.work, Self.lease,
                    isDown
                        ? .failure(.cluster(.unreachable(reason: "test"))) : .success(.held(nil, after: .abandoned))))
        }
        #expect(bench.now == .seconds(1045) && bench.replies.isEmpty && checks == 14)
        bench.send(.claimed(Self.work, Self.lease, .success(nil)))
        #expect(bench.replies == [1: .held(nil, isInterrupted: true)])
    }

    @Test("after a host that was interrupted during its renewal begin as soon as its result is known")
    func answeredLate() throws {
        var bench = Bench()
        bench.want(1)
        bench.granted()
        bench.send(.holdEnded(Self.work, Self.lease, .success(.held(nil, after: .abandoned))))
        while !bench.actions.contains(.hold(Self.work, for: Self.version, Self.lease)) { try bench.sleepKeepingLease() }
        #expect(bench.now == .seconds(1003) && bench.replies.isEmpty)
        bench.send(.holdEnded(Self.work, Self.lease, .success(.held(nil, after: .answered))))
        #expect(bench.replies == [1: .held(nil, isInterrupted: false)])
        // The next one does not begin with the wait of this one.
        bench.send(.written(Self.work))
        bench.want(2)
        bench.send(.holdEnded(Self.work, Self.lease, .success(.held(nil, after: .abandoned))))
        let start = bench.now
        while !bench.actions.contains(.claim(Self.work, for: Self.version, Self.lease)) {
            try bench.sleepKeepingLease()
            guard bench.actions.contains(.hold(Self.work, for: Self.version, Self.lease)) else { continue }
            bench.send(.holdEnded(Self.work, Self.lease, .success(.held(nil, after: .abandoned))))
        }
        #expect(bench.now == start + .seconds(45))
    }

    @Test("that were lost while another host's request was awaited begin again under a new lease")
    func lostWhileSettling() throws {
        var bench = Bench()
        bench.want(1)
        bench.granted()
        bench.send(.holdEnded(Self.work, Self.lease, .success(.held(nil, after: .unanswered))))
        #expect(bench.actions == [.claim(Self.work, for: Self.version, Self.lease)])
        bench.send(.claimed(Self.work, Self.lease, .failure(.cluster(.leaseLost))))
        // Only this hold is known to be lost.
        #expect(bench.actions == [.hold(Self.work, for: Self.version, Self.lease)] && bench.replies.isEmpty)
        bench.send(.holdEnded(Self.work, Self.lease, .failure(.cluster(.leaseLost))))
        #expect(bench.actions == [.grant] && bench.replies.isEmpty)
    }

    @Test("are released if a look at an awaited result fails and nobody waits any more")
    func failedLook() throws {
        var bench = Bench()
        bench.want(1)
        bench.granted()
        bench.send(.holdEnded(Self.work, Self.lease, .success(.held(nil, after: .abandoned))))
        while !bench.actions.contains(.hold(Self.work, for: Self.version, Self.lease)) { try bench.sleepKeepingLease() }
        bench.send(.callerGone(CallerID(1)))
        bench.send(.holdEnded(Self.work, Self.lease, .failure(.cluster(.unreachable(reason: "no")))))
        #expect(bench.actions == [.release(Self.work, leaving: .abandoned)])
    }

    @Test("after such a host are released as they were if nobody waits any more")
    func abandonedByAll() {
        var bench = Bench()
        bench.want(1)
        bench.granted()
        bench.send(.holdEnded(Self.work, Self.lease, .success(.held(nil, after: .abandoned))))
        bench.send(.callerGone(CallerID(1)))
        #expect(bench.actions == [.release(Self.work, leaving: .abandoned)])
        bench.send(.releaseEnded(Self.work))
        #expect(bench.wakeUp == nil)
    }

    @Test("are released if their caller leaves at the moment of its reply: nothing was sent", arguments: [true, false])
    func leftAtReply(isInterrupted: Bool) {
        var bench = Bench()
        bench.want(1)
        bench.granted()
        let former = isInterrupted ? HoldOutcome.FormerHold.unanswered : .answered
        bench.send(.holdEnded(Self.work, Self.lease, .success(.held(nil, after: former))))
        if isInterrupted { bench.send(.claimed(Self.work, Self.lease, .success(nil))) }
        bench.send(.callerGone(CallerID(1)))
        #expect(bench.actions == [.release(Self.work, leaving: former)])
    }

    @Test("of one host belong to one renewal at a time, in their order, each after the release of the one before")
    func inOrder() {
        var bench = Bench.holding()
        bench.want(2)
        bench.want(3)
        bench.send(.callerGone(CallerID(2)))
        #expect(bench.actions.isEmpty)
        // A late end of somebody else's renewal.
        bench.send(.ended(CallerID(9), Self.work, leaving: .answered))
        #expect(bench.actions.isEmpty)
        bench.send(.ended(CallerID(1), Self.work, leaving: .unanswered))
        #expect(bench.actions == [.release(Self.work, leaving: .unanswered)])
        bench.send(.releaseEnded(Self.work))
        #expect(bench.actions == [.hold(Self.work, for: Self.version, Self.lease)])
        bench.send(.holdEnded(Self.work, Self.lease, .success(.held(nil, after: .answered))))
        #expect(bench.replies[3] != nil && bench.replies[2] == nil)
    }

    @Test("are not waited for longer than 75 s behind another renewal of this host")
    func queuedForLong() throws {
        var bench = Bench.holding()
        bench.want(2)
        while bench.replies[2] == nil { try bench.sleepKeepingLease() }
        #expect(bench.replies[2] == .failure(.cluster(.heldElsewhere)) && bench.now == .seconds(1075))
    }

    @Test("of several sessions return to the wait if etcd has forgotten their lease")
    func forgottenBySeveral() {
        var bench = Bench()
        bench.want(1)
        bench.want(2, Self.home)
        bench.granted()
        bench.send(.holdEnded(Self.work, Self.lease, .failure(.cluster(.leaseLost))))
        bench.send(.holdEnded(Self.home, Self.lease, .failure(.cluster(.leaseLost))))
        bench.granted(LeaseID(8))
        #expect(bench.actions.count == 2 && bench.replies.isEmpty)
    }

    @Test("are refused at once if etcd grants no lease, or one that is too short", arguments: [true, false])
    func noLease(isShort: Bool) {
        var bench = Bench()
        bench.want(2)
        let none = Result<GrantedLease, StoreError>.failure(.cluster(.noQuorum))
        bench.send(.granted(isShort ? .success(GrantedLease(Self.lease, lasts: .zero)) : none, sentAt: bench.boot))
        let isRefused = isShort ? bench.replies[2] != nil : bench.replies[2] == .failure(.cluster(.noQuorum))
        #expect(bench.actions.isEmpty && isRefused)
        bench.want(3)
        #expect(bench.actions == [.grant])
    }

    @Test("that came too late are given back")
    func late() {
        var bench = Bench()
        bench.want(1)
        bench.granted()
        bench.send(.callerGone(CallerID(1)))
        bench.send(.holdEnded(Self.work, Self.lease, .success(.held(nil, after: .answered))))
        #expect(bench.actions == [.release(Self.work, leaving: .answered)])
    }

    @Test("that are granted after the end of the lease are released before they are requested again")
    func lateLease() {
        var bench = Bench()
        bench.want(1)
        bench.granted()
        // The process was paused, for longer than the lease lasts.
        bench.now += .seconds(20)
        bench.send(.holdEnded(Self.work, Self.lease, .success(.held(nil, after: .answered))))
        #expect(bench.actions == [.release(Self.work, leaving: .answered)] && bench.replies.isEmpty)
        bench.send(.releaseEnded(Self.work))
        #expect(bench.actions == [.grant])
        bench.granted(LeaseID(8))
        #expect(bench.actions == [.hold(Self.work, for: Self.version, LeaseID(8))])
    }

    @Test("end after three minutes, and leave the intent")
    func longest() throws {
        var bench = Bench.holding()
        while !bench.actions.contains(.release(Self.work, leaving: .abandoned)) { try bench.sleepKeepingLease() }
        #expect(bench.now == .seconds(1180))
    }
}
