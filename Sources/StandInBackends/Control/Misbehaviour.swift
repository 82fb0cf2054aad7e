/// Makes one backend misbehave for the calls that it names.
package struct Misbehaviour: Sendable {
    /// Relative to the base URL, such as `/auth/refresh`; `nil` for every path.
    package var path: String?
    package var method: String?
    /// The number of calls; `nil` for all until it is cleared.
    package var times: Int?
    package var behaviour: Behaviour

    package init(path: String? = nil, method: String? = nil, times: Int? = nil, _ behaviour: Behaviour) {
        self.path = path
        self.method = method
        self.times = times
        self.behaviour = behaviour
    }
}

/// What goes wrong. Members can be combined.
package struct Behaviour: Sendable {
    package enum Cut: String, Sendable {
        /// The call is not performed, and there is no response.
        case beforeAnswer = "before-answer"
        /// The call is performed, and half of the body is sent.
        case midBody = "mid-body"
    }

    /// Waits before the call is performed.
    package var delay: Duration?
    /// Returns this status and does not perform the call.
    package var status: Int?
    package var retryAfter: String?
    /// Replaces the backend's error body. A string is sent as text.
    package var body: JSONValue?
    /// An HTML page, as from a captive portal.
    package var html = false
    package var cut: Cut?
    package var slowBody: Duration?
    /// Added to the `Date` field.
    package var dateOffset: Duration?
    package var revokeTokens = false
    /// The call is performed, and its response is not sent.
    package var lostAnswer = false
    /// The call is performed, and its response is delayed.
    package var lateResponse: Duration?
    /// Additional header fields of the response.
    package var headers: [String: String] = [:]

    package init() {}

    package static func delay(_ length: Duration) -> Behaviour { make { $0.delay = length } }
    package static func status(_ status: Int, retryAfter: String? = nil, body: JSONValue? = nil) -> Behaviour {
        make {
            $0.status = status
            $0.retryAfter = retryAfter
            $0.body = body
        }
    }
    package static var html: Behaviour { make { $0.html = true } }
    package static func cut(_ place: Cut) -> Behaviour { make { $0.cut = place } }
    package static func slowBody(perByte: Duration) -> Behaviour { make { $0.slowBody = perByte } }
    package static func date(offBy offset: Duration) -> Behaviour { make { $0.dateOffset = offset } }
    package static var revokeTokens: Behaviour { make { $0.revokeTokens = true } }
    package static func lateResponse(_ length: Duration) -> Behaviour { make { $0.lateResponse = length } }
    package static var lostAnswer: Behaviour { make { $0.lostAnswer = true } }

    private static func make(_ set: (inout Behaviour) -> Void) -> Behaviour {
        var behaviour = Behaviour()
        set(&behaviour)
        return behaviour
    }

    /// Whether it applies to calls, not only once when it is added.
    var concernsCalls: Bool {
        delay != nil || status != nil || html || cut != nil || slowBody != nil || dateOffset != nil || lostAnswer
            || lateResponse != nil || !headers.isEmpty
    }
}
