package import AuthWire

/// What access rules can test about a request.
package struct AccessRequest: Sendable, Hashable {
    /// Which session it is about.
    package enum Target: Sendable, Hashable {
        case none
        case named(SessionName)
        /// Every session, or one that is known only later.
        case any
        /// One that is known with the result, before that is returned. Then the rules decide again.
        case later

        package var name: SessionName? { if case .named(let name) = self { name } else { nil } }
    }

    /// The scopes of a token that is requested.
    package enum Scopes: Sendable, Hashable {
        /// It requests no token.
        case none
        /// All that the session has.
        case all
        case listed([String])

        /// - Parameter scopes: as `token.get` has them. An empty list is the same as none.
        package init(_ scopes: [String]?) {
            self = if let scopes, !scopes.isEmpty { .listed(scopes) } else { .all }
        }
    }

    package var method: String
    package var access: AccessClass
    package var target = Target.none
    package var endpoint: String?
    package var scopes = Scopes.none
    /// `api.call` with `next`: it reaches any path of the API, as `api.request` does.
    package var reachesAnyPath = false

    package init(method: String, access: AccessClass, target: Target = .none) {
        (self.method, self.access, self.target) = (method, access, target)
    }

    /// Such a call as `api.request`; `nil` for other requests.
    package var asPathRequest: AccessRequest? {
        guard reachesAnyPath else { return nil }
        return AccessRequest(method: APIRequest.name, access: APIRequest.access, target: target)
    }

    /// For error messages.
    package var title: String { reachesAnyPath ? "\(method) with `next`" : method }
}
