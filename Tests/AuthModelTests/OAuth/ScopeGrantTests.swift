import AgentTestSupport
import AuthWire
import Testing

@testable import AuthModel

@Suite("Scopes that a call requires")
struct ScopeGrantTests {
    private func grant(
        granted: [String]?, needed: [String], source: ProtectedResource.ClientSource = .registration,
        method: String = "browser", url: String = "https://a.example/mcp"
    ) throws -> ScopeGrant {
        var record = SessionRecord(
            session: try SessionName("work"), provider: url, environment: ProviderProfile.generatedEnvironment,
            method: method,
            tokens: TokenSet(
                accessToken: Secret("a"), issuedAt: Sample.sentAt, scopes: granted.map { TokenScopes(granted: $0) }),
            user: nil, rawUser: nil, signedInAt: Sample.sentAt)
        let resource = ProtectedResource(
            url: url, identifier: url, issuer: "https://as.example", clientSource: source,
            clientID: source == .user ? "my client" : "")
        record.resource = resource
        return ScopeGrant(of: record, at: ProviderProfile(resource), needed: needed)
    }

    @Test("the command has the granted and the missing scopes")
    func command() throws {
        let grant = try grant(granted: ["read", "list"], needed: ["read", "write"])
        #expect(grant.missing == ["write"])
        #expect(
            grant.command
                == "authc login https://a.example/mcp -s work --scope read --scope list --scope write")
        let error = grant.explained(AgentError(.forbidden, "No.", cause: "insufficient_scope"))
        #expect(
            error.details == ["write"] && error.message.contains("Missing: write. To grant them, run: authc login "))
    }

    @Test("the command names the client and the method that the session has")
    func sameWay() throws {
        let command = try grant(granted: nil, needed: ["w"], source: .user, method: "device").command
        #expect(
            command == "authc login https://a.example/mcp -s work --method device --client-id 'my client' --scope w")
    }

    @Test("what a shell would read otherwise is quoted")
    func quoted() throws {
        let command = try grant(granted: [], needed: ["a'b", "$x", "a;b"], url: "https://a.example/a&b").command
        #expect(
            command
                == #"authc login 'https://a.example/a&b' -s work --scope 'a'\''b' --scope '$x' --scope 'a;b'"#)
    }

    @Test("if all scopes are granted, or none is named, no command is suggested")
    func useless() throws {
        let all = try grant(granted: ["write"], needed: ["write"])
        #expect(all.command == nil && all.missing.isEmpty)
        #expect(all.explained(AgentError(.forbidden, "No.")).message.contains("the account may lack the right"))
        #expect(try grant(granted: ["a"], needed: []).command == nil)
        let sample = try Sample.profile()
        let record = SessionRecord(
            session: try SessionName("work"), provider: "sample", environment: "local", method: "password",
            tokens: TokenSet(accessToken: Secret("a"), issuedAt: Sample.sentAt), user: nil, rawUser: nil,
            signedInAt: Sample.sentAt)
        #expect(ScopeGrant(of: record, at: sample, needed: ["write"]).command == nil)
    }
}
