import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// What users see of the hosts that share their sessions, with real agents and a real etcd of three members.
@Suite("The state of a cluster, seen by its users", .serialized, .timeLimit(.minutes(3)))
struct ClusterStatusTests {
    private func play(_ test: @escaping @Sendable (Scene, EtcdMembers) async throws -> Void) async throws {
        var options = EtcdMembers.Options()
        options.count = 3
        try await SharedHosts.play(options, test)
    }

    private func status(_ agent: Agent) async throws -> ClusterStatus {
        try ClusterStatus(await agent.json("cluster", "status"))
    }

    @Test("names the hosts, the members of etcd and what is wrong with them")
    func shown() async throws {
        try await play { scene, members in
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await until { try await status(scene.agent).hosts.map(\.isConnected) == [true] })
            let alone = try await scene.agent.authc("doctor")
            #expect(
                alone.out.contains("3 of 3 members of etcd respond; 1 of 1 hosts are connected"), "\(alone.out)")
            try await SharedHosts.withOther(scene, members) { other in
                try await SharedHosts.admit(other, by: scene)
                #expect(try await until { try await status(scene.agent).hosts.map(\.isConnected) == [true, true] })
                let hosts = try await status(other).hosts
                #expect(hosts.map(\.version) == [Release.version, Release.version])
                #expect(hosts.map(\.isThis) == [false, true])
                let lines = try await scene.agent.authc("cluster", "status")
                let words = lines.out.split(separator: "\n").map { $0.split(separator: " ").first.map(String.init) }
                #expect(lines.status == 0 && words == ["host", "host", "etcd", "etcd", "etcd", "authd"], "\(lines)")
                let fields = try await scene.agent.authc("cluster", "status", "--json", "voters,rekeying")
                #expect(fields.out == "{\"voters\":3,\"rekeying\":null}\n", "\(fields.out)")

                // A host with another version, as it says itself, and one that says nothing.
                let place = "/authd/ada/status/" + hosts[1].id
                try await members.control("put", place, #"{"authd":"0.0.9","at":1700000000}"#)
                let older = try await scene.agent.authc("doctor")
                #expect(older.status == 0 && older.out.contains("has authd 0.0.9, and this host"), "\(older.out)")
                try await members.control("del", place)
                let silent = try await scene.agent.authc("doctor")
                #expect(silent.status == 0 && silent.out.contains("reports no version"), "\(silent.out)")
                #expect(silent.out.contains("authc cluster forget \(hosts[1].id)"), "\(silent.out)")
            }
            await members.kill(2)
            let left = try await scene.agent.authc("doctor")
            #expect(left.status == 0 && left.out.contains("\(members.endpoints[2]) does not respond"), "\(left.out)")
            #expect(left.out.contains("2 of 3 members of etcd are left"), "\(left.out)")
            await members.kill(1)
            #expect(try await until { try await scene.agent.authc("cluster", "status").status == 4 })
            let lost = try await scene.agent.authc("cluster", "status")
            #expect(lost.out.contains("no_leader") && lost.err.contains("majority"), "\(lost)")
            // It ends within its own limit.
            var doctor = try await scene.agent.authc("doctor", "--json")
            #expect(
                try await until {
                    doctor = try await scene.agent.authc("doctor", "--json")
                    return doctor.out.contains("cluster no quorum")
                })
            #expect(doctor.status == 4 && doctor.out.contains("not connected to a majority"), "\(doctor.out)")
        }
    }

    @Test("a record that cannot be read is a problem of that session only")
    func damaged() async throws {
        try await play { scene, members in
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.login(.envelope).status == 0)
            try await members.control("put", "/authd/ada/sessions/envelope", "garbage")
            func store() async throws -> StoreInfo {
                try StoreInfo(await scene.agent.json("version")["agent"]?["store"] ?? [:])
            }
            #expect(try await until { try await store().message?.contains("envelope cannot be read") == true })
            #expect(try await store().state == .ready)
            #expect(try await scene.agent.authc("token", "-s", "app-template").status == 0)
            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent(["--store", "etcd"])
            #expect(try await scene.agent.authc("token", "-s", "app-template").status == 0)
            #expect(try await store().state == .ready)
            let doctor = try await scene.agent.authc("doctor")
            #expect(doctor.status == 0 && doctor.out.contains("envelope cannot be read"), "\(doctor.out)")
            // A sign-in replaces it.
            #expect(try await scene.login(.envelope).status == 0)
            #expect(try await scene.agent.authc("token", "-s", "envelope").status == 0)
            #expect(try await until { try await store().message == nil })
        }
    }

    @Test("a session that a rule hides from a program is in no renewal that the program sees")
    func hidden() async throws {
        try await play { scene, members in
            #expect(try await scene.login(.appTemplate).status == 0)
            for name in ["private", "shown"] { try await members.control("put", "/authd/ada/holders/" + name, "") }
            func renewals() async throws -> [String] { try await status(scene.agent).renewals.map(\.session.text) }
            #expect(try await renewals() == ["private", "shown"])
            try scene.writePolicy(
                "enforce = true\n[[rule]]\nname = \"hidden\"\neffect = \"deny\"\nsession = \"private\"\n")
            #expect(try await scene.applyPolicy(answer: "y").contains("The rules are in use."))
            #expect(try await renewals() == ["shown"])
        }
    }
}
