import Foundation
import Subprocess
import Testing

@Suite("make install")
struct InstallTests {
    /// Uses stand-ins for the programs, which are not tested here.
    private func make(_ target: String, into folder: URL, prefix: String = "/usr") async throws {
        let programs = folder.appending(path: "built")
        try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
        for name in ["authd", "authc", "authc-full", "authd-gateway"]
        where !FileManager.default.fileExists(atPath: programs.path + "/" + name) {
            try FileManager.default.copyItem(atPath: "/bin/true", toPath: programs.path + "/" + name)
        }
        let result = try await run(
            .name("make"),
            arguments: [
                "--directory", ProjectFiles.root.path, target, "PREFIX=\(prefix)", "DESTDIR=\(folder.path)/root",
                "RELEASE=\(programs.path)",
            ], output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
        try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "authd-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test("installs every page that the README, another page or a message names")
    func pages() async throws {
        try await withFolder { folder in
            try await make("install", into: folder)
            let documentation = folder.appending(path: "root/usr/share/doc/authd-session")
            func expect(_ page: String, from place: URL, namedBy name: String) {
                let path = place.appending(path: page).standardized.path
                #expect(FileManager.default.fileExists(atPath: path), "\(name) names \(page)")
            }
            let readme = try #require(ProjectFiles.file("README.md"))
            for page in [readme] + ProjectFiles.files(under: "Docs").filter({ $0.path.hasSuffix(".md") }) {
                let place = documentation.appending(path: page.path).deletingLastPathComponent()
                for link in page.text.matches(of: /\]\(((?!https?:)[^)#\s]+\.(?:md|svg))[)#]/).map({ String($0.1) })
                where !link.contains("Sources/") && !link.contains("Tests/") {
                    expect(link, from: place, namedBy: page.path)
                }
            }
            for file in ProjectFiles.files(under: "Sources") {
                for name in file.text.matches(of: /Docs\/[a-z\/-]+\.md/).map({ String($0.0) }) {
                    expect(name, from: documentation, namedBy: file.path)
                }
            }
        }
    }

    @Test("installs units that start the installed programs")
    func units() async throws {
        try await withFolder { folder in
            try await make("install", into: folder, prefix: "/opt/authd")
            let units = folder.appending(path: "root/opt/authd/lib/systemd/user")
            let names = try FileManager.default.contentsOfDirectory(atPath: units.path).filter {
                $0.hasSuffix(".service")
            }
            #expect(names.count >= 2)
            for name in names {
                let lines = try String(contentsOf: units.appending(path: name), encoding: .utf8).split(separator: "\n")
                let programs = lines.filter { $0.hasPrefix("Exec") && $0.contains("/auth") }
                #expect(!programs.isEmpty, "\(name)")
                #expect(programs.allSatisfy { $0.contains("=/opt/authd/bin/auth") }, "\(programs)")
            }
        }
    }

    @Test("has authc-full write the texts of authc, beside it and not before it, and readable for everybody")
    func texts() async throws {
        try await withFolder { folder in
            let programs = folder.appending(path: "built").path
            try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
            // Prints its argument.
            try FileManager.default.copyItem(atPath: "/bin/echo", toPath: programs + "/authc-full")
            try await make("install", into: folder)
            let place = folder.appending(path: "root").path + "/usr/libexec/authd-session/"
            #expect(try FileManager.default.contentsOfDirectory(atPath: place).count == 3)
            #expect(try String(contentsOfFile: place + "authc-texts", encoding: .utf8) == "---texts\n")
            var (texts, program) = (stat(), stat())
            #expect(stat(place + "authc-texts", &texts) == 0 && stat(place + "authc-full", &program) == 0)
            #expect(texts.st_mode & 0o777 == 0o644)
            let wrote = (program.st_mtim.tv_sec, program.st_mtim.tv_nsec)
            #expect((texts.st_mtim.tv_sec, texts.st_mtim.tv_nsec) >= wrote)
        }
    }

    @Test("leaves nothing that make uninstall does not remove")
    func uninstall() async throws {
        try await withFolder { folder in
            try await make("install", into: folder)
            // From an installation that was interrupted.
            let texts = folder.appending(path: "root").path + "/usr/libexec/authd-session/authc-texts.new"
            #expect(FileManager.default.createFile(atPath: texts, contents: nil))
            try await make("uninstall", into: folder)
            let left = FileManager.default.enumerator(atPath: folder.path + "/root")?.compactMap { $0 as? String } ?? []
            let files = left.filter { name in
                var isFolder: ObjCBool = false
                let isThere = FileManager.default.fileExists(
                    atPath: folder.path + "/root/" + name, isDirectory: &isFolder)
                return isThere && !isFolder.boolValue
            }
            #expect(files.isEmpty)
            #expect(!left.contains { $0.hasSuffix("authd-session") })
        }
    }

    @Test("the unit of a second agent is authd.service, but for names, folders and the store")
    func secondUnit() throws {
        func settings(_ name: String) throws -> Set<String> {
            let text = try String(contentsOf: ProjectFiles.root.appending(path: "systemd/" + name), encoding: .utf8)
            return Set(text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init))
        }
        let differing = try settings("authd.service").symmetricDifference(try settings("authd@.service"))
        let keys = Set(differing.compactMap { $0.split(separator: "=").first.map(String.init) })
        #expect(
            keys == ["Description", "Requires", "After", "ExecStart", "Environment", "SyslogIdentifier", "Also"],
            "\(differing)")
    }
}
