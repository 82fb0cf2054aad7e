/// The short name of a session: `[a-z0-9][a-z0-9._-]{0,63}`.
public struct SessionName: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let text: String

    /// In bytes.
    package static let longest = 64

    /// The rule, for messages.
    public static let rule = "1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit"

    /// - Throws: ``ErrorKind/validation`` for a text outside the rule.
    public init(_ text: String) throws(AgentError) {
        guard Self.isName(text) else {
            throw AgentError(.validation, "'\(text.quotable)' is not a session name; use \(Self.rule).")
        }
        self.text = text
    }

    /// The value before a name is read (``WireObject/init(blank:)``).
    package static let blank = SessionName()

    private init() {
        text = ""
    }

    /// `nil` for bytes outside the rule.
    init?(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty, bytes.count <= Self.longest, Self.isLetterOrDigit(bytes[0]) else { return nil }
        for place in bytes.indices where !Self.isLetterOrDigit(bytes[place]) {
            guard "._-".utf8.contains(bytes[place]) else { return nil }
        }
        text = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    public var description: String { text }

    public static func < (left: SessionName, right: SessionName) -> Bool { left.text < right.text }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= longest else { return false }
        return isLetterOrDigit(first) && text.utf8.allSatisfy { isLetterOrDigit($0) || "._-".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
