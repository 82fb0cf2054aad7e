/// The short name of a session: `[a-z0-9][a-z0-9._-]{0,63}`.
public struct SessionName: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let text: String

    /// The rule in words, for messages.
    public static let rule = "1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit"

    /// - Throws: ``ErrorKind/validation`` for a text outside the rule.
    public init(_ text: String) throws(AgentError) {
        guard Self.isName(text) else {
            throw AgentError(.validation, "'\(text.quotable)' is no session name; use \(Self.rule).")
        }
        self.text = text
    }

    public var description: String { text }

    public static func < (left: SessionName, right: SessionName) -> Bool { left.text < right.text }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 64 else { return false }
        return isLetterOrDigit(first) && text.utf8.allSatisfy { isLetterOrDigit($0) || "._-".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
