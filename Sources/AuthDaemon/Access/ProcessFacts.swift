import CSystemd
import Glibc

/// What the kernel reports about a process, as far as it can be read without the right to trace it; `nil`: unknown.
///
/// Links in `/proc/PID/ns` and `/proc/PID/root` need that right, which nobody has for a process like authd that is not dumpable
/// (PR_SET_DUMPABLE). So the namespaces are compared in files that need no right: the process IDs of a process (one in each
/// process namespace from ours down), and the map of its user namespace.
package struct ProcessFacts: Sendable, Equatable {
    /// In how many process namespaces it has an ID: ours, and those below.
    package var processNamespaces: Int?
    /// `/proc/PID/uid_map` (user_namespaces(7)).
    package var userMap: String?
    /// The last line of `/proc/PID/cgroup`.
    package var cgroup: String?
    /// The AppArmor label, such as `snap.firefox.firefox (enforce)`.
    package var label: String?
    /// Whether its root folder has Flatpak's description of a sandbox.
    package var hasFlatpakInfo: Bool?

    package init() {}

    /// Which sandbox the process is in; `nil` if none is known. What is unknown does not count as a sandbox.
    package func sandbox(comparedWith own: ProcessFacts) -> ConfinedClient? {
        if let processNamespaces, let ours = own.processNamespaces, processNamespaces > ours {
            return .processNamespace
        }
        if let userMap, let ours = own.userMap, userMap != ours, !Self.isInitial(userMap) { return .userNamespace }
        if hasFlatpakInfo == true { return .flatpak }
        if let cgroup, Self.isSnap(cgroup), label.map(Self.isEnforced) ?? true { return .snap }
        return nil
    }

    /// Only the initial user namespace maps every ID. A process there is in no sandbox, even if authd itself is in one.
    private static func isInitial(_ userMap: String) -> Bool {
        let fields = userMap.split(whereSeparator: \.isWhitespace)
        return fields.count == 3 && fields[0] == "0" && fields[2] == "4294967295"
    }

    /// A classic snap is in such a cgroup, too, but its label is not enforced.
    private static func isSnap(_ cgroup: String) -> Bool {
        cgroup.split(separator: "/").contains { $0.hasPrefix("snap.") }
    }

    private static func isEnforced(_ label: String) -> Bool { label.hasSuffix("(enforce)") }

    // MARK: Reading

    /// Of this process.
    static let own: ProcessFacts = {
        var facts = ProcessFacts()
        facts.processNamespaces = ProcText.processNamespaces(in: "/proc/self/status")
        facts.userMap = ProcText.read("/proc/self/uid_map")
        return facts
    }()

    /// Of the process at the other end of a socket.
    /// - Parameter process: its pidfd.
    static func read(_ processID: Int32, process: CInt, socket: CInt) -> ProcessFacts {
        let folder = "/proc/\(processID)"
        var facts = ProcessFacts()
        facts.processNamespaces =
            ProcText.processNamespaces(in: "/proc/self/fdinfo/\(process)")
            ?? ProcText.processNamespaces(in: folder + "/status")
        facts.userMap = ProcText.read(folder + "/uid_map")
        // What follows is not needed for a process in other namespaces, and its root may be a file system of its own.
        guard facts.sandbox(comparedWith: own) == nil else { return facts }
        facts.cgroup = ProcText.read(folder + "/cgroup")?.split(separator: "\n").last.map(String.init)
        facts.hasFlatpakInfo = ProcText.exists(folder + "/root/.flatpak-info")
        if let cgroup = facts.cgroup, isSnap(cgroup) { facts.label = ProcText.label(of: socket) }
        return facts
    }
}

/// Reads files of proc(5).
enum ProcText {
    private static let maxBytes = 8 << 10

    /// `nil` if it cannot be read, whatever the reason.
    static func read(_ path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: maxBytes) { buffer in
            var count = 0
            while count < maxBytes {
                let more = unsafe Glibc.read(descriptor, buffer.baseAddress.map { unsafe $0 + count }, maxBytes - count)
                if more < 0 { return nil }
                if more == 0 { break }
                count += more
            }
            return unsafe String(decoding: UnsafeBufferPointer(rebasing: buffer[..<count]), as: UTF8.self)
        }
    }

    /// The number of IDs in the line `NSpid:`.
    static func processNamespaces(in path: String) -> Int? { read(path).flatMap(processNamespaces(inText:)) }

    static func processNamespaces(inText text: String) -> Int? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("NSpid:") }) else { return nil }
        let count = line.split(whereSeparator: { $0 == "\t" || $0 == " " }).count - 1
        return count > 0 ? count : nil
    }

    /// `nil`: unknown, as for a process that is not dumpable.
    static func exists(_ path: String) -> Bool? {
        var found = stat()
        if unsafe lstat(path, &found) == 0 { return true }
        return errno == ENOENT ? false : nil
    }

    /// `nil` without AppArmor.
    static func label(of socket: CInt) -> String? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
            let count = unsafe authd_peer_label(socket, buffer.baseAddress, CUnsignedInt(buffer.count))
            guard count > 0 else { return nil }
            let bytes = unsafe buffer[..<Int(count)].prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// When a process was started, in clock ticks since boot: field 22 of `/proc/PID/stat`.
    static func startTime(of processID: Int32) -> UInt64? {
        // The name in field 2 may contain spaces and parentheses.
        guard let text = read("/proc/\(processID)/stat"), let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[end...].split(separator: " ")
        return fields.count > 20 ? UInt64(fields[20]) : nil
    }
}
