/// Where each key of a TOML document stands, by its path as ``TOMLPath`` writes it.
///
/// The TOML library keeps no positions of what it read well, nor the order of keys; a message that names no line helps
/// little. The scanner expects a document that the library accepts, and gives up quietly on any other.
struct KeyLines {
    struct Place {
        /// From 1.
        let line: Int
        /// Grows from the document's beginning to its end.
        let order: Int
    }

    private let places: [String: Place]
    /// Where a text holds an escaped NUL, which the library would cut it off at.
    let nulLine: Int?
    /// Where keys or values are nested deeper than ``KeyScanner/deepest``.
    let tooDeepLine: Int?

    init(_ text: String) {
        var scanner = KeyScanner(text)
        scanner.scanDocument()
        places = scanner.places
        nulLine = scanner.nulLine
        tooDeepLine = scanner.tooDeepLine
    }

    /// The line of the key, or of the nearest table around it that has one; 1 where there is none.
    func line(of path: String) -> Int { place(of: path)?.line ?? 1 }

    func order(of path: String) -> Int { place(of: path)?.order ?? 0 }

    private func place(of path: String) -> Place? {
        var path = Substring(path)
        while true {
            if let place = places[String(path)] { return place }
            guard let cut = path.lastIndex(where: { $0 == "." || $0 == "[" }) else { return nil }
            path = path[..<cut]
        }
    }
}
