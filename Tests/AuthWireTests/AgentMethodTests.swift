import Testing

@testable import AuthWire

@Suite("The methods of the protocol")
struct AgentMethodTests {
    @Test("every name is listed once, and has two parts")
    func names() {
        let names = AgentMethods.all.map { $0.name }
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.wholeMatch(of: /[a-z]+\.[a-z_]+/) != nil })
    }

    @Test("a summary is a sentence on one line")
    func summaries() {
        for method in AgentMethods.all {
            #expect(method.summary.first?.isUppercase == true && method.summary.last == ".", "\(method.name)")
            #expect(!method.summary.contains("\n"))
        }
    }

    @Test("no member is listed twice")
    func members() {
        for method in AgentMethods.all {
            for list in [Self.params(method), Self.result(method)] {
                #expect(Set(list.map(\.name)).count == list.count, "\(method.name)")
            }
        }
    }

    @Test("a request for a proof may go to no other user's agent if it brings a token")
    func proof() {
        #expect(TokenProof(method: "GET", url: "https://a.example/", accessToken: "t").sendsSecrets)
        let own = TokenProof(method: "GET", url: "https://a.example/")
        #expect(!own.sendsSecrets && own.holdsSecrets)
    }

    private static func params(_ method: (some AgentMethod).Type) -> [MemberDescription] { method.memberList }

    private static func result<Method: AgentMethod>(_ method: Method.Type) -> [MemberDescription] {
        Method.Result.memberList
    }
}
