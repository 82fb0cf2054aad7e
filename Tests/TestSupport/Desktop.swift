import Foundation
import Glibc
import Synchronization

/// A home, a bus and a keyring for one test, as in a user's session.
package final class Desktop: Sendable {
    package static let keyringPassword = "pw"
    package let folder: TemporaryFolder
    package let environment: [String: String]
    private let bus: Mutex<Child>

    package init() async throws {
        folder = try TemporaryFolder(syncs: false)
        var environment = [
            "HOME": try folder.folder("home"), "XDG_RUNTIME_DIR": try folder.folder("run"),
            "XDG_CONFIG_HOME": try folder.folder("config"), "XDG_STATE_HOME": try folder.folder("state"),
            // The machine's logind and NetworkManager must not affect it.
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.path)/no-system-bus",
            "LANG": "C.UTF-8", "TMPDIR": try folder.folder("tmp"),
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
        ]
        // Without this folder, the first fish reads all man pages in the background, and goes on after the test.
        _ = try folder.folder("home/.local/share/fish/generated_completions")
        let address = "unix:path=\(folder.path)/bus"
        let configuration = "\(folder.path)/bus.conf"
        try Self.busConfiguration(address).write(toFile: configuration, atomically: true, encoding: .utf8)
        bus = Mutex(try await Self.startBus(configuration, environment))
        environment["DBUS_SESSION_BUS_ADDRESS"] = address
        self.environment = environment
    }

    private static func startBus(_ configuration: String, _ environment: [String: String]) async throws -> Child {
        let bus = try await Child(
            ["dbus-daemon", "--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address=1"],
            environment: environment)
        guard await bus.out.wait(for: "unix:path=") else { throw Failure("no bus: \(bus.err.text)") }
        return bus
    }

    package func killBus() async { await bus.withLock { $0 }.end(SIGKILL) }

    /// At the same address.
    package func startBusAgain() async throws {
        let new = try await Self.startBus("\(folder.path)/bus.conf", environment)
        bus.withLock { $0 = new }
    }

    /// A session bus that starts no services. One that does puts a second, locked keyring in place of one that is
    /// being replaced, as soon as anybody calls it in between.
    private static func busConfiguration(_ address: String) -> String {
        """
        <busconfig>
          <type>session</type>
          <listen>\(address)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
            <allow own="*"/>
          </policy>
        </busconfig>
        """
    }

    /// A keyring that is unlocked and owns its name on the bus.
    ///
    /// - Parameter person: answers its prompts; without one they are dismissed.
    package func startKeyring(replacing: Bool = false, before person: Person? = nil) async throws -> Child {
        var environment = environment
        environment["GNOME_KEYRING_TEST_PROMPTER"] = person?.prompter
        let keyring = try await Child(
            ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"]
                + (replacing ? ["--replace"] : []), environment: environment, input: .text(Self.keyringPassword))
        repeat {
            let named = try await run(["gdbus", "wait", "--session", "--timeout", "30", "org.freedesktop.secrets"])
            guard named.status == 0 else { throw Failure("no keyring: \(named.err) \(keyring.err.text)") }
        } while try await keyringOwner() != keyring.pid
        return keyring
    }

    /// The process that is the keyring to the bus.
    private func keyringOwner() async throws -> pid_t? {
        let owner = try await run([
            "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus",
            "--method", "org.freedesktop.DBus.GetConnectionUnixProcessID", "org.freedesktop.secrets",
        ])
        // As in "(uint32 4711,)".
        return owner.out.split(separator: " ").last.flatMap { pid_t($0.prefix(while: \.isNumber)) }
    }

    /// KWallet, as after a login.
    package func startKWallet() async throws -> Child {
        let wallet = try await Child([KeyringServices.kwallet], environment: environment)
        guard await wallet.out.wait(for: "ready") else { throw Failure("no KWallet: \(await wallet.err.all())") }
        return wallet
    }

    /// A keyring that misbehaves on order, with what the former one kept.
    package func startFaultyKeyring() async throws -> Child {
        let keyring = try await Child(
            ["/usr/bin/python3", KeyringServices.faulty, folder.path + "/kept"], environment: environment)
        let named = try await run(["gdbus", "wait", "--session", "--timeout", "30", "org.freedesktop.secrets"])
        guard named.status == 0 else { throw Failure("no keyring: \(named.err) \(keyring.err.text)") }
        return keyring
    }

    package func becomes(_ mood: KeyringServices.Behaviour) async throws {
        _ = try await secretService("authd.Test.Become", mood.rawValue)
    }

    /// As a screen lock does, or a start without the password: what the keyring holds is there and cannot be read.
    package func lockKeyring(_ collection: String = "login") async throws {
        _ = try await secretService(
            "org.freedesktop.Secret.Service.Lock", "['/org/freedesktop/secrets/collection/\(collection)']")
    }

    private func secretService(_ method: String, _ arguments: String...) async throws -> String {
        let answer = try await run(
            [
                "gdbus", "call", "--session", "--dest", "org.freedesktop.secrets", "--object-path",
                "/org/freedesktop/secrets", "--method", method,
            ] + arguments)
        guard answer.status == 0 else { throw Failure("\(method): \(answer.err)") }
        return answer.out
    }

    /// The keyring again, unlocked, in place of the one that runs.
    package func unlockKeyring() async throws -> Child {
        try await startKeyring(replacing: true)
    }

    package func run(
        _ command: [String], input: String? = nil, with more: [String: String] = [:]
    ) async throws -> Child.Output {
        let input = input.map(Child.Input.text) ?? .none
        return try await Child(command, environment: environment.merging(more) { $1 }, input: input).output()
    }

    /// The attributes and labels of what authd keeps in the keyring, as another program sees them.
    package func keyringItems() async throws -> [String] {
        let found = try await run(["secret-tool", "search", "--all", "application", "authd"])
        return (found.out + found.err).split(separator: "\n").map(String.init).filter { $0.hasPrefix("label = ") }
    }

    /// As a user does in Seahorse.
    package func removeItem(session: String) async throws {
        let removed = try await run(["secret-tool", "clear", "application", "authd", "session", session])
        guard removed.status == 0 else { throw Failure("the item was not removed: \(removed.err)") }
    }

    /// Puts something in the item's place that is not a record of authd's.
    package func spoilItem(session: String, provider: String) async throws {
        let stored = try await run(
            [
                "secret-tool", "store", "--label=spoilt", "application", "authd", "session", session, "provider",
                provider,
                "xdg:schema", "authd.Session",
            ], input: "nothing of use")
        guard stored.status == 0 else { throw Failure("the item was not changed: \(stored.err)") }
    }

    /// Ends what was started here; the keyring ends with its bus.
    package func end() async {
        await bus.withLock { $0 }.end()
    }
}
