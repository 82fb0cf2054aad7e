import Testing

@Suite("The paths in the architecture")
struct PathTests {
    /// "Types of PATH (COUNT; …): `A`, `B`." up to the first full stop after a type.
    private static var paths: [(count: Int, types: [String])] {
        get throws {
            let page = try #require(ProjectFiles.file("Docs/architecture.md"))
            return page.text.matches(of: /Types of [^(]*\((\d+)[^)]*\):([^.]*)\./).map { match in
                (Int(match.1) ?? 0, match.2.matches(of: /`(\w+)`/).map { String($0.1) })
            }
        }
    }

    @Test("name types that exist, each once, and as many as they say")
    func typesExist() throws {
        let paths = try Self.paths
        #expect(paths.count == 9)
        let declarations = ProjectFiles.swiftFiles().filter { $0.path.hasPrefix("Sources/") }.map(\.text)
            .joined(separator: "\n")
        let declaration = /\b(?:actor|class|enum|protocol|struct) (\w+)/
        let declared = Set(declarations.matches(of: declaration).map { String($0.1) })
        for (count, types) in paths {
            #expect(types.count == count)
            #expect(Set(types).count == count)
            #expect(types.filter { !declared.contains($0) } == [])
        }
    }

    @Test("each machine is named where the page says what runs them")
    func machines() throws {
        let page = try #require(ProjectFiles.file("Docs/architecture.md"))
        let section = try #require(page.text.firstMatch(of: /## Machines and the runner\n([^#]*)/)?.1)
        let sources = ProjectFiles.swiftFiles().filter { $0.path.hasPrefix("Sources/") }
        let machines = sources.flatMap { $0.text.matches(of: /struct (\w+): Machine\b/).map { String($0.1) } }
        #expect(machines.count > 10)
        for machine in machines { #expect(section.contains("`\(machine)`"), "\(machine)") }
    }
}
