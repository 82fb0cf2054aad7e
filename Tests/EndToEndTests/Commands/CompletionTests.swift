import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// What real shells offer.
@Suite("Completion", .timeLimit(.minutes(5)))
struct CompletionTests {
    @Test("bash completes the endpoints of the session's provider, and nothing without a session")
    func endpoints() async throws {
        try await Scene.play { scene in
            #expect(try await scene.offered("call", "restaurant").isEmpty)
            _ = try await scene.login(.forkInTheRoad)
            let offered = try await scene.offered("call", "restaurant")
            #expect(offered.isSuperset(of: ["restaurants", "restaurant"]), "\(offered)")
            #expect(!offered.contains("vote"), "\(offered)")
            _ = try await scene.login(.appTemplate)
            #expect(try await scene.offered("call", "-s", "app-template", "search") == ["search-users"])
            #expect(
                try await scene.offered("call", "-s", "fork-in-the-road", "search").isDisjoint(with: ["search-users"]))
        }
    }

    @Test("bash completes providers and sessions")
    func names() async throws {
        try await Scene.play { scene in
            #expect(try await scene.offered("login", "a") == ["anonymous-wall", "app-template", "aws-lambda"])
            #expect(try await scene.offered("use", "").isEmpty)
            _ = try await scene.login(.appTemplate)
            #expect(try await scene.offered("use", "") == ["app-template"])
            #expect(try await scene.offered("token", "-s", "app") == ["app-template"])
        }
    }

    /// The words before the cursor, and what is offered there. Ada is signed in to D and E.
    private static let live: [([String], Set<String>)] = [
        (["login", "app-template", "--environment", "loc"], ["local"]),
        (["login", "app-template", "--method", ""], ["password", "register"]),
        (["login", "app-template", "--field", ""], ["email=", "name="]),
        (["login", "app-template", "--secret-fd", ""], ["password="]),
        (["register", "fork-in-the-road", "--environment", "loc"], ["local"]),
        (["call", "-s", "app-template", "search-users", ""], ["q="]),
        (["call", "-s", "app-template", "create-user", "na"], ["name="]),
        (["call", "-s", "app-template", "create-user", "--secret-fd", ""], ["password="]),
        (["helper", "ssh-cert", "-s", "app-template", "search-u"], ["search-users"]),
        (["request", "-s", "app-template", "GET", "/users/s"], ["/users/search"]),
        (["request", "PAT"], ["PATCH"]),
        (["password", "change", "-s", "fork-in-the-road", "--timeout", "3"], ["30s"]),
        (["status", "--json", "signed"], ["signed_in_at"]),
        (["status", "--format", "{{acc"], ["{{account}}"]),
        (["wait", "--until", "onl"], ["online"]),
        (["token", "--socket", "./so"], ["./socket-of-mine"]),
        (["provider", "check", "./pro"], ["./profile.toml"]),
        (["config", "set", "prompt.folder_only", "tr"], ["true"]),
        (["exec", "--on-renewal", "h"], ["hup"]),
        (["exec", "-s", "app-template", "--", "ssh-keyg"], ["ssh-keygen"]),
        (["store", "migrate", "--to", "sea"], ["sealed-file"]),
        (["shell-init", "z"], ["zsh"]),
        (["helper", "install", "ter"], ["terraform"]),
        (["helper", "git", "--user", ""], []),
    ]

    /// A signed-in user, files, and an entry in the outbox.
    private func play(_ test: @escaping @Sendable (Scene, _ entry: String) async throws -> Void) async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            _ = try await scene.login(.forkInTheRoad)
            try await scene.backends.setListening(false, .forkInTheRoad)
            let queued = try await scene.authc([
                "call", "create-collection", "-s", "fork-in-the-road", "--queue", "name=Later",
            ])
            #expect(queued.status == 0, "\(queued.err)")
            let entry = try #require(
                try await scene.agent.json("outbox", "list")["entries"]?.arrayValue?.first?["id"]?.stringValue)
            #expect(try await scene.run("touch socket-of-mine profile.toml").status == 0)
            try await test(scene, entry)
        }
    }

    @Test("bash completes live values, and the values of arguments")
    func bash() async throws {
        try await play { scene, entry in
            for (words, expected) in Self.live + [(["outbox", "show", ""], [entry])] {
                let offered = try await scene.offered(words)
                #expect(offered == expected, "\(words)")
            }
        }
    }

    @Test("authc alone completes sessions, providers, entries and scopes as the full program does")
    func alone() async throws {
        try await play { scene, entry in
            #expect(try await scene.shell("mkdir \"$HOME/alone\" && cp \"$0\" \"$HOME/alone\"").status == 0)
            for (argument, expected) in [
                ("use -- positional@0", "app-template"), ("token -- --session", "fork-in-the-road"),
                ("login -- positional@0", "app-template"), ("outbox show -- positional@0", entry),
                ("token -- --scope", ""),
            ] {
                let words = "---completion \(argument) 3 0 authc -s fork-in-the-road ''"
                let full = try await scene.shell("\"$0-full\" \(words)")
                #expect(full.status == 0 && full.out.hasSuffix("\n"), "\(argument): \(full)")
                #expect(full.out.dropLast().components(separatedBy: "\n").contains(expected), "\(argument): \(full)")
                let alone = try await scene.shell("\"$HOME/alone/authc\" \(words)")
                #expect(alone.out == full.out && alone.err.isEmpty && alone.status == 0, "\(argument): \(alone)")
            }
        }
    }

    /// At a prompt, with a key that completes and shows the line.
    private static let shells = [
        "bash": (
            "home/.bashrc",
            """
            eval "$(authc completion bash)"
            show() { printf '<%s>\\n' "$READLINE_LINE"; }
            bind -x '"\\C-xs": show'
            """, "\t\u{18}s"
        ),
        "zsh": (
            "home/.zshrc",
            """
            autoload -Uz compinit && compinit -u -D && eval "$(authc completion zsh)"
            complete-and-show() { zle complete-word; print -r -- "<$BUFFER>" }
            zle -N complete-and-show; bindkey '^I' complete-and-show; unsetopt prompt_sp
            """, "\t"
        ),
        "fish": (
            "config/fish/config.fish",
            """
            authc completion fish | source
            bind \\cx 'echo; echo "<"(commandline)">"; commandline -f repaint'
            """, "\t\u{18}"
        ),
    ]

    static func prompt(_ shell: String, _ scene: Scene) async throws -> (Terminal, key: String) {
        let (file, text, key) = try #require(shells[shell])
        _ = try scene.desktop.folder.write(text + "\n", to: file)
        // It puts authc into $HOME/bin.
        _ = try await scene.run("true")
        return (try await scene.terminal("cd; export PATH=$HOME/bin:$PATH; \(shell) -i"), key)
    }

    @Test("shells complete at the prompt, without a space after =", arguments: ["bash", "zsh", "fish"])
    func atPrompt(shell: String) async throws {
        try await play { scene, entry in
            let (terminal, key) = try await Self.prompt(shell, scene)
            let typed = Self.live.compactMap { words, expected in
                expected.count == 1 && words.last != "" && expected.first?.hasPrefix("{") == false
                    ? (words, expected.first ?? "") : nil
            }
            let more = [
                (["outbox", "show", ""], entry), (["call", "-s", "app-template", "search-users", ""], "q="),
                (
                    ["call", "-s", "app-template", "preferences", "notificationsEnabled=t"],
                    "notificationsEnabled=true"
                ),
                (["exec", "--env", "TOKEN=user.em"], "TOKEN=user.email"),
                (["exec", "--env", "A=token,B=user.em"], "A=token,B=user.email"),
                (["exec", "--", "cat", "~/prof"], "~/profile.toml"),
            ]
            for (words, expected) in typed + more {
                let line = (["authc"] + words.dropLast() + [expected]).joined(separator: " ")
                await terminal.completes(
                    "authc " + words.joined(separator: " "), to: line + (expected.hasSuffix("=") ? "" : " "), key)
            }
            terminal.type("\u{15}exit\n")
            await terminal.waits(for: "exit ")
            await terminal.ends()
        }
    }

    @Test("an origin is completed with its port", arguments: ["bash", "zsh", "fish"])
    func origin(shell: String) async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let detail = try await scene.ask("provider.show", ["provider": "app-template"])
            let environment = detail["environments"]?.arrayValue?.first { $0["name"] == "local" }
            let url = try #require(environment?["url"]?.stringValue)
            let origin = url.split(separator: "/", omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
            let (terminal, key) = try await Self.prompt(shell, scene)
            // bash quotes a colon outside of what was typed.
            let shown = shell == "bash" ? origin.replacing(":", with: "\\:") : origin
            await terminal.completes("authc token --for ht", to: "authc token --for \(shown) ", key)
            if shell == "bash" {
                await terminal.completes(
                    "authc token --for \(origin.dropLast())", to: "authc token --for \(origin) ", key)
            }
            terminal.type("\u{15}exit\n")
            await terminal.ends()
        }
    }

    @Test("a completed name is a word, and never a command", arguments: ["bash", "zsh", "fish"])
    func commandsInNames(shell: String) async throws {
        try await Scene.play { scene in
            let names = #"'qa$(touch pwned)' 'qb`touch pwned`' 'qc;touch pwned' 'qd e'"#
            #expect(try await scene.run("touch \(names)").status == 0)
            let (terminal, key) = try await Self.prompt(shell, scene)
            for name in ["qc\\;touch\\ pwned", "qd\\ e"] {
                let start = "authc exec -- true ./"
                await terminal.completes(start + name.prefix(2), to: start + name + " ", key)
            }
            // bash offers no name with $ or `.
            for start in ["qa", "qb", "qc", "qd"] {
                terminal.mark()
                terminal.type("\u{15}authc exec -- true ./\(start)\t\necho do''ne\n")
                await terminal.waits(for: "done")
            }
            terminal.type("\u{15}exit\n")
            await terminal.ends()
            #expect(try await scene.run("test ! -e pwned").status == 0)
        }
    }

    @Test("a completion leaves bash's options and traps as they were")
    func traps() async throws {
        try await Scene.play { scene in
            let (terminal, key) = try await Self.prompt("bash", scene)
            await terminal.completes("authc logi", to: "authc login ", key)
            terminal.mark()
            terminal.type("\u{15}echo \"<$(trap -p RETURN)>\"\n")
            await terminal.waits(for: "<>")
            terminal.type("exit\n")
            await terminal.ends()
        }
    }

    @Test("a user changes their account with --set; an invalid change is reported before anything is sent")
    func changesAccount() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let changed = try await scene.authc(["whoami", "--set", "name=Ada King", "--json"])
            #expect(changed.status == 0 && changed.out.contains("Ada King"), "\(changed.out)\(changed.err)")
            #expect(try await scene.agent.status("app-template").user?.name == "Ada King")
            let refused = try await scene.authc(["whoami", "--set", "shoe_size=42"])
            #expect(refused.status == 65 && refused.err.contains("shoe_size"), "\(refused.err)")
        }
    }
}

extension Terminal {
    /// - Parameter key: completes and shows the line.
    func completes(_ typed: String, to line: String, _ key: String) async {
        mark()
        type("\u{15}" + typed + key)
        await waits(for: "<\(line)>")
    }
}

extension Scene {
    /// What bash offers for the last of the words.
    fileprivate func offered(_ words: String...) async throws -> Set<String> { try await offered(words) }

    fileprivate func offered(_ words: [String]) async throws -> Set<String> {
        let typed = words.map { "'\($0)'" }.joined(separator: " ")
        let (last, former) = (words.last ?? "", words.dropLast().last ?? "")
        let result = try await shell(
            """
            cd "$HOME"; source <("$0" completion bash) && COMP_WORDS=("$0" \(typed)) COMP_CWORD=\(words.count) &&
            COMP_LINE="$0 \(words.joined(separator: " "))" COMP_POINT=${#COMP_LINE} &&
            { _authc_and_values "$0" '\(last)' '\(former)' 2>/dev/null || true; } && printf '%s\\n' "${COMPREPLY[@]}"
            """)
        #expect(result.status == 0, "\(result.err)")
        return Set(result.out.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }).subtracting([""])
    }
}
