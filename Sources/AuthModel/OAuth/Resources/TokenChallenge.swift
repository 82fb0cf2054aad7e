import AuthWire

/// The challenge of a response to a request with an access token (RFC 6750 §3, RFC 9449 §7.1, RFC 9728 §5.1).
package struct TokenChallenge: Sendable, Equatable {
    /// Such as `invalid_token`.
    package var error: String?
    var description: String?
    /// Where the API's metadata names its authorization servers.
    package var resourceMetadata: String?
    /// The scopes that the request needs; `nil` if it does not say.
    package var scopes: [String]?

    /// The only error of RFC 6750 §3.1 that a new token fixes.
    package static let invalidToken = "invalid_token"
    /// The request needs scopes that the token does not have.
    package static let insufficientScope = "insufficient_scope"
    /// Servers send a few hundred bytes.
    private static let longest = 8 << 10

    /// `nil` if the response has no Bearer or DPoP challenge.
    package init?(_ reply: HTTPResponse) {
        var isFound = false
        for header in reply.headers where header.name.lowercased() == "www-authenticate" {
            for challenge in Self.challenges(header.value) where ["bearer", "dpop"].contains(challenge.scheme) {
                isFound = true
                error = error ?? challenge.parameters["error"].flatMap(ProviderText.clean)
                description = description ?? challenge.parameters["error_description"].flatMap(ProviderText.clean)
                scopes = scopes ?? challenge.parameters["scope"].map(OAuthScope.list)
                resourceMetadata =
                    resourceMetadata
                    ?? challenge.parameters["resource_metadata"].flatMap { Origin(of: $0) == nil ? nil : $0 }
                    .flatMap(ProviderText.clean)
            }
        }
        guard isFound else { return nil }
    }

    /// The challenges of one header (RFC 9110 §11.6.1), schemes and names in lower case.
    private static func challenges(_ text: String) -> [(scheme: String, parameters: [String: String])] {
        var found: [(scheme: String, parameters: [String: String])] = []
        var rest = Array(text.utf8.prefix(longest))[...]
        while true {
            rest = rest.drop { isSpace($0) || $0 == UInt8(ascii: ",") }
            let name = rest.prefix { !isSpace($0) && !",=\"".utf8.contains($0) }
            guard !name.isEmpty else {
                // A separator at the wrong place.
                if rest.popFirst() == nil { return found }
                continue
            }
            rest = rest.dropFirst(name.count)
            let word = String(decoding: name, as: UTF8.self).lowercased()
            let afterSpace = rest.drop(while: isSpace)
            guard afterSpace.first == UInt8(ascii: "="), !found.isEmpty else {
                found.append((word, [:]))
                continue
            }
            rest = afterSpace.dropFirst().drop(while: isSpace)
            let value = value(&rest)
            if found[found.count - 1].parameters[word] == nil { found[found.count - 1].parameters[word] = value }
        }
    }

    /// A token or a quoted string (RFC 9110 §5.6.4).
    private static func value(_ rest: inout ArraySlice<UInt8>) -> String {
        var bytes: [UInt8] = []
        guard rest.first == UInt8(ascii: "\"") else {
            let word = rest.prefix { !isSpace($0) && $0 != UInt8(ascii: ",") }
            rest = rest.dropFirst(word.count)
            return String(decoding: word, as: UTF8.self)
        }
        rest = rest.dropFirst()
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
                bytes.append(escaped)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
