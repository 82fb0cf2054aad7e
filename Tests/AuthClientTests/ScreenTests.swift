import Foundation
import TestSupport
import Testing

@Suite("authc on terminals of 80 and 40 columns, with NO_COLOR and LANG=C", .timeLimit(.minutes(10)))
struct ScreenTests {
    private static let folder = AuthcTranscriptTests.transcripts.appendingPathComponent("Screens")
    private static let widths: [UInt16] = [80, 40]

    static var names: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".txt") }.sorted()
    }

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }

    @Test("each command shows what is written there, in ASCII, and no line is wider than the screen", arguments: names)
    func screens(name: String) async throws {
        let text = try Self.text(name)
        let transcript = try ScreenTranscript(text)
        #expect(!transcript.commands.isEmpty)
        for command in transcript.commands {
            for columns in Self.widths {
                let shown = try await transcript.shown(command, columns: columns)
                #expect(shown == command.expected[columns], "\(name), \(columns): \(command.line)")
                let isASCII = shown.utf8.allSatisfy { $0 == 0x0A || 0x20..<0x7F ~= $0 }
                #expect(isASCII || !command.showsASCII, "\(columns), \(command.line): \(shown)")
                #expect(Self.brokenCommands(shown, columns: Int(columns)) == [], "\(columns), \(command.line)")
                for line in shown.split(separator: "\n") where line.count > Int(columns) {
                    #expect(
                        Self.isWordTooLong(line) || transcript.unbroken.contains { line.hasPrefix($0) },
                        "\(columns), \(command.line): \(line)")
                }
            }
        }
    }

    /// Commands in backticks that are on two lines, although they fit on one.
    private static func brokenCommands(_ text: String, columns: Int) -> [String] {
        let lines = text.split(separator: "\n")
        return zip(lines, lines.dropFirst()).compactMap { line, next in
            let (parts, rest) = (line.split(separator: "`", omittingEmptySubsequences: false), next.drop { $0 == " " })
            guard parts.count % 2 == 0, let start = parts.last, let end = rest.firstIndex(of: "`") else { return nil }
            let command = "`\(start) \(rest[...end])"
            return command.count <= columns - (next.count - rest.count) ? command : nil
        }
    }

    /// Whether the line has one word, such as a token, or a URL or a path after a label at most.
    private static func isWordTooLong(_ line: Substring) -> Bool {
        let words = line.split(separator: " ")
        guard words.count > 1, let last = words.last else { return true }
        return last.contains("/") && line.count - last.count <= labelColumns
    }

    /// The widest label is the name of a provider in a list.
    private static let labelColumns = 32

    @Test("there is no command without such a transcript")
    func complete() async throws {
        let lines = try Self.names.flatMap { try ScreenTranscript(Self.text($0)).commands.map(\.line) }
        // A line may have several commands.
        let known = lines.flatMap { line in
            line.components(separatedBy: "authc ").dropFirst().map { $0.split(separator: " ").map(String.init) }
        }
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let commands = try await HelpTests.commands(in: folder).filter { !$0.isEmpty }
        #expect(commands.count > 80, "\(commands.count)")
        for command in commands {
            #expect(known.contains { $0.starts(with: command) }, "\(command.joined(separator: " "))")
        }
    }
}
