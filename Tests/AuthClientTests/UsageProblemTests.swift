import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("Command lines that the parser refuses", .timeLimit(.minutes(2)))
struct UsageProblemTests {
    private static func run(_ line: String) async throws -> Program {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try await Program.run(line.split(separator: " ").map(String.init), folder: folder)
    }

    @Test(
        "a session's name without -s is suggested with it, as a command that runs as shown",
        arguments: [
            "status", "token", "logout", "refresh", "whoami", "env", "validate", "watch", "wait", "trust",
            "password change", "outbox list", "whoami --fresh",
        ])
    func missingOption(command: String) async throws {
        let result = try await Self.run(command + " app-template")
        let words = command.split(separator: " ").map(String.init)
        let path = words.filter { !$0.hasPrefix("-") }.joined(separator: " ")
        let expected = """
            authc: Unexpected argument 'app-template'
              did you mean `authc \(command) -s app-template`? `authc \(path) --help` describes the command

            """
        #expect(result.status == 64 && result.errors == expected, "\(result)")
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try await AdviceTests.refusal(words + ["-s", "app-template"], in: folder) == nil)
    }

    @Test("options before and after the name stay, and the hint is part of JSON")
    func otherOptions() async throws {
        let plain = try await Self.run("--timeout 5s status app-template --no-input")
        #expect(
            plain.errors.contains("did you mean `authc --timeout 5s status -s app-template --no-input`?"), "\(plain)")
        let json = try await Self.run("--json status app-template")
        let error = try JSON(parsing: json.output)["error"]
        #expect(json.status == 64 && error?["message"] == "Unexpected argument 'app-template'", "\(json)")
        let hint = error?["hint"]?.stringValue ?? ""
        #expect(hint.hasPrefix("did you mean `authc --json status -s app-template`?"), "\(json)")
    }

    @Test(
        "nothing is suggested where -s has no effect, is there already, or what is typed is no name",
        arguments: ["list work", "reload work", "status -s a b", "status --session=a b", "status Work", "status a b"])
    func noSession(line: String) async throws {
        let result = try await Self.run(line)
        #expect(result.status == 64 && !result.errors.contains("did you mean"), "\(result)")
        #expect(result.errors.hasSuffix(" --help` describes the command\n"), "\(result)")
    }

    @Test(
        "a similar option is suggested in the whole command, and a hardly similar one is not",
        arguments: [
            ("list --jsno", "`authc list --json`?"), ("login --sesion x y", "`authc login --session x y`?"),
            ("token --min-vald=5m", "`authc token --min-valid=5m`?"), ("wait --timeuot", "--timeout?"),
            ("exec --sesion x -- true", "--session?"), ("status --noinput", "`authc status --no-input`?"),
            ("login --as", nil), ("status --foo", nil), ("list -x", nil),
        ] as [(String, String?)])
    func options(line: String, meant: String?) async throws {
        let result = try await Self.run(line)
        let hint = meant.map { "did you mean \($0) " } ?? ""
        let verb = line.split(separator: " ")[0]
        #expect(result.errors.hasPrefix("authc: Unknown option '-"), "\(result)")
        #expect(result.errors.hasSuffix("'\n  \(hint)`authc \(verb) --help` describes the command\n"), "\(result)")
    }

    @Test(
        "an option or argument is described, and no synopsis is printed",
        arguments: ["call", "wait --until x", "provider add", "--foo"])
    func description(line: String) async throws {
        let descriptions = [
            "call": "\n  <name>  The endpoint.\n",
            "wait --until x": "\n  --until <until>  active, online (there is a network) or signed_out. "
                + "Default: active.\n",
        ]
        let result = try await Self.run(line)
        #expect(result.status == 64 && result.errors.hasPrefix("authc: "), "\(result)")
        #expect(result.errors.contains(descriptions[line] ?? "\n  `authc "), "\(result)")
        #expect(!result.errors.lowercased().contains("usage:") && result.output.isEmpty, "\(result)")
    }
}
