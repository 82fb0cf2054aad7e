import Foundation
import TestSupport
import Testing

@Suite("authc --help", .timeLimit(.minutes(5)))
struct HelpTests {
    private static let asking: Set = [
        "login", "register", "logout", "password set", "password change", "password request-reset", "password reset",
        "trust", "approve", "lock", "unlock", "store unlock", "store rekey", "store migrate", "export", "import",
        "call",
        "provider add", "provider new", "config edit", "policy apply",
    ]

    /// Every other command refuses `--session`, which would have no effect.
    private static let aboutSession: Set = [
        "login", "register", "logout", "password set", "password change", "password request-reset", "password reset",
        "status", "whoami", "refresh", "validate", "watch", "wait", "trust", "token", "exec", "env", "mcp", "proxy",
        "http add", "helper git", "helper docker", "helper kubernetes", "helper curl", "helper netrc", "helper sasl",
        "helper wget", "helper pip", "helper cargo", "helper terraform", "helper ssh-cert", "helper aws",
        "helper install", "request", "call", "outbox list", "outbox flush", "outbox drop", "policy test", "export",
    ]

    /// Their errors are not JSON either: what they start writes them, or a shell evaluates what they print.
    private static let withoutJSON: Set = [
        "completion", "helper aws", "http serve", "mcp", "provider client-metadata", "proxy", "shell-init", "terminal",
        "try",
    ]

    /// They do not wait for the agent.
    private static let withoutTimeout: Set = [
        "completion", "config get", "config list", "config path", "helper aws", "helper install", "http add",
        "http env", "http list", "http remove", "http serve", "prompt", "provider client-metadata", "provider new",
        "shell-init", "terminal", "try",
    ]

    /// They neither call the agent nor read what is beside its socket.
    private static let withoutSocket: Set = [
        "completion", "config get", "config list", "config path", "helper install", "http add", "http env",
        "http list", "http remove", "provider client-metadata", "provider new", "try",
    ]

    @Test("every command has two examples that its parser accepts, and only the options that have an effect there")
    func commands() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var waiting = [[String](), ["redirect"], ["terminal"]]
        var count = 0
        while let command = waiting.popLast() {
            let name = command.joined(separator: " ")
            let help = try await Program.run(command + ["--help"], folder: folder)
            #expect(help.status == 0 && help.output.contains("USAGE: authc"), "\(name): \(help.output)")
            // Even for a pager or terminal with a different language than the test's.
            #expect(help.output.utf8.allSatisfy { $0 < 0x80 }, "\(name)")
            let parts = help.output.components(separatedBy: "\nEXAMPLES:\n")
            #expect(parts.count == 2, "\(name) has no examples")
            let examples = parts.last?.split(separator: "\n").map(String.init) ?? []
            #expect(examples.count >= 2 && Set(examples).count == examples.count, "\(name): \(examples)")
            var hasOwn = false
            for example in examples {
                let advice = AdviceTests.commands(in: example).flatMap { AdviceTests.advice($0, "help") }
                #expect(!advice.isEmpty, "\(name): \(example)")
                hasOwn = hasOwn || advice.contains { $0.words.starts(with: command) }
                for one in advice {
                    let refusal = try await AdviceTests.refusal(one.words, in: folder)
                    #expect(refusal == nil, "\(name): \(example)")
                }
            }
            #expect(hasOwn, "\(name) has no example")
            let children = Self.children(of: help.output)
            if children.isEmpty {
                #expect(help.output.contains("--no-input") == Self.asking.contains(name), "\(name)")
                #expect(help.output.contains("-s, --session") == Self.aboutSession.contains(name), "\(name)")
                #expect(help.output.contains("\n  --json") != Self.withoutJSON.contains(name), "\(name)")
                #expect(help.output.contains("\n  --timeout") != Self.withoutTimeout.contains(name), "\(name)")
                #expect(help.output.contains("\n  --socket") != Self.withoutSocket.contains(name), "\(name)")
            }
            waiting += children.map { command + [$0] }
            count += 1
        }
        #expect(count > 45, "\(count)")
    }

    @Test("the same help after the word help, and with -h")
    func sameHelp() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for words in [[], ["token"], ["provider"], ["outbox", "show"], ["exec"], ["helper", "git"]] {
            let help = try await Program.run(words + ["--help"], folder: folder).output
            #expect(help.contains("\nUSAGE: \((["authc"] + words).joined(separator: " ")) "), "\(words)")
            #expect(try await Program.run(["help"] + words, folder: folder).output == help)
            #expect(try await Program.run(words + ["-h"], folder: folder).output == help)
        }
        // With another option, it is left to the parser.
        let help = try await Program.run(["token", "--help"], folder: folder).output
        #expect(try await Program.run(["token", "--json", "--help"], folder: folder).output == help)
        #expect(try await Program.run(["--version"], folder: folder).output.contains("EXAMPLES") == false)
    }

    @Test("help has its descriptions on the narrowest terminal", arguments: ["0", "20", "27"])
    func narrow(columns: String) async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for words in [["token", "--help"], ["help", "token"]] {
            let help = try await Program.run(words, folder: folder, environment: ["COLUMNS": columns])
            let wider = try await Program.run(words, folder: folder, environment: ["COLUMNS": "40"])
            #expect(help.output == wider.output && help.output.contains("Print JSON"), "\(help)")
        }
    }

    @Test("only examples are wider than the screen; the synopsis is broken between its parts")
    func widths() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for command in try await Self.commands(in: folder, besidesGroups: false) {
            for columns in [40, 63, 64, 80] {
                let help = try await Program.run(
                    command + ["--help"], folder: folder, environment: ["COLUMNS": "\(columns)"])
                let wide = Self.lines(of: help.output, widerThan: columns)
                #expect(help.status == 0 && wide.isEmpty, "\(command) at \(columns): \(wide)")
            }
        }
        let help = try await Program.run(["env", "--help"], folder: folder, environment: ["COLUMNS": "40"]).output
        let synopsis = """

            USAGE: authc env [--session <session>]
                   [--json] [--timeout <timeout>]
                   [--socket <socket>]
                   [--min-valid <min-valid>]
                   [--scope <scope> ...]
                   [--audience <audience>]
                   [--for <origin>]
                   [--env <name=value,...> ...]
                   [--shell <shell>]

            """
        #expect(help.contains(synopsis), "\(help)")
        // Descriptions are below their labels there.
        #expect(help.contains("\n  --json\n    Print JSON, errors too.\n"), "\(help)")
    }

    @Test("help that cannot be written is a failure", arguments: ["--help", "token --help", "help token", "--version"])
    func fullDisk(words: String) async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let result = try await Program.run(
            ["-c", "\"\(Program.authc)\" \(words) >/dev/full"], folder: folder, program: "/bin/bash")
        #expect(result.status == 70 && result.errors.contains("cannot write the result"), "\(result)")
    }

    /// The lines before the examples that are too long for a screen.
    static func lines(of help: String, widerThan columns: Int) -> [String] {
        let text = help.components(separatedBy: "\nEXAMPLES:\n")[0]
        return text.split(separator: "\n").map(String.init).filter { $0.count > columns }
    }

    /// Every command.
    /// - Parameter besidesGroups: whether commands that have subcommands are left out.
    static func commands(in folder: String, besidesGroups: Bool = true) async throws -> [[String]] {
        var waiting = [[String]()]
        var commands: [[String]] = []
        while let command = waiting.popLast() {
            let children = Self.children(of: try await Program.run(command + ["--help"], folder: folder).output)
            if children.isEmpty || !besidesGroups { commands.append(command) }
            waiting += children.map { command + [$0] }
        }
        return commands
    }

    /// The commands below one, by its help.
    static func children(of help: String) -> [String] {
        guard let list = help.components(separatedBy: "\nSUBCOMMANDS:\n").dropFirst().first else { return [] }
        return list.split(separator: "\n", omittingEmptySubsequences: false).prefix { !$0.isEmpty }.compactMap { line in
            line.firstMatch(of: /^  ([a-z-]+)/).map { String($0.1) }
        }
    }
}
