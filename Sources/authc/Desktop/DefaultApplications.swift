/// Edits one line of a `mimeapps.list`, and leaves the rest unchanged.
struct DefaultApplications {
    private static let group = "[Default Applications]"

    private var lines: [String]

    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    var text: String { lines.joined(separator: "\n") }

    /// Other applications for the type stay, after this one.
    mutating func setDefault(_ entry: String, for type: String) {
        remove(entry, from: type)
        if let index = lineIndex(of: type) {
            lines[index] = "\(type)=\(entry);\(Self.value(lines[index]))"
        } else if let group = lines.firstIndex(where: Self.isGroup) {
            lines.insert("\(type)=\(entry);", at: group + 1)
        } else {
            if lines.last == "" { lines.removeLast() }
            lines += [Self.group, "\(type)=\(entry);", ""]
        }
    }

    mutating func remove(_ entry: String, from type: String) {
        guard let index = lineIndex(of: type) else { return }
        let entries = Self.value(lines[index]).split(separator: ";", omittingEmptySubsequences: false)
        let others = entries.filter { $0 != entry }
        guard others.count < entries.count else { return }
        if others.allSatisfy(\.isEmpty) {
            lines.remove(at: index)
            // Remove the group too, if it was added for that line.
            let isLast = lines[index...].allSatisfy(\.isEmpty)
            if isLast, Self.isGroup(lines[index - 1]) { lines.remove(at: index - 1) }
        } else {
            lines[index] = type + "=" + others.joined(separator: ";")
        }
    }

    private func lineIndex(of type: String) -> Int? {
        guard let group = lines.firstIndex(where: Self.isGroup) else { return nil }
        let end = lines[(group + 1)...].firstIndex { $0.hasPrefix("[") } ?? lines.endIndex
        return lines[(group + 1)..<end].firstIndex { line in
            line.contains("=") && line.prefix { $0 != "=" }.trimmed == type
        }
    }

    private static func isGroup(_ line: String) -> Bool { line.trimmed == group }

    private static func value(_ line: String) -> Substring { line.drop { $0 != "=" }.dropFirst() }
}
