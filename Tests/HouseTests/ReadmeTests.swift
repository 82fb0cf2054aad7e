import Foundation
import Testing

@Suite("The README is true")
struct ReadmeTests {
    @Test("its example is compiled with the tests, and has at most 15 lines")
    func exampleIsCompiled() throws {
        let example = try #require(ProjectFiles.file("Tests/Example/Example.swift"))
        let readme = try #require(ProjectFiles.file("README.md"))
        #expect(example.lineCount <= 15)
        #expect(blocks(of: "swift", in: readme).contains(example.text.trimmingSuffix(while: \.isNewline)))
    }

    /// `PackageReadmeTests` types the lines of the installation with systemctl and apt. The targets of make are checked
    /// below.
    @Test("a test names each section that has commands")
    func blocksAreRun() throws {
        let readme = try #require(ProjectFiles.file("README.md"))
        let tests = try #require(ProjectFiles.file("Tests/EndToEndTests/Documentation/ReadmeCommandTests.swift")).text
        let sections = readme.text.split(separator: "\n## ").filter { $0.contains("\n```sh\n") }
        #expect(sections.count >= 6)
        for title in sections.compactMap({ $0.split(separator: "\n").first }) {
            let isOfMake = ["Install", "Work on it"].contains(title)
            #expect(isOfMake || tests.contains("readme(\"\(title)\")"), "\(title)")
        }
    }

    @Test("every make target it names exists")
    func makeTargetsExist() throws {
        let readme = try #require(ProjectFiles.file("README.md"))
        let makefile = try #require(ProjectFiles.file("Makefile"))
        let named = readme.text.matches(of: /\bmake ([a-z]+)/).map { $0.1 }
        let targets = makefile.lines.compactMap { $0.prefixMatch(of: /([a-z]+):(?!=)/)?.1 }
        #expect(!named.isEmpty)
        for name in named {
            #expect(targets.contains(name), "make \(name)")
        }
    }

    @Test("every file it links to exists")
    func linksExist() throws {
        let readme = try #require(ProjectFiles.file("README.md"))
        for link in readme.text.matches(of: /\]\(((?!https?:)[^)#]+)[)#]/).map({ $0.1 }) {
            let path = ProjectFiles.root.appending(path: String(link)).path
            #expect(FileManager.default.fileExists(atPath: path), "\(link)")
        }
    }

    private func blocks(of language: String, in file: TextFile) -> [String] {
        var blocks: [String] = []
        var block: [Substring]?
        for line in file.lines {
            if line == "```" + language {
                block = []
            } else if line == "```", let lines = block {
                blocks.append(lines.joined(separator: "\n"))
                block = nil
            } else {
                block?.append(line)
            }
        }
        return blocks
    }
}

extension StringProtocol {
    fileprivate func trimmingSuffix(while condition: (Character) -> Bool) -> String {
        var text = self[...]
        while let last = text.last, condition(last) { text = text.dropLast() }
        return String(text)
    }
}
