package import AuthWire

/// Where a user object contains the common user; several values are joined with a space.
package struct UserMap: Sendable, Equatable {
    /// The first one with a value is used.
    package var id: [JSONPointer]
    /// The same.
    package var email: [JSONPointer]
    /// Alternatives: each inner list is joined, and the first one with a text is used.
    package var name: [[JSONPointer]]
    package var verified: JSONPointer?

    package init(
        id: [JSONPointer] = [], email: [JSONPointer] = [], name: [[JSONPointer]] = [], verified: JSONPointer? = nil
    ) {
        self.id = id
        self.email = email
        self.name = name
        self.verified = verified
    }
}

/// How to fetch the user, and where the response contains it.
package struct UserRequest: Sendable, Equatable {
    package var request: RequestTemplate
    /// Where the response contains the user. If there are several, the first one with an ID or address is used.
    package var user: [JSONPointer]

    package init(request: RequestTemplate, user: [JSONPointer]) {
        self.request = request
        self.user = user
    }
}

/// How to change the user: the given members are added to the request's body.
package struct UserUpdateRequest: Sendable, Equatable {
    package var request: RequestTemplate
    /// The members that may be changed, with the provider's names.
    package var fields: [String]
    /// Where the response contains the changed user, as in ``UserRequest``; empty if it does not.
    package var user: [JSONPointer]

    package init(request: RequestTemplate, fields: [String], user: [JSONPointer]) {
        self.request = request
        self.fields = fields
        self.user = user
    }
}
