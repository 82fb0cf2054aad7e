import AuthModel
import AuthProviders
import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("The man pages of profiles and settings")
struct ManPageTests {
    // MARK: authd-profile(5)

    /// The section of each table of the schema.
    private static let sections = [
        "": ["Top level", "OAuth at the top level"], "oauth": ["[oauth]"], "authorization": ["authorization"],
        "password": ["[password]"], "envelope": ["envelope"], "field_of_reply": ["A header or a cookie"],
        "basic": ["basic"], "request": ["A request"], "sign_out": ["[sign_out]", "A request"], "reply": ["[reply]"],
        "field": ["fields"], "challenge": ["challenge"], "first": ["first"], "method": ["[sign_in.METHOD]"],
        "step": ["next"], "rule": ["A rule"], "choices": ["choices"], "poll": ["poll"], "errors": ["[errors]"],
        "user": ["[user]"], "user_request": ["[user_request]"], "user_update": ["[user_update]"],
        "renewal": ["[renewal]"], "api": ["[api]"], "endpoint": ["[endpoints.NAME]", "A request"],
        "argument": ["args"], "part": ["multipart"], "text_part": ["multipart"], "pages": ["pages"],
    ]

    /// Another test compares the schema with the reader.
    @Test("authd-profile(5) has every key of the schema in its table's section, and no other")
    func profileKeys() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 1...3 { root.deleteLastPathComponent() }
        let file = try Data(contentsOf: root.appendingPathComponent("Docs/profile.schema.json"))
        let schema = try JSON(parsing: Array(file))
        let page = try ManPage("authd-profile.5")
        var tables: [String: JSON] = ["": schema]
        for (name, definition) in try #require(schema["definitions"]?.objectValue) { tables[name] = definition }
        for name in ["oauth", "password"] { tables[name] = schema["properties"]?[name] }
        tables["authorization"] = schema["properties"]?["authorization"]?["anyOf"]?.arrayValue?.last
        tables["envelope"] = schema["definitions"]?["errors"]?["properties"]?["envelope"]
        var described: Set<String> = []
        for (name, table) in tables {
            guard let keys = table["properties"]?.objectValue?.map(\.key) else { continue }
            let titles = try #require(Self.sections[name], "\(name) has no section")
            let own = Set(titles.flatMap { page.tags[$0] ?? [] })
            #expect(own.isSuperset(of: keys), "\(name): \(Set(keys).subtracting(own))")
            described.formUnion(titles)
            // The keys of every request are described once.
            if !titles.contains("A request") { #expect(own == Set(keys), "\(name)") }
        }
        #expect(described == Set(Self.sections.values.joined()))
    }

    @Test("the examples of authd-profile(5) are profiles")
    func profileExamples() throws {
        let examples = try ManPage("authd-profile.5").examples
        #expect(examples.count == 2)
        for example in examples { _ = try ProfileReader.read(example, source: "example.toml") }
    }

    // MARK: authd.toml(5)

    private static let unknown = "zzzzzzzzzzzz"

    /// Every table of the settings, each with a key that no table has.
    private static let tables = """
        zzzzzzzzzzzz = 1
        [etcd]
        zzzzzzzzzzzz = 1
        [http]
        zzzzzzzzzzzz = 1
        [lock]
        zzzzzzzzzzzz = 1
        [network]
        zzzzzzzzzzzz = 1
        [api]
        zzzzzzzzzzzz = 1
        [prompt]
        zzzzzzzzzzzz = 1
        [presence]
        zzzzzzzzzzzz = 1
        [sessions.a]
        zzzzzzzzzzzz = 1
        [providers.a]
        zzzzzzzzzzzz = 1
        [[folder]]
        zzzzzzzzzzzz = 1
        [[hook]]
        zzzzzzzzzzzz = 1
        [listener.extra]
        zzzzzzzzzzzz = 1
        """

    /// Keys that are tables, and have a section.
    private static let sectionsOfTables = [
        "etcd": "[etcd]", "http": "[http]", "lock": "[lock]", "network": "[network]", "api": "[api]",
        "prompt": "[prompt]", "providers": "[providers.NAME]",
        "environments": "[providers.NAME.environments]", "folder": "[[folder]]", "hook": "[[hook]]",
        "listener": "[listener.extra]", "presence": "[presence]", "sessions": "[sessions.NAME]",
    ]

    @Test("authd.toml(5) has every setting in its table's section, and no other")
    func settings() throws {
        let page = try ManPage("authd.toml.5")
        guard case .failure(let failure) = ReadingResult.settings(Self.tables, source: "authd.toml") else {
            Issue.record("no problems")
            return
        }
        let problems = failure.problems.filter { $0.key.hasSuffix(Self.unknown) }
        #expect(problems.count == Self.tables.components(separatedBy: Self.unknown).count - 1)
        for problem in problems {
            let known = try #require(problem.expected.components(separatedBy: "one of ").last)
                .components(separatedBy: ", ")
            let table = problem.key.split(separator: ".").first.map { $0.prefix { $0 != "[" } } ?? ""
            let title = table == Self.unknown ? "TOP LEVEL" : try #require(Self.sectionsOfTables[String(table)])
            // A key may have the name of another table.
            let tables = known.filter {
                Self.sectionsOfTables[$0] != nil && (table == Self.unknown || $0 == "environments")
            }
            for key in tables { #expect(page.tags[Self.sectionsOfTables[key] ?? ""] != nil, "\(key)") }
            #expect((page.tags[title] ?? []).sorted() == known.filter { !tables.contains($0) }.sorted(), "\(title)")
        }
    }

    @Test("the example of authd.toml(5) is valid")
    func settingsExample() throws {
        let example = try #require(try ManPage("authd.toml.5").examples.first)
        let settings = try SettingsReader.read(example, source: "authd.toml")
        #expect(settings.hooks.count == 1 && settings.folders.count == 1)
    }
}
