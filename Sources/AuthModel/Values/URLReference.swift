/// A reference in a response, such as `?page=2` (RFC 3986 §4.1).
package enum URLReference {
    /// The URL that a reference stands for (§5.2), without a fragment. It may be at any origin, and need not be an
    /// `http` URL.
    /// - Parameter base: the URL of the response's request: absolute, without a fragment.
    package static func resolve(_ reference: String, against base: String) -> String {
        let reference = String(reference.prefix { $0 != "#" })
        if hasScheme(reference) {
            let path = Origin.path(of: reference)
            return reference[..<path.startIndex] + withoutDots(path)
        }
        if reference.isEmpty { return base }
        let origin = String(base[..<Origin.path(of: base).startIndex])
        if reference.hasPrefix("//") { return resolve(origin.prefix { $0 != "/" } + reference, against: base) }
        let path = halves(Origin.path(of: base)).path
        if reference.hasPrefix("?") { return origin + path + reference }
        if reference.hasPrefix("/") { return origin + withoutDots(Substring(reference)) }
        // What follows the last slash of the base is replaced (§5.2.3).
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
        return origin + withoutDots(folder + reference)
    }

    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(where: { ":/?".utf8.contains($0) }),
            text.utf8[colon] == UInt8(ascii: ":"), let first = text.utf8.first, first.isLetter
        else { return false }
        return text.utf8[..<colon].allSatisfy { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
    }

    private static func halves(_ text: Substring) -> (path: Substring, query: Substring) {
        let mark = text.firstIndex(of: "?") ?? text.endIndex
        return (text[..<mark], text[mark...])
    }

    /// §5.2.4.
    private static func withoutDots(_ text: Substring) -> String {
        let (path, query) = halves(text)
        guard path.hasPrefix("/") else { return String(text) }
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        var kept: [Substring] = []
        for (index, segment) in segments.enumerated() {
            guard segment == "." || segment == ".." else {
                kept.append(segment)
                continue
            }
            if segment == ".." { _ = kept.popLast() }
            if index == segments.count - 1 { kept.append("") }
        }
        return "/" + kept.joined(separator: "/") + query
    }
}
