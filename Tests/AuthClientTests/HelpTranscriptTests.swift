import Foundation
import TestSupport
import Testing

@Suite("The help of each command, as terminals of 80 and 40 columns show it", .timeLimit(.minutes(10)))
struct HelpTranscriptTests {
    private static let folder = AuthcTranscriptTests.transcripts.appendingPathComponent("Help")
    private static let widths: [UInt16] = [80, 40]

    static var names: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".txt") }.sorted()
    }

    private static func transcript(_ name: String) throws -> ScreenTranscript {
        try ScreenTranscript(String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8))
    }

    @Test("with NO_COLOR and LANG=C, it is what is written there", arguments: names)
    func screens(name: String) async throws {
        let transcript = try Self.transcript(name)
        for command in transcript.commands {
            #expect(Set(command.expected.keys) == Set(Self.widths), "\(name): \(command.line)")
            for columns in Self.widths {
                let shown = try await transcript.shown(command, columns: columns)
                #expect(shown == command.expected[columns], "\(name), \(columns): \(command.line)")
            }
        }
    }

    @Test("every command has one, in the file of its first word")
    func complete() async throws {
        var written: [String] = []
        for name in Self.names {
            let lines = try Self.transcript(name).commands.map(\.line)
            let word = name == "authc.txt" ? "" : " " + name.dropLast(".txt".count)
            #expect(lines.first == "authc\(word) --help", "\(name)")
            #expect(lines.allSatisfy { $0.hasPrefix("authc\(word) ") }, "\(name)")
            written += lines
        }
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // Including the commands that no list shows.
        let commands = try await HelpTests.commands(in: folder, besidesGroups: false) + [["redirect"], ["terminal"]]
        let lines = commands.map { (["authc"] + $0 + ["--help"]).joined(separator: " ") }
        #expect(written.sorted() == lines.sorted())
        #expect(written.count > 90, "\(written.count)")
    }
}
