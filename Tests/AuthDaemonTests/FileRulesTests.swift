import AuthModel
import AuthWire
import Foundation
import Glibc
import Synchronization
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

    private static func rules(_ change: (inout FilePlaces) -> Void) -> FileRules {
        var places = FilePlaces()
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
            "/run/media/ada/disk/file", "/run/host/home/ada/.netrc", "/run/secrets/other", "/run/lock/file",
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
        #expect(rules.list.filter(\.isNeeded).map(\.path) == written && rules.notes.isEmpty)
    }

    @Test("a file that settings name brings its folder, unless the folder has the home or many subjects")
    func files() {
        let rules = Self.rules {
            $0.files = [
                "/people/ada/keys/authd.key", "/people/ada/ca.pem", "/srv/ca/ca.pem", "/tmp/ca.pem", "relative",
            ]
        }
        for path in [
            "/people/ada/keys/other", "/people/ada/keys/\u{301}other", "/people/ada/ca.pem", "/srv/ca/next.pem",
            "/tmp/ca.pem",
        ] {
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
        let places = Self.places(in: base, environment: environment)
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

    private static func places(
        in base: String, settings: Settings = Settings(), file: String? = nil, socket: String = "/run/socket",
        environment: (String) -> String?
    ) -> FilePlaces {
        FilePlaces(
            AgentConfiguration(settings: settings, catalog: ProfileCatalog()),
            read: ConfigurationPaths(file: file, environment: environment), program: base + "/home" + "/bin/authd",
            stateFolder: base + "/home/.local/state/authd", sockets: [base + socket],
            extraSocket: base + "/missing/extra/socket", environment: environment)
    }

    /// A home with a file of another program, and a link to it.
    private static func world() throws -> (folder: TemporaryFolder, base: String) {
        let folder = try TemporaryFolder()
        let base = try real(folder.path)
        for file in [
            "home/ca.pem", "home/.ssh/id", "home/.config/other/s", "home/.config/ca.pem", "run/ca.pem", "run/other/s",
        ] {
            _ = try folder.write("", to: file)
        }
        symlink(base + "/home", base + "/link")
        chmod(base + "/run", 0o700)
        return (folder, base)
    }

    private static func expectNarrow(_ rules: FileRules, _ base: String) {
        for path in ["/home/.ssh/id", "/home/.netrc", "/home/.config/other/s", "/run/other/s", "/other"] {
            #expect(!rules.allowReading(base + path), "\(path): \(rules.list)")
        }
        #expect(!rules.allowReading("/other"))
    }

    @Test(
        "however the path of a file is written, its rule opens neither the home nor a folder of many programs",
        arguments: [
            "/home//ca.pem", "/home/./ca.pem", "/home/.ssh/../ca.pem", "/link/ca.pem", "/link//.ssh/../ca.pem",
            "/home/missing.pem", "/home/.ssh/missing.pem", "/home/.ssh/id", "/home/.config/ca.pem", "/run/ca.pem",
            "/run//ca.pem", "/home/", "/home/.ssh/", "/home", "/home/.", "/home/.ssh/..", "/",
            "/../../../../../../x.pem", "/home/\u{301}missing.pem",
        ])
    func spellings(path: String) throws {
        let (folder, base) = try Self.world()
        var settings = Settings()
        settings.http.caFile = path == "/" ? "/" : base + path
        for home in ["/home", "/link", "/home/.", "//home"] {
            let rules = FileRules(
                Self.places(in: base, settings: settings) {
                    switch $0 {
                    case "HOME": base + home
                    case "XDG_RUNTIME_DIR": base + "/run"
                    case "SSL_CERT_FILE": path == "/" ? "/" : base + path
                    default: nil
                    }
                })
            // The socket of this world is in the runtime folder, which is the subject of another test.
            let others = rules.list.filter { !$0.isNeeded }
            #expect(!others.contains { FilePlaces.covers($0.path, base) }, "\(others)")
            for shared in ["/home", "/home/.ssh", "/home/.config", "/run"] {
                #expect(!others.contains { $0.path == base + shared }, "\(shared): \(others)")
            }
            if path.hasSuffix("ca.pem") { #expect(rules.allowReading(try Self.real(base + path))) }
            // A slash and the mark after it are one character.
            if path.hasSuffix("/\u{301}missing.pem") { #expect(rules.allowReading(base + path), "\(others)") }
        }
        withExtendedLifetime(folder) {}
    }

    @Test("a link to a folder opens that folder, unless it has the home or files of many programs")
    func linkedFolders() throws {
        let (folder, base) = try Self.world()
        _ = try folder.write("", to: "home/.config/prov/shop.toml")
        let own = base + "/home/.config/authd"
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        for (name, target) in [
            ("providers", base + "/home/.config/prov"), ("h", base + "/home"), ("r", "/"), ("b", base),
            ("s", base + "/home/.ssh"),
        ] {
            symlink(target, own + "/" + name)
        }
        let variables = ["HOME": base + "/home", "XDG_RUNTIME_DIR": base + "/run"]
        let rules = FileRules(Self.places(in: base, socket: "/run/authd/socket") { name in variables[name] })
        #expect(rules.allowReading(base + "/home/.config/prov/shop.toml"))
        Self.expectNarrow(rules, base)
        #expect(rules.notes.count == 4, "\(rules.notes)")
    }

    @Test("settings in the home are single files; a socket in the home or the runtime folder is reported")
    func inHome() throws {
        let (folder, base) = try Self.world()
        let file = try folder.write("", to: "home/authd.toml")
        let variables = ["HOME": base + "/home", "XDG_RUNTIME_DIR": base + "/run"]
        let environment: (String) -> String? = { name in variables[name] }
        let settings = FileRules(
            Self.places(in: base, file: file, socket: "/run/authd/socket", environment: environment))
        #expect(settings.allowReading(try Self.real(file)))
        Self.expectNarrow(settings, base)
        #expect(settings.notes.count == 1 && settings.notes[0].contains("after a restart"), "\(settings.notes)")
        let socket = FileRules(Self.places(in: base, environment: environment))
        #expect(socket.notes == ["authd can read and write all of \(base)/run, because its state or socket is there"])
    }

    @Test("a library in the home is a single file, and a home below a folder of the system is reported")
    func programs() {
        let rules = Self.rules { $0.programs = ["/people/ada/library.so", "/people/ada/.local/bin/authd"] }
        #expect(rules.allowReading("/people/ada/library.so") && rules.allowReading("/people/ada/.local/bin/authc"))
        #expect(!rules.allowReading("/people/ada/.netrc"))
        let below = Self.rules { $0.home = "/opt/ada" }
        #expect(below.notes == ["authd can read all of /opt/ada, because it is below /opt"])
    }

    @Test("a link to nowhere in place of a folder is no rule, so that it switches nothing off")
    func dangling() throws {
        let (folder, base) = try Self.world()
        try FileManager.default.createDirectory(atPath: base + "/home/.local/state", withIntermediateDirectories: true)
        symlink(base + "/nowhere", base + "/home/.local/state/authd")
        symlink(base + "/nowhere", base + "/home/.config/authd")
        let places = Self.places(in: base, socket: "/run/authd/socket") { $0 == "HOME" ? base + "/home" : nil }
        #expect(places.configurationFolder == nil && places.stateFolder == nil)
        #expect(FileRules(places).list.filter(\.isNeeded).map(\.path) == [base + "/run/authd"])
        withExtendedLifetime(folder) {}
    }

    @Test("a reload names the files that can be read after a restart only, and explains a refusal")
    func advice() throws {
        let folder = try TemporaryFolder()
        var settings = Settings()
        settings.http.caFile = try folder.write("", to: "config/ca.pem")
        settings.sealedKey = .file(try folder.write("", to: "keys/authd.key"))
        settings.listeners[.extra].listens = true
        let new = AgentConfiguration(settings: settings, catalog: ProfileCatalog())
        let base = folder.path
        let advice = SandboxAdvice(
            isRestricted: true, extraSocket: { _ in base + "/other/socket" }, refuses: { $0.contains("/keys/") })
        #expect(
            advice.refusals(for: new) == [
                "\(base)/keys/authd.key can be used when authd is started again",
                "\(base)/other/socket can be used when authd is started again",
            ])
        // Without Landlock the kernel refuses none of them, whatever their mode is.
        chmod(base + "/keys/authd.key", 0)
        #expect(!SandboxAdvice.refuses(base + "/keys/authd.key") && !SandboxAdvice.refuses(base + "/missing"))
        let refused = ProfileProblem(
            file: "/a", line: 0, key: "", expected: "a readable file", found: SystemError.text(EACCES))
        let other = ProfileProblem(file: "/a", line: 1, key: "x", expected: "a number", found: "a text")
        #expect(advice.reasons(for: [other]).isEmpty)
        #expect(advice.reasons(for: [other, refused]).count == 1)
        let none = SandboxAdvice(isRestricted: false, refuses: { _ in true })
        #expect(none.refusals(for: new).isEmpty && none.reasons(for: [refused]).isEmpty)
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

    @Test("if the variable requires Landlock, a failure ends the start")
    func required() throws {
        var sandbox = try FileSandbox { $0 == FileSandbox.variable ? "on" : nil }
        // Without it in the kernel, the agent works without.
        guard sandbox.state == .on else { return }
        #expect(sandbox.reader != nil)
        // A process of tests has many threads.
        let refusal = #expect(throws: StartRefusal.self) { try sandbox.restrict(to: FileRules(FilePlaces())) }
        #expect(refusal?.status == .refused && sandbox.rules == nil)
        #expect(sandbox.reader == nil)
    }
}
