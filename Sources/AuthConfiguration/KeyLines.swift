/// The line of each key of a TOML document, by its ``TOMLPath``.
///
/// The TOML library provides neither positions nor the order of keys. A problem is easier to fix if its message names the line.
package struct KeyLines: Sendable {
    struct Place: Sendable {
        /// From 1.
        let line: Int
        /// Increases from the beginning of the document.
        let order: Int
    }

    private let places: [String: Place]

    /// - Throws: if ``KeyScanner`` finds a syntax error or a limit is exceeded.
    package init(_ text: String) throws(KeyScanner.Refusal) {
        var scanner = KeyScanner(text)
        try scanner.scanDocument()
        places = scanner.places
    }

    /// Every path that is known.
    package var paths: Set<String> { Set(places.keys) }

    /// The line of the key, or of the nearest table around it that has one; 1 where there is none.
    package func line(of path: String) -> Int { place(of: path)?.line ?? 1 }

    package func order(of path: String) -> Int { place(of: path)?.order ?? 0 }

    private func place(of path: String) -> Place? {
        var path = Substring(path)
        while true {
            if let place = places[String(path)] { return place }
            guard let cut = path.lastIndex(where: { $0 == "." || $0 == "[" }) else { return nil }
            path = path[..<cut]
        }
    }
}
