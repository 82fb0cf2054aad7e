import AuthConfiguration
import AuthModel
import AuthProviders
import AuthWire
import Foundation
import Testing

@Suite("The settings that authc config knows")
struct SettingKeyTests {
    private static let unknown = "zzzzzzzzzzzz"

    /// The keys of each table that the reader knows.
    private static func known() throws -> Set<String> {
        let tables = [
            "", "etcd", "http", "lock", "network", "api", "prompt", "providers.NAME", "folder[N]", "hook[N]",
            "listener.extra", "listener.name",
            "presence", "sessions.name",
        ]
        let text = tables.map { table in
            let header =
                table.isEmpty ? "" : table.hasSuffix("[N]") ? "[[\(table.dropLast(3))]]\n" : "[\(table)]\n"
            return header + "\(unknown) = 1\n"
        }.joined()
        guard case .failure(let failure) = ReadingResult.settings(text, source: "authd.toml") else { return [] }
        var keys: Set<String> = []
        for problem in failure.problems where problem.key.hasSuffix(unknown) {
            let table = problem.key.dropLast(unknown.count).replacing("[0]", with: "[N]")
                .replacing("sessions.name", with: "sessions.NAME")
                .replacing("listener.name", with: "listener.NAME")
            for key in try #require(problem.expected.components(separatedBy: "one of ").last).split(separator: ", ") {
                keys.insert("\(table)\(key)")
            }
        }
        return keys
    }

    @Test("are those of the reader")
    func complete() throws {
        let tables: Set = [
            "etcd", "http", "lock", "network", "api", "prompt", "providers", "providers.NAME.environments", "folder",
            "hook",
            "listener", "presence", "sessions",
        ]
        let keys = try Self.known().subtracting(tables).union(["providers.NAME.environments.NAME"])
        #expect(Set(SettingKey.all.map(\.name)) == keys)
    }

    @Test("have their words, types and defaults from the reader")
    func types() throws {
        for key in SettingKey.all {
            let path = try #require(
                TOMLPath.components(key.name.replacing("NAME", with: "envelope").replacing("[N]", with: "[0]")))
            #expect(SettingKey.matching(path) == key)
            let wrong = try #require(key.type == .text || key.type == .texts ? "7" : "1979-05-27")
            var text = try TOMLText("[[folder]]\n[[hook]]\n")
            try text.set(path, to: wrong)
            guard case .failure(let failure) = ReadingResult.settings(text.text, source: "authd.toml") else {
                Issue.record("\(key.name) = \(wrong) is accepted")
                continue
            }
            #expect(failure.problems.contains { $0.key.hasPrefix(TOMLPath.text(path)) }, "\(key.name): \(failure)")
            guard case .word(let words) = key.type else { continue }
            for word in words {
                let table = key.name.hasPrefix("hook") ? "[[hook]]\ncommand = [\"/bin/true\"]\n" : ""
                var valid = try TOMLText(table)
                try valid.set(path, to: try #require(key.literal([word])))
                _ = try SettingsReader.read(valid.text, source: "authd.toml")
            }
        }
        #expect(SettingKey.all.first { $0.name == "hook[N].on" }?.type == .word(Hook.Event.allCases.map(\.rawValue)))
        let defaults = Settings()
        #expect(defaults.notifications && defaults.dbus && defaults.apiCacheBytes == 16 << 20)
        #expect(defaults.signInsPerHour == 60)
    }

    @Test("a default is the value that the reader uses without one")
    func defaults() throws {
        var text = try TOMLText("")
        for key in SettingKey.all {
            guard let standard = key.standard, let path = TOMLPath.components(key.name) else { continue }
            try text.set(path, to: try #require(key.literal([standard])))
        }
        var expected = Settings()
        // These two are filled in at the start.
        (expected.store, expected.logLevel) = (.secretService, "info")
        #expect(try SettingsReader.read(text.text, source: "authd.toml") == expected)
    }

    @Test("values become TOML of their type, and others are refused")
    func literals() throws {
        func literal(_ name: String, _ values: String...) throws -> String? {
            try #require(SettingKey.all.first { $0.name == name }).literal(values)
        }
        #expect(try literal("default_session", "12") == #""12""#)
        #expect(try literal("http.proxy", "a\"b\\c\n\u{1}ä") == #""a\"b\\c\n\u0001ä""#)
        #expect(try literal("http.no_proxy", "localhost", ".example") == #"["localhost", ".example"]"#)
        #expect(try literal("allowed_user_ids", "0", "1000") == "[0, 1000]")
        #expect(try literal("notifications", "false") == "false")
        #expect(try literal("api.cache_mib", "0") == "0")
        #expect(try literal("notifications", "no") == nil)
        #expect(try literal("api.cache_mib", "many") == nil)
        #expect(try literal("allowed_user_ids", "0", "ada") == nil)
        #expect(try literal("socket", "/a", "/b") == nil)
    }

    @Test("the sample has every setting, is valid as it is, and with all settings on")
    func sample() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 1...3 { root.deleteLastPathComponent() }
        let sample = try String(
            contentsOf: root.appendingPathComponent("Sources/authc/Settings/authd.toml"), encoding: .utf8)
        #expect(try SettingsReader.read(sample, source: "sample") == Settings())
        let lines = sample.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.contains(/^#[a-z_\[]/) ? line.dropFirst() : line
        }
        let text = try TOMLText(lines.joined(separator: "\n"))
        _ = try SettingsReader.read(text.text, source: "sample")
        let names = text.settings(below: "").map {
            $0.path.replacing("[0]", with: "[N]").replacing("app-template", with: "NAME")
                .replacing("environments.mine", with: "environments.NAME")
                .replacing("listener.box", with: "listener.NAME")
        }
        #expect(Set(names) == Set(SettingKey.all.map(\.name)))
        for key in SettingKey.all where key.standard != nil {
            #expect(lines.contains { $0.hasSuffix("= " + (key.literal([key.standard ?? ""]) ?? "")) }, "\(key.name)")
        }
    }
}
