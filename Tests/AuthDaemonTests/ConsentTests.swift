import AuthAgent
import AuthModel
import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AuthDaemon

/// Rules that have the user asked about a program, on a real socket.
@Suite("Consent on the socket", .timeLimit(.minutes(1)))
struct ConsentTests {
    /// A user whose answers the test gives.
    private final class Desktop: ConsentPrompt {
        private let state = Mutex((reply: ConsentReply.answered(.refused), asked: [ConsentQuestion]()))

        func set(_ reply: ConsentReply) { state.withLock { $0.reply = reply } }

        func questions() -> [ConsentQuestion] {
            state.withLock { state in
                defer { state.asked = [] }
                return state.asked
            }
        }

        func show(_ question: ConsentQuestion, number: UInt64) async -> ConsentReply {
            state.withLock { state in
                state.asked.append(question)
                return state.reply
            }
        }

        func withdraw(_ number: UInt64) {}
    }

    private static func policy(enforces: Bool = true) -> AccessPolicy {
        var policy = AccessPolicy()
        var rule = AccessRule("asked", from: .user, .ask)
        rule.request.classes = [.token]
        policy.user.enforces = enforces
        policy.user.rules = [rule]
        // Where these tests run there may be no terminal.
        var others = AccessRule("tests", from: .root, .allow)
        others.request.classes = [.account, .admin]
        policy.root.rules = [others]
        return policy
    }

    private static let plain = #"{"jsonrpc":"2.0","id":1,"method":"token.get"}"# + "\n"

    @Test("no form of a request gets a token before the user has allowed it; a refusal counts for later ones")
    func forms() async throws {
        let desktop = Desktop()
        desktop.set(.answered(.allowed(remembered: nil)))
        try await TestServer.run(accessPolicy: Self.policy(), desktop: desktop) { rig in
            try await onThread {
                let client = try rig.dial()
                func answers() throws -> [JSON] {
                    try client.send(Self.plain)
                    let first = try client.json()
                    let second = try client.ask("token.get", ["purpose": "sync"])
                    try client.send("[\(RawClient.request("token.get").dropLast())]\n")
                    return [first, second] + (try client.json().arrayValue ?? [])
                }
                #expect(try answers().allSatisfy { $0["result"]?["access_token"] == .string(TestServer.token) })
                let asked = desktop.questions()
                let shop = try SessionName("shop")
                #expect(asked.count == 3 && asked.map(\.purpose) == [nil, "sync", nil])
                #expect(asked.allSatisfy { $0.key.session == shop && $0.program.subject.processID == getpid() })
                #expect(asked.allSatisfy { if case .file = $0.program.identity { true } else { false } })
                // Other classes are not asked about.
                #expect(try client.ask("session.status")["result"] != nil && desktop.questions().isEmpty)
                desktop.set(.answered(.refused))
                let refused = try answers()
                #expect(refused.map(\.errorCause) == ["consent_refused", "consent_paused", "consent_paused"])
                #expect(desktop.questions().count == 1)
                let entry = try AuditLogTests.list(rig).last
                #expect(entry?.rule == "user.asked" && entry?.enforced == true && entry?.error == .denied)
            }
        }
    }

    @Test("without enforcement nobody is asked, and the audit log has the rule")
    func recorded() async throws {
        let desktop = Desktop()
        try await TestServer.run(accessPolicy: Self.policy(enforces: false), desktop: desktop) { rig in
            try await onThread {
                #expect(try rig.dial().ask("token.get")["result"] != nil)
                #expect(desktop.questions().isEmpty)
                let entry = try AuditLogTests.list(rig).last
                #expect(entry?.rule == "user.asked" && entry?.enforced == false && entry?.error == nil)
            }
        }
    }

    @Test("an answer is accepted only from a terminal of a login session")
    func terminal() async throws {
        try await TestServer.run(accessPolicy: Self.policy()) { rig in
            try await onThread {
                let client = try rig.dial()
                #expect(try client.ask("consent.list")["result"]?["questions"]?.arrayValue?.isEmpty == true)
                let answer = try client.ask("consent.answer", ["question": 1, "allowed": true])
                #expect(["no_login_terminal", nil].contains(answer.errorCause), "\(answer.text())")
                #expect(answer.errorKind != nil)
            }
        }
    }

    @Test("a program is known by its file: another content is another program, the same one is hashed once")
    func changedProgram() async throws {
        let folder = try TemporaryFolder()
        let programs = ConsentPrograms()
        var found: [ConsentProgram.Identity?] = []
        for addition in ["", "", "x"] {
            let path = folder.path + "/sleep"
            if found.count != 1 {
                try? FileManager.default.removeItem(atPath: path)
                try FileManager.default.copyItem(atPath: "/bin/sleep", toPath: path)
                let file = try FileHandle(forWritingTo: URL(filePath: path))
                try file.seekToEnd()
                try file.write(contentsOf: Data(addition.utf8))
                try file.close()
            }
            let child = try await Child([path, "infinity"], environment: [:])
            // It runs as soon as its executable is the file.
            while (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(child.pid)/exe"))?
                .hasSuffix("/sleep") != true
            {}
            let ticks = try #require(ProcText.startTime(of: child.pid))
            let subject = PresenceSubject(processID: child.pid, startTicks: ticks, userID: geteuid())
            found.append(await programs.program(subject, unit: "a.service", isConfined: false).identity)
            // Another process with the number.
            let other = PresenceSubject(processID: child.pid, startTicks: ticks + 1, userID: geteuid())
            #expect(await programs.program(other, unit: "a.service", isConfined: false).identity == .unit("a.service"))
            // A scope has many programs.
            #expect(await programs.program(other, unit: "session-3.scope", isConfined: false).identity == nil)
            await child.end(SIGKILL)
        }
        #expect(found[0] == found[1] && found[0] != found[2])
        guard case .file(_, _, let hash)? = found[0], case .file(_, _, let changed)? = found[2] else {
            Issue.record("\(found)")
            return
        }
        #expect(hash.count == 64 && hash != changed)
    }

    @Test("no file at an untrusted path is opened, even if the process now hides its program")
    func uncertainPath() async throws {
        // The first child has ended, so nothing can be read about its program, and its parent never waits for it.
        let program = """
            import os, signal
            child = os.fork()
            if child == 0: os._exit(0)
            print(f"ended {child}.", flush=True)
            signal.pause()
            """
        let parent = try await Child(["python3", "-c", program], environment: ["PATH": "/usr/bin:/bin"])
        #expect(try await until { parent.out.text.contains(".") })
        let number = try #require(parent.out.text.firstMatch(of: /ended (\d+)\./)?.1)
        let ended = try #require(Int32(number))
        #expect(try await until { try ProcessReader.program(of: "/proc/\(ended)") == nil })
        let opened = Mutex<[String]>([])
        let programs = ConsentPrograms { path in
            opened.withLock { $0.append(path) }
            return unsafe open(path, O_RDONLY | O_CLOEXEC)
        }
        for process in [ended, parent.pid] {
            let ticks = try #require(ProcText.startTime(of: process))
            func found(isUncertain: Bool) async -> ConsentProgram.Identity? {
                let subject = PresenceSubject(
                    processID: process, startTicks: ticks, userID: geteuid(), executable: "/usr/bin/cat",
                    isExecutableUncertain: isUncertain)
                return await programs.program(subject, unit: nil, isConfined: false).identity
            }
            #expect(await found(isUncertain: true) == nil)
            #expect(opened.withLock { $0 } == [])
            // Otherwise the file would be used.
            #expect(await found(isUncertain: false) != nil)
            #expect(opened.withLock { $0 } != [])
            opened.withLock { $0 = [] }
        }
        await parent.end(SIGKILL)
    }

    @Test("a program whose file cannot be opened is known by its state, and never by another file at its path")
    func hiddenProgram() async throws {
        let folder = try TemporaryFolder()
        // `refused` opens no file, as with Landlock; `atPath` opens all but /proc/PID/exe.
        let (refused, atPath) = (
            ConsentPrograms { _ in -1 },
            ConsentPrograms { $0.hasPrefix("/proc/") ? -1 : unsafe open($0, O_RDONLY | O_CLOEXEC) }
        )
        let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = folder.path + "/sleep"
        try FileManager.default.copyItem(atPath: "/bin/sleep", toPath: program)
        let child = try await Child([program, "infinity"], environment: [:])
        let isRunning = try await until {
            try ProcessReader.program(of: "/proc/\(child.pid)")?.path.hasSuffix("/sleep") == true
        }
        #expect(isRunning)
        let ticks = try #require(ProcText.startTime(of: child.pid))
        func identity(
            _ programs: ConsentPrograms, at path: String?, startTicks: UInt64, isConfined: Bool = false
        ) async -> ConsentProgram.Identity? {
            let subject = PresenceSubject(
                processID: child.pid, startTicks: startTicks, userID: geteuid(), executable: path)
            return await programs.program(subject, unit: nil, isConfined: isConfined).identity
        }
        let version = try #require(try ProcessReader.program(of: "/proc/\(child.pid)")?.file)
        for _ in 1...2 {
            #expect(await identity(refused, at: program, startTicks: ticks) == .version(version))
        }
        #expect(await identity(refused, at: program, startTicks: ticks + 1) == nil)
        #expect(await identity(refused, at: program, startTicks: ticks, isConfined: true) == nil)
        guard case .file(version.device, version.inode, _)? = await identity(atPath, at: program, startTicks: ticks)
        else {
            Issue.record("its file can be opened, and is not used")
            return
        }
        // What is at the path is not what runs.
        #expect(await identity(atPath, at: path, startTicks: ticks) == .version(version))
        await child.end(SIGKILL)
    }
}
