import HostSimulation
import Testing

/// The numbers in Docs/cluster.md, counted with the real agents and the real store.
@Suite("The requests of hosts to etcd", .timeLimit(.minutes(10)))
struct EtcdLoadTests {
    @Test("a host whose session is not renewed sends at most 184 an hour: checks, signs of life and four reports")
    func idle() async {
        let schedule = HostSchedule(hosts: 2, life: .seconds(400_000), steps: [])
        let load = await HostSimulation.load(schedule, in: .seconds(3590))
        #expect(load.violation == nil && load.renewals == 0)
        for requests in load.requests {
            #expect(Set(requests.keys) == ["lease/keepalive", "kv/txn"], "\(requests)")
            #expect((58...60).contains(requests["lease/keepalive"] ?? 0), "\(requests)")
            // A check begins 30 s after the end of the one before. The others are reports.
            #expect((118 + 3...120 + 4).contains(requests["kv/txn"] ?? 0), "\(requests)")
        }
    }

    @Test("a renewal costs its host five, rarely six, and each other host one", arguments: [1, 2, 4])
    func renewals(hosts: Int) async {
        let schedule = HostSchedule(hosts: hosts, life: .seconds(600), steps: [])
        let load = await HostSimulation.load(schedule, in: .seconds(7190))
        let (renewals, others) = (load.renewals, hosts - 1)
        // After 0.65 to 0.85 of a token's life.
        #expect(load.violation == nil && (13...19).contains(renewals), "\(renewals)")
        #expect(load.count(of: "lease/grant") == 2 * renewals, "\(load.requests)")
        // With 236 to 240 checks and 6 to 8 reports of each host.
        #expect((2 * renewals + 242 * hosts...3 * renewals + 248 * hosts).contains(load.count(of: "kv/txn")))
        // The watch reports the record. If it does that before the response to the write, the host that has written it
        // reads its life, too.
        let lives = others * renewals
        #expect((lives...lives + renewals).contains(load.count(of: "lease/timetolive")), "\(load.requests)")
        #expect((renewals...2 * renewals).contains(load.count(of: "kv/range")), "\(load.requests)")
        let least = renewals * (5 + others)
        #expect((least + 358 * hosts...least + 2 * renewals + 368 * hosts).contains(load.total), "\(load.requests)")
    }
}
