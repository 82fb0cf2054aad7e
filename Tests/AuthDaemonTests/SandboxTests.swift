import AuthWire
import Foundation
import TestSupport
import Testing

@testable import AuthDaemon

/// Clients in sandboxes, at the main socket.
@Suite("Clients in sandboxes", .timeLimit(.minutes(1)))
struct SandboxTests {
    /// `unshare` and `bwrap`, as root and as an ordinary user alike.
    @Test(
        "in another user or process namespace they get only what the rules for the extra socket allow",
        arguments: [
            (["unshare", "--user"], "user namespace"), (["unshare", "--map-root-user"], "user namespace"),
            (["unshare", "--map-current-user", "--mount"], "user namespace"),
            (["unshare", "--map-root-user", "--pid", "--fork", "--kill-child"], "process namespace"),
            (["bwrap", "--dev-bind", "/", "/", "--unshare-user"], "user namespace"),
            (["bwrap", "--dev-bind", "/", "/", "--unshare-pid"], "process namespace"),
        ])
    func confined(through: [String], reason: String) async throws {
        try await TestServer.run { rig in
            for attempt in ["token", "not-dumpable"] {
                let answer = try await SenderTests.responses(attempt, rig.path, through: through)[0]
                #expect(answer.errorKind == "denied", "\(answer.text())")
                #expect(answer["error"]?["data"]?["cause"] == "confined")
                #expect(answer["error"]?["message"]?.stringValue?.contains(reason) == true, "\(answer.text())")
            }
        }
    }

    @Test("a client outside of the agent's process namespace is in a sandbox for it: its process cannot be identified")
    func outside() async throws {
        let home = try Home()
        let authd = try await Program(
            home, ["--store", "memory"], program: "unshare",
            first: ["--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc", Programs.authd])
        try await authd.ready()
        let answers = try await onThread {
            let client = try RawClient(home.socket)
            return [try client.ask("agent.ping"), try client.ask("session.list")]
        }
        #expect(answers[0]["result"] != nil)
        #expect(answers[1]["error"]?["data"]?["cause"] == "confined", "\(answers[1].text())")
        _ = await authd.end(SIGKILL)
    }

    private static func facts(_ change: (inout ProcessFacts) -> Void) -> ProcessFacts {
        var facts = ProcessFacts()
        (facts.processNamespaces, facts.userMap) = (1, "0 0 4294967295\n")
        facts.cgroup = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-editor.scope"
        facts.hasFlatpakInfo = false
        change(&facts)
        return facts
    }

    @Test("what is unknown is not a sandbox, and neither is a cgroup without an enforced label")
    func judgement() {
        let own = Self.facts { _ in }
        let snap = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/snap.tool.tool-1.scope"
        let cases: [(ConfinedClient?, (inout ProcessFacts) -> Void)] = [
            (nil, { _ in }), (nil, { $0 = ProcessFacts() }),
            (.processNamespace, { $0.processNamespaces = 2 }),
            (.userNamespace, { $0.userMap = "1000 1000 1\n" }),
            (.userNamespace, { $0.userMap = "0 1000 1\n1 100000 65536\n" }),
            (.flatpak, { $0.hasFlatpakInfo = true }), (nil, { $0.hasFlatpakInfo = nil }),
            (.snap, { ($0.cgroup, $0.label) = (snap, "snap.tool.tool (enforce)") }),
            (.snap, { ($0.cgroup, $0.label) = (snap, nil) }),
            (nil, { ($0.cgroup, $0.label) = (snap, "snap.tool.tool (complain)") }),
            (nil, { ($0.cgroup, $0.label) = (snap, "unconfined") }),
        ]
        for (index, (expected, change)) in cases.enumerated() {
            #expect(Self.facts(change).sandbox(comparedWith: own) == expected, "case \(index)")
        }
        // authd in a namespace itself: who is in the same one, or in the initial one, is in no sandbox.
        let inside = Self.facts { ($0.userMap, $0.processNamespaces) = ("0 0 1\n", 2) }
        #expect(inside.sandbox(comparedWith: inside) == nil)
        #expect(own.sandbox(comparedWith: inside) == nil)
    }

    @Test("the IDs of a process are counted, whatever is in the file")
    func processIDs() {
        #expect(ProcText.processNamespaces(inText: "pos:\t0\nPid:\t7\nNSpid:\t7\n") == 1)
        #expect(ProcText.processNamespaces(inText: "NSpid:\t4711\t12\t1\n") == 3)
        for text in ["", "NSpid:\n", "Name:\tNSpid: 1\n"] { #expect(ProcText.processNamespaces(inText: text) == nil) }
    }

    @Test("without SO_PEERPIDFD, and with more processes than are watched, a client gets its token all the same")
    func olderKernel() async throws {
        var limits = ConnectionLimits()
        limits.watchedProcesses = 0
        try await TestServer.run(limits: limits) { rig in
            let answers = try await SenderTests.responses("token", rig.path)
            #expect(answers.first?["result"]?["access_token"] == .string(TestServer.token), "\(answers)")
        }
        let executor = try SocketExecutor()
        let child = try await Child(["true"], environment: ["PATH": "/usr/bin:/bin"])
        #expect(await child.ended() == 0)
        let pid = child.pid
        let found = await withCheckedContinuation { (continuation: CheckedContinuation<[String], Never>) in
            executor.perform {
                var found: [String] = []
                let processes = PeerProcesses(executor: executor, limit: 1, hasPeerDescriptors: false)
                for processID in [getpid(), pid, 0] {
                    do throws(ConfinedClient) {
                        let peer = PeerCredentials(processID: processID, userID: geteuid())
                        let process = try processes.process(of: peer, at: -1)
                        found.append(process.isRunning ? "running" : "ended")
                        processes.connectionEnded(of: process)
                    } catch {
                        found.append(error.rawValue)
                    }
                }
                continuation.resume(returning: found)
            }
        }
        #expect(found == ["running", "unidentified", "processNamespace"])
        await executor.stop()
    }

    @Test("without a descriptor for each process, the start time shows that it is still the same one")
    func startTime() async throws {
        let child = try await Child(["cat"], environment: ["PATH": "/usr/bin:/bin"], input: .held)
        let executor = try SocketExecutor()
        let process = PeerProcess(child.pid, descriptor: -1, isWatched: false, executor: executor)
        #expect(process.isRunning)
        await child.end(SIGKILL)
        #expect(!process.isRunning)
        await executor.stop()
    }
}
