/// The session for a folder and everything below it.
public struct FolderRule: Sendable, Equatable {
    /// Absolute, without a slash at the end; in settings it may begin with `~/`.
    public var path: String
    public var session: SessionName

    public init(path: String, session: SessionName) {
        self.path = path
        self.session = session
    }
}

/// The rules that the agent writes for clients, in the file `folders` beside the socket. Each line has the session's name, a
/// space and the path.
public struct FolderRules: Sendable, Equatable {
    /// The limit for the file in bytes.
    public static let longestText = 64 << 10

    public var rules: [FolderRule]

    public init(_ rules: [FolderRule]) { self.rules = rules }

    /// Ignores other lines, which a newer agent may have written.
    public init(text: String) {
        rules = text.split(separator: "\n").compactMap { line in
            guard let space = line.firstIndex(of: " "), let session = try? SessionName(String(line[..<space])) else {
                return nil
            }
            let path = String(line[line.index(after: space)...])
            return path.utf8.first == UInt8(ascii: "/") ? FolderRule(path: path, session: session) : nil
        }
    }

    public var text: String { rules.map { "\($0.session) \($0.path)\n" }.joined() }

    /// The session of the rule with the longest path that contains the folder; of equal paths, the first.
    /// - Parameter folder: absolute, as from getcwd(3).
    public func session(in folder: String) -> SessionName? {
        var best: FolderRule?
        for rule in rules where Self.contains(rule.path, folder) {
            if rule.path.utf8.count > best?.path.utf8.count ?? 0 { best = rule }
        }
        return best?.session
    }

    private static func contains(_ path: String, _ folder: String) -> Bool {
        let (outer, inner) = (path.utf8, folder.utf8)
        guard inner.starts(with: outer) else { return false }
        return outer.count == inner.count || path == "/" || inner.dropFirst(outer.count).first == UInt8(ascii: "/")
    }
}
