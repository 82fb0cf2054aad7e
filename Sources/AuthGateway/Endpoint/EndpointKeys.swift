package import AuthWire

/// Whose key a request has.
package struct EndpointKeys: Sendable {
    private let keys: [(name: ClientName, key: FrontKey)]

    package init(_ keys: [(name: ClientName, key: FrontKey)]) {
        self.keys = keys
    }

    /// The key is in `Authorization`, alone as AWS's SDKs send it or after `Bearer`, or in `Authd-Key`. It is compared
    /// with every key, so that the duration does not say which one is similar.
    /// - Throws: 403 if there is none, or it is nobody's.
    package func client(of head: FrontHead) throws(FrontProblem) -> ClientName {
        let authorization = head.values("authorization").map { value in
            value.lowercased().hasPrefix(Self.scheme) ? String(value.dropFirst(Self.scheme.count)) : value
        }
        let sent = authorization + head.values("authd-key")
        guard sent.count == 1, let text = sent.first else {
            throw FrontProblem(
                403, .denied,
                "The request has no key, or several. Send that of the program as Authorization: Bearer KEY; "
                    + "`authc http env NAME` shows the file that has it.")
        }
        let found = keys.filter { $0.key.matches(text) }
        guard let client = found.first?.name else {
            throw FrontProblem(403, .denied, "The key is not one of a program; `authc http list` shows the programs.")
        }
        return client
    }

    private static let scheme = "bearer "
}
