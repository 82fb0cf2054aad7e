import AuthAgent
import AuthConcurrency
import AuthModel
import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("An upgrade of the running program")
struct UpgradeTests {
    // MARK: When

    private static let (first, second) = (
        ProgramFile.Identity(device: 1, inode: 1), ProgramFile.Identity(device: 1, inode: 2)
    )

    private static func at(_ seconds: Double) -> BootInstant { BootInstant(sinceBoot: .seconds(seconds)) }

    @Test("an idle agent restarts at the second look in a row that finds the same new file")
    func idle() {
        var plan = UpgradePlan()
        #expect(plan.looked(at: nil, obstacle: nil, now: Self.at(0)) == .nothing)
        #expect(plan.looked(at: Self.first, obstacle: nil, now: Self.at(10)) == .nothing)
        #expect(plan.looked(at: Self.second, obstacle: nil, now: Self.at(20)) == .nothing)
        #expect(plan.looked(at: nil, obstacle: nil, now: Self.at(30)) == .nothing)
        #expect(plan.looked(at: Self.second, obstacle: nil, now: Self.at(40)) == .nothing)
        #expect(plan.looked(at: Self.second, obstacle: nil, now: Self.at(50)) == .restart)
    }

    @Test("a busy agent reports once what it waits for, and restarts after that")
    func busy() {
        var plan = UpgradePlan()
        _ = plan.looked(at: Self.first, obstacle: .requests, now: Self.at(0))
        #expect(plan.looked(at: Self.first, obstacle: .requests, now: Self.at(10)) == .wait(.requests))
        #expect(plan.looked(at: Self.first, obstacle: .signIn, now: Self.at(20)) == .nothing)
        #expect(plan.looked(at: Self.first, obstacle: nil, now: Self.at(30)) == .restart)
        // Something has begun during the check of the program.
        plan.interrupted()
        #expect(plan.looked(at: Self.first, obstacle: .work, now: Self.at(40)) == .nothing)
        #expect(plan.looked(at: Self.first, obstacle: nil, now: Self.at(50)) == .restart)
    }

    @Test("a restart that did not happen is tried again after ten minutes, and at once for another file")
    func again() {
        var plan = UpgradePlan()
        _ = plan.looked(at: Self.first, obstacle: nil, now: Self.at(0))
        #expect(plan.looked(at: Self.first, obstacle: nil, now: Self.at(10)) == .restart)
        #expect(plan.looked(at: Self.first, obstacle: nil, now: Self.at(609)) == .nothing)
        #expect(plan.looked(at: Self.first, obstacle: nil, now: Self.at(610)) == .restart)
        #expect(plan.looked(at: Self.second, obstacle: nil, now: Self.at(620)) == .nothing)
        #expect(plan.looked(at: Self.second, obstacle: nil, now: Self.at(630)) == .restart)
    }

    // MARK: What was replaced

    @Test("a program counts as replaced when another file that can be started is at its path")
    func replacement() throws {
        let folder = try TemporaryFolder()
        let (path, running, new) = (folder.path + "/authd", folder.path + "/running", folder.path + "/authd.dpkg-new")
        try FileManager.default.copyItem(atPath: "/bin/true", toPath: path)
        // As a process keeps its file.
        #expect(link(path, running) == 0)
        let program = try #require(ProgramFile(path: path, process: running))
        #expect(program.replacement() == nil)
        try FileManager.default.copyItem(atPath: "/bin/true", toPath: new)
        #expect(rename(new, path) == 0)
        #expect(program.replacement() != nil)
        #expect(chmod(path, 0o644) == 0)
        #expect(program.replacement() == nil)
        #expect(unlink(path) == 0)
        #expect(program.replacement() == nil)
        #expect(ProgramFile(path: "/bin/true", process: running) == nil)
    }

    // MARK: What a restart would interrupt

    @Test("requests, sign-ins, work and a store that is not open prevent a restart without a request")
    func obstacles() throws {
        let counters = AgentCounters()
        func activity(_ kind: StoreKind, needsPassphrase: Bool = false) -> (AgentActivity, AgentContext) {
            let context = AgentContext(
                storeKind: kind, transport: NoTransport(), clock: BootClock(), network: StillNetwork(),
                catalog: ProfileCatalog(), publish: { _ in })
            let storage = SessionStorage(store: MovableStore(MemoryStore()))
            let registry = SessionRegistry(context: context, storage: storage, seed: 1)
            let loader = SessionLoader(context: context, registry: registry, storage: storage, seed: 1)
            let signIns = SignInService(context: context, registry: registry, loader: loader)
            let activity = AgentActivity(
                counters: counters, context: context, signIns: signIns, needsPassphrase: needsPassphrase,
                handsOver: { $0.text == "kept" })
            return (activity, context)
        }
        let (keyring, context) = activity(.secretService)
        #expect(keyring.obstacle == .storeNotOpen)
        context.board.put(store: .ready, message: nil)
        #expect(keyring.obstacle == nil && keyring.refusal(naming: .all) == nil)
        // Without the store, the next run gets the tokens of one of them.
        for name in ["kept", "marked"] {
            let status = SessionStatus(
                session: try SessionName(name), provider: "shop", state: .active, unsaved: true)
            context.board.put(placeholder: status)
            #expect(keyring.obstacle == .unsavedTokens)
            #expect(keyring.refusal(naming: .all)?.kind == (name == "kept" ? nil : .conflict))
        }
        let refusal = try #require(keyring.refusal(naming: .all))
        #expect(refusal.message.hasPrefix("The newest tokens of marked are not stored yet"))
        let hidden = try #require(keyring.refusal(naming: SessionNames(without: { $0.text == "marked" })))
        #expect(hidden.kind == .conflict && !hidden.message.contains("marked"), "\(hidden.message)")
        context.board.removePlaceholders(in: .active)
        counters.began()
        #expect(keyring.obstacle == .requests)
        counters.ended()
        context.tasks.pool.order {}
        #expect(keyring.obstacle == .work)

        let (sealed, other) = activity(.sealedFile, needsPassphrase: true)
        other.board.put(store: .ready, message: nil)
        #expect(sealed.obstacle == .passphrase && sealed.lastingObstacle == .passphrase)
        // Clients get only obstacles that do not pass.
        #expect(keyring.obstacle != nil && keyring.lastingObstacle == nil)
        let (memory, third) = activity(.memory)
        third.board.put(store: .ready, message: nil)
        #expect(memory.obstacle == nil && !memory.isInMemoryOnly)
    }

    // MARK: How

    /// Records commands, and ends each as the test says.
    private final class Commands: Sendable {
        private let state = Mutex<(outcomes: [HookOutcome], run: [[String]])>(([], []))

        init(_ outcomes: HookOutcome...) { state.withLock { $0.outcomes = outcomes } }

        var run: [[String]] { state.withLock { $0.run } }

        func end(_ command: [String]) -> HookOutcome {
            state.withLock { state in
                state.run.append(command)
                return state.outcomes.isEmpty ? .exited(0) : state.outcomes.removeFirst()
            }
        }
    }

    private static func restart(_ commands: Commands, unit: String? = "authd@work.service") throws -> ProgramRestart {
        try restart(unit: unit) { commands.end($0) }
    }

    private static func restart(
        unit: String? = "authd@work.service", _ run: @escaping ProgramRestart.Run
    ) throws -> ProgramRestart {
        let program = try #require(ProgramFile(path: "/bin/true", process: "/bin/true"))
        return ProgramRestart(program: program, arguments: ["--store", "sealed-file"], unit: unit, run: run)
    }

    @Test("the new program is checked with the agent's own options, then the manager restarts the agent's own unit")
    func begins() async throws {
        // The manager has ended the command together with the agent.
        let commands = Commands(.exited(0), .killed(signal: SIGTERM))
        #expect(try await Self.restart(commands).begin { true })
        #expect(
            commands.run == [
                ["/bin/true", "--store", "sealed-file", "--check"],
                ["/usr/bin/systemctl", "--user", "--no-block", "restart", "--", "authd@work.service"],
            ])
    }

    @Test("a program that fails its check, or cannot be started, is not started instead of the agent")
    func failsCheck() async throws {
        for outcome in [HookOutcome.exited(78), .killed(signal: SIGSEGV), .notStarted("cannot start it")] {
            let commands = Commands(outcome)
            let error = try await #require(throws: AgentError.self) {
                try await Self.restart(commands).begin { true }
            }
            #expect(error.kind == .validation && error.message.contains("`/bin/true --check` shows why"), "\(error)")
            #expect(commands.run.count == 1)
        }
    }

    @Test("what has begun during the check prevents the restart")
    func interrupted() async throws {
        let commands = Commands()
        #expect(try await Self.restart(commands).begin { false } == false)
        #expect(commands.run.count == 1)
    }

    @Test("a request and an upgrade restart the agent once; the check that this ends is no failure")
    func concurrent() async throws {
        let (commands, checks, other) = (Commands(), OneShot<Void>(), OneShot<Void>())
        let restart = try Self.restart { command in
            let outcome = commands.end(command)
            guard commands.run.count == 1 else { return outcome }
            checks.send(())
            _ = await other.value()
            return .killed(signal: SIGTERM)
        }
        let first = Task { try await restart.begin { true } }
        _ = await checks.value()
        #expect(try await restart.begin { true })
        other.send(())
        #expect(try await first.value)
        #expect(try await restart.begin { true })
        #expect(commands.run.filter { $0.first == ProgramRestart.systemctl }.count == 1, "\(commands.run)")
    }

    @Test("clients learn how the agent is restarted, and why it never restarts by itself")
    func described() throws {
        let managed = try Self.restart(Commands())
        #expect(managed.commands == "`authc agent restart`")
        #expect(managed.info(nil) == RestartInfo(unit: "authd@work.service"))
        #expect(managed.info(.requests) == RestartInfo(unit: "authd@work.service"))
        #expect(managed.info(.memory) == RestartInfo(unit: "authd@work.service", obstacle: .memory))
        let alone = try Self.restart(Commands(), unit: nil)
        let command = "authd --store sealed-file"
        #expect(alone.info(nil) == RestartInfo(command: command, obstacle: .noManager))
        #expect(alone.info(.passphrase) == RestartInfo(command: command, obstacle: .passphrase))
    }

    @Test("without a service manager, and if it refuses, the error says what to do")
    func refused() async throws {
        let commands = Commands(.exited(0), .exited(5))
        let alone = try await #require(throws: AgentError.self) {
            try await Self.restart(commands, unit: nil).begin { true }
        }
        #expect(alone.kind == .unsupported, "\(alone)")
        #expect(alone.message.contains("`kill \(getpid())` ends it, and `authd --store sealed-file` starts it again"))
        #expect(commands.run.isEmpty)
        #expect(
            try Self.restart(commands, unit: nil).commands
                == "`kill \(getpid())`, then `authd --store sealed-file`")
        let restart = try Self.restart(commands)
        let refused = try await #require(throws: AgentError.self) { try await restart.begin { true } }
        #expect(refused.kind == .internal_)
        #expect(refused.message.contains("`systemctl --user restart authd@work.service`"), "\(refused)")
        #expect(try await restart.begin { true })
        #expect(commands.run.count == 4)
    }
}
