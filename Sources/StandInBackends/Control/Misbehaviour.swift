/// An order to one backend to do wrong, for the calls it names.
package struct Misbehaviour: Sendable {
    /// After the base URL, as in `/auth/refresh`; `nil` is every path.
    package var path: String?
    package var method: String?
    /// How many calls it is for; `nil` is all until it is cleared.
    package var times: Int?
    package var behaviour: Behaviour

    package init(path: String? = nil, method: String? = nil, times: Int? = nil, _ behaviour: Behaviour) {
        self.path = path
        self.method = method
        self.times = times
        self.behaviour = behaviour
    }
}

/// What goes wrong; members that are set go together.
package struct Behaviour: Sendable {
    package enum Cut: String, Sendable {
        /// Nothing is done and nothing answered.
        case beforeAnswer = "before-answer"
        /// The call is done, and half of the body goes out.
        case midBody = "mid-body"
    }

    /// Waits before anything is done.
    package var delay: Duration?
    /// Answers this and does nothing.
    package var status: Int?
    package var retryAfter: String?
    /// In place of the backend's own error body; a string goes out as text.
    package var body: JSONValue?
    /// A page for people, as a captive portal sends one.
    package var html = false
    package var cut: Cut?
    package var slowBody: Duration?
    /// Added to the `Date` field.
    package var dateOffset: Duration?
    /// All tokens given out so far are void, at once and whatever the calls.
    package var revokeTokens = false
    /// The call is done, its answer never goes out.
    package var lostAnswer = false
    /// The call is done, and its answer waits.
    package var lateResponse: Duration?
    /// Further header fields of the answer.
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

    /// Whether it says something about calls, beside what it did at once.
    var concernsCalls: Bool {
        delay != nil || status != nil || html || cut != nil || slowBody != nil || dateOffset != nil || lostAnswer
            || lateResponse != nil || !headers.isEmpty
    }
}
