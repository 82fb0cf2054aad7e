import AuthWire

/// A value that a program can get from a session.
enum TokenValue: String, CaseIterable {
    case accessToken = "access_token"
    /// The value of an `Authorization` header (RFC 6750 §2.1).
    case authorization
    case tokenType = "token_type"
    /// Unix seconds.
    case expiresAt = "expires_at"
    case session
    case provider
    case environment
    case userID = "user.id"
    case userName = "user.name"
    case userEmail = "user.email"

    /// Whether the response to `token.get` contains it.
    var isOfToken: Bool {
        switch self {
        case .accessToken, .authorization, .tokenType, .expiresAt, .session: true
        case .provider, .environment, .userID, .userName, .userEmail: false
        }
    }
}

/// `VARIABLE=VALUE` of `--env`.
struct TokenVariable {
    let name: String
    let value: TokenValue

    static let standard = TokenVariable(name: "AUTHD_TOKEN", value: .accessToken)

    /// Parses a list that is separated by commas.
    /// - Throws: a text that says what is wrong.
    static func list(_ text: String) throws(Mistake) -> [TokenVariable] {
        var found: [TokenVariable] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard halves.count == 2 else {
                throw Mistake("'\(Visible.line(String(part)))' is not NAME=VALUE, such as TOKEN=access_token.")
            }
            guard let value = TokenValue(rawValue: halves[1]) else {
                throw Mistake(NameAdvice.refusal(of: halves[1], TokenValue.self))
            }
            found.append(TokenVariable(name: try variable(halves[0]), value: value))
        }
        return found
    }

    /// A name that every shell accepts (POSIX.1-2017 XBD §3.235).
    static func variable(_ text: String) throws(Mistake) -> String {
        let isName = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: false
            }
        }
        guard isName, let first = text.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            throw Mistake(
                "'\(Visible.line(text))' is not the name of a variable: letters, digits and _, no digit first.")
        }
        return text
    }

    struct Mistake: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }
}
