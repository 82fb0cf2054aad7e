import AuthWire
import Foundation
import TestSupport
import Testing

/// `authc config` with the real authd, which checks and reloads.
@Suite("authc config", .timeLimit(.minutes(2)))
struct ConfigTests {
    private static let file = "/config/authd/authd.toml"

    private static func read(_ scene: Scene) throws -> String {
        try String(contentsOfFile: scene.desktop.folder.path + file, encoding: .utf8)
    }

    @Test("a change keeps the rest of the file, its mode and a link, and is in effect at once")
    func set() async throws {
        try await Scene.play { scene in
            let folder = scene.desktop.folder.path
            let settings = "# Mine.\n\n" + (try Self.read(scene))
            _ = try scene.desktop.folder.write(settings, to: "real.toml")
            #expect(chmod(folder + "/real.toml", 0o640) == 0)
            #expect(unlink(folder + Self.file) == 0 && symlink("../../real.toml", folder + Self.file) == 0)

            let off = try await scene.agent.authc("config", "set", "notifications", "false")
            #expect(off.status == 0 && off.out.isEmpty, "\(off)")
            #expect(off.err.contains("authd: notifications are no longer shown"), "\(off.err)")
            #expect(try Self.read(scene) == settings.replacing("# Mine.\n", with: "# Mine.\nnotifications = false\n"))
            let link = try FileManager.default.destinationOfSymbolicLink(atPath: folder + Self.file)
            let mode = try FileManager.default.attributesOfItem(atPath: folder + "/real.toml")[.posixPermissions]
            #expect(link == "../../real.toml" && mode as? Int == 0o640)
            let doctor = try await scene.agent.authc("doctor").out
            #expect(doctor.contains("authd uses the current settings and profiles"), "\(doctor)")

            let got = try await scene.agent.authc("config", "get", "notifications")
            #expect(got.status == 0 && got.out == "false\n")
            let json = try await scene.agent.authc("config", "unset", "notifications", "--json")
            #expect(json.status == 0 && json.out.contains(#""reloaded":true"#), "\(json)")
            #expect(try Self.read(scene) == settings)
            // What is not there is no error.
            let again = try await scene.agent.authc("config", "unset", "notifications")
            #expect(again.status == 0 && again.err.contains("nothing to change"), "\(again)")
            let left = try FileManager.default.contentsOfDirectory(atPath: folder + "/config/authd")
            #expect(left.sorted() == ["authd.toml"], "\(left)")
        }
    }

    @Test("a change that authd --check would refuse is not written; the error has the line, the key and the rule")
    func refused() async throws {
        try await Scene.play { scene in
            let settings = try Self.read(scene)
            let cases = [
                (["http.proxy", "ftp://proxy"], "http.proxy: expected http://HOST:PORT"),
                (["http.total_timeout", "3"], "http.total_timeout: expected a time from 100ms to 60m"),
                (["default_session", "a b"], "default_session: expected a session's name"),
                (
                    ["providers.envelope.default_environment", "nowhere"],
                    "providers.envelope.default_environment: expected"
                ),
                (["log_level", "dbug"], "did you mean debug?"),
                (["api.cache_mib", "4096"], "api.cache_mib: expected a whole number from 0 to 1024, found 4096"),
            ]
            for (arguments, expected) in cases {
                let output = try await scene.agent.authc(["config", "set"] + arguments)
                #expect(output.status == 78 && output.err.contains(expected), "\(output)")
                #expect(output.err.contains(#/authd\.toml:\d+: /#), "\(output.err)")
                #expect(try Self.read(scene) == settings)
            }
            for (arguments, expected) in [
                (["htp.proxy", "none"], "did you mean http.proxy?"), (["http", "x"], "is a table"),
                (["notifications", "maybe"], "expected true or false"), (["hook[0].on", "x"], "no such table"),
                (["a..b", "x"], "is not the name of a setting"),
            ] {
                let output = try await scene.agent.authc(["config", "set"] + arguments)
                #expect(output.status == 64 && output.err.contains(expected), "\(output)")
                #expect(try Self.read(scene) == settings)
            }
            // A broken file is reported, and can be repaired.
            try scene.prependSettings("log_level = \"loud\"\n")
            let other = try await scene.agent.authc("config", "set", "notifications", "false")
            #expect(other.status == 78 && other.err.contains("authd.toml:1: log_level: expected one of"), "\(other)")
            let repaired = try await scene.agent.authc("config", "set", "log_level", "notice")
            #expect(repaired.status == 0, "\(repaired)")
            #expect(try Self.read(scene) == "log_level = \"notice\"\n" + settings)
        }
    }

    @Test("without a file it begins with the sample, in which a setting has its place")
    func sample() async throws {
        try await Scene.play(keyring: false) { scene in
            let folder = scene.desktop.folder.path
            #expect(unlink(folder + Self.file) == 0)
            let path = try await scene.agent.authc("config", "path", "--json")
            #expect(path.out.contains(#""exists":false"#), "\(path.out)")
            let none = try await scene.agent.authc("config", "list")
            #expect(none.status == 0 && none.out.isEmpty && none.err.contains("the defaults apply"), "\(none)")
            let set = try await scene.agent.authc("config", "set", "http.no_proxy", "localhost", ".example.org")
            #expect(set.status == 0 && set.err.contains("created from the sample"), "\(set)")
            let text = try Self.read(scene)
            let line = "no_proxy = [\"localhost\", \".example.org\"]\n"
            #expect(text.contains("#" + line + line))
            let mode = try FileManager.default.attributesOfItem(atPath: folder + Self.file)[.posixPermissions]
            #expect(mode as? Int == 0o600)
            #expect(try await scene.agent.authc("config", "get", "http.no_proxy").out == "localhost\n.example.org\n")
            let list = try await scene.agent.authc("config", "list")
            #expect(list.out == "http.no_proxy = [\"localhost\", \".example.org\"]\n")
            let unset = try await scene.agent.authc("config", "get", "log_level")
            #expect(unset.status == 0 && unset.out.isEmpty && unset.err == "log_level is not set (default: info)\n")
        }
    }

    @Test("get prints tables and lists, and JSON")
    func get() async throws {
        try await Scene.play(keyring: false) { scene in
            let file = try scene.desktop.folder.write(
                """
                [[folder]]
                path = "~/work" # here
                session = "work"
                [[hook]]
                on = "session.added"
                command = [
                    "/bin/echo",
                    "one two",
                ]
                """, to: "other.toml")
            func get(_ arguments: String...) async throws -> String {
                try await scene.agent.authc(["config", "get", "--file", "\(file)"] + arguments).out
            }
            #expect(try await get("folder") == "folder[0].path = \"~/work\"\nfolder[0].session = \"work\"\n")
            #expect(try await get("hook[0].command") == "/bin/echo\none two\n")
            let command = #"hook[0].command = [ "/bin/echo", "one two", ]"#
            #expect(try await get("hook[0]") == "hook[0].on = \"session.added\"\n\(command)\n")
            let json = try await get("folder", "--json")
            #expect(json.contains(#""value":[{"path":"~/work","session":"work"}]"#), "\(json)")
        }
    }

    @Test("two changes at the same time are both made")
    func together() async throws {
        try await Scene.play(keyring: false) { scene in
            try await withThrowingTaskGroup(of: Int32.self) { group in
                for (key, value) in [("notifications", "false"), ("log_level", "notice"), ("api.cache_mib", "1")] {
                    group.addTask { try await scene.agent.authc("config", "set", key, value).status }
                }
                for try await status in group { #expect(status == 0) }
            }
            let text = try Self.read(scene)
            #expect(["notifications = false", "log_level = \"notice\"", "cache_mib = 1"].allSatisfy(text.contains))
        }
    }

    @Test("edit asks to edit again after an error, and writes what authd accepts")
    func edit() async throws {
        try await Scene.play(keyring: false) { scene in
            let folder = scene.desktop.folder.path
            let settings = try Self.read(scene)
            // Its first version is wrong.
            _ = try scene.desktop.folder.write(
                """
                if test -e "\(folder)/tried"; then sed -i 1s/.*/'notifications = false'/ "$1"
                else touch "\(folder)/tried"; sed -i '1i notifications = 7' "$1"; fi
                """, to: "editor.sh")
            let terminal = try await scene.terminal("EDITOR='sh \(folder)/editor.sh' authc config edit")
            await terminal.waits(for: "Edit again? [Y/n] ")
            #expect(terminal.words.contains("authd.toml:1: notifications: expected true or false"), "\(terminal.text)")
            #expect(try Self.read(scene) == settings)
            terminal.type("\n")
            await terminal.waits(for: "exit ")
            #expect(terminal.text.contains("exit 0"), "\(terminal.text)")
            await terminal.ends()
            #expect(try Self.read(scene) == "notifications = false\n" + settings)
        }
    }

    @Test(
        "edit leaves the file alone if the user gives up with n, ^D or ^C, and keeps the user's version, or in the editor",
        arguments: [("n\n", "exit 77"), ("\u{4}", "exit 77"), ("\u{3}", "exit 130"), ("", "exit 77")])
    func abandoned(answer: String, status: String) async throws {
        try await Scene.play(keyring: false) { scene in
            let folder = scene.desktop.folder.path
            let settings = try Self.read(scene)
            let end = answer.isEmpty ? "exit 1" : "exit 0"
            _ = try scene.desktop.folder.write("echo 'store = 7' >> \"$1\"; \(end)\n", to: "editor.sh")
            let terminal = try await scene.terminal("trap : INT; VISUAL='sh \(folder)/editor.sh' authc config edit")
            if !answer.isEmpty {
                await terminal.waits(for: "Edit again? [Y/n] ")
                terminal.type(answer)
            }
            await terminal.waits(for: "exit ")
            await terminal.waits(for: status)
            await terminal.ends()
            #expect(try Self.read(scene) == settings)
            let left = try FileManager.default.contentsOfDirectory(atPath: folder + "/config/authd").sorted()
            #expect(left == ["authd.toml"] + (answer.isEmpty ? [] : ["authd.toml.edited"]), "\(left)")
            guard !answer.isEmpty else { return }
            #expect(terminal.words.contains("your version is in \(folder + Self.file).edited"), "\(terminal.text)")
            let kept = try String(contentsOfFile: folder + Self.file + ".edited", encoding: .utf8)
            #expect(kept == settings + "store = 7\n")
        }
    }

    @Test("^C in the editor is the editor's, and a change by another program is not overwritten")
    func editorSignals() async throws {
        try await Scene.play(keyring: false) { scene in
            let folder = scene.desktop.folder.path
            let settings = try Self.read(scene)
            _ = try scene.desktop.folder.write(
                "trap 'caught=1' INT; echo ready; while [ -z \"$caught\" ]; do read -r line; done; "
                    + "echo '# mine' >> \"$1\"; echo '# other' >> \"\(folder + Self.file)\"\n", to: "editor.sh")
            let terminal = try await scene.terminal("trap : INT; VISUAL='sh \(folder)/editor.sh' authc config edit")
            await terminal.waits(for: "ready")
            terminal.type("\u{3}")
            await terminal.waits(for: "exit 64")
            await terminal.ends()
            #expect(terminal.words.contains("was changed in the meantime"), "\(terminal.text)")
            #expect(try Self.read(scene) == settings + "# other\n")
            let kept = try String(contentsOfFile: folder + Self.file + ".edited", encoding: .utf8)
            #expect(kept == settings + "# mine\n")
        }
    }

    @Test("without a terminal and without an editor, edit is refused")
    func noEditor() async throws {
        try await Scene.play(keyring: false) { scene in
            let refused = try await scene.agent.authc("config", "edit")
            #expect(refused.status == 64 && refused.err.contains("$EDITOR"), "\(refused)")
        }
    }
}
