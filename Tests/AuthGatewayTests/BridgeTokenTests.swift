import AuthGateway
import AuthModel
import AuthWire
import Testing

@Suite("The bridge: tokens")
struct BridgeTokenTests {
    @Test("a 401 reports the token, and the request is sent once more with the next one")
    func renewal() throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.call(1))
        bench.token = nil
        bench.head(401, [("WWW-Authenticate", "Bearer error=\"invalid_token\"")])
        #expect(bench.requests.isEmpty && bench.questions.count == 1)
        #expect(bench.questions[0].question.refused?.secret.reveal() == "t1")
        bench.send(.token(bench.questions[0].call, .token(try BridgeBench.token("t2"))))
        #expect(bench.header("Authorization") == "Bearer t2" && bench.body() == BridgeBench.call(1))
        bench.head(401)
        #expect(bench.requests.isEmpty)
        let problem = try bench.problem(0)
        #expect(problem.kind == "not_signed_in")
        #expect(problem.message.contains("Run `authc login \(BridgeBench.url) -s mcp`, then try again."))
    }

    @Test("without a session, requests are sent without a token; a 401 says how to sign in")
    func anonymous() throws {
        var bench = try BridgeBench()
        let target = BridgeTarget(try ResourceURL(BridgeBench.url))
        guard case .none(let reason) = target.choice(from: []) else { throw Unexpected() }
        bench.token = .none(reason)
        bench.line(BridgeBench.call(1))
        #expect(bench.header("Authorization") == nil)
        bench.answer(BridgeBench.result(1))
        #expect(bench.written == [BridgeBench.result(1)])
        bench.line(BridgeBench.call(2))
        bench.head(401)
        let error = try JSON(parsing: bench.written[1])["error"]
        #expect(error?["data"]?["kind"] == "not_signed_in" && error?["data"]?["source"] == "authd")
        #expect(error?["data"]?["command"] == .string("authc login \(BridgeBench.url)"))
        // After a sign-in the next request works.
        bench.token = .token(try BridgeBench.token("t1"))
        bench.line(BridgeBench.call(3))
        #expect(bench.header("Authorization") == "Bearer t1")
    }

    @Test("a stream of the server that refuses a renewed token is not opened again", arguments: [true, false])
    func listening(hasToken: Bool) throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.initialize)
        bench.answer(BridgeBench.welcome)
        bench.line(BridgeBench.initialized)
        bench.accept()
        #expect(bench.requests.map(\.request.method) == ["GET"])
        bench.token = nil
        bench.head(401)
        let problem = BridgeProblem(AgentError(.offline, "The machine is offline."))
        let answer = hasToken ? TokenOutcome.token(try BridgeBench.token("t2")) : .failed(problem)
        bench.send(.token(bench.questions.removeFirst().call, answer))
        if hasToken { bench.head(401) }
        for _ in 0..<100 { bench.advance(.seconds(30)) }
        #expect(bench.questions.isEmpty && bench.requests.isEmpty && bench.wakeUp == nil)
    }

    @Test("an agent that has no token now says why, and nothing is sent")
    func failed() throws {
        var bench = try BridgeBench()
        bench.token = .failed(BridgeProblem(AgentError(.offline, "The machine is offline.")))
        bench.line(BridgeBench.call(1))
        #expect(bench.requests.isEmpty)
        #expect(try bench.problem(0).kind == "offline")
    }

    @Test("a 403 that names scopes: which are missing, and the command that grants them")
    func scopes() throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.call(1))
        bench.head(403, [("WWW-Authenticate", "Bearer error=\"insufficient_scope\", scope=\"read write\"")])
        let error = try JSON(parsing: bench.written[0])["error"]
        #expect(error?["data"]?["missing_scopes"] == ["write"])
        #expect(
            error?["data"]?["command"]
                == .string("authc login \(BridgeBench.url) -s mcp --scope read --scope write"))
        #expect(error?["data"]?["kind"] == "forbidden")
    }

    @Test("a token that is bound to a key gets its proof, and the server's nonce once")
    func bound() throws {
        var bench = try BridgeBench()
        func token(_ proof: String) throws -> TokenOutcome {
            .token(
                BridgeToken(
                    Secret("t1"), isBound: true, proof: Secret(proof), session: try SessionName("mcp"),
                    provider: BridgeBench.url))
        }
        bench.token = nil
        bench.line(BridgeBench.call(1))
        #expect(bench.questions[0].question.method == "POST" && bench.questions[0].question.url == BridgeBench.url)
        bench.send(.token(bench.questions.removeFirst().call, try token("p1")))
        #expect(bench.header("Authorization") == "DPoP t1" && bench.header("DPoP") == "p1")
        bench.head(401, [("WWW-Authenticate", "DPoP error=\"use_dpop_nonce\""), ("DPoP-Nonce", "n1")])
        #expect(bench.questions[0].question.nonce == "n1" && bench.questions[0].question.refused == nil)
        bench.send(.token(bench.questions.removeFirst().call, try token("p2")))
        #expect(bench.header("DPoP") == "p2")
        bench.answer(BridgeBench.result(1))
        #expect(bench.written == [BridgeBench.result(1)])
    }

    // MARK: Which session

    private struct Unexpected: Error {}

    private static func status(_ name: String, _ provider: String) throws -> SessionStatus {
        SessionStatus(session: try SessionName(name), provider: provider, state: .active)
    }

    @Test("the session of the URL is used, and no other one of its host")
    func choice() throws {
        let here = try Self.status("here", BridgeBench.url)
        let others = [try Self.status("other", "https://mcp.example.org/tenant/mcp"), try Self.status("p", "profile")]
        let target = BridgeTarget(try ResourceURL(BridgeBench.url + "?key=SECRET"))
        guard case .session(let found) = target.choice(from: others + [here]) else { throw Unexpected() }
        #expect(found.session == here.session)
        guard case .none(let problem) = target.choice(from: others) else { throw Unexpected() }
        #expect(problem.command == "authc login \(BridgeBench.url)" && !problem.message.contains("SECRET"))
    }

    @Test("of several sessions of the URL, the one that -s or AUTHD_SESSION names")
    func several() throws {
        let all = [try Self.status("one", BridgeBench.url), try Self.status("two", BridgeBench.url)]
        let target = BridgeTarget(try ResourceURL(BridgeBench.url))
        guard case .failed(let problem) = target.choice(from: all) else { throw Unexpected() }
        #expect(problem.message.hasSuffix("-s one, -s two."))
        guard case .session(let preferred) = target.choice(from: all, preferred: all[1].session) else {
            throw Unexpected()
        }
        #expect(preferred.session == all[1].session)
        let named = BridgeTarget(try ResourceURL(BridgeBench.url), session: all[0].session)
        guard case .session(let found) = named.choice(from: all, preferred: all[1].session) else { throw Unexpected() }
        #expect(found.session == all[0].session)
    }

    @Test("a session that was chosen is used, or nothing is sent")
    func chosen() throws {
        let reason = BridgeProblem(AgentError(.offline, "x"))
        let chosen = BridgeTarget(try ResourceURL(BridgeBench.url), session: try SessionName("gone"))
        guard case .failed = chosen.choice(from: []), case .failed = chosen.answer(without: reason) else {
            throw Unexpected()
        }
        let any = BridgeTarget(try ResourceURL(BridgeBench.url))
        guard case .none = any.choice(from: []), case .none = any.answer(without: reason) else { throw Unexpected() }
    }

    @Test("a URL that is refused is shown without its query")
    func query() {
        #expect {
            try ResourceURL("ftp://mcp.example.org/mcp?key=SECRET#a")
        } throws: { error in
            let message = (error as? AgentError)?.message ?? ""
            return message.contains("ftp://mcp.example.org/mcp") && !message.contains("SECRET")
        }
    }
}
