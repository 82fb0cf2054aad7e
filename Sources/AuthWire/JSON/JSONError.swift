/// Why a text is not JSON, and where.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// In bytes from the start of the text.
    public let offset: Int
    /// Never quotes the text.
    public let reason: String
    /// The text is valid up to here, and has more values than allowed.
    public let isTooLarge: Bool

    public init(offset: Int, reason: String, isTooLarge: Bool = false) {
        self.offset = offset
        self.reason = reason
        self.isTooLarge = isTooLarge
    }

    public var description: String { "\(reason) at byte \(offset)" }
}
