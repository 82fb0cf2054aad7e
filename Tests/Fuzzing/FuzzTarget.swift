/// What a peer, a provider or a file can send, and what must hold for any bytes (Docs/decisions/fuzzing.md).
///
/// Every target promises in addition that no bytes end the process.
package struct FuzzTarget: Sendable, CustomStringConvertible {
    /// Also the name of its folder in `Corpus`.
    package let name: String
    /// In bytes. Longer inputs find nothing new, and take longer.
    package let longest: Int
    /// How many changed inputs the suite tries: as many as take a few seconds.
    package let changes: Int
    private let body: @Sendable ([UInt8]) throws(Violation) -> Void

    package init(
        _ name: String, longest: Int = 4096, changes: Int = 1000,
        _ body: @escaping @Sendable ([UInt8]) throws(Violation) -> Void
    ) {
        (self.name, self.longest, self.changes, self.body) = (name, longest, changes, body)
    }

    /// - Throws: what did not hold. The same bytes always have the same result.
    package func run(_ bytes: [UInt8]) throws(Violation) { try body(bytes) }

    package var description: String { name }

    package static let all: [FuzzTarget] = [
        json, rpc, dispatch, lines, events, toml, url, response, challenge, link, cookie, jwt, metadata, sealed, bundle,
        handover, proc, netlink,
    ]

    package static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// A promise that does not hold for an input.
package struct Violation: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// - Throws: a ``Violation`` with this text if the condition does not hold.
func require(_ condition: Bool, _ text: @autoclosure () -> String) throws(Violation) {
    guard condition else { throw Violation(text()) }
}

/// Takes an input apart: a target that needs several values reads them one after the other.
struct InputReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    /// Zero at the end.
    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// Up to the next line feed, which is skipped; `nil` at the end.
    mutating func line() -> ArraySlice<UInt8>? {
        guard !rest.isEmpty else { return nil }
        let line = rest.prefix { $0 != UInt8(ascii: "\n") }
        rest = rest.dropFirst(line.count + 1)
        return line
    }

    /// All lines that are left, as text.
    mutating func lines() -> [String] {
        var lines: [String] = []
        while let line = line() { lines.append(String(decoding: line, as: UTF8.self)) }
        return lines
    }
}
