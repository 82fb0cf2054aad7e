/// The agent's answers to a ping and to `token.get`, in the form in which it writes them.
enum TokenReplyLines {
    /// How many lines belong to both answers.
    static let lines = 2

    /// The token; `nil` for an error, or for any other form than the usual one.
    /// - Parameter answers: two lines, each with its line feed.
    static func token(in answers: Text) -> Text? {
        // Any answer to the ping will do.
        guard let ping = answers.prefix(before: .lineFeed), ping.starts(with: #"{"jsonrpc":"2.0","id":1,"#) else {
            return nil
        }
        let answer = answers.dropping(ping.count + 1)
        let start: StaticString = #"{"jsonrpc":"2.0","id":2,"result":{"access_token":""#
        guard answer.starts(with: start),
            let token = answer.dropping(start.utf8CodeUnitCount).prefix(before: .quote), token.count > 0
        else { return nil }
        // A reverse solidus begins an escape (RFC 8259 §7).
        return unsafe token.bytes.contains(UInt8(ascii: "\\")) ? nil : token
    }
}
