import AuthModel
import AuthWire
import Foundation
import Glibc
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("The files that the agent may use")
struct FileRulesTests {
    /// Without links and double slashes.
    private static func real(_ path: String) throws -> String {
        guard let found = realpath(path, nil) else { throw Failure("realpath: \(errno)") }
        defer { free(found) }
        return String(cString: found)
    }

    private static func rules(_ change: (inout FileRules.Places) -> Void) -> FileRules {
        var places = FileRules.Places()
        places.home = "/people/ada"
        change(&places)
        return FileRules(places)
    }

    @Test("nothing of the user's home can be read but what a rule names, and nothing of the user's other programs")
    func home() {
        let rules = Self.rules {
            $0.configurationFolder = "/people/ada/.config/authd"
            $0.stateFolder = "/people/ada/.local/state/authd"
            $0.socketFolders = ["/run/user/1000/authd"]
            $0.runtimeNames = ["user", "systemd", "NetworkManager"]
        }
        for path in [
            "/people/ada/.config/authd/authd.toml", "/people/ada/.local/state/authd/lock", "/usr/lib/libc.so.6",
            "/etc/resolv.conf", "/run/systemd/resolve/resolv.conf", "/run/user/1000/authd/prompt",
        ] {
            #expect(rules.allowReading(path), "\(path)")
        }
        for path in [
            "/people/ada/.ssh/id_ed25519", "/people/ada/.config/authdx/a", "/people/ada/.config/gh/hosts.yml",
            "/run/user/1000/containers/auth.json", "/run/user/1000/authd-http", "/tmp/x", "/home/bob", "/root/.netrc",
        ] {
            #expect(!rules.allowReading(path), "\(path)")
        }
    }

    @Test("only state and sockets can be written; only programs and libraries can be started")
    func writing() {
        let rules = Self.rules {
            $0.configurationFolder = "/people/ada/.config/authd"
            $0.stateFolder = "/people/ada/.local/state/authd"
            $0.socketFolders = ["/run/user/1000/authd"]
            $0.programs = ["/people/ada/.local/bin/authd"]
        }
        let written = rules.list.filter { $0.access.contains(.write) }.map(\.path)
        #expect(written == ["/people/ada/.local/state/authd", "/run/user/1000/authd"])
        let started = rules.list.filter { $0.access.contains(.execute) }.map(\.path)
        #expect(started.contains("/people/ada/.local/bin") && started.contains("/usr"))
        #expect(!started.contains { $0.hasPrefix("/people/ada/.config") || $0.hasPrefix("/people/ada/.local/state") })
        #expect(rules.list.filter(\.isNeeded).map(\.path) == ["/people/ada/.config/authd"] + written)
    }

    @Test("a file that settings name brings its folder, unless the folder has the home or many subjects")
    func files() {
        let rules = Self.rules {
            $0.files = [
                "/people/ada/keys/authd.key", "/people/ada/ca.pem", "/srv/ca/ca.pem", "/tmp/ca.pem", "relative",
            ]
        }
        for path in ["/people/ada/keys/other", "/people/ada/ca.pem", "/srv/ca/next.pem", "/tmp/ca.pem"] {
            #expect(rules.allowReading(path), "\(path)")
        }
        for path in ["/people/ada/.netrc", "/tmp/other", "/srv/other", "relative"] {
            #expect(!rules.allowReading(path), "\(path)")
        }
    }

    @Test("places: folders are created, and what links in them lead to is found")
    func places() throws {
        let folder = try TemporaryFolder()
        let base = try Self.real(folder.path)
        let home = base + "/home"
        _ = try folder.write("", to: "dotfiles/authd/authd.toml")
        _ = try folder.write("", to: "dotfiles/shop.toml")
        _ = try folder.write("", to: "home/.config/authd/providers/own.toml")
        symlink(base + "/dotfiles/authd/authd.toml", home + "/.config/authd/authd.toml")
        symlink(base + "/dotfiles/shop.toml", home + "/.config/authd/providers/shop.toml")
        let environment = { $0 == "HOME" ? home : nil }
        let places = FileRules.Places(
            AgentConfiguration(settings: Settings(), catalog: ProfileCatalog()),
            read: ConfigurationPaths(file: nil, environment: environment), program: home + "/bin/authd",
            stateFolder: home + "/.local/state/authd", sockets: [base + "/run/socket"],
            extraSocket: base + "/missing/extra/socket", environment: environment)
        #expect(places.configurationFolder == home + "/.config/authd")
        #expect(places.stateFolder == home + "/.local/state/authd")
        #expect(FileManager.default.fileExists(atPath: home + "/.local/state/authd"))
        // It cannot be created, because its parent is missing.
        #expect(places.socketFolders == [base + "/run"])
        #expect(places.files.contains(base + "/dotfiles/authd/authd.toml"))
        #expect(places.files.contains(base + "/dotfiles/shop.toml"))
        #expect(places.programs.contains { $0.contains("libc.so") })
        let rules = FileRules(places)
        #expect(rules.allowReading(base + "/dotfiles/shop.toml"))
        #expect(!rules.allowReading(home + "/.ssh/id_ed25519"))
    }

    @Test("a reload names the files that can be read after a restart only, and explains a refusal")
    func advice() {
        let rules = Self.rules { $0.configurationFolder = "/people/ada/.config/authd" }
        var settings = Settings()
        settings.http.caFile = "/people/ada/.config/authd/ca.pem"
        settings.sealedKey = .file("/people/ada/keys/authd.key")
        settings.listenerRules.listens = true
        let new = AgentConfiguration(settings: settings, catalog: ProfileCatalog())
        let advice = SandboxAdvice(rules: rules) { _ in "/run/user/1000/other/socket" }
        #expect(
            advice.changes(for: new) == [
                "/people/ada/keys/authd.key can be used when authd is started again",
                "/run/user/1000/other/socket can be used when authd is started again",
            ])
        let refused = ProfileProblem(
            file: "/a", line: 0, key: "", expected: "a readable file", found: SystemError.text(EACCES))
        let other = ProfileProblem(file: "/a", line: 1, key: "x", expected: "a number", found: "a text")
        #expect(advice.reasons(for: [other]).isEmpty)
        #expect(advice.reasons(for: [other, refused]).count == 1)
        let none = SandboxAdvice(rules: nil)
        #expect(none.changes(for: new).isEmpty && none.reasons(for: [refused]).isEmpty)
    }

    @Test(
        "AUTHD_LANDLOCK decides, and without a service manager of the user nothing is restricted",
        arguments: [("off", .off), ("auto", .noManager), ("", .noManager), (nil, .noManager)]
            as [(String?, LandlockState)])
    func modes(value: String?, state: LandlockState) throws {
        let folder = try TemporaryFolder()
        let sandbox = try FileSandbox { name in
            switch name {
            case FileSandbox.variable: value
            case "XDG_RUNTIME_DIR": folder.path
            default: nil
            }
        }
        #expect(sandbox.state == state && sandbox.rules == nil)
        let refusal = #expect(throws: StartRefusal.self) {
            try FileSandbox { $0 == FileSandbox.variable ? "yes" : nil }
        }
        #expect(refusal?.status == .badConfiguration)
    }
}
