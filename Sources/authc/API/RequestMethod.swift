import AuthWire

/// The methods of HTTP, which a provider may extend (RFC 9110 §16.1).
enum RequestMethod {
    /// RFC 9110 §9.3 and RFC 5789, without those that no request with a token may have.
    static let usual = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]

    /// The only one in use that differs from a usual one by one edit: WebDAV's in Microsoft Exchange.
    private static let similar = "BDELETE"

    /// Refuses a method that is probably misspelt: one edit from a usual one.
    /// - Parameter method: in capitals.
    static func check(_ method: String) throws(Failure) {
        guard !usual.contains(method), method != similar,
            let meant = usual.first(where: { Suggestion.isOneEdit(from: method, to: $0) })
        else { return }
        throw .usage("'\(Visible.line(method))' is not a method of HTTP", hint: "did you mean \(meant)?")
    }
}
