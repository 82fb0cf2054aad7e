import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// The recipes for prompts and status lines, with a real agent.
@Suite("Recipes: a shell prompt", .serialized, .timeLimit(.minutes(3)))
struct PromptRecipeTests {
    private static let ada = "app-template:ada@example.org"
    private static let starts = [
        "bash": ("eval \"$(authc shell-init bash)\"", "home/.bashrc", "bash -i"),
        "zsh": ("setopt prompt_subst", "home/.zshrc", "zsh -i"),
        "fish": ("authc shell-init fish | source", "config/fish/config.fish", "fish -i"),
    ]

    @Test(
        "bash, zsh and fish show who is signed in, and nothing after a sign-out or a killed agent",
        arguments: ["bash", "zsh", "fish"])
    func shells(shell: String) async throws {
        try await Scene.play { scene in
            let (line, file, command) = try #require(Self.starts[shell])
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.run("true").status == 0)
            try await scene.promptFile { $0.contains("app-template") }
            _ = try scene.desktop.folder.write(try Recipes.block(with: line), to: file)
            let terminal = try await scene.terminal("export PATH=$HOME/bin:$PATH; \(command)")
            await terminal.waits(for: shell == "fish" ? Self.ada : "[\(Self.ada)]")
            let show = "echo '<'\"$AUTHD_PROMPT\"'>'\n"
            #expect(try await scene.authc(["logout"]).status == 0)
            try await scene.promptFile { !$0.contains("app-template") }
            // The function runs before the next prompt.
            terminal.type("\n")
            terminal.type(show)
            await terminal.waits(for: "<>")
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.promptFile { $0.contains("app-template") }
            terminal.type("\n")
            terminal.type(show)
            await terminal.waits(for: "<\(Self.ada)>")
            await (try scene.agent).child.end(SIGKILL)
            try await scene.promptFile { $0.contains("app-template") }
            terminal.mark()
            terminal.type("\n")
            terminal.type(show)
            await terminal.waits(for: "<>")
            terminal.type("exit\n")
            await terminal.waits(for: "exit 0")
            await terminal.ends()
        }
    }

    @Test("with the settings of the recipe, only a session that needs attention is shown, with its state")
    func attention() async throws {
        try await Scene.play(tokenSeconds: 6) { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.promptFile { $0.contains("app-template") }
            let recipe = try Recipes.block(with: "prompt.attention_only")
            let settings = try await scene.run("set -e\n\(recipe)authc reload")
            #expect(settings.status == 0, "\(settings)")
            #expect(try await scene.shownPrompt() == "<>\n")
            let watch = try await Child([Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
            try await scene.backends.setListening(false, .appTemplate)
            #expect(await watch.out.wait(for: #""state":"stale""#))
            await watch.end()
            try await scene.promptFile { $0.contains("!stale") }
            #expect(try await scene.shownPrompt() == "<app-template stale>\n")
        }
    }

    @Test("tmux shows the line in its status line")
    func tmux() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.run("true").status == 0)
            _ = try scene.desktop.folder.write(
                try Recipes.block(with: "set -g status-right '#(authc prompt)'"), to: "home/.tmux.conf")
            let tmux = "PATH=$HOME/bin:$PATH TMUX_TMPDIR=$HOME tmux -f $HOME/.tmux.conf"
            let terminal = try await scene.terminal("\(tmux) new-session sh")
            await terminal.waits(for: Self.ada)
            #expect(try await scene.run("\(tmux) kill-server").status == 0)
            await terminal.ends()
        }
    }

    @Test("waybar runs its module in a compositor without a screen")
    func waybar() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.promptFile { $0.contains("app-template") }
            let folder = scene.desktop.folder.path
            // What waybar reads is written to a file, too.
            _ = try scene.desktop.folder.write(
                "#!/bin/sh\n\(Programs.authc) \"$@\" | tee -a \(folder)/shown\n", to: "bar/authc")
            #expect(try await scene.run("chmod +x \(folder)/bar/authc").status == 0)
            let module = try Recipes.block(with: "\"custom/authd\": {")
            _ = try scene.desktop.folder.write("{\"modules-left\": [\"custom/authd\"],\n\(module)}\n", to: "bar.json")
            _ = try scene.desktop.folder.write(
                "xwayland disable\nexec waybar -l trace -c \(folder)/bar.json -s /dev/null\n", to: "sway.conf")
            var environment = scene.desktop.environment
            environment["DBUS_SESSION_BUS_ADDRESS"] = nil
            environment["PATH"] = "\(folder)/bar:\(environment["PATH"] ?? "")"
            environment["WLR_BACKENDS"] = "headless"
            environment["WLR_RENDERER"] = "pixman"
            // sway refuses to run as root.
            let user = getuid() == 0 ? ["unshare", "--user", "--map-user=1000", "--map-group=1000"] : []
            let sway = try await Child(user + ["sway", "-c", folder + "/sway.conf"], environment: environment)
            #expect(await sway.out.wait(for: "label#custom-authd"), "\(sway.err.text)")
            #expect(await sway.out.wait(for: "Cmd exited with code 0"), "\(sway.out.text)")
            await sway.end()
            let shown = try String(contentsOfFile: folder + "/shown", encoding: .utf8)
            #expect(shown.hasPrefix(Self.ada + "\n"), "\(shown)")
        }
    }

    @Test("what starship, powerlevel10k and oh-my-posh evaluate has the line")
    func programsForPrompts() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.promptFile { $0.contains("app-template") }
            // starship and oh-my-posh read a variable of their environment.
            let variable = try #require(
                try Recipes.block(with: "[env_var.").firstMatch(of: /\[env_var\.([A-Z_]+)\]/)?.1)
            let segment = try JSON(parsing: Array(try Recipes.block(with: "\"template\":").utf8))
            let template = try #require(segment["template"]?.stringValue)
            let named = Set(template.matches(of: /\.Env\.([A-Z_]+)/).map { String($0.1) })
            #expect(named == [String(variable)])
            for (shell, start) in [
                ("bash", "eval \"$(authc shell-init bash)\""), ("zsh", "eval \"$(authc shell-init zsh)\""),
            ] {
                let output = try await scene.run("\(shell) -c '\(start); authd_prompt; printenv \(variable)'")
                #expect(output.out == Self.ada + "\n", "\(output)")
            }
            let fish = try await scene.run(
                "fish -c 'authc shell-init fish | source; authd_prompt; printenv \(variable)'")
            #expect(fish.out == Self.ada + "\n", "\(fish)")
            // powerlevel10k calls the function of a segment, which calls `p10k`.
            _ = try scene.desktop.folder.write(
                """
                eval "$(authc shell-init zsh)"
                p10k() { print -r -- "$@" }
                \(try Recipes.block(with: "function prompt_authd()"))
                prompt_authd
                """, to: "home/p10k.zsh")
            let powerlevel = try await scene.run("zsh -f p10k.zsh")
            #expect(powerlevel.out == "segment -f yellow -t \(Self.ada)\n", "\(powerlevel)")
            #expect(try await scene.authc(["logout"]).status == 0)
            try await scene.promptFile { !$0.contains("app-template") }
            #expect(try await scene.run("zsh -f p10k.zsh").out.isEmpty)
        }
    }
}

extension Scene {
    /// What a new bash shows.
    fileprivate func shownPrompt() async throws -> String {
        try await run(
            """
            bash --norc -c 'eval "$(authc shell-init bash)"; authd_prompt; echo "<$AUTHD_PROMPT>"'
            """
        ).out
    }

    /// Waits until the prompt file is as expected.
    fileprivate func promptFile(_ isExpected: (String) -> Bool) async throws {
        let path = desktop.folder.path + "/run/authd/prompt"
        let reached = try await until {
            _ = try await desktop.run(["true"])
            return isExpected((try? String(contentsOfFile: path, encoding: .utf8)) ?? "")
        }
        #expect(reached)
    }
}
