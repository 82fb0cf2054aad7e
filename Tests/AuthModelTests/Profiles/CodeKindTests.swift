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
        return reader.result(Sample.reply(status, body)).failure
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
        let renewal = profile.renewalResult(
            Sample.reply(200, #"{"errorCode":1401}"#), record: try Sample.record(), sentAt: Sample.sentAt)
        #expect(renewal.failure?.weight == "temporary")
    }

    private func read(_ errors: ErrorMap, _ body: String, status: Int = 200) throws -> ProviderFailure? {
        let profile = try Sample.profile { $0.errors = errors }
        return ResponseDecoder(profile: profile, sentAt: Sample.sentAt, acceptsHTML: false)
            .result(Sample.reply(status, body)).failure
    }

    @Test(
        "a whole message is mapped in any case, even inside of a 200 and as a detail; a code precedes it",
        arguments: [
            (#"{"ok":false,"error":"NOT yours"}"#, 200, ErrorKind.forbidden),
            (#"{"ok":false,"error":"Not yours"}"#, 400, .forbidden),
            (#"{"ok":false,"error":"Not yours."}"#, 400, .validation),
            (#"{"ok":false,"error":["Other","Not yours"]}"#, 400, .forbidden),
            (#"{"ok":false,"error":"Not yours","code":"gone"}"#, 400, .notFound),
            (#"{"ok":false,"error":""}"#, 200, .refused),
        ])
    func texts(body: String, status: Int, kind: ErrorKind) throws {
        let errors = ErrorMap(
            message: [try JSONPointer("/error")], code: try JSONPointer("/code"),
            kinds: ["Not yours": .forbidden, "gone": .notFound],
            envelope: .init(pointer: try JSONPointer("/ok"), success: true))
        #expect(try read(errors, body, status: status)?.error.kind == kind)
    }

    @Test(
        "without a value for success, a response with no errors is one",
        arguments: [
            (#"{"data":1}"#, nil), (#"{"errors":[]}"#, nil), (#"{"errors":null}"#, nil), (#"{"errors":{}}"#, nil),
            (#"{"errors":""}"#, nil), (#"{"errors":false}"#, nil), ("[1]", nil), ("", nil),
            (#"{"data":{"me":null},"errors":[{"message":"Not yours","path":["me"]},{"message":"b"}]}"#, "Not yours; b"),
            (#"{"errors":"Broken"}"#, "Broken"), (#"{"errors":[7]}"#, ""), (#"{"errors":true}"#, ""),
        ] as [(String, String?)])
    func noErrors(body: String, message: String?) throws {
        let place = try JSONPointer("/errors")
        let errors = ErrorMap(
            kinds: ["not yours": .forbidden], details: place, envelope: .init(pointer: place, success: nil))
        let error = try read(errors, body)?.error
        #expect((error != nil) == (message != nil))
        #expect((error?.providerMessage ?? "") == message ?? "")
        if message == "Not yours; b" { #expect(error?.kind == .forbidden) }
    }

    @Test(
        "the place of a field is a list of names and numbers",
        arguments: [
            (#"[{"loc":["body","username"],"msg":"Field required"}]"#, "username: Field required"),
            (#"[{"loc":["body","items",0,"name"],"msg":"Too long"}]"#, "items.0.name: Too long"),
            (#"[{"loc":["body"],"msg":"Field required"}]"#, "body: Field required"),
            (#"[{"loc":["query","a"],"msg":"x"},{"loc":[],"msg":"y"}]"#, "a: x; y"),
            (#"[{"loc":[null,{}],"msg":"x"}]"#, "x"),
            (#""Incorrect username or password""#, "Incorrect username or password"),
        ])
    func places(detail: String, message: String) throws {
        let errors = ErrorMap(message: [try JSONPointer("/detail")])
        let error = try read(errors, #"{"detail":\#(detail)}"#, status: 422)?.error
        #expect(error?.kind == .validation && error?.providerMessage == message)
    }

    @Test("a server error names its status", arguments: [500, 503])
    func status(_ status: Int) throws {
        #expect(try read(ErrorMap(), "", status: status)?.error.message.contains("server error (\(status))") == true)
    }
}
