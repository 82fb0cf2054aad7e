package import Foundation
import Synchronization

/// KeePassXC as the Secret Service of a desktop on a virtual screen, and the user who answers its dialogs.
///
/// It asks about each client that writes over an item which that client did not write itself. Reading is allowed to all,
/// as users may set it.
package final class KeePassXC: Sendable {
    private let desktop: Desktop
    private let screen: VirtualScreen
    private let running = Mutex<Child?>(nil)

    private static let password = "pw"
    /// The group that it shows to other programs.
    private static let group = UUID()
    private var folder: String { desktop.folder.path + "/keepassxc" }
    /// The file that its entries are in.
    package var database: String { folder + "/passwords.kdbx" }

    package init(on desktop: Desktop) async throws {
        self.desktop = desktop
        screen = try await VirtualScreen(on: desktop)
        _ = try desktop.folder.folder("keepassxc")
        _ = try desktop.folder.write(Self.settings, to: "keepassxc/settings.ini")
        _ = try desktop.folder.write("", to: "keepassxc/local.ini")
        let document = try desktop.folder.write(Self.document, to: "keepassxc/empty.xml")
        // Its key is derived in the least time that it allows.
        let made = try await tool(
            ["import", "--decryption-time", "100", "--set-password", document, database],
            input: "\(Self.password)\n\(Self.password)\n")
        guard made.status == 0 else { throw Failure("no database: \(made.err)") }
    }

    /// Starts it, with its database open.
    package func start() async throws {
        let program = try await Child(
            [
                "keepassxc", "--config", folder + "/settings.ini", "--localconfig", folder + "/local.ini",
                "--pw-stdin", database,
            ], environment: environment, input: .text(Self.password + "\n"))
        running.withLock { $0 = program }
        // It takes the name first, and opens the database when its key is derived.
        guard try await until(isOpen) else {
            throw Failure("KeePassXC does not open its database: \(program.err.text)")
        }
    }

    private func isOpen() async throws -> Bool {
        let alias = try await ask(
            "/org/freedesktop/secrets", "org.freedesktop.Secret.Service.ReadAlias", "default")
        guard let path = alias.split(separator: "'").first(where: { $0.contains("/collection/") }) else { return false }
        let locked = try await ask(
            String(path), "org.freedesktop.DBus.Properties.Get", "org.freedesktop.Secret.Collection", "Locked")
        return locked.contains("false")
    }

    private func ask(_ path: String, _ method: String, _ arguments: String...) async throws -> String {
        try await desktop.run(
            [
                "gdbus", "call", "--session", "--dest", "org.freedesktop.secrets", "--object-path", path, "--method",
                method,
            ] + arguments
        ).out
    }

    package var pid: pid_t? { running.withLock { $0?.pid } }

    /// Ends it at once, as a crash does.
    package func kill() async {
        await running.withLock { $0 }?.end(SIGKILL)
    }

    /// Whether a dialog waits for the user.
    package func isAsking() async throws -> Bool { try await window() != nil }

    /// The user allows all that it asks about. Returns when no dialog is left.
    package func allow() async throws {
        let isShown = try await until { try await isAsking() }
        guard isShown else { throw Failure("KeePassXC asks nothing") }
        while let shown = try await window() {
            // Its default button allows. A window may end before the key is pressed.
            _ = try await screen.run(["xdotool", "windowfocus", "--sync", shown, "key", "Return"])
            let isGone = try await until { try await window() != shown }
            guard isGone else { throw Failure("a dialog is still there") }
        }
    }

    package func end() async {
        await kill()
        await screen.end()
    }

    private func window() async throws -> String? {
        try await screen.window("--name", "Access Request")
    }

    private func tool(_ arguments: [String], input: String) async throws -> Child.Output {
        try await desktop.run(["keepassxc-cli"] + arguments, input: input, with: ["QT_QPA_PLATFORM": "offscreen"])
    }

    private var environment: [String: String] {
        screen.environment.merging(["QT_QPA_PLATFORM": "xcb"]) { $1 }
    }

    private static let settings = """
        [General]
        ConfigVersion=2
        RememberLastDatabases=false
        SingleInstance=false
        UpdateCheckMessageShown=true

        [FdoSecrets]
        ConfirmAccessItem=false
        ConfirmDeleteItem=false
        Enabled=true
        ShowNotification=false

        [GUI]
        CheckForUpdates=false
        ShowTrayIcon=false

        [Security]
        LockDatabaseIdle=false
        """

    /// KeePass 2 XML with an empty group, which is the collection of its Secret Service.
    private static var document: String {
        let bytes = withUnsafeBytes(of: group.uuid) { Data($0).base64EncodedString() }
        return """
            <?xml version="1.0" encoding="utf-8"?>
            <KeePassFile>
              <Meta><CustomData><Item>
                <Key>FDO_SECRETS_EXPOSED_GROUP</Key><Value>{\(group.uuidString.lowercased())}</Value>
              </Item></CustomData></Meta>
              <Root><Group>
                <UUID>AAAAAAAAAAAAAAAAAAAAAQ==</UUID><Name>Root</Name>
                <Group><UUID>\(bytes)</UUID><Name>authd</Name></Group>
              </Group></Root>
            </KeePassFile>
            """
    }
}
