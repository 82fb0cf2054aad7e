/// What renews a session.
package struct Renewal: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// A request that returns a new token.
        case refresh
        /// A request that checks the session, and may prolong it.
        case validate
        /// The remembered sign-in, repeated; nothing if none is remembered.
        case signIn = "sign-in"
        /// The session ends with its token.
        case none
    }

    package var kind: Kind
    package var request: RequestTemplate?
    package var reply: ResponseMap?
    /// Statuses that end the session. Any other status is tried again.
    package var finalStatuses: Set<Int>
    /// Error codes (``ErrorMap/code``) that end it, such as `invalid_grant`, unless the status is 429 or 5xx.
    package var finalCodes: Set<String>
    /// For ``Kind/signIn``: the method to repeat; `nil` for the profile's first.
    package var method: String?

    package init(
        kind: Kind, request: RequestTemplate? = nil, reply: ResponseMap? = nil, finalStatuses: Set<Int> = [401],
        finalCodes: Set<String> = [], method: String? = nil
    ) {
        self.kind = kind
        self.request = request
        self.reply = reply
        self.finalStatuses = finalStatuses
        self.finalCodes = finalCodes
        self.method = method
    }
}
