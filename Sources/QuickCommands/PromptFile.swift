import CStart

/// `prompt`: prints the line of the prompt file (`PromptLine` in AuthWire), if the agent that wrote it still runs. A line that
/// the settings or the number of the sessions change is left to the full program.
enum PromptFile {
    /// Longer than any line of the agent.
    private static let longest = 16 << 10
    /// As in `PromptText` of `authc-full`.
    private static let mostSessions = 3

    /// Whether the command is done.
    static func printLine(in folder: AgentFolder) -> Bool {
        let number = unsafe folder.file("prompt").withCString { unsafe start_open($0) }
        // Without a file there is nothing to print.
        guard number >= 0 else { return start_errno() == ENOENT }
        defer { close(number) }
        // Root may have another user's folder in its environment, as sudo may keep it. As for the agent itself, root is trusted.
        var found = stat()
        guard unsafe fstat(number, &found) == 0 else { return false }
        guard found.st_uid == geteuid() || found.st_uid == 0 else { return true }
        return unsafe withUnsafeTemporaryAllocation(byteCount: longest, alignment: 1) { room in
            let count = unsafe read(number, room.baseAddress, room.count)
            guard count > 0,
                let line = unsafe Text(UnsafeRawBufferPointer(rebasing: room[..<count])).prefix(before: .lineFeed)
            else { return false }
            let words = line.afterNumber()
            guard let agent = words.number else { return false }
            // Nothing is shown if the agent has ended. A process of another user is not the agent.
            return kill(agent, 0) != 0 || words.rest.count == 0
                || words.rest.isPrintable && isShownWhole(words.rest) && !PromptSettings.mayBeSet
                    && Printer.print(ByteString(words.rest))
        }
    }

    /// Whether the standard format shows the words as they are. Sessions with a state are moved to the front.
    private static func isShownWhole(_ line: Text) -> Bool {
        let spaces = unsafe line.bytes.count { $0 == .space }
        return spaces < mostSessions && (spaces == 0 || !line.contains(UInt8(ascii: "!")))
    }
}

extension Text {
    /// Process IDs are below 2^22 (proc_sys_kernel(5), pid_max).
    private static let maxDigits = 7

    /// A process ID at the beginning, and what follows its space.
    fileprivate func afterNumber() -> (number: Int32?, rest: Text) {
        let digits = unsafe bytes.prefix(Self.maxDigits).prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        let number = unsafe digits.reduce(Int32(0)) { $0 * 10 + Int32($1 - UInt8(ascii: "0")) }
        let rest = unsafe dropping(digits.count)
        guard number > 0, rest.count == 0 || rest.starts(with: " ") else { return (nil, rest) }
        return (number, rest.dropping(1))
    }
}
