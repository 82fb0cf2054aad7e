/// Why a text is no JSON, and where.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// In bytes from the beginning of the text.
    public let offset: Int
    /// In words; holds nothing of the text itself.
    public let reason: String

    public init(offset: Int, reason: String) {
        self.offset = offset
        self.reason = reason
    }

    public var description: String { "\(reason) at byte \(offset)" }
}
