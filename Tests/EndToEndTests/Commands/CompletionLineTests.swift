import StandInBackends
import TestSupport
import Testing

/// Lines in real shells, before and after a key that completes them. The values are those of an agent.
@Suite("Completed lines", .timeLimit(.minutes(5)))
struct CompletionLineTests {
    private static let lines = [
        // Commands, and options before them. There is a folder with the name of the command.
        ("authc tok", "authc token "), ("authc helper gi", "authc helper git "),
        ("authc -s app-template tok", "authc -s app-template token "),
        ("authc --session=app-template --json tok", "authc --session=app-template --json token "),
        ("authc -s app", "authc -s app-template "), ("authc --no-inp", "authc --no-input "),
        ("authc nothing tok", "authc nothing tok"),
        // Options: each once, unless it can be repeated, and none after two hyphens.
        ("authc token --tim", "authc token --timeout "),
        ("authc token --timeout=30s --tim", "authc token --timeout=30s --tim"),
        ("authc token -s app-template --sess", "authc token -s app-template --sess"),
        ("authc --timeout 5m token --tim", "authc --timeout 5m token --tim"),
        ("authc token --scope read --sco", "authc token --scope read --scope "),
        ("authc token --json --min-valid 5m --rej", "authc token --json --min-valid 5m --reject "),
        ("authc call search-users --no-i", "authc call search-users --no-input "),
        ("authc call -- --sess", "authc call -- --sess"),
        // Values after a space and after an equals sign: a list, what the agent knows, files.
        ("authc token --timeout 3", "authc token --timeout 30s "),
        ("authc token --timeout=3", "authc token --timeout=30s "),
        ("authc token --session=app", "authc token --session=app-template "),
        ("authc token -s \"app", "authc token -s \"app-template\" "),
        ("authc token --socket ~/so", "authc token --socket ~/socket-of-mine "),
        ("authc token --socket=./so", "authc token --socket=./socket-of-mine "),
        ("authc token --socket ./tw", "authc token --socket ./two\\ words "),
        ("authc exec --env=TOKEN=user.em", "authc exec --env=TOKEN=user.email "),
        ("authc login app-template --field em", "authc login app-template --field email="),
        // Arguments, as many as the command has.
        ("authc completion z", "authc completion zsh "),
        ("authc completion zsh b", "authc completion zsh b"),
    ]

    @Test("options, values and arguments are completed where they can be", arguments: ["bash", "zsh", "fish"])
    func lines(shell: String) async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            #expect(try await scene.run("touch socket-of-mine 'two words'; mkdir token").status == 0)
            let (terminal, key) = try await CompletionTests.prompt(shell, scene)
            for (typed, line) in Self.lines { await terminal.completes(typed, to: line, key) }
            terminal.type("\u{15}exit\n")
            await terminal.ends()
        }
    }

    @Test("values are completed for an alias, and for a path with ~ or a variable", arguments: ["bash", "zsh", "fish"])
    func otherNames(shell: String) async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let (terminal, key) = try await CompletionTests.prompt(shell, scene)
            let more = ["bash": "complete -F _authc_and_values a", "zsh": "setopt complete_aliases; compdef a=authc"]
            terminal.type("\u{15}alias a=authc; \(more[shell] ?? "")\n")
            for name in ["a", "~/bin/authc", "$HOME/bin/authc", "bin/authc"] {
                await terminal.completes("\(name) use app", to: "\(name) use app-template ", key)
            }
            terminal.type("\u{15}exit\n")
            await terminal.ends()
        }
    }

    @Test("a variable in the path of a file stays a variable", arguments: ["bash", "zsh", "fish"])
    func variables(shell: String) async throws {
        try await Scene.play { scene in
            #expect(try await scene.run("touch socket-of-mine").status == 0)
            let (terminal, key) = try await CompletionTests.prompt(shell, scene)
            for start in ["authc token --socket ", "authc token --socket="] {
                await terminal.completes("\(start)$HOME/so", to: "\(start)$HOME/socket-of-mine ", key)
                // zsh removes the quotes.
                let quote = shell == "zsh" ? "" : "\""
                let file = "\(quote)$HOME/socket-of-mine\(quote) "
                await terminal.completes(start + "\"$HOME/so", to: start + file, key)
            }
            terminal.type("\u{15}exit\n")
            await terminal.ends()
        }
    }

    @Test("without a value or after an error, nothing is inserted or printed", arguments: ["bash", "zsh", "fish"])
    func nothing(shell: String) async throws {
        try await Scene.play { scene in
            let (terminal, key) = try await CompletionTests.prompt(shell, scene)
            await terminal.completes("authc use ", to: "authc use ", key)
            _ = try await scene.login(.appTemplate)
            await terminal.completes("authc use ", to: "authc use app-template ", key)
            let failing = """
                rm $HOME/bin/authc; printf '#!/bin/sh\\necho oops >&2; exit 70\\n' >$HOME/bin/authc
                chmod +x $HOME/bin/authc
                """
            #expect(try await scene.run(failing).status == 0)
            await terminal.completes("authc use sh", to: "authc use sh", key)
            #expect(!terminal.text.contains("oops"), "\(terminal.text)")
            // What needs no answer is still completed.
            await terminal.completes("authc token --timeout 3", to: "authc token --timeout 30s ", key)
            terminal.type("\u{15}exit\n")
            await terminal.ends()
        }
    }

    @Test("zsh and fish describe commands, options and values")
    func descriptions() async throws {
        try await Scene.play { scene in
            let (terminal, _) = try await CompletionTests.prompt("zsh", scene)
            for (typed, description) in [
                ("authc help", "-- Show subcommand help information."), ("authc token --s", "-- The agent's socket."),
            ] {
                terminal.mark()
                terminal.type("\u{15}" + typed + "\t")
                await terminal.waits(for: description)
            }
            terminal.type("\u{15}exit\n")
            await terminal.ends()
            let fish = try await scene.run(
                """
                fish --no-config -c 'authc completion fish | source; complete -C "authc hel"
                complete -C "authc token --so"; complete -C "authc token --timeout=3"; complete -C "authc token "'
                """)
            #expect(fish.out.contains("help\tShow subcommand help information.\n"), "\(fish)")
            #expect(fish.out.contains("--socket\tThe agent's socket.\n"), "\(fish)")
            #expect(fish.out.contains("--timeout=30s\tHow long to wait"), "\(fish)")
            // Options are offered without a hyphen if nothing else can follow.
            #expect(fish.out.contains("-s\tThe session. Default: $AUTHD_SESSION"), "\(fish)")
            #expect(fish.err.isEmpty, "\(fish)")
        }
    }

    @Test("the words after the cursor are part of the line")
    func wordsAfter() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            _ = try await scene.login(.forkInTheRoad)
            let line = """
                source <("$0" completion bash); COMP_WORDS=("$0" call search-uers -s app-template) COMP_CWORD=2
                COMP_LINE=${COMP_WORDS[*]}; start="$0 call search-u"; COMP_POINT=${#start}
                _authc_and_values "$0" search-u call; printf '<%s>' "${COMPREPLY[@]}"
                """
            let offered = try await scene.shell(line)
            #expect(offered.out == "<search-users>", "\(offered)")
            // bash calls the next word the one at the cursor.
            let between = """
                source <("$0" completion bash); COMP_WORDS=("$0" call -s fork-in-the-road) COMP_CWORD=2
                start="$0 call "; COMP_LINE="$start -s fork-in-the-road" COMP_POINT=${#start}
                _authc_and_values "$0" '' call; printf '<%s>' "${COMPREPLY[@]}"
                """
            let all = try await scene.shell(between).out
            #expect(all.contains("<restaurants>") && !all.contains("<search-users>"), "\(all)")
        }
    }
}
