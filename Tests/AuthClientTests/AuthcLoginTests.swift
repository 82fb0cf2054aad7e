import AuthWire
import Foundation
import Testing

@Suite("authc login without a terminal")
struct AuthcLoginTests {
    /// A provider with one way to sign in, whose password is `right`.
    static func agent(emailKind: String = "text") throws -> TestAgent {
        let fields: JSON = [
            ["name": "email", "label": "E-mail", "secret": false, "optional": false, "kind": .string(emailKind)],
            ["name": "password", "label": "Password", "secret": true, "optional": false],
        ]
        return try TestAgent { peer, request in
            let given = request.params?["fields"]
            switch request.method {
            case "provider.show":
                peer.reply(
                    request,
                    [
                        "name": "app-template", "title": "App", "environments": [], "renewal": "refresh",
                        "methods": [["name": "password", "label": "Password", "fields": fields]], "endpoints": [],
                        "source": "bundled",
                    ])
            case "login.start", "login.answer":
                let known = Self.known(request, given)
                let missing = (fields.arrayValue ?? []).filter { known?[$0["name"]?.stringValue ?? ""] == nil }
                if !missing.isEmpty {
                    peer.reply(request, ["login": "1", "kind": "fields", "fields": .array(missing)])
                } else if known?["password"] == "right" {
                    peer.reply(request, ["login": "1", "kind": "done", "status": Samples.status()])
                } else {
                    let error = AgentError(.refused, "The provider said no.", providerMessage: "Wrong password")
                    peer.reply(request, ["login": "1", "kind": "failed", "error": error.json])
                }
            default: peer.reply(request, [:])
            }
        }
    }

    /// The test's agent remembers the address from the start, as the real one does.
    private static func known(_ request: RPCRequest, _ given: JSON?) -> JSONObject? {
        var known = given?.objectValue ?? JSONObject()
        if request.method == "login.answer", known["email"] == nil { known["email"] = "ada@example.org" }
        return known
    }

    @Test("reads a password from stdin without its line feed")
    func passwordFromInput() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let result = try await Program.run(
            ["login", "app-template", "--field", "email=ada@example.org", "--password-stdin"], folder: agent.folder,
            input: "right\n")
        #expect(result.status == 0)
        #expect(result.output.contains("ada@example.org at app-template (production)"))
    }

    @Test("a secret from a descriptor")
    func secretDescriptor() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let login = "\"\(Program.authc)\" login app-template --field email=a@b --secret-fd password=3"
        let shell = "printf right | \(login) 3<&0 </dev/null"
        let result = try await Program.run(["-c", shell], folder: agent.folder, program: "/bin/bash")
        #expect(result.status == 0)
    }

    @Test("a secret as an argument is refused, not sent and not repeated, with a hint")
    func secretArgument() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let result = try await Program.run(
            ["login", "app-template", "--field", "email=a@b", "--field", "password=hunter2"], folder: agent.folder)
        #expect(result.status == 64)
        #expect(result.errors.contains("--password-stdin"))
        #expect(!result.errors.contains("hunter2"))
        #expect(!agent.requests.contains { $0.method == "login.start" })
    }

    @Test("a wrong password is 65, with the provider's message")
    func wrongPassword() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let result = try await Program.run(
            ["login", "app-template", "--field", "email=a@b", "--password-stdin"], folder: agent.folder, input: "no")
        #expect(result.status == 65)
        #expect(result.errors.contains("Wrong password"))
    }

    @Test("a missing field is reported without a terminal, and the sign-in cancelled", arguments: [[], ["--json"]])
    func missingInput(more: [String]) async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let result = try await Program.run(["login", "app-template", "--no-input"] + more, folder: agent.folder)
        #expect(result.status == 64)
        #expect((result.errors + result.output).contains("--field email=VALUE"))
        #expect(agent.requests.last?.method == "login.cancel")
    }

    @Test("the final status is JSON with --json")
    func json() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let result = try await Program.run(
            ["login", "app-template", "--field", "email=a@b", "--password-stdin", "--json"], folder: agent.folder,
            input: "right")
        #expect(try JSON(parsing: result.output)["state"] == "active")
    }

    /// An agent whose session is another account's.
    @Test(
        "a way to sign in that the provider does not offer is named as it was typed; the hint keeps session and environment",
        arguments: [
            ("--web", ""), ("--device", ""), ("--paste", ""), ("--web --field email=a", ""), ("--from laptop", ""),
            ("--web --environment local -s work", " -s work --environment local"),
        ])
    func unofferedWay(options: String, kept: String) async throws {
        let detail: JSON = [
            "name": "app-template", "title": "App template", "environments": [], "renewal": "refresh",
            "methods": [
                ["name": "password", "label": "Password", "fields": []],
                ["name": "register", "label": "Register", "fields": []],
            ], "endpoints": [], "source": "bundled",
        ]
        let refusal = AgentError(
            .unsupported, "App template has no sign-in method with that name; it has: password, register.",
            cause: "unknown_method")
        let agent = try TestAgent(replies: ["provider.show": .success(detail), "login.start": .failure(refusal)])
        defer { agent.stop() }
        let words = options.replacing("laptop", with: agent.path).split(separator: " ").map(String.init)
        let result = try await Program.run(["login", "app-template"] + words, folder: agent.folder)
        let expected = """
            authc: App template does not offer \(words[0]); it offers: password, register
              `authc login app-template\(kept)` uses the first

            """
        #expect(result.status == 64 && result.errors == expected, "\(result)")
    }

    static func agentOfAnother() throws -> TestAgent {
        try TestAgent { peer, request in
            switch request.method {
            case "provider.show":
                peer.reply(
                    request,
                    [
                        "name": "app-template", "title": "App", "environments": [], "renewal": "refresh",
                        "methods": [["name": "password", "label": "Password", "fields": []]], "endpoints": [],
                        "source": "bundled",
                    ])
            case "login.start" where request.params?["replace_account"] == true,
                "login.answer" where request.params?["fields"] == ["replace_account": "yes"]:
                peer.reply(request, ["login": "1", "kind": "done", "status": Samples.status()])
            case "login.start":
                let field: JSON = [
                    "name": "replace_account", "label": "Replace the account", "secret": false, "optional": false,
                    "kind": "agreement", "rules": ["yes or no"],
                ]
                peer.reply(
                    request,
                    ["login": "1", "kind": "fields", "fields": [field], "message": "Ada is signed in; you are Bob."])
            case "login.answer":
                let error = AgentError(.conflict, "Nothing was changed.", cause: "other_user")
                peer.reply(request, ["login": "1", "kind": "failed", "error": error.json])
            default: peer.reply(request, [:])
            }
        }
    }

    @Test("another account is not replaced without a terminal, unless a flag allows it")
    func otherAccount() async throws {
        let agent = try Self.agentOfAnother()
        defer { agent.stop() }
        let refused = try await Program.run(["login", "app-template"], folder: agent.folder)
        #expect(refused.status == 65)
        #expect(refused.errors.contains("Ada is signed in; you are Bob."))
        #expect(refused.errors.contains("--replace-account"))
        #expect(agent.requests.last?.method == "login.cancel")
        let done = try await Program.run(["login", "app-template", "--replace-account"], folder: agent.folder)
        #expect(done.status == 0)
    }
}
