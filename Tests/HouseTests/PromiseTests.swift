import Testing

@Suite("The promises of the threat model")
struct PromiseTests {
    @Test("each names tests that exist")
    func testsExist() throws {
        let page = try #require(ProjectFiles.file("Docs/threat-model.md"))
        let rows = page.text.split(separator: "| promise | test |").dropFirst().flatMap { table in
            table.split(separator: "\n").dropFirst().prefix { $0.hasPrefix("|") }
        }
        #expect(rows.count >= 10)
        let files = ProjectFiles.swiftFiles().filter { $0.path.hasPrefix("Tests/") }
        for row in rows {
            let names = row.matches(of: /`(\w+Tests)\.(\w+)`/)
            #expect(!names.isEmpty, "\(row) names no test")
            for name in names {
                let found = files.contains { file in
                    file.path.hasSuffix("/\(name.1).swift") && file.text.contains("func \(name.2)(")
                }
                #expect(found, "\(name.1).\(name.2)")
            }
        }
    }
}
