import AuthWire
import Foundation
import TestSupport
import Testing

/// The other programs' configurations that `authc helper install` changes, and what a helper responds without a token.
@Suite("The helpers' files and refusals")
struct AuthcHelperTests {
    /// A home with files.
    private struct Home {
        let path: String
        private let files = FileManager.default

        init() throws { path = try TestFolder.make() }

        func end() { try? files.removeItem(atPath: path) }

        func write(_ text: String, to name: String, mode: Int = 0o644) throws {
            let file = URL(filePath: path + "/" + name)
            try files.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
            try files.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        }

        /// `nil` if there is no such file.
        func text(_ name: String) -> String? {
            files.contents(atPath: path + "/" + name).map { String(decoding: $0, as: UTF8.self) }
        }

        func link(_ name: String, to target: String) throws {
            try files.createSymbolicLink(atPath: path + "/" + name, withDestinationPath: target)
        }

        func install(_ words: String..., searching folders: String? = nil) async throws -> Program {
            try await Program.run(
                ["helper", "install"] + words, folder: path,
                environment: ["PATH": folders ?? path + "/.local/bin"])
        }

        func cargo(_ words: String..., at server: String = AuthcHelperTests.server) async throws -> Program {
            try await Program.run(["helper", "install", "cargo", "--for", server] + words, folder: path)
        }
    }

    private func with(_ test: (Home) async throws -> Void) async throws {
        let home = try Home()
        defer { home.end() }
        try await test(home)
    }

    private static let server = "https://registry.example.org"
    private static let registry = "[registries.one]\nindex = \"sparse+\(server)/index/\"\n"
    private static let provider = "credential-provider = \"cargo-credential-authd\""
    private static let block = "credentials_helper \"authd\" {}"
    private static let cargo = ".cargo/config.toml"
    private static let script = ".local/bin/cargo-credential-authd"
    private static let plugin = ".terraform.d/plugins/terraform-credentials-authd"

    // MARK: Lines

    @Test(
        "a configuration with CRLF, or without a final newline, keeps its bytes, and is restored",
        arguments: ["\r\n", "\n"], [true, false])
    func lineEnds(end: String, isEnded: Bool) async throws {
        try await with { home in
            let last = isEnded ? end : ""
            let former = "[net]\noffline = false\n\(Self.registry)".replacing("\n", with: end)
            let whole = String(former.unicodeScalars.dropLast(end.unicodeScalars.count)) + last
            try home.write(whole, to: Self.cargo)
            let install = try await home.cargo()
            #expect(install.status == 0, "\(install.errors)")
            #expect(home.text(Self.cargo) == former + Self.provider + last)
            #expect(try await home.cargo("--remove").status == 0)
            #expect(home.text(Self.cargo) == whole)

            let other = "disable_checkpoint = true"
            try home.write("# mine\(end)\(other)\(last)", to: ".terraformrc")
            #expect(try await home.install("terraform").status == 0)
            #expect(home.text(".terraformrc") == "# mine\(end)\(other)\(end)\(Self.block)\(last)")
            #expect(try await home.install("terraform", "--remove").status == 0)
            #expect(home.text(".terraformrc") == "# mine\(end)\(other)\(last)")
        }
    }

    // MARK: cargo

    @Test("two sessions have two programs, and each is removed alone")
    func twoSessions() async throws {
        try await with { home in
            let second = "https://second.example.org"
            let former = "\(Self.registry)[registries.two]\nindex = \"sparse+\(second)/index/\"\n"
            try home.write(former, to: Self.cargo)
            #expect(try await home.cargo("-s", "ada").status == 0)
            #expect(try await home.cargo("-s", "bob", at: second).status == 0)
            let text = try #require(home.text(Self.cargo))
            for name in ["ada", "bob"] {
                #expect(text.contains("credential-provider = \"cargo-credential-authd-\(name)\"\n"), "\(text)")
                #expect(home.text("\(Self.script)-\(name)")?.contains("helper cargo -s \(name) ") == true)
            }
            // The other session's line is another provider.
            #expect(try await home.cargo("-s", "bob").status == 64)
            #expect(try await home.cargo("-s", "ada", "--remove").status == 0)
            #expect(home.text("\(Self.script)-ada") == nil && home.text("\(Self.script)-bob") != nil)
            #expect(try await home.cargo("-s", "bob", "--remove", at: second).status == 0)
            #expect(home.text(Self.cargo) == former && home.text("\(Self.script)-bob") == nil)
        }
    }

    @Test("a provider is the user's own if its first word is another name; a key may be in quotes")
    func providers() async throws {
        try await with { home in
            for line in [
                "credential-provider = \"my-cargo-credential-authd\"", "\"credential-provider\" = 'x'",
                "credential-provider = [\"x\", \"cargo-credential-authd\"]",
            ] {
                try home.write(Self.registry + line + "\n", to: Self.cargo)
                let refused = try await home.cargo()
                #expect(refused.status == 64 && refused.errors.contains(line), "\(refused.errors)")
                #expect(try await home.cargo("--remove").status == 64)
                #expect(home.text(Self.cargo) == Self.registry + line + "\n")
            }
            let list = "credential-provider = [\"cargo-credential-authd\", \"--bearer\"]\n"
            try home.write(Self.registry.replacing("index =", with: "\"index\" =") + list, to: Self.cargo)
            let present = try await home.cargo()
            #expect(present.status == 0 && !present.errors.contains("added"), "\(present.errors)")
            #expect(home.text(Self.cargo)?.hasSuffix(list) == true)
        }
    }

    @Test("a registry in an inline table or with a dotted key is a usage error that says what to add")
    func otherTables() async throws {
        try await with { home in
            for text in [
                "[registries]\none = { index = \"sparse+\(Self.server)/index/\" }\n",
                "registries.one.index = \"\(Self.server)\"\n",
            ] {
                try home.write(text, to: Self.cargo)
                let refused = try await home.cargo()
                #expect(refused.status == 64, "\(refused.errors)")
                let advice = "is not in a separate table [registries.NAME]: add the line `\(Self.provider)` to it"
                #expect(refused.errors.contains(advice), "\(refused.errors)")
            }
            try home.write("[registries]\none = { index = \"\(Self.server)0/\" }\n", to: Self.cargo)
            #expect(try await home.cargo().errors.contains("has no registry at"))
        }
    }

    @Test(
        "a note is printed for a change that was made only; without the registry, the program is removed all the same")
    func notes() async throws {
        try await with { home in
            try home.write("[registries.\"one\u{1B}\"]" + Self.registry.drop { $0 != "\n" }, to: Self.cargo)
            let first = try await home.cargo()
            #expect(first.errors.contains("added to") && !first.errors.contains("\u{1B}"), "\(first.errors)")
            let again = try await home.cargo()
            #expect(again.status == 0 && !again.errors.contains("added to"), "\(again.errors)")
            try home.write("[net]\n", to: Self.cargo)
            let removed = try await home.cargo("--remove")
            #expect(removed.status == 0 && !removed.errors.contains("removed from"), "\(removed.errors)")
            #expect(home.text(Self.script) == nil)
        }
    }

    // MARK: Files of others

    @Test("a symbolic link is not replaced: the message says which line its target needs")
    func links() async throws {
        try await with { home in
            try home.write(Self.registry, to: "shared/config.toml")
            try home.write("", to: Self.cargo)
            try FileManager.default.removeItem(atPath: home.path + "/" + Self.cargo)
            try home.link(Self.cargo, to: home.path + "/shared/config.toml")
            let refused = try await home.cargo()
            let advice = "is a symbolic link: add the line to its target: \(Self.provider)"
            #expect(refused.status == 64 && refused.errors.contains(advice), "\(refused.errors)")
            #expect(home.text("shared/config.toml") == Self.registry)
            try home.write(Self.registry + Self.provider + "\n", to: "shared/config.toml")
            let done = try await home.cargo()
            #expect(done.status == 0 && home.text(Self.script) != nil, "\(done.errors)")

            try home.link(".terraformrc", to: "shared/none")
            let other = try await home.install("terraform")
            #expect(other.status == 64 && other.errors.contains("add the line to its target: \(Self.block)"))

            // A program that is a link.
            let own = try #require(home.text(Self.script))
            try home.write(own, to: "shared/program", mode: 0o755)
            try home.link(".local/bin/keyring", to: home.path + "/shared/program")
            for words in [[], ["--remove"]] {
                let kept = try await Program.run(["helper", "install", "pip"] + words, folder: home.path)
                #expect(kept.status == 64 && kept.errors.contains("another program"), "\(kept.errors)")
                #expect(!kept.errors.contains("File exists") && home.text("shared/program") == own)
            }
        }
    }

    @Test("Terraform's program stays while a block of its configuration names it")
    func terraformBlock() async throws {
        try await with { home in
            #expect(try await home.install("terraform").status == 0)
            let text = "  credentials_helper \"authd\" {\n  args = []\n}\n"
            try home.write(text, to: ".terraformrc")
            let again = try await home.install("terraform")
            #expect(again.status == 0 && home.text(".terraformrc") == text, "\(again.errors)")
            let refused = try await home.install("terraform", "--remove")
            #expect(refused.status == 64 && refused.errors.contains("block"), "\(refused.errors)")
            #expect(home.text(Self.plugin) != nil && home.text(".terraformrc") == text)
            try home.write("", to: ".terraformrc")
            #expect(try await home.install("terraform", "--remove").status == 0)
            #expect(home.text(Self.plugin) == nil)
        }
    }

    @Test("a keyring on the PATH that calls authc is not another program; a slash at a folder's end does not matter")
    func keyringOnPath() async throws {
        try await with { home in
            let bin = home.path + "/.local/bin/"
            let first = try await home.install("pip", searching: bin)
            #expect(first.status == 0 && !first.errors.contains("not on the PATH"), "\(first.errors)")
            let mode = try FileManager.default.attributesOfItem(atPath: bin + "keyring")[.posixPermissions]
            #expect(mode as? Int == 0o755)
            let again = try await home.install("pip", searching: bin)
            #expect(again.status == 0, "\(again.errors)")
            try home.write(try #require(home.text(".local/bin/keyring")), to: "bin/keyring", mode: 0o755)
            #expect(try await home.install("pip", searching: "\(home.path)/bin:\(bin)").status == 0)
            try home.write("#!/bin/sh\n", to: "bin/keyring", mode: 0o755)
            #expect(try await home.install("pip", searching: "\(home.path)/bin:\(bin)").status == 64)
        }
    }

    // MARK: Without a token

    private static let request =
        #"{"v":1,"registry":{"index-url":"sparse+\#(server)/index/"},"kind":"get","operation":"read","args":[]}"#

    @Test(
        "cargo and Terraform continue without credentials only if nothing is signed in for the server",
        arguments: [
            (AgentError(.denied, "No.", cause: "other_origin"), "url-not-supported", true),
            (AgentError(.notSignedIn, "No."), "not-found", true),
            (AgentError(.unknownSession, "No."), "not-found", true),
            (AgentError(.signInRequired, "No."), "other", false), (AgentError(.keyringLocked, "No."), "other", false),
            (AgentError(.offline, "No."), "other", false), (AgentError(.denied, "No."), "other", false),
        ])
    func refusals(error: AgentError, cargo: String, isEmpty: Bool) async throws {
        let agent = try TestAgent(replies: ["token.get": .failure(error)])
        defer { agent.stop() }
        let got = try await Program.run(["helper", "cargo"], folder: agent.folder, input: Self.request + "\n")
        let reply = try #require(got.output.split(separator: "\n").last)
        var expected: JSONObject = ["kind": .string(cargo)]
        if cargo == "other" {
            expected["message"] = "No."
            expected["caused-by"] = []
        }
        #expect(try JSON(parsing: String(reply)) == ["Err": .object(expected)] && got.errors.contains("No."))
        let terraform = try await Program.run(["helper", "terraform", "get", "one.example"], folder: agent.folder)
        #expect((terraform.status == 0) == isEmpty, "\(terraform.status)")
        #expect(terraform.output == (isEmpty ? "{}\n" : "") && terraform.errors.contains("No."))
    }

    @Test("without an agent, cargo gets an error, and Terraform no credentials")
    func noAgent() async throws {
        try await with { home in
            let got = try await Program.run(["helper", "cargo"], folder: home.path, input: Self.request)
            #expect(got.output.contains("\"kind\":\"other\""), "\(got.output)")
            #expect(got.output.contains("no agent answers"), "\(got.output)")
            let terraform = try await Program.run(["helper", "terraform", "get", "one.example"], folder: home.path)
            #expect(terraform.status == 0 && terraform.output == "{}\n" && !terraform.errors.isEmpty)
        }
    }

    /// A slash and the mark after it are one character.
    @Test("a path in the host is refused before the agent is asked", arguments: ["/", "/\u{301}", "?", "@\u{301}"])
    func host(separator: String) async throws {
        try await with { home in
            let host = "good.example\(separator).evil.example"
            let git = try await Program.run(
                ["helper", "git", "get"], folder: home.path, input: "protocol=https\nhost=\(host)\n")
            #expect(git.output.isEmpty && !git.errors.contains("no agent"), "\(git.errors)")
            let terraform = try await Program.run(["helper", "terraform", "get", host], folder: home.path)
            #expect(terraform.status == 64 && terraform.output.isEmpty, "\(terraform.errors)")
        }
    }

    /// An equals sign and the mark after it are one character.
    @Test("git's user name is repeated, whatever it begins with")
    func userName() async throws {
        let agent = try TestAgent(replies: [
            "token.get": .success(["access_token": "x", "token_type": "Bearer", "session": "ada"])
        ])
        defer { agent.stop() }
        let got = try await Program.run(
            ["helper", "git", "get"], folder: agent.folder,
            input: "protocol=https\nhost=one.example\nusername=\u{301}ada\n")
        #expect(got.output == "username=\u{301}ada\npassword=x\n", "\(got)")
    }

    /// A slash and the mark after it are one character, and so are U+0600 and the space after it.
    @Test("a line for netrc has one host, one user name and one token")
    func netrc() async throws {
        let agent = try TestAgent(replies: [
            "token.get": .success(["access_token": "x", "token_type": "Bearer", "session": "ada"])
        ])
        defer { agent.stop() }
        for rest in ["", "/", ":443/a", "/\u{301} login eve", "?\u{301} login eve", "#\u{301}"] {
            let got = try await Program.run(
                ["helper", "netrc", "https://one.example\(rest)"], folder: agent.folder)
            #expect(got.output == "machine one.example login oauth2 password x\n", "\(got)")
        }
        for user in ["a b", "a\tb", "a\r\nb", "a\u{600} b", "a \u{301}b"] {
            let got = try await Program.run(
                ["helper", "netrc", "--user", user, "https://one.example"], folder: agent.folder)
            #expect(got.status == 64 && got.output.isEmpty, "\(got)")
        }
    }

    @Test("an expiry that no clock reaches is left out", arguments: [1e300, 1e19, -1e300])
    func expiry(end: Double) async throws {
        let agent = try TestAgent(replies: [
            "token.get": .success([
                "access_token": "x", "token_type": "Bearer", "session": "ada", "expires_at": .number(end),
            ])
        ])
        defer { agent.stop() }
        let cargo = try await Program.run(["helper", "cargo"], folder: agent.folder, input: Self.request)
        #expect(cargo.output.contains("\"cache\":\"session\"") && !cargo.output.contains("expiration"), "\(cargo)")
        let git = try await Program.run(
            ["helper", "git", "get"], folder: agent.folder, input: "protocol=https\nhost=registry.example.org\n")
        #expect(git.output == "username=oauth2\npassword=x\n", "\(git)")
        let env = try await Program.run(["env", "--env", "END=expires_at"], folder: agent.folder)
        #expect(env.status == 65, "\(env)")
    }

    @Test("a line from cargo that is too long ends the helper")
    func longLine() async throws {
        try await with { home in
            let got = try await Program.run(
                ["helper", "cargo"], folder: home.path, input: String(repeating: "x", count: 200_000))
            #expect(got.status == 64 && got.errors.contains("longer than"), "\(got.errors)")
        }
    }
}
