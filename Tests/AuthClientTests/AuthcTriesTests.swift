import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

enum TriedField {
    static let email: JSON = ["name": "email", "label": "E-mail", "secret": false, "optional": false]
    static let password: JSON = [
        "name": "password", "label": "Password", "secret": true, "optional": false, "kind": "password",
    ]
    static let newPassword: JSON = [
        "name": "password", "label": "New password", "secret": true, "optional": false, "kind": "new-password",
        "rules": ["at least 8 characters"],
    ]
    static let pin: JSON = ["name": "pin", "label": "PIN", "secret": true, "optional": false]
    static let code: JSON = ["name": "code", "label": "Code", "secret": false, "optional": false, "kind": "code"]
    static let region: JSON = [
        "name": "region", "label": "Region", "secret": false, "optional": false,
        "choices": [["value": "eu", "label": "Europe"], ["value": "us", "label": "America"]],
    ]
    static let name: JSON = [
        "name": "name", "label": "Name", "secret": false, "optional": false, "rules": ["at least 2 characters"],
    ]
}

@Suite("authc after a refused or broken answer", .timeLimit(.minutes(2)))
struct AuthcTriesTests {
    /// An agent that asks for `fields`. It accepts the password `right` and ends with `refusal` after any other.
    private static func agent(
        _ fields: [JSON] = [TriedField.email, TriedField.password],
        _ refusal: AgentError = AgentError(
            .refused, "App refused the sign-in.", httpStatus: 401, providerMessage: "Wrong password")
    ) throws -> TestAgent {
        let known = Mutex<[String: String]>([:])
        return try TestAgent { peer, request in
            var answers: [String: String] = [:]
            for (key, value) in request.params?["fields"]?.objectValue ?? JSONObject() {
                answers[key] = value.stringValue
            }
            switch request.method {
            case "provider.show":
                peer.reply(
                    request,
                    [
                        "name": "app", "title": "App", "environments": [], "renewal": "refresh", "endpoints": [],
                        "methods": [["name": "password", "label": "Password", "fields": .array(fields)]],
                        "source": "bundled",
                    ])
            case "login.check":
                let short = answers.first { $0.value.count < ($0.key == "name" ? 2 : 8) }
                var step: JSONObject = ["login": "1", "kind": "fields", "fields": []]
                step["message"] = short.map { .string("\($0.key): too short") }
                peer.reply(request, .object(step))
            case "login.start", "login.answer":
                let all = known.withLock { known in
                    known = request.method == "login.start" ? answers : known.merging(answers) { $1 }
                    return known
                }
                let missing = fields.filter { all[$0["name"]?.stringValue ?? ""] == nil }
                if !missing.isEmpty {
                    peer.reply(request, ["login": "1", "kind": "fields", "fields": .array(missing)])
                } else if all["password"]?.hasSuffix("right") == true {
                    peer.reply(request, ["login": "1", "kind": "done", "status": Samples.status()])
                } else {
                    peer.reply(request, ["login": "1", "kind": "failed", "error": refusal.json])
                }
            default: peer.reply(request, [:])
            }
        }
    }

    private static func terminal(
        _ line: String, _ agent: TestAgent, columns: UInt16 = 80, environment: [String: String] = [:]
    ) async throws -> Terminal {
        try await Terminal(
            "\(line); echo \"exit $?\"", folder: agent.folder, columns: columns, environment: environment)
    }

    /// Types each answer after its question.
    private static func answer(_ terminal: Terminal, _ answers: [(question: String, answer: String)]) async {
        for (question, answer) in answers {
            await terminal.waits(for: question)
            terminal.mark()
            terminal.type(answer + "\n")
        }
    }

    @Test(
        "after a wrong password, asks for it again with the provider's words",
        arguments: [(80, [:]), (40, ["NO_COLOR": "1"]), (40, ["LC_ALL": "C"])] as [(UInt16, [String: String])])
    func again(columns: UInt16, environment: [String: String]) async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let terminal = try await Self.terminal("authc login app", agent, columns: columns, environment: environment)
        await Self.answer(terminal, [("E-mail: ", "ada@example.org"), ("Password: ", "wrong")])
        await terminal.waits(for: "E-mail [ada@example.org]: ")
        #expect(terminal.text.contains("App refused the sign-in.\r\n  HTTP 401, it says: Wrong password\r\n"))
        terminal.type("\n")
        await terminal.waits(for: "Password: ")
        #expect(!terminal.echoes)
        terminal.type("right\n")
        await terminal.waits(for: "exit ")
        #expect(terminal.text.contains("exit 0"), "\(terminal.text)")
        await terminal.ends()
        #expect(agent.requests.count { $0.method == "login.start" } == 2)
        #expect(Self.lastAnswers(agent) == ["email": "ada@example.org", "password": "right"])
    }

    private static func lastAnswers(_ agent: TestAgent) -> JSON? {
        agent.requests.last { $0.method == "login.answer" }?.params?["fields"]
    }

    @Test("an answer that is not secret can be corrected; a code is never a default")
    func corrected() async throws {
        let agent = try Self.agent([TriedField.email, TriedField.region, TriedField.code, TriedField.password])
        defer { agent.stop() }
        let terminal = try await Self.terminal("authc login app", agent)
        await Self.answer(
            terminal,
            [
                ("E-mail: ", "adda@example.org"), ("Region: ", "1"), ("Code: ", "111111"), ("Password: ", "wrong"),
                ("E-mail [adda@example.org]: ", "ada@example.org"), ("Region [Europe]: ", ""), ("Code: ", "222222"),
                ("Password: ", "wrong"),
                ("E-mail [ada@example.org]: ", ""), ("Region [Europe]: ", "America"), ("Code: ", "333333"),
                ("Password: ", "right"),
            ])
        await terminal.waits(for: "exit 0")
        await terminal.ends()
        #expect(
            Self.lastAnswers(agent) == [
                "email": "ada@example.org", "region": "us", "code": "333333", "password": "right",
            ])
        // Nothing that was typed is sent before it is answered again.
        let starts = agent.requests.filter { $0.method == "login.start" }
        #expect(starts.count == 3)
        #expect(starts.allSatisfy { ($0.params?["fields"]?.objectValue ?? JSONObject()).isEmpty })
    }

    @Test("nothing is tried again with a secret from a descriptor")
    func givenSecret() async throws {
        let agent = try Self.agent([TriedField.email, TriedField.password, TriedField.pin])
        defer { agent.stop() }
        try "1234".write(toFile: agent.folder + "/pin", atomically: true, encoding: .utf8)
        let terminal = try await Self.terminal("authc login app --secret-fd pin=3 3<'\(agent.folder)/pin'", agent)
        await Self.answer(terminal, [("E-mail: ", "ada@example.org"), ("Password: ", "wrong")])
        await terminal.waits(for: "exit ")
        #expect(terminal.text.contains("exit 65"), "\(terminal.text)")
        await terminal.ends()
        #expect(agent.requests.count { $0.method == "login.start" } == 1)
    }

    @Test("the third wrong password ends it")
    func thrice() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let terminal = try await Self.terminal("authc login app --field email=ada@example.org", agent)
        await Self.answer(terminal, [("Password: ", "one"), ("Password: ", "two"), ("Password: ", "three")])
        await terminal.waits(for: "exit ")
        #expect(terminal.text.contains("exit 65"), "\(terminal.text)")
        #expect(terminal.text.contains("authc: App refused the sign-in."), "\(terminal.text)")
        await terminal.ends()
        #expect(agent.requests.count { $0.method == "login.start" } == 3)
    }

    @Test("^C at the second try cancels it, and restores the terminal")
    func interrupted() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let terminal = try await Self.terminal("trap : INT; authc login app --field email=a@b", agent)
        await Self.answer(terminal, [("Password: ", "one"), ("Password: ", "\u{3}")])
        await terminal.waits(for: "exit ")
        #expect(terminal.text.contains("exit 130") && terminal.echoes, "\(terminal.text)")
        await terminal.ends()
        #expect(agent.requests.last?.method == "login.cancel")
    }

    @Test(
        "nothing is tried again after a rate limit, a refusal without a password, or a new password",
        arguments: [
            (
                [TriedField.email, TriedField.password],
                AgentError(.rateLimited, "Too many.", httpStatus: 429, retryAfter: .seconds(30)), 75
            ),
            ([TriedField.email, TriedField.password], AgentError(.refused, "Not now.", retryAfter: .seconds(30)), 65),
            ([TriedField.email, TriedField.password], AgentError(.conflict, "It exists."), 65),
            ([TriedField.email, TriedField.password], AgentError(.forbidden, "It is locked.", httpStatus: 403), 65),
            ([TriedField.email, TriedField.newPassword], AgentError(.validation, "The address is taken."), 65),
        ] as [([JSON], AgentError, Int)])
    func once(fields: [JSON], refusal: AgentError, status: Int) async throws {
        let agent = try Self.agent(fields, refusal)
        defer { agent.stop() }
        let terminal = try await Self.terminal("authc login app --field email=ada@example.org", agent)
        await Self.answer(terminal, [("assword: ", "wrong-password")])
        if fields.contains(TriedField.newPassword) { await Self.answer(terminal, [("again: ", "wrong-password")]) }
        await terminal.waits(for: "exit ")
        #expect(terminal.text.contains("exit \(status)"), "\(terminal.text)")
        if refusal.retryAfter != nil { #expect(terminal.text.contains("try again in 30 s"), "\(terminal.text)") }
        await terminal.ends()
        #expect(agent.requests.count { $0.method == "login.start" } == 1)
    }

    @Test("a broken rule is reported before the next question")
    func brokenRule() async throws {
        let agent = try Self.agent([TriedField.name, TriedField.email, TriedField.password])
        defer { agent.stop() }
        let terminal = try await Self.terminal("authc login app", agent)
        await Self.answer(terminal, [("Name: ", "A")])
        await terminal.waits(for: "Name: ")
        #expect(terminal.text.contains("name: too short"), "\(terminal.text)")
        #expect(!terminal.text.contains("E-mail"), "\(terminal.text)")
        await Self.answer(terminal, [("Name: ", "Ada"), ("E-mail: ", "ada@example.org"), ("Password: ", "right")])
        await terminal.waits(for: "exit 0")
        await terminal.ends()
    }

    @Test("a new password is typed a second time only if it can be valid")
    func newPassword() async throws {
        let agent = try Self.agent([TriedField.newPassword])
        defer { agent.stop() }
        let terminal = try await Self.terminal("authc login app", agent)
        await Self.answer(terminal, [("New password: ", "short")])
        await terminal.waits(for: "New password: ")
        #expect(terminal.text.contains("password: too short") && !terminal.text.contains("again"), "\(terminal.text)")
        await Self.answer(
            terminal,
            [
                ("New password: ", "long enough, right"), ("again: ", "another"),
                ("New password: ", "long enough, right"), ("again: ", "long enough, right"),
            ])
        await terminal.waits(for: "exit 0")
        await terminal.ends()
        // Nothing invalid was an answer.
        #expect(agent.requests.count { $0.method == "login.answer" } == 1)
    }

    @Test("^D at a question ends the line before the message")
    func endOfInput() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let terminal = try await Self.terminal("authc login app", agent)
        await terminal.waits(for: "E-mail: ")
        terminal.type("\u{4}")
        await terminal.waits(for: "exit ")
        #expect(terminal.text.contains("E-mail: \r\nauthc: the sign-in was cancelled\r\nexit 77"), "\(terminal.text)")
        await terminal.ends()
    }
}
