import AuthModel
package import AuthWire

/// A response of the front itself, as a problem document (RFC 9457).
package struct FrontProblem: Error, Sendable, Equatable {
    package let status: Int
    /// The meaning, as in the agent's errors.
    package let kind: ErrorKind
    package let detail: String
    /// What the user can type.
    package var command: String?
    package var retryAfter: Duration?
    /// The word for it of the service behind the front, if that refused the request.
    package var serviceCode: String?

    package init(
        _ status: Int, _ kind: ErrorKind, _ detail: String, command: String? = nil, retryAfter: Duration? = nil
    ) {
        self.status = status
        self.kind = kind
        self.detail = detail
        self.command = command
        self.retryAfter = retryAfter
    }

    package static func malformed(_ reason: String) -> FrontProblem {
        FrontProblem(400, .validation, "The request is not valid HTTP: \(reason).")
    }

    package static let elsewhere = FrontProblem(
        421, .denied, "The request is for another host. Only paths of this server are accepted.")

    package static let headTooLarge = FrontProblem(
        431, .tooLarge, "The head of the request is larger than \(FrontLimits.headBytes >> 10) KiB.")

    package static let slowClient = FrontProblem(408, .timeout, "The rest of the request did not arrive in time.")

    package var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = [
            ("Content-Type", "application/problem+json"), ("Cache-Control", "no-store"),
        ]
        if let retryAfter { fields.append(("Retry-After", "\(Int(retryAfter.seconds.rounded(.up)))")) }
        return fields
    }

    /// The status has no particular phrase here: its meaning is that of HTTP, so `type` is left out (§4.2.1).
    package var body: [UInt8] {
        var body: JSONObject = [
            "status": .integer(Int64(status)), "detail": .string(detail), "source": "authd",
            "kind": .string(kind.rawValue),
        ]
        body["command"] = command.map(JSON.string)
        return JSON.object(body).serialized() + [0x0A]
    }
}
