import CStart

/// `prompt`: prints the line of the prompt file (`PromptLine` in AuthWire), if the agent that wrote it still runs. A line that
/// the settings or ``PromptReading`` change is left to the full program.
enum PromptFile {
    /// Whether the command is done.
    static func printLine(in folder: AgentFolder) -> Bool {
        let number = unsafe folder.file("prompt").withCString { unsafe start_open($0) }
        // Without a file there is nothing to print.
        guard number >= 0 else { return start_errno() == ENOENT }
        defer { close(number) }
        var found = stat()
        guard unsafe fstat(number, &found) == 0 else { return false }
        guard PromptReading.isTrusted(owner: found.st_uid, user: geteuid()) else { return true }
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: PromptReading.longest) { room in
            let count = unsafe read(number, room.baseAddress, room.count)
            guard count > 0 else { return false }
            let bytes = unsafe UnsafeBufferPointer(rebasing: room[..<count])
            guard let line = unsafe PromptReading(bytes.span) else { return false }
            let words = unsafe Text(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[line.words])))
            // Nothing is shown if the agent has ended. A process of another user is not the agent.
            return kill(line.agent, 0) != 0 || words.count == 0
                || words.isPrintable && line.isShownWhole && !PromptSettings.mayBeSet
                    && Printer.print(ByteString(words))
        }
    }
}
