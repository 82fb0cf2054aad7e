import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("What a shell completes", .timeLimit(.minutes(1)))
struct CompletionKindTests {
    /// An option or argument with a value, and what a shell offers for it.
    private struct Value {
        let command: String
        let name: String
        let offer: String
    }

    /// Those of all commands, from the parser itself.
    private static func values() async throws -> [Value] {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let list = try await Program.run(["---values"], folder: folder)
        return try list.output.split(separator: "\n").map { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            try #require(fields.count == 3, "\(line)")
            return Value(command: fields[0], name: fields[1], offer: fields[2])
        }
    }

    @Test("the list has every option and argument of every command, with what the shell offers for it")
    func complete() async throws {
        let values = try await Self.values()
        #expect(values.count > 250, "\(values.count)")
        #expect(values.contains { $0.command == "token" && $0.name == "session" && $0.offer == "asked" })
        #expect(values.contains { $0.command == "token" && $0.name == "socket" && $0.offer == "files" })
        #expect(values.contains { $0.command == "completion" && $0.name == "shell" && $0.offer == "bash zsh fish" })
    }

    @Test("only values that the user alone knows have none")
    func nothing() async throws {
        // A name may have one in one command and none in another.
        let free: Set = [
            "approve: minutes", "cluster admit: code", "env: audience", "exec: audience", "exec: fd", "exec: file",
            "export: recipient", "helper aws: audience", "helper aws: role", "helper aws: sts", "helper docker: user",
            "helper git: user", "helper netrc: user", "helper pip: name", "helper pip: user", "helper sasl: user",
            "helper ssh-cert: key-argument", "helper wget: option", "http add: audience", "http add: name",
            "http add: port", "http add: role", "http add: sts", "lock: current-fd", "log: n", "login: client-id",
            "policy test: as-label", "policy test: as-slice", "policy test: as-unit", "policy test: audience",
            "provider add: audience", "provider add: client-id", "provider add: host", "provider add: name",
            "provider add: port", "provider add: realm", "provider add: scope", "provider add: tenant",
            "provider check: against", "provider client-metadata: url", "provider new: expires-in",
            "provider new: fields", "provider new: name", "provider new: refresh-token", "provider new: renew",
            "provider new: sign-in", "provider new: title", "provider new: token", "provider new: url",
            "provider new: user", "proxy: allow-origin", "redirect: address", "request: data", "request: form",
            "request: header", "store rekey: current-fd", "terminal: word", "token: audience", "try: end-with",
            "try: program", "whoami: set",
        ]
        let empty = try await Self.values().filter(\.offer.isEmpty)
        #expect(Set(empty.map { "\($0.command): \($0.name)" }) == free)
    }

    @Test("hosts of the cluster, scopes of a provider's sessions and names of forwarded sockets are offered")
    func live() async throws {
        let hosts: JSON = [
            "hosts": [
                ["id": "1f0c", "name": "laptop", "this": true], ["id": "8a41", "name": "login-1", "this": false],
                ["id": "c25e", "name": "twin", "this": false], ["id": "d36f", "name": "twin", "this": false],
            ]
        ]
        let sessions: JSON = [
            "sessions": [
                Samples.status(["scopes": ["read", "write"]]),
                Samples.status(["session": "other", "default": false, "provider": "envelope", "scopes": ["admin"]]),
            ]
        ]
        let agent = try TestAgent(replies: ["cluster.status": .success(hosts), "session.list": .success(sessions)])
        defer { agent.stop() }
        for name in ["laptop", "desk-2", "a.b", "-s", ""].map({ "authd-from-" + $0 }) + ["notes.txt"] {
            try Data().write(to: URL(filePath: agent.folder + "/" + name))
        }
        let cases: [(words: [String], expected: [String])] = [
            (["cluster", "forget", ""], ["login-1", "c25e", "d36f"]),
            (["login", "app-template", "--scope", ""], ["read", "write"]), (["login", "--scope", ""], []),
            (["login", "app-template", "--from", ""], ["laptop", "desk-2"]),
            (["login", "--from", agent.folder + "/authd-from-l"], [agent.folder + "/authd-from-laptop"]),
        ]
        for (words, expected) in cases {
            let line = """
                cd "$HOME"; source <("$0" completion bash); COMP_WORDS=("$0" "$@") COMP_CWORD=$#
                COMP_LINE="$0 $*" COMP_POINT=${#COMP_LINE}
                _authc_and_values "$0" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            let offered = try await Child(
                ["bash", "-c", line, Program.authc] + words, environment: Program.environment(agent.folder)
            ).output()
            let lines = offered.out.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(Set(lines).subtracting([""]) == Set(expected), "\(words): \(offered)")
        }
    }

    @Test("a completion asks the agent once, and prints a value as it is, even if it looks like help")
    func once() async throws {
        let scopes: JSON = ["read", "USAGE: write"]
        let agent = try TestAgent(replies: ["session.status": .success(Samples.status(["scopes": scopes]))])
        defer { agent.stop() }
        let words = ["---completion", "token", "--", "--scope", "3", "0", "authc", "token", "--scope", ""]
        let offered = try await Program.run(words, folder: agent.folder, program: QuickAuthc.full)
        #expect(offered.output == "read\nUSAGE: write\n" && offered.errors.isEmpty && offered.status == 0, "\(offered)")
        #expect(agent.requests.map(\.method) == ["session.status"])
    }

    @Test("fish completes in a script, too, and prints no error")
    func script() async throws {
        let agent = try TestAgent(replies: ["session.list": .success(["sessions": [Samples.status()]])])
        defer { agent.stop() }
        let line = """
            authc completion fish | source; authc shell-init fish | source; complete -C 'authc use sh'
            complete -C 'authc token --session '
            """
        let offered = try await Child(
            ["fish", "--no-config", "-c", line],
            environment: Program.environment(agent.folder, ["PATH": Programs.folder + ":/usr/bin:/bin"])
        ).output()
        #expect(offered.err.isEmpty, "\(offered.err)")
        let names = offered.out.split(separator: "\n").compactMap { $0.split(separator: "\t").first }
        #expect(names == ["shop", "shop"], "\(offered.out)")
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
