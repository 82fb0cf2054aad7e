/// A reference in a response, such as `?page=2` (RFC 3986 §4.1).
package enum URLReference {
    /// The URL that a reference stands for (§5.2), without a fragment. It may be at any origin, and need not be an
    /// `http` URL.
    /// - Parameter base: the URL of the response's request: absolute, without a fragment.
    package static func resolve(_ reference: String, against base: String) -> String {
        // By bytes, here and below: a combining mark after a separator is part of the same character.
        let reference = String(reference[..<(reference.utf8.firstIndex(of: UInt8(ascii: "#")) ?? reference.endIndex)])
        if hasScheme(reference) {
            let path = Origin.path(of: reference)
            return reference[..<path.startIndex] + withoutDots(path)
        }
        if reference.isEmpty { return base }
        let origin = String(base[..<Origin.path(of: base).startIndex])
        if reference.utf8.starts(with: "//".utf8) {
            return resolve(origin.prefix { $0 != "/" } + reference, against: base)
        }
        let path = halves(Origin.path(of: base)).path
        if reference.utf8.first == UInt8(ascii: "?") { return origin + path + reference }
        if reference.utf8.first == UInt8(ascii: "/") { return origin + withoutDots(Substring(reference)) }
        // What follows the last slash of the base is replaced (§5.2.3).
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[..<path.utf8.index(after: $0)] } ?? "/"
        return origin + withoutDots(folder + reference)
    }

    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(where: { ":/?".utf8.contains($0) }),
            text.utf8[colon] == UInt8(ascii: ":"), let first = text.utf8.first, first.isLetter
        else { return false }
        return text.utf8[..<colon].allSatisfy { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
    }

    private static func halves(_ text: Substring) -> (path: Substring, query: Substring) {
        let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
        return (text[..<mark], text[mark...])
    }

    /// §5.2.4.
    private static func withoutDots(_ text: Substring) -> String {
        let (path, query) = halves(text)
        guard path.utf8.first == UInt8(ascii: "/") else { return String(text) }
        let segments = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map(Substring.init)
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
