import AgentTestSupport
import AuthWire
import Testing

@testable import AuthModel

/// Codes that a profile maps to a kind.
@Suite("The meaning of a provider's code")
struct CodeKindTests {
    private func errors() throws -> ErrorMap {
        ErrorMap(
            message: [try JSONPointer("/errorMsg")], code: try JSONPointer("/errorCode"),
            kinds: ["1403": .forbidden, "1429": .rateLimited, "1401": .signInRequired, "1409": .conflict],
            envelope: .init(pointer: try JSONPointer("/errorCode"), success: 0))
    }

    private func call(_ body: String, status: Int = 200, sentToken: Bool = true) throws -> ProviderFailure? {
        let profile = try Sample.profile { $0.errors = try errors() }
        let reader = ResponseDecoder(profile: profile, sentAt: Sample.sentAt, acceptsHTML: false, sentToken: sentToken)
        return reader.read(Sample.reply(status, body)).failure
    }

    @Test(
        "the code determines the kind, with and without a mapped status",
        arguments: [
            (#"{"errorCode":1403,"errorMsg":"Not yours"}"#, 200, ErrorKind.forbidden, "refused"),
            (#"{"errorCode":1409}"#, 200, .conflict, "refused"), (#"{"errorCode":1409}"#, 400, .conflict, "refused"),
            (#"{"errorCode":1429}"#, 200, .rateLimited, "temporary"),
            (#"{"errorCode":7}"#, 400, .validation, "refused"),
        ])
    func kinds(body: String, status: Int, kind: ErrorKind, weight: String) throws {
        let failure = try #require(try call(body, status: status))
        #expect(failure.error.kind == kind && failure.weight == weight, "\(failure)")
        #expect(!failure.rejectsToken)
    }

    @Test("an error in an envelope without a status does not blame the access token")
    func business() throws {
        let failure = try #require(try call(#"{"errorCode":7,"errorMsg":"Too late to vote"}"#))
        #expect(failure.error.kind == .refused && failure.error.providerMessage == "Too late to vote")
        #expect(failure.error.message == "Sample refused the request.")
        #expect(!failure.rejectsToken)
    }

    @Test("a code for an expired token leads to a renewal, and does not end the session")
    func rejectedToken() throws {
        let failure = try #require(try call(#"{"errorCode":1401,"errorMsg":"Token is void"}"#))
        #expect(failure.rejectsToken)
        #expect(failure.error.kind == .refused && failure.error.cause == "token_rejected")
        #expect(try call(#"{"errorCode":1401}"#, sentToken: false)?.rejectsToken == false)
        let profile = try Sample.profile { $0.errors = try errors() }
        let renewal = profile.readRenewal(
            Sample.reply(200, #"{"errorCode":1401}"#), record: try Sample.record(), sentAt: Sample.sentAt)
        #expect(renewal.failure?.weight == "temporary")
    }
}
