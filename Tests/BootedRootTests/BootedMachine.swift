import Foundation
import StandInBackends
import Synchronization
import TestSupport
import Testing

/// A machine for one test, booted by systemd, with one user whose manager has authd's units and who has a keyring. It can
/// reach the stand-in backends.
final class BootedMachine: Sendable {
    /// What the machine's authd is.
    enum Installation: Sendable {
        /// The units of the repository, for the programs as they were built.
        case built
        /// What the test installs, on a view of the files below a folder. The user's keyring is not started yet.
        case installed(files: String)
    }

    let backends: StandIns
    /// The machine sees it at the same path.
    let folder: TemporaryFolder
    /// The path of `authc` there.
    let command: String
    private let machine: Child
    private let keyrings = Mutex<[Child]>([])
    /// The ID of its first process.
    private let first: Mutex<String>
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "boot").path

    /// Boots it, runs the test and ends everything. Only root can do that: `Tests/run-suites` leaves the suites of this target out
    /// unless it runs as root.
    static func play(
        _ installation: Installation = .built, _ test: @escaping @Sendable (BootedMachine) async throws -> Void
    ) async throws {
        var configuration = StandIns.Configuration()
        configuration.tokenLifetime = .seconds(3600)
        try await StandIns.serving(configuration) { backends in
            let machine = try await BootedMachine(backends, installation)
            let result: Result<Void, any Error>
            do {
                try await machine.prepare(installation)
                try await test(machine)
                try await machine.expectNoSecretInJournal()
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await machine.machine.end()
            try result.get()
        }
    }

    private init(_ backends: StandIns, _ installation: Installation) async throws {
        self.backends = backends
        var files = "/"
        if case .installed(let root) = installation { files = root }
        if case .built = installation { command = Self.built + "c" } else { command = Self.installed + "c" }
        folder = try TemporaryFolder()
        guard mkfifo(folder.path + "/booted", 0o600) == 0 else { throw Failure("mkfifo: \(errno)") }
        machine = try await Child(
            [Self.script, folder.path, Programs.folder, files], environment: ["PATH": Self.path])
        first = Mutex("")
        try await waitForBoot(try await waiter())
    }

    private static let path = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin") + ":/usr/sbin:/sbin"

    /// Ends when the machine has booted, or has ended.
    private func waiter() async throws -> Child {
        let word = try await Child(["cat", folder.path + "/booted"], environment: ["PATH": Self.path])
        machine.whenEnded { _ in word.kill(SIGKILL) }
        return word
    }

    private func waitForBoot(_ word: Child) async throws {
        guard await word.out.wait(for: "booted") else {
            throw Failure("no machine: \(await machine.output())")
        }
        guard let script = machine.out.text.split(separator: "\n").first?.dropFirst("machine ".count),
            let place = Self.child(of: String(script)), let first = Self.child(of: place)
        else { throw Failure("no first process: \(machine.out.text)") }
        self.first.withLock { $0 = first }
    }

    private static func child(of process: String) -> String? {
        let file = "/proc/\(process)/task/\(process)/children"
        guard let children = try? String(contentsOfFile: file, encoding: .utf8) else { return nil }
        return children.split(separator: " ").first.map(String.init)
    }

    /// Shuts it down and boots it again, with the files that it has left. All that ran on it has ended, the keyring too.
    func reboot() async throws {
        // It is in memory.
        try await expectNoSecretInJournal()
        try Data().write(to: URL(filePath: folder.path + "/again"))
        let word = try await waiter()
        // It may end with the machine.
        _ = try await asRoot("systemctl", "reboot")
        try await waitForBoot(word)
    }

    /// Installs settings with the addresses of the stand-ins, and the units.
    private func prepare(_ installation: Installation) async throws {
        let environments = Backend.allCases.map { backend in
            "[providers.\(backend.rawValue).environments]\nlocal = \"\(backends.url(backend))\"\n"
        }
        try await write(environments.joined(separator: "\n"), to: ".config/authd/authd.toml")
        guard case .built = installation else { return }
        for name in [
            "authd.socket", "authd-extra.socket", "authd.service", "authd@.socket", "authd@.service",
            "authc-wait@.service", "authd-proxy@.socket", "authd-proxy@.service", "authd-http.socket",
            "authd-http.service",
        ] {
            let unit = try SourceTree.text("systemd/\(name)").replacing(Self.installed, with: Self.built)
            try await write(unit, to: ".config/systemd/user/\(name)")
        }
        try await person("systemctl", "--user", "daemon-reload")
        try await person("systemctl", "--user", "enable", "--now", "authd.socket")
        try await startKeyring()
    }

    private static let (installed, built) = ("/usr/bin/auth", "/usr/lib/authd-built/auth")

    /// The shell examples of a page of decisions, with this machine's authd.
    static func samples(of page: String) throws -> [String] { try blocks(of: "Docs/decisions/\(page)", "sh") }

    /// The blocks of a page in this language, with this machine's programs.
    static func blocks(of page: String, _ language: String) throws -> [String] {
        let text = try SourceTree.text(page)
        return text.split(separator: "```\(language)\n").dropFirst().compactMap { rest in
            rest.firstRange(of: "```").map {
                String(rest[..<$0.lowerBound]).replacing(installed, with: built)
                    .replacing("ExecStart=auth", with: "ExecStart=" + built)
            }
        }
    }

    /// Restarts the user's manager with everything that it runs, like a new login.
    func startAgain() async throws {
        let started = try await asRoot("sh", "-c", "systemctl daemon-reload && systemctl restart user@1000.service")
        guard started.status == 0 else { throw Failure("no manager: \(started.err)") }
    }

    /// Starts an open keyring instead of the current one; it runs as long as the machine.
    func startKeyring(_ more: [String] = []) async throws {
        let keyring = try await start(
            Self.asAda + ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"] + more,
            input: Desktop.keyringPassword)
        keyrings.withLock { $0.append(keyring) }
        try await person("gdbus", "wait", "--session", "--timeout", "30", "org.freedesktop.secrets")
    }

    /// Like a screen lock.
    func lockKeyring() async throws {
        try await person(
            "gdbus", "call", "--session", "--dest", "org.freedesktop.secrets", "--object-path",
            "/org/freedesktop/secrets", "--method", "org.freedesktop.Secret.Service.Lock",
            "['/org/freedesktop/secrets/collection/login']")
    }

    func unlockKeyring() async throws { try await startKeyring(["--replace"]) }

    /// All fields of the journal: authd's log, its manager's messages, and crash reports.
    private func expectNoSecretInJournal() async throws {
        let journal = try await asRoot("journalctl", "-o", "export", "--all", "--no-pager")
        #expect(journal.out.contains("AUTHD_"), "\(journal.err)")
        #expect(SecretSearch(backends.secrets).findings(in: ["the journal": journal.out]).isEmpty)
    }

    // MARK: On the machine

    static let asAda = [
        "setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", "env", "HOME=/people/ada",
        "XDG_RUNTIME_DIR=/run/user/1000", "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus",
    ]

    private static let environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"]
    private var entry: [String] {
        ["nsenter", "-t", first.withLock { $0 }, "-m", "-p", "-u", "-i", "-C", "--"]
    }

    func start(_ command: [String], input: String? = nil) async throws -> Child {
        try await Child(
            entry + command, environment: Self.environment, input: input.map(Child.Input.text) ?? .none)
    }

    /// The words that run the user's command from outside.
    func enteringAsAda(_ command: [String]) -> [String] { entry + Self.asAda + command }

    /// authc of the user on a terminal, which shows its exit status at the end. No argument needs quotes.
    func terminal(_ arguments: String..., columns: UInt16 = 80) async throws -> Terminal {
        let words = enteringAsAda([command] + arguments)
        return try await Terminal(
            words.joined(separator: " ") + "; echo \"status $?\"", columns: columns, environment: Self.environment)
    }

    /// The same in a login session that PAM makes for it, as sshd and login do. It waits at the end: systemd-run may lose
    /// what a command writes to its terminal last.
    func loginTerminal(_ arguments: String...) async throws -> Terminal {
        let line = ([command] + arguments).joined(separator: " ") + "; echo \"status $?\"; read -r end"
        let words = entry + Self.loggedIn("--pty") + ["sh", "-c", "'\(line)'"]
        return try await Terminal(words.joined(separator: " "), environment: Self.environment)
    }

    /// - Parameter way: `--pipe`, or `--pty` for a terminal.
    static func loggedIn(_ way: String) -> [String] {
        [
            "systemd-run", "--quiet", "--wait", way, "--property=User=ada", "--property=PAMName=login",
            "--property=Environment=XDG_SESSION_CLASS=user",
        ]
    }

    func asRoot(_ command: String...) async throws -> Child.Output { try await asRoot(command) }

    func asRoot(_ command: [String]) async throws -> Child.Output { try await start(command).output() }

    func asPerson(_ command: [String], input: String? = nil) async throws -> Child.Output {
        try await start(Self.asAda + command, input: input).output()
    }

    /// The output of the user's command; throws if it fails.
    @discardableResult
    func person(_ command: String...) async throws -> String {
        let output = try await asPerson(command)
        guard output.status == 0 else { throw Failure("\(command): \(output.status) \(output.err)") }
        return output.out
    }

    func authc(_ arguments: String..., input: String? = nil) async throws -> Child.Output {
        try await asPerson([command] + arguments, input: input)
    }

    func write(_ text: String, to file: String) async throws {
        let written = try await asPerson(
            ["sh", "-c", #"mkdir -p "$(dirname "$HOME/$0")" && cat >"$HOME/$0""#, file], input: text)
        guard written.status == 0 else { throw Failure("\(file): \(written.err)") }
    }

    /// As the page of decisions says, with a key from systemd's credentials.
    func keepInSealedFiles() async throws { try await sealWithCredential(in: "sealed-file") }

    /// The same in another store that such a key opens.
    func sealWithCredential(in store: String) async throws {
        let samples = try Self.samples(of: "sealed-file.md")
        guard let forRoot = samples.first(where: { $0.contains("systemd-creds") }),
            let forPerson = samples.first(where: { $0.contains("CREDENTIALS_DIRECTORY") })
        else { throw Failure("sealed-file.md has no such examples") }
        let sealed = try await asRoot("bash", "-euc", forRoot)
        guard sealed.status == 0 else { throw Failure("systemd-creds: \(sealed.err)") }
        try await startAgain()
        let setting = "config set store "
        try await person(
            "bash", "-euc",
            forPerson.replacing("authc \(setting)sealed-file", with: "\(command) \(setting)\(store)"))
        // As the next login does.
        try await person("systemctl", "--user", "stop", "authd.service")
    }

    func signIn(to backend: Backend = .appTemplate) async throws {
        let login = try await authc(
            "login", backend.rawValue, "--environment", "local", "--field", "email=ada@example.org",
            "--password-stdin", input: "Correct-horse1")
        guard login.status == 0 else { throw Failure("login to \(backend.rawValue): \(login.err)") }
    }

    /// A property of the service, from its manager.
    func service(_ property: String) async throws -> String { try await unit("authd.service", property) }

    func unit(_ name: String, _ property: String) async throws -> String {
        try await person("systemctl", "--user", "show", name, "--property", property, "--value")
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Checks that it runs. It may have answered a client before its manager has read that it is ready: `systemctl start`
    /// returns when the manager has, and starts no second one.
    func isActive() async throws {
        let pid = try await service("MainPID")
        try await person("systemctl", "--user", "start", "authd.service")
        #expect(try await service("ActiveState") == "active")
        #expect(try await service("MainPID") == pid && pid != "0")
    }

    /// The first line of the journal, from the manager or the service, that contains the text; `nil` if there is none in time.
    func journal(until text: String) async throws -> String? {
        let follow = """
            grep -m1 -F -- "$0" < <(exec timeout 60 journalctl -o cat -n all -f _SYSTEMD_USER_UNIT=authd.service + \
                USER_UNIT=authd.service 2>/dev/null)
            """
        let found = try await asRoot("bash", "-c", follow, text)
        return found.status == 0 ? found.out : nil
    }
}
