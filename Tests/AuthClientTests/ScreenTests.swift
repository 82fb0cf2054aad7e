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
        // A longer command may begin two lines before its end.
        var isInCommand = false
        return zip(lines, lines.dropFirst()).compactMap { line, next in
            let (parts, rest) = (line.split(separator: "`", omittingEmptySubsequences: false), next.drop { $0 == " " })
            if parts.count % 2 == 0 { isInCommand.toggle() }
            guard parts.count % 2 == 0, isInCommand, let start = parts.last, let end = rest.firstIndex(of: "`")
            else { return nil }
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

    /// Commands that succeed in no such transcript, with the test that shows their screens.
    private static let shownElsewhere = [
        "helper aws": "EndToEndTests/Commands/ServerScreenTests.helpers",
        "helper wget": "EndToEndTests/Commands/ServerScreenTests.helpers",
        "http serve": "EndToEndTests/Commands/ServerScreenTests.listening",
        "mcp": "EndToEndTests/Commands/ServerScreenTests.bridge",
        "try": "EndToEndTests/Commands/TryTests.terminals", "watch": "AuthClientTests/WatchLayoutTests.pictures",
    ]

    @Test("each command succeeds and shows something in such a transcript, or in the named test")
    func complete() async throws {
        var shown: [UInt16: [[String]]] = [:]
        for command in try Self.names.flatMap({ try ScreenTranscript(Self.text($0)).commands }) {
            // A line may have several commands, and has the exit status of the last one.
            let words = command.line.components(separatedBy: "authc ").last?.split(separator: " ").map(String.init)
            for (columns, text) in command.expected where text.hasSuffix("\nexit 0") {
                shown[columns, default: []].append(words ?? [])
            }
        }
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let commands = try await HelpTests.commands(in: folder).filter { !$0.isEmpty }
        #expect(commands.count > 80, "\(commands.count)")
        let missing = commands.filter { command in
            !Self.widths.allSatisfy { shown[$0]?.contains { $0.starts(with: command) } == true }
        }
        #expect(Set(missing.map { $0.joined(separator: " ") }) == Set(Self.shownElsewhere.keys))
        for (command, test) in Self.shownElsewhere {
            let parts = test.components(separatedBy: ".")
            let file = AuthcTranscriptTests.transcripts.appending(path: "../../\(parts[0]).swift")
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(text.contains("func \(parts[1])("), "\(command)")
        }
    }
}
