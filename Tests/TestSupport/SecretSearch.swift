import Foundation

/// Looks for secrets in what anybody may read: as they are, in base64 of either alphabet wherever they stand in it, and
/// percent-encoded.
package struct SecretSearch: Sendable {
    /// Shorter ones, such as codes of six digits, are in every long log by chance.
    private static let shortest = 8

    private let forms: [(secret: Int, form: String)]

    package init(_ secrets: [String]) {
        forms = secrets.enumerated().filter { $0.element.utf8.count >= Self.shortest }.flatMap { number, secret in
            Self.forms(of: secret).map { (number, $0) }
        }
    }

    package var isEmpty: Bool { forms.isEmpty }

    /// In which of the texts, by their names, which secret stands: its number, never itself.
    package func findings(in texts: [String: String]) -> [String] {
        texts.sorted { $0.key < $1.key }.flatMap { name, text in
            // A trace log is megabytes, and there are many secrets: by strstr(3), which stops at a zero.
            let whole = text.replacing("\0", with: " ")
            return forms.filter { strstr(whole, $0.form) != nil }.map { "secret \($0.secret) in \(name)" }
        }
    }

    static func forms(of secret: String) -> [String] {
        let escaped = [true, false].map { uppercase in
            secret.utf8.map { byte in
                let character = Character(UnicodeScalar(byte))
                let isPlain =
                    character.isASCII && (character.isLetter || character.isNumber || "-._~".contains(character))
                let digits = String(byte, radix: 16, uppercase: uppercase)
                return isPlain ? String(character) : "%" + (digits.count < 2 ? "0" : "") + digits
            }.joined()
        }
        // What stands before it in the encoded text moves it by none, one or two bytes.
        let encoded = (0..<3).map { offset in
            let bytes = [UInt8](repeating: 0, count: offset) + Array(secret.utf8)
            let text = Data(bytes).base64EncodedString().filter { $0 != "=" }
            // The characters at both ends hold bits of what is beside it.
            return String(text.dropFirst([0, 2, 3][offset]).dropLast(bytes.count.isMultiple(of: 3) ? 0 : 1))
        }
        let other = encoded.map { $0.replacing("+", with: "-").replacing("/", with: "_") }
        return Array(Set([secret] + escaped + encoded + other))
    }
}
