import AuthWire

/// A rule that an answer must satisfy before anything is sent.
package enum FieldRule: Sendable, Equatable {
    /// Characters as users count them.
    case minimumLength(Int)
    case lowercaseLetter
    case uppercaseLetter
    case digit
    case oneOf(String)
    case email
    case digits(count: Int)
    /// A JSON Web Token with a subject, from one of these issuers if any are named (OpenID Connect Core §2).
    case idToken(issuers: [String])

    package func isSatisfied(by text: String) -> Bool {
        switch self {
        case .minimumLength(let length): text.count >= length
        case .lowercaseLetter: text.contains(where: \.isLowercase)
        case .uppercaseLetter: text.contains(where: \.isUppercase)
        case .digit: text.utf8.contains(where: \.isDigit)
        case .oneOf(let characters): text.contains { characters.contains($0) }
        case .email: EmailAddress.isWellFormed(text)
        case .digits(let count): text.utf8.count == count && text.utf8.allSatisfy(\.isDigit)
        case .idToken(let issuers): Self.isIDToken(Secret(text), of: issuers)
        }
    }

    /// For the user, before they answer.
    package var requirement: String {
        switch self {
        case .minimumLength(let length): length == 1 ? "at least 1 character" : "at least \(length) characters"
        case .lowercaseLetter: "a lower-case letter"
        case .uppercaseLetter: "an upper-case letter"
        case .digit: "a digit"
        case .oneOf(let characters): "one of " + characters.map(String.init).joined(separator: " ")
        case .email: EmailAddress.description
        case .digits(let count): "\(count) digits"
        case .idToken(let issuers):
            "an ID token" + (issuers.isEmpty ? "" : " of \(issuers.joined(separator: " or "))")
        }
    }

    private static func isIDToken(_ token: Secret, of issuers: [String]) -> Bool {
        let claims = JWTClaims.texts(of: token)
        guard claims["sub"]?.isEmpty == false else { return false }
        return issuers.isEmpty || claims["iss"].map(issuers.contains) ?? false
    }
}
