import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("What a shell completes", .timeLimit(.minutes(1)))
struct CompletionKindTests {
    /// An option or argument with a value.
    private struct Value {
        let command: String
        let name: String
        let kind: JSON?
    }

    /// Those of all commands, from the parser itself.
    private static func values() async throws -> [Value] {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let dump = try await Program.run(["--experimental-dump-help"], folder: folder)
        let root = try #require(try JSON(parsing: Array(dump.output.utf8))["command"])
        var values: [Value] = []
        var waiting: [(JSON, String)] = [(root, "")]
        while let (command, name) = waiting.popLast() {
            for argument in command["arguments"]?.arrayValue ?? [] where argument["kind"] != "flag" {
                let own = argument["preferredName"]?["name"]?.stringValue ?? argument["valueName"]?.stringValue ?? "?"
                values.append(Value(command: name, name: own, kind: argument["completionKind"]))
            }
            for child in command["subcommands"]?.arrayValue ?? [] {
                let word = child["commandName"]?.stringValue ?? "?"
                // The parser's own.
                if word != "help" { waiting.append((child, name.isEmpty ? word : name + " " + word)) }
            }
        }
        return values
    }

    @Test("every option and argument of every command has a completion, or says that it has none")
    func complete() async throws {
        let values = try await Self.values()
        #expect(values.count > 250, "\(values.count)")
        for value in values where value.kind == nil || value.kind == .null {
            Issue.record("authc \(value.command): \(value.name) has no completion")
        }
    }

    @Test("only values that the user alone knows have none")
    func nothing() async throws {
        let free: Set = [
            "user", "audience", "fd", "file", "against", "url", "client-id", "host", "tenant", "realm", "scope", "port",
            "name", "title", "sign-in", "fields", "token", "refresh-token", "expires-in", "renew", "n", "data", "form",
            "header", "recipient", "set", "address", "end-with", "program", "key-argument", "option",
            "allow-origin", "role", "sts", "as-unit", "as-slice", "as-label", "word", "current-fd", "minutes", "code",
        ]
        let empty = try await Self.values().filter { $0.kind?["list"]?["values"]?.arrayValue?.isEmpty == true }
        #expect(Set(empty.map(\.name)) == free)
        // A name may have one in one command and none in another.
        #expect(
            Set(empty.filter { ["scope", "file", "audience", "url"].contains($0.name) }.map(\.command)) == [
                "login", "provider add", "exec", "token", "env", "provider new", "provider client-metadata", "http add",
                "helper aws", "policy test",
            ])
    }

    @Test("bash runs nothing of what the agent answers, and offers no word that it would expand")
    func commands() async throws {
        let scopes: JSON = ["$(touch pwned)", "`touch pwned`", "${PWD}", "read", "a\nb", "write all"]
        let agent = try TestAgent(replies: ["session.status": .success(Samples.status(["scopes": scopes]))])
        defer { agent.stop() }
        let line = """
            cd "$HOME"; source <("$0" completion bash); COMP_WORDS=("$0" token --scope '') COMP_CWORD=3
            COMP_LINE="$0 token --scope " COMP_POINT=${#COMP_LINE}; _authc_and_values "$0" '' --scope
            printf '%s\\n' "${COMPREPLY[@]}"; test ! -e pwned
            """
        let offered = try await Child(
            ["bash", "-c", line, Program.authc], environment: Program.environment(agent.folder)
        ).output()
        #expect(offered.status == 0 && offered.out == "read\nwrite all\n", "\(offered)")
        #expect(agent.requests.contains { $0.method == "session.status" })
    }
}
