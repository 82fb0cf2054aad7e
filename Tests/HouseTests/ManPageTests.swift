import Foundation
import Subprocess
import Testing

@Suite("Man pages")
struct ManPageTests {
    private static let pages = ProjectFiles.files(under: "Docs/man")

    @Test("each has a date in its title line")
    func dated() throws {
        #expect(Self.pages.count == 8)
        for page in Self.pages {
            let title = try #require(page.lines.first { $0.hasPrefix(".TH ") }, "\(page.path)")
            #expect(title.contains(#/^\.TH [A-Z.-]+ [1-8] "20\d\d-[01]\d-[0-3]\d" /#), "\(title)")
        }
    }

    @Test("mandoc has no error and no warning about any of them")
    func lint() async throws {
        let files = Self.pages.map { ProjectFiles.root.appending(path: $0.path).path }
        let result = try await run(
            .name("mandoc"), arguments: Arguments(["-T", "lint", "-W", "warning"] + files),
            output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
        let report = result.standardOutput + result.standardError
        #expect(result.terminationStatus.isSuccess && report.isEmpty, "\(report)")
    }

    @Test("each is named in SEE ALSO of another one, in the help of authc and, but for authd, in the README")
    func found() throws {
        let help = try #require(ProjectFiles.file("Sources/authc/CommandLine/CommandLineParser.swift")).text
        let readme = try #require(ProjectFiles.file("README.md")).text
        for page in Self.pages {
            let name = page.path.split(separator: "/").last.map(String.init) ?? ""
            let (title, section) = (String(name.dropLast(2)), String(name.suffix(1)))
            // A library is no subject of the command.
            #expect(section == "3" || help.contains("\(title)(\(section))"), "\(name)")
            #expect(title == "authd" || readme.contains("man \(title)`"), "\(name)")
            let reference = ".BR \(title.replacing("-", with: "\\-")) (\(section))"
            #expect(Self.pages.contains { $0.path != page.path && $0.text.contains(reference) }, "\(name)")
        }
    }

    @Test("authd-recipes(7) has every program of Docs/recipes.md, and its commands")
    func recipes() throws {
        let page = try #require(Self.pages.first { $0.path.hasSuffix("authd-recipes.7") }).text
            .replacing("\\-", with: "-").replacing("\\(dq", with: "\"")
        let recipes = try #require(ProjectFiles.file("Docs/recipes.md"))
        let programs = recipes.lines.filter { $0.hasPrefix("## ") }.map { $0.dropFirst(3) }
        #expect(programs.count > 10)
        for program in programs { #expect(page.contains("\n.SS \(program)\n"), "\(program)") }
        let commands = recipes.lines.filter { $0.hasPrefix("authc ") || $0.contains("<(authc ") }
        #expect(commands.count > 10)
        for command in commands { #expect(page.contains("\n\(command)\n"), "\(command)") }
    }
}
