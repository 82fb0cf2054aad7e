/// The paths that an endpoint's template can produce.
package struct PathPattern: Sendable {
    /// Stands for any value; no path can contain it.
    private static let wild = "\u{0}"

    private let segments: [Substring]

    init(_ template: Template, base: String) {
        // The stand-in marks the places of values.
        segments = (base + template.filled(with: Self.wild)).split(separator: "/", omittingEmptySubsequences: false)
    }

    /// - Parameter path: absolute, without its query.
    package func matches(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == segments.count
            && zip(segments, parts).allSatisfy { segment, part in
                guard segment.contains(Self.wild) else { return segment == part }
                let ends = segment.split(separator: Self.wild, omittingEmptySubsequences: false)
                return part.hasPrefix(ends.first ?? "") && part.hasSuffix(ends.last ?? "") && !part.isEmpty
            }
    }
}
