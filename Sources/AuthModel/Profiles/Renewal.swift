/// What renews a session.
package struct Renewal: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// A request that brings a new token.
        case refresh
        /// A request that asks whether the session is good, and may bring a later end.
        case validate
        /// The remembered sign-in, made again; nothing where none is remembered.
        case signIn = "sign-in"
        /// Nothing: the session ends with its token.
        case none
    }

    package var kind: Kind
    package var request: RequestTemplate?
    package var reply: ResponseMap?
    /// Statuses that end the session. Everything else is tried again.
    package var finalStatuses: Set<Int>
    /// Error codes (``ErrorMap/code``) that end it, `invalid_grant` for one, unless the status is 429 or 5xx.
    package var finalCodes: Set<String>
    /// Of kind ``Kind/signIn``: the method that is made again; `nil` for the profile's first.
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
