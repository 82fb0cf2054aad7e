import Foundation
import TestSupport
import Testing

/// `authc shell-init` in real shells, with prompt files that the tests write.
@Suite("The prompt's function", .timeLimit(.minutes(3)))
struct ShellPromptTests {
    static let shells = ["bash", "zsh", "fish"]

    /// A folder with a prompt file, whose agent is the shell itself, and settings.
    private final class Place: Sendable {
        let folder: TemporaryFolder
        let environment: [String: String]

        init(settings: String = "") throws {
            folder = try TemporaryFolder()
            _ = try folder.write(settings, to: "config/authd/authd.toml")
            let home = try folder.folder("home")
            let programs = try folder.folder("programs")
            try FileManager.default.createSymbolicLink(
                atPath: programs + "/authc", withDestinationPath: Programs.authc)
            let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            environment = [
                "HOME": home, "XDG_CONFIG_HOME": folder.path + "/config", "LANG": "C.UTF-8",
                "AUTHD_SOCKET": try folder.folder("agent") + "/socket", "PATH": programs + ":" + path,
            ]
        }

        /// As getcwd(3) returns it.
        var path: String { folder.path.replacing("//", with: "/") }

        /// Runs a script after the function was evaluated. The prompt file has the words.
        /// - Parameter agent: a shell's expression for the first word.
        func run(
            _ shell: String, _ words: String?, agent: String = "$$", script: String = ShellPromptTests.shown,
            with more: [String: String] = [:], in folder: String? = nil
        ) async throws -> Child.Output {
            let file = "${AUTHD_SOCKET%/*}/prompt"
            let write = words.map { "printf '%s %s\\n' \"\(agent)\" '\($0)' > \"\(file)\"" } ?? "rm -f \"\(file)\""
            let start = shell == "fish" ? "authc shell-init fish | source" : "eval \"$(authc shell-init \(shell))\""
            let options = ["bash": "--norc", "zsh": "-f", "fish": "--no-config"][shell] ?? ""
            return try await Child(
                [
                    "sh", "-c", "cd \"$2\"; \(write); exec \(shell) \(options) -c \"$1\"", "sh",
                    start + "\n" + script, folder ?? self.folder.path,
                ], environment: environment.merging(more) { $1 }
            ).output()
        }
    }

    fileprivate static let shown = "authd_prompt; printf '%s\\n' \"<$AUTHD_PROMPT>\""

    @Test(
        "shows the words of the file, those that need the user first, and of many only their number", arguments: shells)
    func words(shell: String) async throws {
        let place = try Place()
        let cases = [
            ("shop:ada@example.org", "shop:ada@example.org"), ("shop", "shop"), ("", ""),
            ("shop:ada@example.org!stale", "shop:ada@example.org!stale"),
            ("a b!keyring_locked c:7", "b!keyring_locked a c:7"), ("!keyring_locked", "!keyring_locked"),
            ("a b c d:4 e!stale f", "e!stale a b +3"),
            (
                (1...200).map { "s\($0):jürgen@exämple.org" }.joined(separator: " "),
                "s1:jürgen@exämple.org s2:jürgen@exämple.org s3:jürgen@exämple.org +197"
            ),
        ]
        for (words, expected) in cases {
            let output = try await place.run(shell, words)
            #expect(output.out == "<\(expected)>\n" && output.err.isEmpty, "\(output)")
        }
    }

    @Test("shows nothing without a file, with another file, or after the agent was killed", arguments: shells)
    func stale(shell: String) async throws {
        let place = try Place()
        let missing = try await place.run(shell, nil)
        #expect(missing.out == "<>\n" && missing.err.isEmpty, "\(missing)")
        // The number of a process that has ended.
        let ended = try await place.run(shell, "shop", agent: "$(sh -c 'echo $$')")
        #expect(ended.out == "<>\n" && ended.err.isEmpty, "\(ended)")
        for agent in ["shop:ada", "-1", "0", "9x", "99999999999999999999", ""] {
            let output = try await place.run(shell, "shop", agent: agent)
            #expect(output.out == "<>\n", "\(agent): \(output)")
        }
    }

    @Test("the settings say what is shown", arguments: shells)
    func format(shell: String) async throws {
        let words = "shop:ada@example.org wiki!stale new!signing_in wall:7!needs_password"
        let cases = [
            (#"attention_only = true"#, "wiki!stale wall:7!needs_password"),
            (#"format = "{session}""#, "wiki new wall +1"),
            (#"format = "{{it's}} {session}{ is }{state}{, user}. %s \\ $HOME `id` \"""#, nil),
            (
                "format = \"({session}{/user}{ ☢ state})\"",
                "(wiki ☢ stale) (new ☢ signing_in) (wall/7 ☢ needs_password) +1"
            ),
        ]
        for (setting, expected) in cases {
            let output = try await Place(settings: "[prompt]\n\(setting)\n").run(shell, words)
            guard let expected else {
                // "{ is }" names nothing.
                #expect(output.out.hasPrefix("<wiki!stale") && output.err.contains("prompt.format"), "\(output)")
                continue
            }
            #expect(output.out == "<\(expected)>\n" && output.err.isEmpty, "\(output)")
        }
        let state = try await Place(settings: "[prompt]\nformat = \"{!state}\"\n").run(shell, "shop:ada a b c \(words)")
        #expect(state.out == "<!stale !signing_in !needs_password>\n" && state.err.isEmpty, "\(state)")
        let quoted = #"format = "{{it's}} {session}{, user}. %s \\ $HOME `id` \"$(id)""#
        let output = try await Place(settings: "[prompt]\n\(quoted)\n").run(shell, "shop:ada")
        #expect(output.out == "<{it's} shop, ada. %s \\ $HOME `id` \"$(id)>\n" && output.err.isEmpty, "\(output)")
    }

    @Test(
        "authc prompt prints what the function shows",
        arguments: [
            "", "attention_only = true", #"format = "{session}""#, #"format = "{!state}""#,
            "format = \"({session}{/user}{ ☢ state})\"", "folder_only = true",
            "folder_only = true\nattention_only = true",
            #"format = "{{it's}} {session}{, user}. %s \\ $HOME `id` \"$(id)""#,
        ])
    func program(settings: String) async throws {
        let place = try Place(settings: "[prompt]\n\(settings)\n")
        _ = try place.folder.write("wiki \(place.path)\n", to: "agent/folders")
        let script = Self.shown + "; printf '<%s>\\n' \"$(authc prompt)\""
        for words in [
            "shop:ada@example.org wiki!stale new!signing_in wall:7!needs_password", "a b c d:4 e!stale f", "wiki", "",
            "!keyring_locked",
        ] {
            for session in ["", "wall", "none"] {
                let output = try await place.run("bash", words, script: script, with: ["AUTHD_SESSION": session])
                let lines = output.out.split(separator: "\n")
                #expect(lines.count == 2 && lines.first == lines.last && output.err.isEmpty, "\(words): \(output)")
            }
        }
    }

    @Test(
        "with folder_only, shows the session that authc uses here because of a rule or the variable", arguments: shells)
    func folders(shell: String) async throws {
        let place = try Place(settings: "[prompt]\nfolder_only = true\n")
        _ = try place.folder.folder("some where/job")
        let work = place.path + "/some where/job"
        _ = try place.folder.folder("some where/job/deep/down")
        let deep = work + "/deep/down"
        _ = try place.folder.folder("some where/jobshop")
        let link = place.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: work)
        let words = "shop:ada wiki!stale wall"
        func shown(_ folder: String, _ more: [String: String] = [:]) async throws -> String {
            let output = try await place.run(
                shell, words, script: "cd '\(folder)'\n" + Self.shown, with: more)
            #expect(output.err.isEmpty, "\(output)")
            return output.out
        }
        #expect(try await shown(work) == "<>\n")
        _ = try place.folder.write(
            "wiki \(work)\n\nnot a rule\nwall \(work)/deep\nwall \(place.path)/none\n", to: "agent/folders")
        #expect(try await shown(work) == "<wiki!stale>\n")
        #expect(try await shown(deep) == "<wall>\n")
        #expect(try await shown(link) == "<wiki!stale>\n")
        #expect(try await shown(link + "/deep") == "<wall>\n")
        #expect(try await shown(work + "shop") == "<>\n")
        #expect(try await shown("/") == "<>\n")
        #expect(try await shown(work, ["AUTHD_SESSION": "shop"]) == "<shop:ada>\n")
        #expect(try await shown(work, ["AUTHD_SESSION": "none"]) == "<>\n")
        _ = try place.folder.write("shop /\nwiki \(work)\n", to: "agent/folders")
        #expect(try await shown("/usr") == "<shop:ada>\n")
        #expect(try await shown(deep) == "<wiki!stale>\n")
        // A locked store may have the session. Elsewhere no session is shown.
        let locked = try await place.run(
            shell, "!keyring_locked", script: "cd '\(work)'; \(Self.shown)", with: ["AUTHD_SESSION": "shop"])
        #expect(locked.out == "<!keyring_locked>\n" && locked.err.isEmpty, "\(locked)")
        // From one to the other in the same shell.
        let both = try await place.run(
            shell, words,
            script: "cd '\(work)'; \(Self.shown); cd /usr; \(Self.shown); cd '\(work)'; \(Self.shown)")
        #expect(both.out == "<wiki!stale>\n<shop:ada>\n<wiki!stale>\n", "\(both)")
    }

    @Test("starts no process, and leaves the status of the last command alone", arguments: shells, [false, true])
    func noProcess(shell: String, inFolder: Bool) async throws {
        let place = try Place(settings: "[prompt]\nfolder_only = \(inFolder)\n")
        _ = try place.folder.write("shop /usr\n", to: "agent/folders")
        // In a PID namespace, the kernel's last process ID is that of the last process of this shell.
        let last = "/proc/sys/kernel/ns_last_pid"
        let read = shell == "fish" ? "read before < \(last)" : "read -r before < \(last)"
        let again = read.replacing("before", with: "after")
        let script = """
            cd /usr; \(read); authd_prompt; authd_prompt; \(again); echo "<$AUTHD_PROMPT> $before $after"
            """
        let start = shell == "fish" ? "authc shell-init fish | source" : "eval \"$(authc shell-init \(shell))\""
        let child = try await Child(
            [
                "unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "sh", "-c",
                "echo \"1 shop:ada wiki!stale\" > \"${AUTHD_SOCKET%/*}/prompt\"; exec \(shell) -c \"$1\"", "sh",
                start + "\n" + script,
            ], environment: place.environment
        ).output()
        let words = child.out.split(separator: " ").map { $0.trimmingCharacters(in: .newlines) }
        #expect(words.count >= 3 && words.last == words.dropLast().last, "\(child)")
        #expect(child.out.hasPrefix("<" + (inFolder ? "shop:ada" : "wiki!stale shop:ada") + ">"), "\(child)")
        guard shell == "bash" else { return }
        let status = try await place.run(shell, "shop", script: "set -eu; (exit 7) || authd_prompt || echo $?")
        #expect(status.out == "7\n" && status.err.isEmpty, "\(status)")
    }

    @Test("a shell that evaluates it again has one hook, and keeps those of others")
    func hooks() async throws {
        let place = try Place()
        let bash = try await place.run(
            "bash", "shop",
            script: """
                PROMPT_COMMAND='mine'; one=$(authc shell-init bash); eval "$one"; eval "$one"; echo "$PROMPT_COMMAND"
                PROMPT_COMMAND=(mine other); eval "$one"; eval "$one"; echo "${PROMPT_COMMAND[*]}"
                """)
        #expect(bash.out == "authd_prompt; mine\nauthd_prompt; mine other\n" && bash.err.isEmpty, "\(bash)")
        let zsh = try await place.run(
            "zsh", "shop",
            script: """
                precmd_functions=(mine); one=$(authc shell-init zsh); eval "$one"; eval "$one"; echo $precmd_functions
                """)
        #expect(zsh.out == "authd_prompt mine\n" && zsh.err.isEmpty, "\(zsh)")
    }

    @Test("the default file does not depend on the AUTHD_SOCKET of the shell's start", arguments: shells)
    func otherSocket(shell: String) async throws {
        let place = try Place()
        let run = try place.folder.folder("run/authd")
        let unset = shell == "fish" ? "set -e AUTHD_SOCKET" : "unset AUTHD_SOCKET"
        let write = "printf '%s wiki\\n' \(shell == "fish" ? "$fish_pid" : "$$") > '\(run)/prompt'"
        let output = try await place.run(
            shell, "shop", script: "\(Self.shown)\n\(write)\n\(unset)\n\(Self.shown)",
            with: ["XDG_RUNTIME_DIR": place.folder.path + "/run"])
        #expect(output.out == "<shop>\n<wiki>\n" && output.err.isEmpty, "\(output)")
    }

    @Test("without a home and a private folder there is a function nevertheless", arguments: shells)
    func noFolders(shell: String) async throws {
        let place = try Place()
        let output = try await Child(
            [
                "env", "--unset=HOME", "--unset=XDG_CONFIG_HOME", "--unset=AUTHD_SOCKET", "--unset=XDG_RUNTIME_DIR",
                Programs.authc, "shell-init", shell,
            ], environment: place.environment
        ).output()
        #expect(output.status == 0 && output.out.contains("/run/user/\(getuid())/authd"), "\(output)")
        #expect(output.err.contains("there is no home folder"), "\(output)")
    }

    @Test("--socket chooses the file, and settings that cannot be read leave the defaults")
    func options() async throws {
        let place = try Place(settings: "[prompt\n")
        for shell in Self.shells {
            let output = try await place.run(shell, "shop:ada!stale")
            #expect(output.out == "<shop:ada!stale>\n" && output.err.contains("authd.toml:1"), "\(output)")
            let source = shell == "fish" ? "| source" : ")\""
            let start = shell == "fish" ? "" : "eval \"$("
            let other = try await place.run(
                shell, "shop",
                script: "\(start)authc shell-init \(shell) --socket /nowhere/socket \(source)\n" + Self.shown)
            #expect(other.out == "<>\n", "\(other)")
        }
        let unknown = try await place.run("bash", "shop", script: "authc shell-init tcsh; echo $?")
        #expect(unknown.out == "64\n" && unknown.err.contains("bash"), "\(unknown)")
    }
}
