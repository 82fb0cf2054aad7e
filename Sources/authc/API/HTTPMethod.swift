import AuthWire

/// The methods of HTTP. A provider may have others, too (RFC 9110 §16.1).
enum HTTPMethod {
    /// RFC 9110 §9.3 and RFC 5789, without those that no request with a token may have.
    static let common = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]

    /// The only other method in use that is one edit from a common one: of WebDAV in Microsoft Exchange.
    private static let similar = "BDELETE"

    /// Refuses a method that is probably misspelt, because it is one edit from a common one.
    /// - Parameter method: in capitals.
    static func check(_ method: String) throws(Failure) {
        guard !common.contains(method), method != similar,
            let meant = common.first(where: { Suggestion.isOneEdit(from: method, to: $0) })
        else { return }
        throw .usage("'\(Visible.line(method))' is not an HTTP method", hint: "did you mean \(meant)?")
    }
}
