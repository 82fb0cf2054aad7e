import AuthModel
import AuthWire
import Foundation
import Testing

@testable import AuthProviders

/// A temporary folder.
private final class Folder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "authd-profiles-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func put(_ name: String, _ text: String) throws {
        try text.write(toFile: path + "/" + name, atomically: true, encoding: .utf8)
    }
}

@Suite("Folders of profiles")
struct ProfileFoldersTests {
    private func environment(_ url: String, named name: String = "mine") -> SettingsEntry<ProviderEnvironment> {
        SettingsEntry(
            ProviderEnvironment(name: name, baseURL: url), file: "authd.toml", line: 7, key: "k")
    }

    @Test("without folders there are the five bundled profiles")
    func bundled() {
        let loaded = ProfileFolders.load(folders: ["/nonexistent/authd/providers"], environments: [:], defaults: [:])
        #expect(loaded.problems.isEmpty)
        #expect(
            loaded.catalog.list.map(\.name) == [
                "anonymous-wall", "app-template", "aws-lambda", "envelope", "fork-in-the-road",
            ])
    }

    @Test("a user's profile precedes the system's, which precedes a bundled one")
    func shadowing() throws {
        let user = try Folder()
        let system = try Folder()
        try system.put("a.toml", Bench.text(1, "name = \"envelope\"\ntitle = \"System\""))
        try system.put("b.toml", Bench.text(1, "name = \"mine\"\ntitle = \"System\""))
        try user.put("c.toml", Bench.text(1, "name = \"mine\"\ntitle = \"User\""))
        let loaded = ProfileFolders.load(folders: [user.path, system.path], environments: [:], defaults: [:])
        #expect(loaded.problems.isEmpty)
        #expect(loaded.catalog["envelope"]?.title == "System")
        #expect(loaded.catalog["mine"]?.title == "User")
        #expect(loaded.catalog["mine"]?.source == user.path + "/c.toml")
        #expect(loaded.catalog.list.count == 6)
    }

    @Test("a file that everybody can change is not read")
    func strangers() throws {
        let user = try Folder()
        try user.put("open.toml", Bench.text(1, "name = \"open\""))
        #expect(chmod(user.path + "/open.toml", 0o666) == 0)
        let loaded = ProfileFolders.load(folders: [user.path], environments: [:], defaults: [:])
        #expect(loaded.catalog["open"] == nil)
        #expect(loaded.problems.map(\.expected).contains { $0.contains("chmod o-w") })
        #expect(chmod(user.path + "/open.toml", 0o664) == 0)
        let own = PrivateGroup.isPrivate(getegid(), of: geteuid())
        let shared = ProfileFolders.load(folders: [user.path], environments: [:], defaults: [:])
        #expect((shared.catalog["open"] != nil) == own)
    }

    @Test("a group is private if it has the user's name and no other member; an unknown group is not private")
    func privateGroups() {
        #expect(!PrivateGroup.isPrivate(1_234_567, of: geteuid()))
        #expect(!PrivateGroup.isPrivate(getegid(), of: 1_234_567))
        // Debian's nobody has the group nogroup.
        #expect(!PrivateGroup.isPrivate(65534, of: 65534))
    }

    @Test("a group is not private if it is the primary group of another user")
    func sharedPrimaryGroup() throws {
        let folder = try Folder()
        let own = "me:x:1000:1000::/:/bin/sh\nold:x:1000:1000::/:/bin/sh\nbin:x:2:2::/:/bin/sh\n"
        try folder.put("alone", own)
        #expect(!PrivateGroup.isPrimary(1000, ofOtherThan: 1000, in: folder.path + "/alone"))
        try folder.put("shared", own + "other:x:1001:1000::/:/bin/sh\n")
        #expect(PrivateGroup.isPrimary(1000, ofOtherThan: 1000, in: folder.path + "/shared"))
        try folder.put("long", own + String(repeating: "x", count: 20_000) + ":x:1001:1::/:/bin/sh\n")
        #expect(PrivateGroup.isPrimary(1000, ofOtherThan: 1000, in: folder.path + "/long"))
    }

    @Test("a group counts as shared if the users cannot be read, and not if the file is missing")
    func unreadableUsers() throws {
        let folder = try Folder()
        try folder.put("file", "me:x:1000:1000::/:/bin/sh\n")
        #expect(PrivateGroup.isPrimary(1000, ofOtherThan: 1000, in: folder.path))
        #expect(PrivateGroup.isPrimary(1000, ofOtherThan: 1000, in: folder.path + "/file/passwd"))
        #expect(!PrivateGroup.isPrimary(1000, ofOtherThan: 1000, in: folder.path + "/missing"))
    }

    @Test("a broken file is reported and does not affect others")
    func broken() throws {
        let user = try Folder()
        try user.put("bad.toml", Bench.text(25, "kind = \"magic\""))
        try user.put("good.toml", Bench.text())
        try user.put("notes.txt", "not a profile")
        try user.put(".hidden.toml", "not a profile")
        let loaded = ProfileFolders.load(folders: [user.path], environments: [:], defaults: [:])
        #expect(loaded.catalog["mine"] != nil)
        #expect(loaded.catalog.list.count == 6)
        #expect(loaded.problems.map(\.file) == [user.path + "/bad.toml"])
        #expect(loaded.problems.map(\.line) == [25])
    }

    @Test("of two files with the same name in one folder, the first one is used and the other reported")
    func twice() throws {
        let user = try Folder()
        try user.put("a.toml", Bench.text())
        try user.put("b.toml", Bench.text())
        let loaded = ProfileFolders.load(folders: [user.path], environments: [:], defaults: [:])
        #expect(loaded.catalog["mine"]?.source == user.path + "/a.toml")
        #expect(loaded.problems.map(\.file) == [user.path + "/b.toml"])
    }

    @Test("a file that is not regular, too large or not text is refused without waiting")
    func odd() throws {
        let user = try Folder()
        #expect(mkfifo(user.path + "/pipe.toml", 0o600) == 0)
        try FileManager.default.createDirectory(atPath: user.path + "/folder.toml", withIntermediateDirectories: true)
        try user.put("large.toml", String(repeating: "#", count: 300_000))
        try Data([0x61, 0xFF]).write(to: URL(fileURLWithPath: user.path + "/bytes.toml"))
        try user.put("good.toml", Bench.text())
        try FileManager.default.createSymbolicLink(
            atPath: user.path + "/link.toml", withDestinationPath: user.path + "/nowhere")
        let loaded = ProfileFolders.load(folders: [user.path], environments: [:], defaults: [:])
        #expect(loaded.catalog["mine"] != nil)
        #expect(
            loaded.problems.map { "\($0.file.split(separator: "/").last ?? ""): \($0.expected)" } == [
                "bytes.toml: UTF-8 text", "folder.toml: a regular file", "large.toml: at most 256 KiB",
                "pipe.toml: a regular file",
            ])
    }

    @Test("settings add an environment, or replace a bundled one")
    func environments() throws {
        let loaded = ProfileFolders.load(
            folders: [],
            environments: [
                "envelope": [
                    environment("https://real.example.org/api", named: "production"),
                    environment("http://localhost:9000"),
                ]
            ], defaults: ["envelope": SettingsEntry("mine", file: "authd.toml", line: 3, key: "d")])
        #expect(loaded.problems.isEmpty)
        let profile = try #require(loaded.catalog["envelope"])
        #expect(profile.environments.map(\.name) == ["production", "testing", "debug", "mine"])
        #expect(profile.environments[0].baseURL == "https://real.example.org/api")
        #expect(profile.defaultEnvironment == "mine")
        // It is still read when it is needed.
        #expect(loaded.catalog.fromFiles.isEmpty)
    }

    @Test("settings change a file in place of the bundled profile of that name")
    func environmentOfFile() throws {
        let user = try Folder()
        try user.put("mine.toml", Bench.text())
        let mine = try #require(
            ProfileFolders.load(folders: [user.path], environments: [:], defaults: [:]).catalog["mine"])
        let loaded = ProfileFolders.load(
            folders: [user.path], environments: ["mine": [environment("http://localhost:9000")]], defaults: [:])
        #expect(loaded.problems.isEmpty)
        #expect(
            loaded.catalog["mine"]?.environments
                == mine.environments + [ProviderEnvironment(name: "mine", baseURL: "http://localhost:9000")])
        #expect(loaded.catalog.fromFiles.map(\.name) == ["mine"])
    }

    @Test("settings for an unknown provider or environment, or with forbidden plain http, are reported")
    func refusedEnvironments() {
        let loaded = ProfileFolders.load(
            folders: [],
            environments: ["envelop": [environment("https://x.org")], "envelope": [environment("http://x.org")]],
            defaults: ["envelope": SettingsEntry("staging", file: "authd.toml", line: 3, key: "d")])
        #expect(loaded.problems.map(\.line) == [7, 7, 3])
        #expect(loaded.problems[0].expected.hasSuffix("envelope, fork-in-the-road (did you mean envelope?)"))
        #expect(loaded.problems[1].expected.contains("https"))
        #expect(loaded.problems[2].expected.contains("production, testing, debug"))
        #expect(loaded.catalog["envelope"]?.environments.count == 3)
        #expect(loaded.catalog["envelope"]?.defaultEnvironment == "production")
    }

    @Test("a similar provider or environment is suggested")
    func similarNames() {
        let loaded = ProfileFolders.load(
            folders: [], environments: ["envelope": [environment("http://localhost:9000")]],
            defaults: [
                "app-tmplate": SettingsEntry("production", file: "authd.toml", line: 3, key: "d"),
                "envelope": SettingsEntry("mne", file: "authd.toml", line: 4, key: "d"),
            ])
        #expect(loaded.problems.count == 2)
        #expect(loaded.problems[0].expected.hasSuffix(" (did you mean app-template?)"))
        #expect(loaded.problems[1].expected == "one of production, testing, debug, mine (did you mean mine?)")
    }

    @Test("the first settings file counts, and no file is like an empty one")
    func settings() throws {
        let user = try Folder()
        let system = try Folder()
        let paths = [user.path + "/authd.toml", system.path + "/authd.toml"]
        #expect(try SettingsFile.load(paths: paths) == Settings())
        try system.put("authd.toml", "log_level = \"error\"")
        #expect(try SettingsFile.load(paths: paths).logLevel == "error")
        try user.put("authd.toml", "log_level = \"debug\"")
        #expect(try SettingsFile.load(paths: paths).logLevel == "debug")
        try user.put("authd.toml", "log_level = \"loud\"")
        #expect(throws: ProfileProblems.self) { try SettingsFile.load(paths: paths) }
    }
}

/// `Tests/run-suites` leaves suites of this name out unless it runs as root: only root can give a file away.
@Suite("Folders of profiles, with files of others")
struct ProfileFoldersRootTests {
    @Test("a file that another user owns, or that a group other than the user's own can change, is not read")
    func strangers() throws {
        let user = try Folder()
        let file = user.path + "/open.toml"
        try user.put("open.toml", Bench.text(1, "name = \"open\""))
        func load() -> ProfileFolders.Loaded {
            ProfileFolders.load(folders: [user.path], environments: [:], defaults: [:])
        }
        #expect(chmod(file, 0o664) == 0 && chown(file, uid_t.max, 12345) == 0)
        let shared = load()
        #expect(shared.catalog["open"] == nil)
        #expect(shared.problems.map(\.expected).contains { $0.contains("chmod g-w") })
        #expect(chmod(file, 0o644) == 0)
        #expect(load().catalog["open"] != nil)
        #expect(chown(file, 65534, gid_t.max) == 0)
        #expect(load().catalog["open"] == nil)
        #expect(chown(file, 12345, gid_t.max) == 0)
        let given = load()
        #expect(given.catalog["open"] == nil)
        #expect(given.problems.map(\.found).contains("a file of user 12345"))
    }
}
