import Testing

@testable import HostSimulation

/// What the simulation expects of hosts that know what a restored backup lacks.
@Suite("The hosts that notice a simulated restore")
struct NoticedRestoreTests {
    private let run = HostSimulationRun(HostSchedule(hosts: 2, steps: []), fault: nil, traced: false)
    private let process: SimulatedProcess

    /// The process has seen revision 10, and no mark.
    init() {
        let host = run.hosts[0]
        process = SimulatedProcess(0, host, disk: host.disk, in: run)
        (process.known, process.knownCluster, process.mark) = (10, 1, [])
        run.processes.append(process)
        (run.restoreCount, run.restoredAt) = (1, run.time.now)
        run.restore = Restore(at: run.time.now, isLacking: true, wasRenewing: false, tokens: nil, knowers: [0])
    }

    /// Another host has noticed the restore.
    private func mark() throws { try run.etcd.put([1], to: "/authd/ada/history", lease: 0, isFirst: true) }

    private func saw(_ revision: Int64, hasMark: Bool = false, hasSession: Bool = true, after restores: Int = 1) {
        run.saw(
            ShownState(
                revision: revision, cluster: 1, restores: restores, hasMark: hasMark, isCheck: hasMark,
                isMarked: run.isMarked(for: process), hasSession: hasSession), process)
    }

    private var hasNoticed: Bool { run.noticed.contains(0) }
    private var mustWrite: Bool { run.restore?.knowers.contains(0) == true }

    @Test("a lower revision shows the restore, unless the response was sent before it")
    func revision() {
        saw(9, after: 0)
        #expect(!hasNoticed && mustWrite && run.isUnaware(process))
        saw(9)
        #expect(hasNoticed && mustWrite && !run.isUnaware(process))
        saw(11)
        #expect(mustWrite)
    }

    @Test("a host that has seen a later revision, and no mark, is excused")
    func unmarked() {
        saw(10, hasMark: true)
        #expect(!hasNoticed && !mustWrite && run.isUnaware(process))
    }

    @Test("another host's mark shows the restore at any revision; until a host finds it, the host still has to write")
    func marked() throws {
        try mark()
        saw(11)
        #expect(!hasNoticed && mustWrite && run.isUnaware(process))
        saw(12, hasMark: true)
        #expect(hasNoticed && mustWrite && !run.isUnaware(process))
    }

    @Test("a host that notices only the mark is excused if the session is missing", arguments: [false, true])
    func missing(hasMark: Bool) throws {
        try mark()
        saw(11, hasMark: hasMark, hasSession: false)
        #expect(hasNoticed == hasMark && !mustWrite)
    }

    @Test("the time of a host begins with the mark, and begins again when the host has noticed the restore")
    func time() throws {
        run.followRestore()
        run.go(until: .seconds(20))
        #expect(run.restore?.time[0] == nil)
        try mark()
        run.go(until: .seconds(40))
        #expect(run.restore?.time[0] == .seconds(20))
        saw(12, hasMark: true)
        run.go(until: .seconds(49))
        #expect(run.restore?.time[0] == .seconds(9))
        run.time.clear()
    }
}
