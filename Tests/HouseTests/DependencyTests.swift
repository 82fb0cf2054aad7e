import Foundation
import Subprocess
import Testing

@Suite("Dependencies are pinned, listed and described")
struct DependencyTests {
    @Test("every direct dependency has an exact version, as in the list")
    func exactVersions() throws {
        let package = try #require(ProjectFiles.file("Package.swift"))
        let direct = package.text.matches(of: /\.package\(url: "([^"]+)", ([^)]+)\)/)
        let listed = try Self.listed()
        #expect(!direct.isEmpty)
        for dependency in direct {
            let version = try #require(
                listed.first { $0.location == dependency.1 }?.version, "\(dependency.1) is not in the list")
            #expect(dependency.2 == "exact: \"\(version)\"")
        }
    }

    @Test("an added, removed or changed package is reported, and an unchanged one is not")
    func comparison() async throws {
        let listed = try Self.listed()
        #expect(try await compare(listed).isEmpty)
        var changed = listed
        changed[0].version = "99.0.0"
        #expect(try await compare(changed).contains("+\(changed[0].line)"))
        var moved = listed
        moved[0].revision = String(repeating: "0", count: 40)
        #expect(try await compare(moved).contains("+\(moved[0].line)"))
        #expect(try await compare(Array(listed.dropLast())).contains("-\(listed[listed.count - 1].line)"))
        let new = Dependency(
            name: "zebra", version: "1.0.0", revision: String(repeating: "a", count: 40),
            location: "https://example.org/zebra")
        #expect(try await compare(listed + [new]).contains("+\(new.line)"))
    }

    @Test("the bill of materials names each package of the list with its version, and what is linked in of the system")
    func billOfMaterials() async throws {
        let listed = try Self.listed()
        let bill = try await run("Tests/sbom")
        #expect(bill.isSuccess)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(bill.out.utf8)) as? [String: Any])
        #expect(json["bomFormat"] as? String == "CycloneDX")
        let components = try #require(json["components"] as? [[String: Any]])
        let named = components.prefix(listed.count)
        #expect(named.map { $0["name"] as? String } == listed.map(\.name))
        #expect(named.map { $0["version"] as? String } == listed.map(\.version))
        let places = components.compactMap { $0["purl"] as? String }
        #expect(Set(places).count == components.count)
        let system = places.dropFirst(listed.count)
        #expect(system.allSatisfy { $0.hasPrefix("pkg:deb/") })
        for name in ["libc6-dev", "libtomlplusplus-dev", "libyaml-dev"] {
            #expect(system.contains { $0.contains("/\(name)@") }, "\(name)")
        }
    }

    @Test("the bill of materials is valid CycloneDX, and one with a mistake is refused")
    func schema() async throws {
        let bill = try await run("Tests/sbom").out
        try await Self.withFile(bill) { file in
            let checked = try await run(".build/peers/cyclonedx/bin/python", ["Tests/sbom", "--check", file])
            #expect(checked.isSuccess, "\(checked.err)")
        }
        try await Self.withFile(bill.replacing("\"library\"", with: "\"libary\"", maxReplacements: 1)) { file in
            let checked = try await run(".build/peers/cyclonedx/bin/python", ["Tests/sbom", "--check", file])
            #expect(!checked.isSuccess)
            #expect(checked.err.contains("libary"))
        }
    }

    /// authd does not load certificates from a file that swift-nio-ssl loads anyway.
    @Test("the files with the system's certificates are those that swift-nio-ssl looks for")
    func systemStores() throws {
        func paths(_ list: String, in file: String) throws -> [String] {
            let text = try #require(ProjectFiles.file(file), "\(file)").text
            let found = try #require(try Regex("let \(list) = \\[([^\\]]+)\\]").firstMatch(in: text), "\(list)")
            return try #require(found[1].substring).matches(of: /"([^"]+)"/).map { String($0.1) }
        }
        let theirs = ".build/checkouts/swift-nio-ssl/Sources/NIOSSL/LinuxCABundle.swift"
        let loaded = try paths("rootCAFileSearchPaths", in: theirs)
        #expect(!loaded.isEmpty)
        #expect(try paths("systemStores", in: "Sources/AuthHTTP/TrustRoots.swift") == loaded)
    }

    @Test("a list with an invalid line gets no bill of materials")
    func brokenList() async throws {
        try await Self.withFile("swift-nio 2.101.2\n") { list in
            let bill = try await run("Tests/sbom", [list])
            #expect(!bill.isSuccess)
            #expect(bill.err.contains("swift-nio 2.101.2"))
        }
    }

    // MARK: -

    private struct Dependency {
        var name: String
        var version: String
        var revision: String
        var location: String

        var line: String { [name, version, revision, location].joined(separator: " ") }
        var pin: [String: Any] {
            ["identity": name, "location": location, "state": ["version": version, "revision": revision]]
        }
    }

    private static func listed() throws -> [Dependency] {
        let list = try #require(ProjectFiles.file("Tests/dependencies.txt"))
        return try list.lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }.map { line in
            let words = line.split(separator: " ").map(String.init)
            try #require(words.count == 4, "\(line)")
            return Dependency(name: words[0], version: words[1], revision: words[2], location: words[3])
        }
    }

    /// The difference that `Tests/check-dependencies` prints; its exit status says whether there is one.
    private func compare(_ resolved: [Dependency]) async throws -> String {
        let pins = try JSONSerialization.data(withJSONObject: ["pins": resolved.map(\.pin)])
        return try await Self.withFile(String(decoding: pins, as: UTF8.self)) { file in
            let result = try await run("Tests/check-dependencies", [file])
            #expect(result.isSuccess == result.out.isEmpty)
            return result.out
        }
    }

    private static func withFile<Value>(_ text: String, _ body: (String) async throws -> Value) async throws -> Value {
        let file = FileManager.default.temporaryDirectory.appending(path: "authd-\(UUID().uuidString)")
        try text.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await body(file.path)
    }

    private struct Outcome {
        let isSuccess: Bool
        let out: String
        let err: String
    }

    /// In the project's folder.
    private func run(_ program: String, _ arguments: [String] = []) async throws -> Outcome {
        let result = try await Subprocess.run(
            .name("env"), arguments: Arguments(["--chdir=\(ProjectFiles.root.path)", program] + arguments),
            output: .string(limit: 1 << 20), error: .string(limit: 1 << 16))
        return Outcome(
            isSuccess: result.terminationStatus.isSuccess, out: result.standardOutput, err: result.standardError)
    }
}
