/// A value of a TOML text, with its place.
package struct TOMLValue: Sendable {
    package enum Kind: Sendable, Equatable {
        /// A string without its quotes.
        case text(String)
        /// A number, a date, `true` or `false`, as it is written.
        case bare(String)
        case list, table
    }

    package let path: String
    /// In the text as UTF-8.
    package let bytes: Range<Int>
    package let kind: Kind
}

/// `[table]` or `[[table]]`.
struct TOMLHeader: Sendable {
    let path: String
    let bytes: Range<Int>
}

/// `key = value`.
struct TOMLPair: Sendable {
    let path: String
    /// The table of the header above it, or of the inline table around it; empty at the top level.
    let table: String
    let bytes: Range<Int>
    let isInline: Bool
}
