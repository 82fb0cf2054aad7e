import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// `authc export` and `import` with the program age.
@Suite("Sessions sealed by age", .serialized, .timeLimit(.minutes(2)))
struct AgeTests {
    /// A new identity in a file, and its recipient.
    private func identity(_ name: String, _ scene: Scene) async throws -> (file: String, recipient: String) {
        let file = scene.desktop.folder.path + "/" + name
        let made = try await scene.desktop.run(["age-keygen", "-o", file])
        guard made.status == 0 else { throw Failure("no identity: \(made.err)") }
        let recipient = try await scene.desktop.run(["age-keygen", "-y", file])
        return (file, recipient.out.trimmingCharacters(in: .newlines))
    }

    @Test("are exported for recipients to a private file, and imported with the right identity only")
    func thereAndBack() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.login(.envelope).status == 0)
            let tokens = try await scene.tokens()
            let (mine, other) = (try await identity("mine", scene), try await identity("other", scene))
            // One that everybody could read before.
            let file = try scene.desktop.folder.write("", to: "sessions.age")
            chmod(file, 0o644)
            let exported = try await scene.agent.authc("export", file, "--recipient", mine.recipient)
            #expect(
                exported.status == 0 && exported.err.contains("Exported: app-template, envelope."), "\(exported.err)")
            #expect(mode(of: file) == 0o600)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
            #expect(bytes.starts(with: Data("age-encryption.org/v1\n".utf8)))
            for secret in scene.backends.secrets + ["ada@example.org"] {
                #expect(bytes.range(of: Data(secret.utf8)) == nil)
            }
            let unnamed = try await scene.agent.authc("import", file)
            #expect(unnamed.status == 64 && unnamed.err.contains("--identity FILE"), "\(unnamed.err)")
            let wrong = try await scene.agent.authc("import", file, "--identity", other.file)
            #expect(wrong.status == 65 && wrong.err.contains("no identity matched"), "\(wrong.err)")
            for session in tokens.keys {
                #expect(try await scene.agent.authc("logout", "--no-revoke", "-s", session).status == 0)
            }
            let imported = try await scene.agent.authc("import", file, "--identity", mine.file)
            #expect(imported.status == 0, "\(imported.err)")
            #expect(try await scene.tokens() == tokens)
            #expect(try await scene.agent.authc("refresh", "-s", "app-template").status == 0)

            // One session, to both, one of them named in a file; age itself opens what authc had it write.
            let list = try scene.desktop.folder.write("# the other machine\n\(other.recipient)\n", to: "recipients")
            let piped = try await scene.shell(
                "\"$0\" export - -s envelope --recipient \(mine.recipient) --recipients-file \(list) > \(file)")
            #expect(piped.status == 0, "\(piped.err)")
            for identity in [mine, other] {
                let opened = try await scene.desktop.run(["age", "--decrypt", "--identity", identity.file, file])
                let sessions = try JSON(parsing: Array(opened.out.utf8))["sessions"]?.arrayValue ?? []
                #expect(sessions.map { $0["session"] } == ["envelope"])
            }
            try await scene.expectNoSecretInLog()
        }
    }

    @Test("are opened with an identity whose passphrase age asks for on the terminal")
    func identityWithPassphrase() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            let token = try await scene.agent.authc("token").out
            let (mine, folder) = (try await identity("mine", scene), scene.desktop.folder.path)
            let file = folder + "/sessions.age"
            #expect(try await scene.agent.authc("export", file, "-r", mine.recipient).status == 0)
            #expect(try await scene.agent.authc("logout", "--no-revoke").status == 0)
            let making = try await scene.terminal("age --passphrase --output \(folder)/sealed \(mine.file)")
            await making.waits(for: "Enter passphrase")
            making.type("correct horse battery\n")
            await making.waits(for: "Confirm passphrase")
            making.type("correct horse battery\n")
            await making.ends()
            let terminal = try await scene.terminal("authc import \(file) -i \(folder)/sealed")
            await terminal.waits(for: "Enter passphrase")
            terminal.type("correct horse battery\n")
            await terminal.waits(for: "exit ")
            await terminal.ends()
            #expect(terminal.text.contains("Imported: app-template."), "\(terminal.text)")
            #expect(try await scene.agent.authc("token").out == token)
        }
    }

    @Test("are not exported or imported if age is missing or refuses, and the message says why")
    func refused() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            let out = try scene.desktop.folder.folder("out")
            let file = out + "/sessions.age"
            let mine = try await identity("mine", scene)
            let malformed = try await scene.agent.authc("export", file, "--recipient", "age1bogus")
            #expect(malformed.status == 65 && malformed.err.contains("malformed recipient"), "\(malformed.err)")
            let unlisted = try await scene.agent.authc("export", file, "--recipients-file", out + "/none")
            #expect(unlisted.status == 65 && unlisted.err.contains("no such file"), "\(unlisted.err)")
            let both = try await scene.agent.authc(
                "export", file, "--recipient", mine.recipient, "--passphrase-stdin", input: "correct horse battery")
            #expect(both.status == 64, "\(both.err)")
            let missing = try await scene.desktop.run(
                [Programs.authc, "export", file, "--recipient", mine.recipient], with: ["PATH": out])
            #expect(missing.status == 64 && missing.err.contains("apt install age"), "\(missing.err)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: out).isEmpty)

            let garbage = try scene.desktop.folder.write("age-encryption.org/v1\nno stanza\n", to: "garbage")
            let damaged = try await scene.agent.authc("import", garbage, "--identity", mine.file)
            #expect(damaged.status == 65 && damaged.err.contains("age could not open the file"), "\(damaged.err)")
            #expect(try await SessionList(scene.agent.json("list")).sessions.count == 1)
        }
    }
}
