/// The line of a prompt file (`PromptLine`) as it was read, and what a prompt shows of it without settings.
///
/// `authc` and `authc-full` are both compiled with this file. Embedded Swift has neither our other types nor the usual `String`,
/// so it uses only bytes and numbers (Docs/decisions/quick-commands.md).
package struct PromptReading {
    /// Far above any real line, so that another file is not printed by mistake.
    package static let longest = 16 << 10
    /// The limit for sessions. For the others, only their number is shown.
    package static let mostSessions = 3
    /// Process IDs are below 2^22 (proc_sys_kernel(5), pid_max).
    private static let maxDigits = 7

    /// The process that wrote the file. Nothing is shown if it has ended.
    package let agent: Int32
    /// Where the words of the sessions are in the file.
    package let words: Range<Int>
    /// Whether the words are shown as they are. Otherwise the line has no end, sessions with a state are moved to the front, or
    /// not all sessions are shown.
    package let isShownWhole: Bool

    /// `nil` if no agent wrote the file.
    package init?(_ file: Swift.Span<UInt8>) {
        var end = 0
        while end < file.count, file[end] != UInt8(ascii: "\n") { end += 1 }
        var (number, digits) = (Int32(0), 0)
        while digits < min(end, Self.maxDigits), file[digits] >= UInt8(ascii: "0"), file[digits] <= UInt8(ascii: "9") {
            number = number * 10 + Int32(file[digits] - UInt8(ascii: "0"))
            digits += 1
        }
        guard number > 0, digits == end || file[digits] == UInt8(ascii: " ") else { return nil }
        agent = number
        words = min(digits + 1, end)..<end
        var (spaces, hasState) = (0, false)
        for place in words {
            if file[place] == UInt8(ascii: " ") { spaces += 1 }
            if file[place] == UInt8(ascii: "!") { hasState = true }
        }
        isShownWhole = end < file.count && spaces < Self.mostSessions && (spaces == 0 || !hasState)
    }

    /// Whether a file is read. Root may have another user's folder in its environment, as sudo may keep it. As for the agent
    /// itself, root is trusted.
    /// - Parameters:
    ///   - owner: the user that the file belongs to.
    ///   - user: the effective user of this process.
    package static func isTrusted(owner: UInt32, user: UInt32) -> Bool { owner == user || owner == 0 }
}
