import Foundation
import Testing

@Suite("The project's text applies to every machine")
struct WordTests {
    @Test("no file names a folder of one machine")
    func noPrivatePaths() throws {
        // Written so that this file does not contain the pattern.
        let folders = try Regex("/(?:root|work|Users)/[a-z]|/home/(?!user/|ada/|\\.)[a-z]+/")
        for file in ProjectFiles.allFiles() {
            for (index, line) in file.lines.enumerated() where line.contains(folders) {
                Issue.record("\(file.path):\(index + 1) names a folder of one machine: \(line)")
            }
        }
    }

    @Test("no text leaves work for later")
    func noNotesForLater() throws {
        let notes = try Regex("\\b(?:TO" + "DO|FIX" + "ME|XX" + "X)\\b")
        for file in ProjectFiles.allFiles() {
            for (index, line) in file.lines.enumerated() where line.contains(notes) {
                Issue.record("\(file.path):\(index + 1): \(line)")
            }
        }
    }

    @Test("no hint of authc ends with a full stop: it is one line below the message")
    func hintsHaveNoFullStop() throws {
        let hint = try Regex<(Substring, Substring)>(#"hint(?::| =)\s+"((?:[^"\\]|\\.)*)""#)
        let hints = ProjectFiles.swiftFiles().filter { $0.path.hasPrefix("Sources/authc/") }.flatMap { file in
            file.lines.joined(separator: "\n").matches(of: hint).map { (file.path, $0.output.1) }
        }
        #expect(hints.count > 20)
        for (path, text) in hints { #expect(!text.hasSuffix("."), "\(path): \(text)") }
    }

    @Test("the top-level folders are those of the design")
    func foldersOnTop() throws {
        let allowed: Set = ["Docs", "Makefile", "Package.swift", "README.md", "Sources", "Tests", "systemd"]
        let names = try FileManager.default.contentsOfDirectory(atPath: ProjectFiles.root.path)
        let visible = names.filter { !$0.hasPrefix(".") && $0 != "Package.resolved" }
        #expect(Set(visible) == allowed)
    }
}
