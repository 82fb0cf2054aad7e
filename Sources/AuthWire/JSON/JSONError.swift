/// Why a text is no JSON, and where.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// In bytes from the beginning of the text.
    public let offset: Int
    /// In words; holds nothing of the text itself.
    public let reason: String
    /// The text was JSON up to here, and holds more values than the reader was to make.
    public let isTooLarge: Bool

    public init(offset: Int, reason: String, isTooLarge: Bool = false) {
        self.offset = offset
        self.reason = reason
        self.isTooLarge = isTooLarge
    }

    public var description: String { "\(reason) at byte \(offset)" }
}
