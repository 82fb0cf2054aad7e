/// One `Set-Cookie` field of a response (RFC 6265 §5.2). Unknown and invalid attributes are ignored.
package struct SetCookie: Sendable, Equatable {
    package let name: String
    /// As received, quotation marks included.
    package let value: String
    package private(set) var expires: WallTime?
    /// Seconds; precedes ``expires``.
    package private(set) var maxAge: Double?
    /// In lower case, without a leading dot; `nil`: only for the host that sent it.
    package private(set) var domain: String?
    /// `nil`: derived from the request's path.
    package private(set) var path: String?
    package private(set) var isSecure = false

    /// - Returns: `nil` if the whole field has to be ignored.
    package init?(_ field: String) {
        guard field.utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else { return nil }
        let parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let (name, value) = Self.pair(parts[0])
        guard let value, !name.isEmpty else { return nil }
        (self.name, self.value) = (name, value)
        for part in parts.dropFirst() {
            let (attribute, value) = Self.pair(part)
            read(attribute.lowercased(), value ?? "")
        }
    }

    /// All cookies of a response, in their order.
    package static func all(of reply: HTTPResponse) -> [SetCookie] {
        reply.headers.filter { $0.name.lowercased() == "set-cookie" }.compactMap { SetCookie($0.value) }
    }

    /// The cookie that a response leaves behind with this name: the last one; `nil` if that one deletes it.
    package static func last(named name: String, in reply: HTTPResponse) -> SetCookie? {
        let date = reply.header("Date").flatMap(CookieDate.parse)
        return all(of: reply).last { $0.name == name }.flatMap { $0.isDeletion(at: date) ? nil : $0 }
    }

    /// The value without quotation marks around it.
    package var content: String {
        value.utf8.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
            ? String(value.dropFirst().dropLast()) : value
    }

    /// Servers delete a cookie with one that has ended.
    /// - Parameter date: the server's own; without it, only a date that is in the past by any clock counts.
    private func isDeletion(at date: WallTime?) -> Bool {
        let now = date ?? WallTime(unixSeconds: Self.surelyPast)
        return maxAge.map { $0 <= 0 } ?? expires.map { $0 <= now } ?? false
    }

    /// The year 2001. Servers delete a cookie with a date in 1970.
    private static let surelyPast = 978_307_200.0

    /// More seconds than this are no different: about 3000 years.
    private static let longestAge = 1e11

    private mutating func read(_ attribute: String, _ value: String) {
        switch attribute {
        case "expires": expires = CookieDate.parse(value) ?? expires
        case "max-age":
            let digits = value.utf8.first == UInt8(ascii: "-") ? value.utf8.dropFirst() : value.utf8[...]
            guard !digits.isEmpty, digits.allSatisfy(\.isDigit), let seconds = Double(value) else { return }
            maxAge = min(max(seconds, 0), Self.longestAge)
        case "domain":
            let domain = (value.hasPrefix(".") ? String(value.dropFirst()) : value).lowercased()
            if !value.isEmpty { self.domain = domain }
        case "path": path = value.hasPrefix("/") ? value : nil
        case "secure": isSecure = true
        default: break
        }
    }

    /// The two sides of the first `=`, without blanks around them.
    private static func pair(_ part: Substring.UTF8View.SubSequence) -> (name: String, value: String?) {
        guard let sign = part.firstIndex(of: UInt8(ascii: "=")) else { return (trimmed(part), nil) }
        return (trimmed(part[..<sign]), trimmed(part[part.index(after: sign)...]))
    }

    private static func trimmed(_ bytes: Substring.UTF8View.SubSequence) -> String {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        let start = bytes.drop(while: isBlank)
        let count = start.reversed().drop(while: isBlank).count
        return String(decoding: start.prefix(count), as: UTF8.self)
    }
}
