import AuthModel
import AuthWire
import EtcdTestSupport
import Testing

@testable import AuthEtcd

/// The decisions about a restored backup, without any request.
@Suite("What a host knows of a restore of etcd")
struct EtcdRestoresTests {
    private static let start = BootInstant(sinceBoot: .seconds(1000))
    private static let awake = SuspendingClock.now
    fileprivate static let cluster = "7"

    private static func mark(_ value: String, at revision: Int64 = 9) -> EtcdEntry {
        EtcdEntry(key: "/p/history", value: Array(value.utf8), modRevision: revision)
    }

    private static func hold(_ intentRevision: Int64?) throws -> EtcdStore.Hold {
        let version = try etcdSample().version
        return EtcdStore.Hold(
            lease: LeaseID(1), noted: version, revision: 7, intentRevision: intentRevision, version: version)
    }

    /// A host that has read these marks, the last one at ``start``.
    private static func restores(after marks: [EtcdEntry?] = [nil]) -> EtcdRestores {
        var restores = EtcdRestores()
        for mark in marks {
            _ = restores.accept(mark)
            restores.checked(mark, at: start)
        }
        return restores
    }

    /// It has noticed a restore at ``start``, with etcd at revision 5.
    private static func noticed(
        _ restores: EtcdRestores = restores(), mark: EtcdEntry? = nil, holds: [SessionName: EtcdStore.Hold] = [:]
    ) -> EtcdRestores {
        var restores = restores
        restores.begin(
            at: start, awake: awake, revision: 5, mark: mark, in: cluster, holds: holds, lease: LeaseID(3),
            former: nil)
        return restores
    }

    @Test("no hold begins from the notice until the mark is in etcd, or etcd has refused it", arguments: [false, true])
    func holds(isDue: Bool) {
        var restores = Self.noticed()
        #expect(Self.restores().allowsHolds && !restores.allowsHolds)
        restores.marked(isDue: isDue)
        #expect(restores.allowsHolds && restores.isMarkDue == isDue)
        restores.end()
        #expect(restores.allowsHolds && restores.recovery == nil)
    }

    @Test("intents count from the mark of the host that has noticed first")
    func intents() {
        func intent(_ revision: Int64) -> EtcdEntry { EtcdEntry(key: "/p/intents/a", value: [], modRevision: revision) }
        #expect(!Self.restores().isOutdated(nil))
        let first = Self.noticed()
        #expect(first.isOutdated(nil) && first.isOutdated(intent(5)) && !first.isOutdated(intent(6)))
        var later = Self.noticed(mark: Self.mark("a", at: 3))
        #expect(later.isOutdated(intent(3)) && !later.isOutdated(intent(4)))
        // It is found only when this host is about to write its own.
        let isMissing = later.accept(Self.mark("b", at: 2))
        #expect(!isMissing && !later.isOutdated(intent(3)))
    }

    @Test("the mark is replaced unless another host has written it since")
    func mark() {
        var restores = Self.noticed(Self.restores(after: [nil, Self.mark("a"), Self.mark("b")]))
        let answers = [nil, Self.mark("a"), Self.mark("b"), Self.mark("c")].map { restores.accept($0) }
        #expect(answers == [true, true, true, false])
    }

    @Test("a host that gives a hold back writes the mark, unless another host or its own recovery has done so")
    func markOfHold() {
        let former = Self.mark("former", at: 2)
        #expect(EtcdRestores().needsMark(insteadOf: former, isToReadAgain: true))
        var restores = Self.restores(after: [former])
        #expect(restores.needsMark(insteadOf: former, isToReadAgain: true))
        #expect(!restores.needsMark(insteadOf: Self.mark("another"), isToReadAgain: true))
        restores = Self.noticed(restores)
        #expect(restores.needsMark(insteadOf: former, isToReadAgain: false))
        restores.marked(isDue: false)
        #expect(!restores.needsMark(insteadOf: former, isToReadAgain: false))
        restores.end()
        #expect(!restores.needsMark(insteadOf: former, isToReadAgain: false))
        // The next restore.
        #expect(restores.needsMark(insteadOf: former, isToReadAgain: true))
    }

    @Test("a mark that was written with a hold that was given back is that of the recovery which follows")
    func ownMark() {
        let own = Self.mark("own", at: 4)
        var restores = Self.restores()
        restores.wrote(own)
        #expect(!restores.needsMark(insteadOf: nil, isToReadAgain: true) && !restores.isNoticedElsewhere(own))
        restores = Self.noticed(restores, mark: own)
        #expect(restores.allowsHolds && restores.revision == 4)
        restores.end()
        // It says nothing about the next restore.
        #expect(!Self.noticed(restores, mark: own).allowsHolds)
        // The recovery had begun already, and was about to write another one.
        restores = Self.noticed()
        restores.wrote(own)
        let isMissing = restores.accept(own)
        #expect(restores.allowsHolds && !isMissing && restores.revision == 4)
    }

    @Test("a mark that this host has written says nothing of a later restore, after which etcd does not have it")
    func ownMarkOfFormerRestore() {
        for left in [nil, Self.mark("former", at: 2)] {
            var restores = Self.restores(after: [nil, Self.mark("former", at: 2)])
            restores.wrote(Self.mark("own", at: 4))
            restores = Self.noticed(restores, mark: left)
            #expect(!restores.allowsHolds && restores.revision == 5)
            #expect(restores.needsMark(insteadOf: left, isToReadAgain: false))
        }
    }

    @Test(
        "a mark counts only for a restore of the cluster that it was written in",
        arguments: [("7", true), ("6", false), (nil, true)] as [(String?, Bool)])
    func clusterOfMark(written: String?, counts: Bool) {
        // Former versions of authd write no cluster.
        let another = Self.mark("another" + (written.map { "@" + $0 } ?? ""), at: 4)
        var restores = Self.restores()
        // Whether another host has noticed this restore, or only a former one that the backup has.
        #expect(restores.isNoticedElsewhere(another))
        #expect(restores.needsMark(insteadOf: another, isToReadAgain: true) == !counts)
        #expect(restores.lowestRevision(another, at: Self.start) == (counts ? 3 : nil))
        #expect(restores.mayLackSignOuts(another, at: Self.start + .seconds(61)) == counts)
        restores = Self.noticed(restores, mark: another)
        #expect(restores.revision == (counts ? 4 : 5))
        let isMissing = restores.accept(another)
        #expect(isMissing == !counts && !restores.isNoticedElsewhere(another))
    }

    @Test("a refusal of the mark is reported once for each restore")
    func refusal() {
        var restores = Self.noticed()
        let first = [restores.reportsRefusal(), restores.reportsRefusal()]
        restores = Self.noticed(restores)
        let second = restores.reportsRefusal()
        #expect(first == [true, false] && second)
    }

    @Test("a mark that was due belongs to the former recovery: intents that were noted since then still count")
    func dueMark() {
        var restores = Self.noticed()
        restores.marked(isDue: true)
        restores.end()
        restores.wrote(Self.mark("own", at: 8))
        restores.begin(
            at: Self.start, awake: Self.awake, revision: 9, mark: Self.mark("own", at: 8), in: Self.cluster, holds: [:],
            lease: nil, former: nil)
        #expect(restores.revision == 5 && restores.allowsHolds && !restores.isMarkDue)
    }

    @Test("a mark is another host's notice only outside this host's recovery")
    func noticedElsewhere() {
        var restores = Self.restores()
        #expect(restores.isNoticedElsewhere(Self.mark("a")) && !restores.isNoticedElsewhere(nil))
        restores = Self.noticed(restores)
        #expect(!restores.isNoticedElsewhere(Self.mark("a")))
        restores.marked(isDue: false)
        #expect(restores.isNoticedElsewhere(Self.mark("a")))
    }

    @Test("what is lost is known only if the former mark was read recently")
    func silence() {
        var restores = Self.restores(after: [Self.mark("former")])
        let another = Self.mark("another")
        #expect(restores.lowestRevision(another, at: Self.start + .seconds(60)) == 8)
        // This check finds a mark that the host does not expect.
        restores.checked(another, at: Self.start + .seconds(60))
        #expect(restores.lowestRevision(another, at: Self.start + .seconds(61)) == nil)
        // A revision that this host has seen itself still counts, but not against a sign-out.
        restores.saw(4)
        #expect(restores.lowestRevision(another, at: Self.start + .seconds(61)) == 4)
        let lacks = [60, 61].map { restores.mayLackSignOuts(another, at: Self.start + .seconds($0)) }
        #expect(lacks == [false, true])
        // No other host has noticed the restore: none has repeated a sign-out.
        for former in [nil, Self.mark("former")] {
            let mayLack = restores.mayLackSignOuts(former, at: Self.start + .seconds(1000))
            #expect(!mayLack)
        }
    }

    @Test(
        "others' requests are expected for 45 s of any time; sign-outs are repeated for 90 s in which the host is awake"
    )
    func times() {
        let restores = Self.noticed()
        #expect(restores.isRecovering(at: Self.start + .seconds(44)))
        #expect(!restores.isRecovering(at: Self.start + .seconds(45)))
        #expect(restores.removesEnded(at: Self.awake + .seconds(89)))
        #expect(!restores.removesEnded(at: Self.awake + .seconds(90)))
        #expect(!Self.restores().isRecovering(at: Self.start) && !Self.restores().removesEnded(at: Self.awake))
    }

    @Test("the lowest revision that a response has shown counts until everything is read again")
    func shown() {
        var restores = Self.restores()
        for revision in [7, nil, 4, 6] as [Int64?] { restores.saw(revision) }
        restores.readAll(nil, wentBack: false)
        #expect(restores.lowestRevision(nil, at: Self.start) == 4)
        restores.readAll(nil, wentBack: true)
        #expect(restores.lowestRevision(nil, at: Self.start) == nil)
    }

    @Test("requests that may be on their way stay known if etcd goes back again, until they are settled")
    func sending() throws {
        let (work, home) = (try SessionName("work"), try SessionName("home"))
        var restores = Self.noticed(holds: [work: try Self.hold(7), home: try Self.hold(nil)])
        #expect(restores.recovery?.sending.keys.sorted() == [work])
        restores = Self.noticed(restores, holds: [home: try Self.hold(8)])
        #expect(restores.recovery?.sending.keys.sorted() == [home, work])
        restores.settled(work)
        #expect(restores.recovery?.sending.keys.sorted() == [home])
        #expect(restores.isFormer(LeaseID(3)) && !restores.isFormer(LeaseID(4)))
    }
}

/// In the cluster of these tests.
extension EtcdRestores {
    fileprivate mutating func accept(_ mark: EtcdEntry?) -> Bool { accept(mark, in: EtcdRestoresTests.cluster) }

    fileprivate func needsMark(insteadOf found: EtcdEntry?, isToReadAgain: Bool) -> Bool {
        needsMark(insteadOf: found, in: EtcdRestoresTests.cluster, isToReadAgain: isToReadAgain)
    }

    fileprivate func lowestRevision(_ mark: EtcdEntry?, at now: BootInstant) -> Int64? {
        lowestRevision(mark, in: EtcdRestoresTests.cluster, at: now)
    }

    fileprivate func mayLackSignOuts(_ mark: EtcdEntry?, at now: BootInstant) -> Bool {
        mayLackSignOuts(mark, in: EtcdRestoresTests.cluster, at: now)
    }
}
