import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

@Suite("A command that gets a token", .serialized)
struct ExecTests {
    @Test("authc becomes the command: variables, exit status, process id and signals are the command's own")
    func replaced() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let token = try await scene.token()
            let plain = try await scene.shell("$0 exec -- sh -c 'echo $AUTHD_TOKEN $AUTHD_SESSION; exit 7'")
            #expect(plain.status == 7 && plain.out == "\(token) app-template\n", "\(plain.err)")
            let chosen = try await scene.shell(
                "$0 exec --env T=access_token,H=authorization --env MAIL=user.email,P=provider,E=environment -- "
                    + "sh -c 'echo $T $H $MAIL $P $E; test -z \"$AUTHD_TOKEN\"'")
            #expect(
                chosen.out == "\(token) Bearer \(token) ada@example.org app-template local\n" && chosen.status == 0)
            let descriptor = try await scene.shell("$0 exec --fd 9 -- sh -c 'cat <&9; echo; env | grep -c TOKEN'")
            #expect(descriptor.out == "\(token)\n0\n", "\(descriptor.err)")
            // The command has the process id that authc had.
            let same = try await scene.shell("sh -c 'echo $$; exec \"$0\" exec -- sh -c \"echo \\$\\$\"' $0")
            let numbers = same.out.split(separator: "\n")
            #expect(numbers.count == 2 && numbers.first == numbers.last)
            let killed = try await scene.shell("$0 exec -- sh -c 'kill -USR1 $$'; echo $?")
            #expect(killed.out == "138\n")
        }
    }

    @Test("a command that is missing is 127, one that cannot start 126, and without a session nothing is started")
    func refused() async throws {
        try await Scene.play { scene in
            let early = try await scene.shell("$0 exec -- sh -c 'echo started'")
            #expect(early.status == 3 && early.out.isEmpty)
            _ = try await scene.login(.appTemplate)
            for way in ["", "--on-renewal restart "] {
                let missing = try await scene.shell("$0 exec \(way)-- no-such-command")
                #expect(missing.status == 127 && missing.err.contains("no-such-command: "), "\(missing.err)")
                let plain = try await scene.shell("touch $HOME/plain; $0 exec \(way)-- $HOME/plain")
                #expect(plain.status == 126, "\(plain.err)")
            }
            let usage = [
                "exec", "exec sh", "exec --on-renewal hup -- true", "exec --fd 1 -- true", "exec --env T -- true",
                "exec --env 1T=session -- true", "exec --env T=user.pin -- true", "exec --file a-b -- true",
                "exec --on-renewal maybe -- true", "env --shell zsh5",
            ]
            for line in usage {
                let refused = try await scene.shell("$0 \(line)")
                #expect(refused.status == 64 && refused.out.isEmpty, "\(line): \(refused.err)")
            }
            let elsewhere = try await scene.shell("$0 exec --for https://elsewhere.example -- echo started")
            #expect(elsewhere.status == 77 && elsewhere.out.isEmpty)
            let unknown = try await scene.shell("$0 exec --env N=user.name,S=session -s absent -- true")
            #expect(unknown.status == 64)
        }
    }

    @Test("the file is in memory, private, replaced at each renewal, and removed at the end, even if authc was killed")
    func file() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let child = try await scene.supervised(
                "--file TOKEN_FILE --on-renewal hup",
                """
                trap 'echo hup $(cat $TOKEN_FILE)' HUP; stat -c %a $TOKEN_FILE $(dirname $TOKEN_FILE)
                stat -f -c %T $TOKEN_FILE; echo $TOKEN_FILE; echo first $(cat $TOKEN_FILE)
                while read line; do eval "$line"; done
                """)
            let first = try await scene.token()
            await child.out.wait(for: "first \(first)\n")
            let lines = child.out.text.split(separator: "\n").map(String.init)
            #expect(lines.prefix(3) == ["600", "700", "tmpfs"])
            let path = try #require(lines.dropFirst(3).first)
            #expect(try await scene.agent.authc("refresh").status == 0)
            let second = try await scene.token()
            #expect(second != first)
            await child.out.wait(for: "hup \(second)\n")
            child.tell("exit 5")
            #expect(await child.ended() == 5)
            let folder = (path as NSString).deletingLastPathComponent
            #expect(!FileManager.default.fileExists(atPath: folder))

            let killed = try await scene.supervised("--file F", "echo $F; read line")
            await killed.out.wait(for: "/token\n")
            let left = String(killed.out.text.dropLast())
            await killed.end(SIGKILL)
            #expect(FileManager.default.fileExists(atPath: left))
            let next = try await scene.shell("$0 exec --file F -- sh -c 'test -s $F'")
            #expect(next.status == 0, "\(next.err)")
            #expect(!FileManager.default.fileExists(atPath: left))
        }
    }

    @Test("a renewal gives the command a token of the session that it began with, whatever the default one is by then")
    func otherDefault() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let child = try await scene.supervised(
                "--file TOKEN_FILE --on-renewal hup",
                """
                trap 'echo hup $(cat $TOKEN_FILE)' HUP; echo first $(cat $TOKEN_FILE)
                while read line; do eval "$line"; done
                """)
            await child.out.wait(for: "first \(try await scene.token())\n")
            _ = try await scene.login(.envelope)
            #expect(try await scene.agent.authc("use", "envelope").status == 0)
            #expect(try await scene.agent.authc("refresh", "-s", "app-template").status == 0)
            let renewed = try await scene.agent.authc("token", "-s", "app-template").out
            await child.out.wait(for: "hup \(renewed)")
            child.tell("exit 0")
            #expect(await child.ended() == 0)
            #expect(await child.out.all().split(separator: "\n").count == 2)
        }
    }

    @Test("a restart gives the command the new token; one that ignores SIGTERM or SIGHUP loses nothing")
    func restarted() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let child = try await scene.supervised(
                "--on-renewal restart", "echo run $AUTHD_TOKEN; while read line; do eval \"$line\"; done")
            let first = try await scene.token()
            await child.out.wait(for: "run \(first)\n")
            #expect(try await scene.agent.authc("refresh").status == 0)
            let second = try await scene.token()
            await child.out.wait(for: "run \(second)\n")
            child.tell("exit 3")
            #expect(await child.ended() == 3)

            let deaf = try await scene.supervised(
                "--file F --on-renewal hup",
                "trap '' HUP; echo ready; while read line; do eval \"$line\"; done")
            await deaf.out.wait(for: "ready\n")
            #expect(try await scene.agent.authc("refresh").status == 0)
            let third = try await scene.token()
            deaf.tell("until test \"$(cat $F)\" = \(third); do :; done; echo same; exit 0")
            await deaf.out.wait(for: "same\n")
            #expect(await deaf.ended() == 0)
        }
    }

    @Test("signals to authc reach the command once, and authc ends by the command's own signal")
    func signals() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let child = try await scene.supervised(
                "--file F",
                "trap 'echo usr1' USR1; trap 'echo term; exit 9' TERM; echo ready; while read x; do eval \"$x\"; done")
            await child.out.wait(for: "ready\n")
            child.kill(SIGUSR1)
            await child.out.wait(for: "usr1\n")
            child.kill(SIGTERM)
            #expect(await child.ended() == 9)
            #expect(await child.out.all() == "ready\nusr1\nterm\n")

            let plain = try await scene.supervised("--file F", "echo $F; read x")
            await plain.out.wait(for: "/token\n")
            let path = String(plain.out.text.dropLast())
            #expect(await plain.end(SIGTERM) == 128 + SIGTERM)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("^C reaches the command once; ^Z stops both, and fg continues both")
    func terminal() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let terminal = try await scene.terminal(
                "set -m; authc exec --file F -- bash -c 'trap \"echo int\" INT; echo ready; "
                    + "while read x; do eval \"$x\"; done'; echo stopped; fg; echo left $?")
            await terminal.waits(for: "ready")
            terminal.type("\u{3}")
            await terminal.waits(for: "int\r\n")
            terminal.type("\u{1A}")
            await terminal.waits(for: "stopped")
            terminal.mark()
            terminal.type("echo on $((20 + 1))\n")
            await terminal.waits(for: "on 21")
            terminal.type("exit 6\n")
            await terminal.waits(for: "left 6")
            #expect(!terminal.text.contains("int"))
            await terminal.ends()
        }
    }

    @Test("without a shell that could continue it, ^Z stops neither authc nor the command")
    func orphaned() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let terminal = try await scene.terminal(
                "exec \(Programs.authc) exec --file F -- bash -c 'echo ready; while read x; do eval \"$x\"; done'")
            await terminal.waits(for: "ready")
            terminal.type("\u{1A}")
            terminal.type("echo on $((20 + 1))\n")
            await terminal.waits(for: "on 21")
            terminal.type("exit 0\n")
            await terminal.ends()
        }
    }

    @Test("commands that start at once each have a file")
    func parallel() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let all = try await scene.shell(
                "seq 40 | xargs -P8 -I{} $0 exec --file F -- sh -c 'test -s $F && echo ok' | sort | uniq -c")
            #expect(all.status == 0 && all.out.split(separator: " ") == ["40", "ok\n"], "\(all.out) \(all.err)")
        }
    }

    @Test("a signal that the command handles does not stop later restarts, and an ignored one stays ignored")
    func handled() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let child = try await Child(
                [
                    "sh", "-c", "trap '' HUP; exec \"$@\"", "sh", Programs.authc, "exec", "--on-renewal", "restart",
                    "--",
                    "bash", "-c", "echo run $AUTHD_TOKEN; while read x; do eval \"$x\"; done",
                ], environment: scene.desktop.environment, input: .held)
            await child.out.wait(for: "\n")
            child.kill(SIGHUP)
            #expect(try await scene.agent.authc("refresh").status == 0)
            let second = try await scene.token()
            await child.out.wait(for: "run \(second)\n")
            child.tell("exit 0")
            #expect(await child.ended() == 0)
        }
    }

    @Test("without the agent the command goes on; the token is followed again when the agent is back")
    func agentAway() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let child = try await scene.supervised(
                "--file F --on-renewal hup",
                "trap 'echo hup $(cat $F)' HUP; echo ready; while read x; do eval \"$x\"; done")
            await child.out.wait(for: "ready\n")
            try await scene.agent.child.end()
            await child.err.wait(for: "the command continues with the token that it has")
            try await scene.startAgent()
            #expect(try await scene.agent.authc("refresh").status == 0)
            let token = try await scene.token()
            await child.out.wait(for: "hup \(token)\n")
            #expect(try await scene.agent.authc("logout").status == 0)
            child.tell("echo still; exit 0")
            await child.out.wait(for: "still\n")
            #expect(await child.ended() == 0)
        }
    }

    @Test("env prints what each shell evaluates, quoted, with the expiry as a comment at the end")
    func environment() async throws {
        // In Swift, each of the last two quotes is one character with the mark after it.
        let name = "Ada 'O!' \\ $HOME '\u{301}; echo '\u{301}"
        try await Scene.play(seed: SeedUser(name: name)) { scene in
            _ = try await scene.login(.appTemplate)
            let token = try await scene.token()
            let quoted = try await scene.shell(
                "eval \"$($0 env --env T=access_token,N=user.name)\"; sh -c 'echo \"$T $N\"'")
            #expect(quoted.out == "\(token) \(name)\n", "\(quoted.err)")
            // Without quotes, the shell joins the lines.
            let joined = try await scene.shell("eval $($0 env); sh -c 'echo $AUTHD_TOKEN'")
            #expect(joined.out == "\(token)\n")
            let text = try await scene.shell("$0 env")
            #expect(text.out.split(separator: "\n").last?.hasPrefix("# app-template expires at ") == true)
            let json = try JSON(parsing: try await scene.shell("$0 env --json").out)
            #expect(json["variables"]?["AUTHD_TOKEN"]?.stringValue == token && json["expires_at"] != nil)
            let fish = try await scene.shell(
                "fish -c \"$0 env --shell fish --env N=user.name | source; sh -c 'echo \\$N'\"")
            #expect(fish.out == "\(name)\n", "\(fish.err)")
            let csh = try await scene.shell(
                "tcsh -fc 'eval \"`'$0' env --shell csh --env N=user.name`\"; printenv N'")
            #expect(csh.out == "\(name)\n", "\(csh.err)")
        }
    }
}

extension Scene {
    fileprivate func token() async throws -> String {
        String(try await agent.authc("token").out.dropLast())
    }

    /// A bash script below a supervising `authc exec`, whose input stays open.
    fileprivate func supervised(_ options: String, _ script: String) async throws -> Child {
        try await Child(
            [Programs.authc, "exec"] + options.split(separator: " ").map(String.init) + ["--", "bash", "-c", script],
            environment: desktop.environment, input: .held)
    }
}
