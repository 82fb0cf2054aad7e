import AuthAgent
import AuthConcurrency
import AuthModel
import AuthWire
import Foundation
import Logging
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("The process of a notice's window", .timeLimit(.minutes(1)))
struct NoticeWindowProcessTests {
    /// A program in place of authc.
    private static func window(
        _ script: String, in folder: TemporaryFolder, browser: Bool = false, activation: String? = nil
    ) throws -> NoticeWindow {
        let program = try folder.write("#!/bin/sh\n" + script, to: "authc")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        return NoticeWindow(
            program: program, socket: "/s", arguments: ["login", "work"], usesBrowser: browser, activation: activation)
    }

    @Test("it is the command, with authc's socket, in a new process session and without authd's variables")
    func direct() async throws {
        let folder = try TemporaryFolder()
        let log = folder.path + "/log"
        let window = try Self.window(
            "{ echo \"$*\"; cat; ps -o sid= -p $$; echo $$; env; } > '\(log)'; exit 7", in: folder, browser: true,
            activation: "focus")
        let status = try await BlockingThread().complete { Result { try window.process.run(runtimeFolder: nil) } }.get()
        #expect(status == 7)
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines[0] == "terminal --socket /s --browser -- login work")
        #expect(lines[1].trimmingCharacters(in: .whitespaces) == lines[2])
        #expect(lines.contains("XDG_ACTIVATION_TOKEN=focus"))
        #expect(!lines.contains { $0.hasPrefix("NOTIFY_") || $0.hasPrefix("LISTEN_") || $0.hasPrefix("AUTHD_") })
    }

    @Test("while the agent is locked, every button opens its unlock")
    func locked() async throws {
        let context = AgentContext(
            storeKind: .memory, transport: NoTransport(), clock: BootClock(), network: StillNetwork(),
            catalog: ProfileCatalog(), publish: { _ in })
        let registry = SessionRegistry(context: context, storage: SessionStorage(store: MemoryStore()), seed: 1)
        let opener = NoticeOpener(
            context: context, registry: registry, windows: WindowProgram(beside: nil, socket: "/s"),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        #expect(await opener.command(for: .sealed) == .openStore)
        context.board.put(lock: LockStatus(isLocked: true))
        #expect(await opener.command(for: .sealed)?.arguments == ["unlock"])
        context.board.put(lock: LockStatus(isLocked: false))
        #expect(await opener.command(for: .sealed) == .openStore)
    }

    @Test("its end by a signal, and a program that is not there")
    func failures() async throws {
        let folder = try TemporaryFolder()
        let killed = try Self.window("kill -TERM $$", in: folder)
        #expect(try killed.process.run(runtimeFolder: nil) == 128 + 15)
        let none = NoticeWindow(
            program: folder.path + "/none", socket: "/s", arguments: [], usesBrowser: false, activation: nil)
        #expect(throws: (any Error).self) { try none.process.run(runtimeFolder: nil) }
    }

    @Test("a unit keeps what it started, writes nothing to the journal, and gets its arguments as they are")
    func unit() {
        let window = NoticeWindow(
            program: "/bin/authc", socket: "/run/$x", arguments: ["unlock"], usesBrowser: false, activation: "a$b")
        let unit = window.process.unit
        #expect(unit.suffix(7) == ["--", "/bin/authc", "terminal", "--socket", "/run/$$x", "--", "unlock"])
        for option in [
            "--user", "--collect", "--wait", "--slice=app.slice", "--property=KillMode=process",
            "--property=StandardOutput=null", "--property=StandardError=null", "--setenv=XDG_ACTIVATION_TOKEN=a$b",
        ] { #expect(unit.contains(option), "\(option)") }
    }

    @Test("authc is looked for beside authd only")
    func program() throws {
        let folder = try TemporaryFolder()
        #expect(WindowProgram(beside: folder.path + "/authd", socket: "/s").authc == nil)
        _ = try Self.window("", in: folder)
        #expect(WindowProgram(beside: folder.path + "/authd", socket: "/s").authc == folder.path + "/authc")
        #expect(WindowProgram(beside: nil, socket: "/s").authc == nil)
    }
}
