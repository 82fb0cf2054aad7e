import AuthWire
import Testing

struct AgentErrorTests {
    @Test("an error of every kind is read back as it was written", arguments: ErrorKind.allCases)
    func roundTrips(kind: ErrorKind) throws {
        let full = AgentError(
            kind, "Words.", cause: "c", httpStatus: 503, providerMessage: "theirs", retryAfter: .milliseconds(1500),
            retryable: !kind.retryableByDefault, details: ["one", "two"])
        for error in [full, AgentError(kind, "Words.")] {
            #expect(AgentError(json: try JSON(parsing: error.json.serialized())) == error)
            #expect(error.code == -32000)
        }
    }

    @Test("its object is the contract's")
    func spellsTheContract() {
        let error = AgentError(
            .rateLimited, "Slow down.", cause: "quota", httpStatus: 429, providerMessage: "Too many",
            retryAfter: .seconds(2))
        #expect(
            error.json == [
                "code": -32000, "message": "Slow down.",
                "data": [
                    "kind": "rate_limited", "retryable": true, "cause": "quota", "http_status": 429,
                    "provider_message": "Too many", "retry_after_ms": 2000,
                ],
            ])
        #expect(
            AgentError.invalidParams("x").json
                == ["code": -32602, "message": "x", "data": ["kind": "validation", "retryable": false]])
        #expect(AgentError.methodNotFound("x").json["data"] == ["kind": "unsupported", "retryable": false])
        for error in [AgentError.parseError("x"), .invalidRequest("x"), .methodNotFound("x"), .invalidParams("x")] {
            #expect(AgentError(json: error.json) == error)
        }
        #expect(AgentError.parseError("x").code == -32700 && AgentError.invalidRequest("x").code == -32600)
        #expect(AgentError.internalError("x").json["data"]?["kind"] == "internal")
    }

    @Test("an unknown kind becomes internal, and an invalid error is still an error")
    func acceptsUnknownKinds() {
        #expect(ErrorKind(unknown: "from_the_future") == .internal_)
        #expect(ErrorKind(unknown: "offline") == .offline)
        let newer = AgentError(json: ["code": -32000, "message": "m", "data": ["kind": "new", "retryable": true]])
        #expect(newer.kind == .internal_ && newer.retryable)
        for broken in [
            nil, 1, [], [:], ["code": "x", "message": 1, "data": 2], ["data": ["retry_after_ms": .integer(.min)]],
        ] as [JSON] {
            #expect(AgentError(json: broken).code == -32000)
        }
    }

    @Test("it prints its kind, message and cause")
    func prints() {
        #expect(AgentError(.offline, "No network.", cause: "no_route").description == "offline: No network. (no_route)")
        #expect(AgentError.parseError("Bad.").description == "-32700: Bad.")
    }
}
