/// The systemd unit that a process belongs to, from its control group (`/proc/PID/cgroup`, cgroups(7)).
///
/// A process with a delegated group may create any groups below it, so only the first unit below the user's manager counts.
struct ControlGroup: Equatable {
    private(set) var unit: String?
    /// The innermost one that contains the unit.
    private(set) var slice: String?
    /// The session of logind, if the process is in its scope.
    private(set) var loginSession: String?

    /// systemd's limit for names of units.
    private static let longestName = 255

    /// - Parameter text: the content of the file; `nil` if no line has the group that systemd manages.
    init?(_ text: String) {
        guard let path = Self.path(in: text), path.utf8.first == UInt8(ascii: "/") else { return nil }
        // Bytes: a mark at the beginning of a name is one character with the slash, and CRLF is one character.
        var parts = path.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }[...]
        // Above the root of our own namespace.
        guard !parts.contains("..") else { return nil }
        readSlices(&parts)
        guard let first = Self.name(parts.first) else { return }
        if Self.isUserManager(first) {
            slice = nil
            parts = parts.dropFirst()
            readSlices(&parts)
            unit = Self.unit(parts.first)
        } else {
            unit = Self.unit(parts.first)
            loginSession = Self.session(ofScope: first)
        }
    }

    private mutating func readSlices(_ parts: inout ArraySlice<Substring>) {
        while let name = Self.name(parts.first), name.hasSuffix(".slice") {
            slice = name
            parts = parts.dropFirst()
        }
    }

    /// The path in systemd's own hierarchy in version 1 of cgroups, or in the only one in version 2. In a machine inside of
    /// another, the first may be there without being used: then everything is at its root.
    private static func path(in text: String) -> Substring? {
        var paths: [Substring] = []
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
        for key in ["name=systemd", ""] {
            for line in lines {
                let fields = line.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
                    .map { Substring($0) }
                guard fields.count == 3, fields[1] == key, !key.isEmpty || fields[0] == "0" else { continue }
                // The kernel's mark of a group that is removed.
                paths.append(fields[2].hasSuffix(" (deleted)") ? fields[2].dropLast(" (deleted)".count) : fields[2])
            }
        }
        return paths.first { $0 != "/" } ?? paths.first
    }

    /// systemd puts an underscore before a name that the kernel uses.
    private static func name(_ part: Substring?) -> String? {
        guard let part else { return nil }
        let name = part.hasPrefix("_") ? part.dropFirst() : part
        let isName = (1...longestName).contains(name.utf8.count) && name.utf8.allSatisfy(isAllowed)
        return isName ? String(name) : nil
    }

    private static func unit(_ part: Substring?) -> String? {
        guard let name = name(part) else { return nil }
        return [".service", ".scope", ".socket", ".mount", ".swap"].contains { name.hasSuffix($0) && name != $0 }
            ? name : nil
    }

    /// `user@1000.service`
    private static func isUserManager(_ name: String) -> Bool {
        guard name.hasPrefix("user@"), name.hasSuffix(".service") else { return false }
        return UInt32(name.dropFirst("user@".count).dropLast(".service".count)) != nil
    }

    private static func session(ofScope name: String) -> String? {
        guard name.hasPrefix("session-"), name.hasSuffix(".scope") else { return nil }
        let id = name.dropFirst("session-".count).dropLast(".scope".count)
        return id.isEmpty ? nil : String(id)
    }

    /// systemd.unit(5): letters, digits and `:-_.\`, and `@`.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ":-_.\\@".utf8.contains(byte)
        }
    }
}
