import AuthModel
package import AuthWire

/// What a client of a loopback port must know, so that no web page and no other user can use it.
package struct FrontKey: Sendable {
    /// Fewer characters could be guessed.
    private static let fewest = 22
    private static let most = 256

    private let secret: Secret

    /// 32 bytes of a random source that cannot be predicted.
    package init(using source: inout some RandomNumberGenerator) {
        secret = Secret(Base64URL.encode((0..<32).map { _ in UInt8.random(in: 0...255, using: &source) }))
    }

    /// The text of a key file; white space around it is ignored.
    /// - Throws: `validation` if it is short, or has characters that a path must not have.
    package init(text: String) throws(AgentError) {
        let key = text.split(whereSeparator: \.isWhitespace)
        guard key.count == 1, (Self.fewest...Self.most).contains(key[0].utf8.count),
            key[0].utf8.allSatisfy({ $0.isTokenCharacter && $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "#") })
        else {
            throw AgentError(
                .validation,
                "A key has \(Self.fewest) to \(Self.most) letters, digits, '-' or '_', such as the output of "
                    + "`openssl rand -hex 32`.")
        }
        secret = Secret(String(key[0]))
    }

    /// Takes the same time for each text of the key's length.
    func matches(_ text: some StringProtocol) -> Bool { Secret(String(text)) == secret }

    /// Whether a text contains the key. Bytes: the last letter with a combining mark is another character.
    func isIn(_ text: String) -> Bool { text.utf8.contains(secret.reveal().utf8) }

    /// For the one who starts the front.
    package func reveal() -> String { secret.reveal() }
}
