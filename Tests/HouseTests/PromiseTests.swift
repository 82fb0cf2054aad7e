import Testing

@Suite("The promises of the threat model")
struct PromiseTests {
    private struct Table {
        let header: [String]
        let rows: [Substring]
    }

    /// All tables of the page.
    private func tables() throws -> [Table] {
        let page = try #require(ProjectFiles.file("Docs/threat-model.md"))
        var rest = page.lines[...]
        var tables: [Table] = []
        while let start = rest.firstIndex(where: { $0.hasPrefix("|") }) {
            let table = rest[start...].prefix { $0.hasPrefix("|") }
            let cells = table.first?.split(separator: "|") ?? []
            let header = cells.map { $0.split(separator: " ").joined(separator: " ") }
            tables.append(Table(header: header, rows: Array(table.dropFirst(2))))
            rest = rest[table.endIndex...]
        }
        return tables
    }

    @Test("each table of promises has a column for tests")
    func columns() throws {
        let promising = try tables().filter { $0.header.contains("promise") || $0.header.contains("protection") }
        #expect(promising.count >= 12)
        for table in promising { #expect(table.header.last == "test", "\(table.header)") }
    }

    @Test("each names tests that exist")
    func testsExist() throws {
        let rows = try tables().filter { $0.header.last == "test" }.flatMap(\.rows)
        #expect(rows.count >= 120)
        let files = ProjectFiles.swiftFiles().filter { $0.path.hasPrefix("Tests/") }
        for row in rows {
            // The last column: a test that is only mentioned in a promise does not count.
            let column = row.split(separator: "|").last { !$0.allSatisfy(\.isWhitespace) } ?? ""
            let names = column.matches(of: /`(\w+Tests)\.(\w+)`/)
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
