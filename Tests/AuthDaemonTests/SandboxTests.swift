import AuthModel
import AuthSockets
import AuthWire
import Foundation
import Glibc
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

    @Test("the browser is not lent to them, though the rules for the extra socket lend it to other machines")
    func browser() async throws {
        var rules = ListenerRules()
        rules.signInProviders = ["sample"]
        try await TestServer.run(rules: rules) { rig in
            let sandbox = ["unshare", "--map-root-user"]
            let answer = try await SenderTests.responses("lend", rig.path, through: sandbox)[0]
            #expect(answer.errorCause == "main_socket", "\(answer.text())")
            // The same at the extra socket: this agent has no browser.
            let extra = try await SenderTests.responses("lend", rig.extraPath)[0]
            #expect(extra.errorKind == "unsupported", "\(extra.text())")
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
        facts.userNamespace = ProcessFacts.initialUserNamespace
        facts.cgroup = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-editor.scope"
        facts.hasFlatpakInfo = false
        change(&facts)
        return facts
    }

    @Test("a namespace that is not known limits the client, and so does a label or a cgroup of a snap")
    func judgement() {
        let own = Self.facts { _ in }
        let snap = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/snap.tool.tool-1.scope"
        let cases: [(ConfinedClient?, (inout ProcessFacts) -> Void)] = [
            (nil, { _ in }), (.unreadable, { $0 = ProcessFacts() }),
            (.processNamespace, { $0.processNamespaces = 2 }), (.unreadable, { $0.processNamespaces = nil }),
            (.userNamespace, { $0.userNamespace = 4_026_532_001 }),
            // The link must not be read, as with a process that is not dumpable: the map tells.
            (nil, { $0.userNamespace = nil }),
            (.userNamespace, { ($0.userNamespace, $0.userMap) = (nil, "1000 1000 1\n") }),
            (.userNamespace, { ($0.userNamespace, $0.userMap) = (nil, "0 1000 1\n1 100000 65536\n") }),
            // Not even that, with hidepid.
            (.unreadable, { ($0.userNamespace, $0.userMap) = (nil, nil) }),
            (.flatpak, { $0.hasFlatpakInfo = true }), (nil, { $0.hasFlatpakInfo = nil }),
            (.snap, { $0.label = "snap.tool.tool (enforce)" }), (.snap, { $0.label = "snap.tool.tool" }),
            (.snap, { $0.label = "snap.tool.tool//&mixed (mixed)" }), (.snap, { $0.cgroup = snap }),
            (nil, { $0.label = "snap.tool.tool (complain)" }), (nil, { $0.label = "snap.tool.tool (unconfined)" }),
            (nil, { ($0.cgroup, $0.label) = (snap, "unconfined") }),
        ]
        for (index, (expected, change)) in cases.enumerated() {
            #expect(Self.facts(change).sandbox(comparedWith: own) == expected, "case \(index)")
        }
    }

    @Test("an agent in a user namespace does not go by maps, which look the same there")
    func inside() {
        let own = Self.facts { ($0.userMap, $0.userNamespace) = ("1000 1000 1\n", 4_026_532_001) }
        let below = Self.facts { ($0.userMap, $0.userNamespace) = ("1000 1000 1\n", 4_026_532_002) }
        let unreadable = Self.facts { ($0.userMap, $0.userNamespace) = ("1000 1000 1\n", nil) }
        #expect(own.sandbox(comparedWith: own) == nil)
        #expect(below.sandbox(comparedWith: own) == .userNamespace)
        #expect(unreadable.sandbox(comparedWith: own) == .unreadable)
        // A namespace that maps every ID is not the initial one.
        let full = Self.facts { $0.userNamespace = 4_026_532_003 }
        let hidden = Self.facts { $0.userNamespace = nil }
        #expect(hidden.sandbox(comparedWith: full) == .unreadable)
    }

    @Test("only what must not be read is unknown; another failure, such as a lack of descriptors, limits the client")
    func failures() throws {
        #expect(try ProcText.read("/proc/self/none") == nil)
        #expect(try ProcText.read("/proc/self/uid_map") != nil)
        #expect(throws: ConfinedClient.failed(EISDIR)) { try ProcText.read("/proc/self/fd") }
        #expect(throws: ConfinedClient.failed(ENOTDIR)) { try ProcText.userNamespace(of: "/proc/self/status") }
        #expect(throws: ConfinedClient.failed(ENOTDIR)) { try ProcText.hasFlatpakInfo(in: "/proc/self/status") }
        #expect(throws: ConfinedClient.failed(EBADF)) { try ProcText.label(of: -1) }
        #expect(ConfinedClient.failed(EMFILE).text.contains("open files"))
        #expect(ProcText.hasOurNumbers())
    }

    @Test("the IDs of a process are counted, whatever is in the file")
    func processIDs() {
        #expect(ProcText.processNamespaces(inText: "pos:\t0\nPid:\t7\nNSpid:\t7\n") == 1)
        #expect(ProcText.processNamespaces(inText: "NSpid:\t4711\t12\t1\n") == 3)
        #expect(ProcText.number(inText: "Pid:\t7\nNSpid:\t8\t7\n") == 7)
        #expect(ProcText.number(inText: "Pid:\t-1\n") == -1)
        #expect(ProcText.number(inText: "NSpid:\t8\n") == nil)
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
        var ends: [CInt] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let socket = ends[0]
        let found = await withCheckedContinuation { (continuation: CheckedContinuation<[String], Never>) in
            executor.perform {
                var found: [String] = []
                let processes = PeerProcesses(executor: executor, limit: 1, hasPeerDescriptors: false)
                for processID in [getpid(), pid, 0] {
                    do throws(ConfinedClient) {
                        let peer = PeerCredentials(processID: processID, userID: geteuid())
                        let process = try processes.process(of: peer, at: socket)
                        found.append(process.isRunning ? "running" : "ended")
                        processes.connectionEnded(of: process)
                    } catch {
                        found.append("\(error)")
                    }
                }
                continuation.resume(returning: found)
            }
        }
        #expect(found == ["running", "ended", "processNamespace"])
        await executor.stop()
    }

    @Test("without a descriptor for each process, the start time shows that it is still the same one")
    func startTime() async throws {
        let child = try await Child(["cat"], environment: ["PATH": "/usr/bin:/bin"], input: .held)
        let executor = try SocketExecutor()
        let process = PeerProcess(child.pid, at: nil, executor: executor)
        #expect(process.isRunning)
        await child.end(SIGKILL)
        #expect(!process.isRunning)
        await executor.stop()
    }

    @Test("without a descriptor for each process, the kernel says whether the one that has connected still runs")
    func asked() async throws {
        let folder = try TemporaryFolder()
        let listening = try SocketFile.bind(path: folder.path + "/socket")
        defer { close(listening.descriptor) }
        let executor = try SocketExecutor()
        let client = try RawClient(listening.path)
        let ours = accept(listening.descriptor, nil, nil)
        defer { close(ours) }
        #expect(PeerProcess(getpid(), at: ours, executor: executor).isRunning)
        _ = client
        _ = try await SenderTests.responses("connect", listening.path)
        let theirs = accept(listening.descriptor, nil, nil)
        defer { close(theirs) }
        let peer = try #require(PeerCredentials(descriptor: theirs))
        #expect(!PeerProcess(peer.processID, at: theirs, executor: executor).isRunning)
        await executor.stop()
    }
}
