import Foundation
import Testing

/// Every command of authc that a message, a hint or a page names is one that its parser accepts as it stands.
@Suite("Commands that messages and pages name")
struct AdviceTests {
    /// A command and where it is written.
    struct Advice: Sendable, Hashable {
        let place: String
        let words: [String]
    }

    private static let root: URL = {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 1...3 { folder.deleteLastPathComponent() }
        return folder
    }()

    @Test("the sources' own are accepted")
    func sources() async throws {
        let sources = try Self.files(below: "Sources", ending: ".swift")
        let others = try [".py", ".toml"].flatMap { try Self.files(below: "Sources", ending: $0) }
        let catalog = try Self.files(below: "systemd", ending: ".catalog")
        let inBackticks = sources.flatMap(Self.inSource) + others.flatMap(Self.inWords)
        #expect(inBackticks.count > 20)
        let afterColons = (others + catalog).flatMap(Self.afterColons)
        #expect(afterColons.count > 5)
        let inLiterals = sources.filter { !$0.path.hasSuffix("/Examples.swift") }.flatMap(Self.inLiterals)
        #expect(inLiterals.count > 5)
        try await Self.expectAccepted(inBackticks + afterColons + inLiterals)
    }

    @Test("a sign-in command is written in one place, which quotes its words")
    func signIn() throws {
        let others = try Self.files(below: "Sources", ending: ".swift").filter { $0.text.contains("authc login \\(") }
        #expect(others.map(\.path) == [])
    }

    @Test("those of the README, the pages and the manual are accepted")
    func pages() async throws {
        let readme = (path: "README.md", text: try Self.text(Self.root.appending(path: "README.md")))
        let pages = try [readme] + Self.files(below: "Docs", ending: ".md")
        let manual = try [".1", ".5", ".7"].flatMap { try Self.files(below: "Docs/man", ending: $0) }
        let found = pages.flatMap(Self.inPage) + manual.flatMap(Self.inManual)
        #expect(found.count > 40)
        try await Self.expectAccepted(found)
    }

    @Test("a command that the parser does not accept would be found")
    func canFail() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for words in [
            ["register"], ["frobnicate"], ["status", "--nope"], ["list", "-s", "x"], ["wait", "--until", "never"],
            ["status", "-s", "Not-A-Name"], ["config", "get", "log_levle"],
        ] {
            #expect(try await Self.refusal(words, in: folder) != nil, "\(words)")
        }
        for words in [["login", "PROVIDER"], ["-s", "x", "--json", "status"], ["token", "--min-valid", "1m"]] {
            #expect(try await Self.refusal(words, in: folder) == nil, "\(words)")
        }
    }

    /// Without a name, the default session's token would go to wherever the recipe sends it.
    @Test("each recipe that needs a token names its session, or the origin that the token is for")
    func recipes() throws {
        let readme = (path: "README.md", text: try Self.text(Self.root.appending(path: "README.md")))
        let pages = try [readme] + Self.files(below: "Docs", ending: ".md")
        let examples = try Self.files(below: "Docs/man", ending: ".1").flatMap { page in
            page.text.matches(of: /\n\.nf\n((?:(?!\.fi).*\n)*)/).flatMap { Self.inManual((page.path, String($0.1))) }
        }
        let withToken = (pages.flatMap(Self.inBlocks) + examples).filter {
            ["token", "call", "request", "exec", "env", "helper", "logout", "export"].contains($0.words[0])
        }
        // The README's token, call, call --queue, request and logout, and the manual's curl.
        #expect(withToken.count { $0.place.hasPrefix("README") } >= 5)
        #expect(withToken.contains { $0.place.hasPrefix("Docs/man/") })
        for recipe in withToken where !recipe.words.contains(where: ["-s", "--session", "--for"].contains) {
            // These helpers take the address itself, and these programs have one helper for all servers.
            if recipe.words[0] == "helper", recipe.words.contains(where: { $0.contains("://") }) { continue }
            if [["helper", "install", "pip"], ["helper", "install", "terraform"]].contains(recipe.words) { continue }
            if recipe.words == ["logout", "--all"] { continue }
            Issue.record("\(recipe.place): authc \(recipe.words.joined(separator: " "))")
        }
    }

    private static func expectAccepted(_ found: [Advice]) async throws {
        let places = Dictionary(grouping: found, by: \.words)
        for (words, named) in places.sorted(by: { $0.value[0].place < $1.value[0].place }) {
            // What one of them writes, another may refuse to replace.
            let folder = try TestFolder.make()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            if let refusal = try await refusal(words, in: folder) {
                if try await isName(words, named, in: folder) { continue }
                Issue.record("\(named.map(\.place)): authc \(words.joined(separator: " ")): \(refusal)")
            }
        }
    }

    /// These end with the status of a usage error without an agent, although they are right.
    private static let right: Set<[String]> = [["login"]]

    /// What authc says against a command; without an agent, a command that it accepts comes no further.
    static func refusal(_ words: [String], in folder: String) async throws -> String? {
        let line = "cd \"$XDG_RUNTIME_DIR\" && exec \"$0\" \"$@\""
        let result = try await Program.run(["-c", line, Program.authc] + words, folder: folder, program: "/bin/bash")
        guard result.status == 64, !right.contains(words) else { return nil }
        let isParsers =
            result.errors.hasSuffix(" --help` describes the command\n")
            || result.errors.hasPrefix("authc: there is no command")
        // A value in capitals is filled in by who types it, and x by the program.
        let isOpen = words.contains { $0 == "x" || $0.contains { $0.isUppercase } && !$0.contains { $0.isLowercase } }
        let isAccepted = !isParsers && (isOpen || lacking.contains { result.errors.contains($0) })
        return isAccepted ? nil : result.errors.split(separator: "\n").first.map(String.init)
    }

    /// What a right command may report here: the test has no files, no input, no terminal, no settings and no client.
    private static let lacking = [
        ": No such file or directory\n", "is not open\n", "it has no document\n", "there is no terminal, and neither",
        "/.cargo/config.toml has no registry at ", "hook[0].command: there is no such table in the list\n",
        "authc: there is no program '",
    ]

    /// A page may speak of a command by its name alone; a message may not.
    private static func isName(_ words: [String], _ named: [Advice], in folder: String) async throws -> Bool {
        let isOnPages = named.allSatisfy {
            $0.place.hasPrefix("Docs/") || $0.place.hasPrefix("README") || $0.place.contains(".toml:")
        }
        guard isOnPages, words.allSatisfy({ $0.allSatisfy { $0.isLowercase || $0 == "-" } && !$0.hasPrefix("-") })
        else {
            return false
        }
        let help = try await Program.run(words + ["--help"], folder: folder)
        return help.status == 0 && help.output.contains("USAGE: authc \(words.joined(separator: " "))")
    }

    // MARK: Where commands stand

    /// `authc …` between backticks in a string literal.
    private static func inSource(_ file: (path: String, text: String)) -> [Advice] {
        code(file.text).matches(of: /`authc ([^`\n]*)`/).flatMap { match in
            // Which command it is, is filled in.
            match.1 == "x" ? [] : advice(String(match.1), file.path)
        }
    }

    /// `authc …` in a string literal without backticks, up to the end of its sentence.
    private static func inLiterals(_ file: (path: String, text: String)) -> [Advice] {
        var isInBlock = false
        return code(file.text).split(separator: "\n").flatMap { line -> [Advice] in
            if line.contains("\"\"\"") { isInBlock.toggle() }
            let texts = isInBlock ? [line] : line.matches(of: /"((?:[^"\\]|\\.)*)"/).map(\.1)
            guard !line.contains("usage: ") else { return [] }
            return texts.flatMap { text in
                let plain = text.replacing(/`[^`]*`/, with: "").replacing("\\\"", with: "\"")
                return commands(in: String(plain)).flatMap { command in
                    let command = command.prefix { $0 != "." && $0 != "," && $0 != ":" }
                    let first = String(command.prefix { $0 != " " })
                    return prose.contains(first) ? [] : advice(String(command), file.path)
                }
            }
        }
    }

    /// What follows authc in a sentence, or is filled in.
    private static let prose: Set = [
        "and", "ask", "asks", "can", "ends", "for", "is", "knows", "or", "recognizes", "starts", "uses", "x",
    ]

    /// The code without comments, each string literal on one line. What is filled in when it runs is one word here.
    static func code(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
            .replacing(/\\\([^()\n]*(?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)[^()\n]*)*\)/, with: "x")
            .replacing(/"\n *\+ "/, with: "").replacing(/\\\n */, with: "")
    }

    /// Commands at the end of a line, after a colon. What is filled in is one word here.
    private static func afterColons(_ file: (path: String, text: String)) -> [Advice] {
        file.text.matches(of: /: authc ([^`\n]*)\n/).flatMap {
            advice(String($0.1).replacing(/@[A-Z_]+@/, with: "x"), file.path)
        }
    }

    /// `authc …` between backticks, and in the lines of blocks.
    private static func inPage(_ file: (path: String, text: String)) -> [Advice] {
        inBlocks(file) + inWords(file)
    }

    /// In the lines of blocks that are neither data nor a drawing.
    private static func inBlocks(_ file: (path: String, text: String)) -> [Advice] {
        var found: [Advice] = []
        var block: [String]?
        for (index, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let place = "\(file.path):\(index + 1)"
            if line.hasPrefix("```") {
                if let lines = block, !lines.contains(where: { $0.contains(/[─│►→·]/) }) {
                    found += lines.flatMap(commands).flatMap { advice($0, place) }
                }
                let isData = ["```json", "```toml", "```swift", "```ini"].contains(String(line))
                block = block == nil ? (isData ? ["→"] : []) : nil
            } else {
                block?.append(String(line))
            }
        }
        return found
    }

    /// Between backticks, outside of blocks.
    private static func inWords(_ file: (path: String, text: String)) -> [Advice] {
        var found: [Advice] = []
        var isInBlock = false
        for (index, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let place = "\(file.path):\(index + 1)"
            if line.hasPrefix("```") { isInBlock.toggle() }
            if !isInBlock, !line.hasPrefix("```") {
                for match in line.matches(of: /`([^`]*)`/) {
                    found += commands(in: String(match.1)).flatMap { advice($0, place) }
                }
            }
        }
        return found
    }

    /// Lines of the manual that are a command, in bold or as an example.
    private static func inManual(_ file: (path: String, text: String)) -> [Advice] {
        let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        return lines.flatMap { index, line -> [Advice] in
            let text = String(line).replacing("\\-", with: "-").replacing("\\(aq", with: "'")
            let command = text.hasPrefix(".B authc ") ? String(text.dropFirst(3)) : text.hasPrefix(".") ? "" : text
            return commands(in: command).flatMap { advice($0, "\(file.path):\(index + 1)") }
        }
    }

    /// Each command of a line of a shell, up to where it ends; a prompt may stand before it.
    static func commands(in line: String) -> [String] {
        line.matches(of: /(?:^|[\s`($;|&"'@])authc ((?:"[^"]*"|'[^']*'|[^\s|;&)`#"'][^\s|;&)`"']*|\s)+)/).map {
            String($0.1)
        }
    }

    static func advice(_ command: String, _ place: String) -> [Advice] {
        // A redirection is the shell's.
        let text = command.replacing(/\s\d?[<>]+&?\s*\S*/, with: "")
        var words: [String] = []
        for match in text.matches(of: /(?:"[^"]*"|'[^']*'|[^\s"']+)+/) {
            let word = String(match.output).replacing(/["']/, with: "")
            // What may be left out, or is more of the same, is left out.
            guard !word.contains("…"), word != "...", word != "\\", !word.hasPrefix("[") else { continue }
            words.append(word.trimmingCharacters(in: CharacterSet(charactersIn: "]")))
        }
        // The title line of a manual page is no command.
        return words.isEmpty || words[0] == "-" ? [] : [Advice(place: place, words: words)]
    }

    // MARK: Files

    static func files(below folder: String, ending: String) throws -> [(path: String, text: String)] {
        let start = root.appending(path: folder)
        let paths = FileManager.default.enumerator(atPath: start.path)?.compactMap { $0 as? String } ?? []
        return try paths.filter { $0.hasSuffix(ending) }.sorted().map {
            (path: folder + "/" + $0, text: try text(start.appending(path: $0)))
        }
    }

    private static func text(_ file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }
}
