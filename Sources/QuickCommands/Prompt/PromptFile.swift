import CStart

/// `prompt`, with or without `--json`: prints the line of the prompt file (`PromptLine` in AuthWire), if the agent that
/// wrote it still runs. If the settings or ``PromptReading`` change what is shown, the full program prints it.
enum PromptFile {
    private enum Content {
        /// There is no file, it belongs to another user, or its agent has ended.
        case nothing
        case line(ByteString)
    }

    /// Whether the command is done.
    static func print(in folder: AgentFolder, asJSON: Bool) -> Bool {
        switch content(in: folder) {
        case nil: return false
        case .nothing?: return !asJSON || Printer.print(ByteString("{\"prompt\":null}"))
        case .line(let line)?:
            if asJSON { return json(line).map(Printer.print) ?? false }
            return line.bytes.isEmpty || Printer.print(line)
        }
    }

    /// `nil`: only the full program can tell.
    private static func content(in folder: AgentFolder) -> Content? {
        let number = unsafe folder.file("prompt").withCString { unsafe start_open($0) }
        guard number >= 0 else { return start_errno() == ENOENT ? .nothing : nil }
        defer { close(number) }
        var found = stat()
        guard unsafe fstat(number, &found) == 0 else { return nil }
        guard PromptReading.isTrusted(owner: found.st_uid, user: geteuid()) else { return .nothing }
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: PromptReading.longest) { room in
            let count = unsafe read(number, room.baseAddress, room.count)
            guard count > 0 else { return nil }
            let bytes = unsafe UnsafeBufferPointer(rebasing: room[..<count])
            guard let line = unsafe PromptReading(bytes.span) else { return nil }
            // Nothing is shown if the agent has ended. A process of another user is not the agent.
            guard kill(line.agent, 0) == 0 else { return .nothing }
            let words = unsafe Text(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[line.words])))
            let isUnchanged =
                words.count == 0 || words.isPrintable && line.isShownWhole && !PromptSettings.mayBeSet
            return isUnchanged ? .line(ByteString(words)) : nil
        }
    }

    /// `nil` for a line with characters that JSON escapes: the agent writes none.
    private static func json(_ line: ByteString) -> ByteString? {
        guard !line.bytes.contains(.quote), !line.bytes.contains(.backslash) else { return nil }
        var json = ByteString("{\"prompt\":\"")
        json.append(line)
        json.append("\"}")
        return json
    }
}
