import CStart

/// Whether settings may change what a prompt shows. Only the full program can read them: they are TOML.
enum PromptSettings {
    private static let system: StaticString = "/etc/xdg/authd/authd.toml"
    /// The same limit as in authd.
    private static let longest = 256 << 10
    /// The settings of `[prompt]`. Other settings may contain these words, too; the full program then reads the file.
    private static var names: [StaticString] { ["format", "folder_only", "attention_only"] }

    /// `true` if it is not known.
    static var mayBeSet: Bool {
        guard let own else { return true }
        var number = unsafe own.withCString { unsafe start_open($0) }
        if number < 0, start_errno() == ENOENT {
            number = unsafe system.utf8Start.withMemoryRebound(to: CChar.self, capacity: system.utf8CodeUnitCount + 1) {
                unsafe start_open($0)
            }
        }
        guard number >= 0 else { return start_errno() != ENOENT }
        defer { close(number) }
        guard let text = content(of: number) else { return true }
        return unsafe text.bytes.withUnsafeBytes { unsafe areNamed(in: Text($0)) }
    }

    /// As `SettingsFile` of `authc-full` finds it; `nil` without a home.
    private static var own: ByteString? {
        var path = ByteString()
        if let folder = Text(environment: "XDG_CONFIG_HOME"), folder.starts(with: "/") {
            path.append(folder)
        } else if let home = Text(environment: "HOME"), home.starts(with: "/") {
            path.append(home)
            path.append("/.config")
        } else {
            return nil
        }
        path.append("/authd/authd.toml")
        return path
    }

    private static func content(of number: Int32) -> ByteString? {
        var found = stat()
        guard unsafe fstat(number, &found) == 0, found.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG),
            found.st_size <= longest
        else {
            return nil
        }
        var text = ByteString()
        let isWhole = unsafe text.append(count: Int(found.st_size)) { room in
            unsafe room.count == 0 || pread(number, room.baseAddress, room.count, 0) == room.count
        }
        return isWhole ? text : nil
    }

    private static func areNamed(in text: Text) -> Bool {
        var rest = text
        while let (line, others) = rest.divided(at: .lineFeed) {
            if isNamed(in: line) { return true }
            rest = others
        }
        return isNamed(in: rest)
    }

    /// Whether a line has one of the names, and is not a comment.
    private static func isNamed(in line: Text) -> Bool {
        for place in 0..<line.count where line[place] != .space && line[place] != UInt8(ascii: "\t") {
            if line[place] == UInt8(ascii: "#") { return false }
            return names.contains { line.contains($0, from: place) }
        }
        return false
    }
}

extension Text {
    fileprivate func contains(_ word: StaticString, from start: Int) -> Bool {
        for place in start..<count where dropping(place).starts(with: word) { return true }
        return false
    }
}
