package import AuthWire

/// The common user, each member by pointers into the user object; several are joined by a space, trimmed.
package struct UserMap: Sendable, Equatable {
    /// The first that gives one is taken.
    package var id: [JSONPointer]
    package var email: JSONPointer?
    /// Each inner list is one way to tell it: its parts joined. The first way that gives a text is taken.
    package var name: [[JSONPointer]]
    package var verified: JSONPointer?

    package init(
        id: [JSONPointer] = [], email: JSONPointer? = nil, name: [[JSONPointer]] = [], verified: JSONPointer? = nil
    ) {
        self.id = id
        self.email = email
        self.name = name
        self.verified = verified
    }
}

/// How the user is fetched, and where the answer keeps it.
package struct UserRequest: Sendable, Equatable {
    package var request: RequestTemplate
    /// Where the answer keeps the user object. Of several, the first is taken whose object has an id or an address.
    package var user: [JSONPointer]

    package init(request: RequestTemplate, user: [JSONPointer]) {
        self.request = request
        self.user = user
    }
}

/// How the user is changed: the members that are given are added to the request's body.
package struct UserUpdateRequest: Sendable, Equatable {
    package var request: RequestTemplate
    /// What may be given, as the provider names it.
    package var fields: [String]
    /// Where the answer keeps the user object as it is now, as in ``UserRequest``; empty if the answer does not have it.
    package var user: [JSONPointer]

    package init(request: RequestTemplate, fields: [String], user: [JSONPointer]) {
        self.request = request
        self.fields = fields
        self.user = user
    }
}
