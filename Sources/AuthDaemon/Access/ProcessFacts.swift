import AuthFiles
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
    /// `/proc/PID/uid_map` (user_namespaces(7)): relative to the namespace of the reader.
    package var userMap: String?
    /// The inode of its user namespace.
    package var userNamespace: UInt64?
    /// The last line of `/proc/PID/cgroup`.
    package var cgroup: String?
    /// The label of a security module, such as `snap.firefox.firefox (enforce)`.
    package var label: String?
    /// Whether its root folder has Flatpak's description of a sandbox.
    package var hasFlatpakInfo: Bool?

    package init() {}

    /// Which sandbox the process is in, or why that is not known; `nil` if it is in none.
    package func sandbox(comparedWith own: ProcessFacts) -> ConfinedClient? {
        namespace(comparedWith: own) ?? (hasFlatpakInfo == true ? .flatpak : nil) ?? (isSnap ? .snap : nil)
    }

    private func namespace(comparedWith own: ProcessFacts) -> ConfinedClient? {
        guard let processNamespaces, let ours = own.processNamespaces else { return .unreadable }
        if processNamespaces > ours { return .processNamespace }
        // A kernel without user namespaces.
        guard let ourMap = own.userMap else { return nil }
        if let userNamespace, let ours = own.userNamespace { return userNamespace == ours ? nil : .userNamespace }
        // Only in the initial namespace does the map of each process say which one it is in.
        guard own.isInInitialNamespace, let userMap else { return .unreadable }
        return userMap == ourMap ? nil : .userNamespace
    }

    /// Only the initial user namespace maps every ID, but another one may look the same.
    private var isInInitialNamespace: Bool {
        if let userNamespace { return userNamespace == Self.initialUserNamespace }
        let fields = (userMap ?? "").split(whereSeparator: \.isWhitespace)
        return fields.count == 3 && fields[0] == "0" && fields[2] == "4294967295"
    }

    /// `USER_NS_INIT_INO` of linux/nsfs.h.
    package static let initialUserNamespace: UInt64 = 0xefff_fffd

    /// The label of a classic snap ends in `(complain)`. Without labels (no security module) the cgroup counts.
    private var isSnap: Bool {
        if let label {
            return label.hasPrefix("snap.") && !label.hasSuffix("(complain)") && !label.hasSuffix("(unconfined)")
        }
        return cgroup?.split(separator: "/").contains { $0.hasPrefix("snap.") } ?? false
    }

    // MARK: Reading

    /// The facts of this process.
    static func own() throws(ConfinedClient) -> ProcessFacts {
        var facts = ProcessFacts()
        facts.processNamespaces = try ProcText.read("/proc/self/status").flatMap(ProcText.processNamespaces(inText:))
        facts.userMap = try ProcText.read("/proc/self/uid_map")
        facts.userNamespace = try ProcText.userNamespace(of: "/proc/self")
        return facts
    }

    /// The facts of the process at the other end.
    /// - Parameters:
    ///   - processID: its number for us. `/proc` may be of another process namespace, and have another number.
    ///   - process: its pidfd.
    /// - Throws: why it counts as confined.
    static func read(
        _ processID: Int32, process: CInt, at end: PeerEnd, own: ProcessFacts
    ) throws(ConfinedClient) -> ProcessFacts {
        var facts = ProcessFacts()
        let (folder, text) = try ProcText.folder(of: processID, process: process)
        let status = if let text { text } else { try ProcText.read(folder + "/status") }
        facts.processNamespaces = status.flatMap(ProcText.processNamespaces(inText:))
        facts.userNamespace = try ProcText.userNamespace(of: folder)
        if facts.userNamespace == nil || own.userNamespace == nil {
            facts.userMap = try ProcText.read(folder + "/uid_map")
        }
        // The root of a process in other namespaces may be another file system.
        if let confined = facts.namespace(comparedWith: own) { throw confined }
        facts.label = try end.label()
        if facts.label == nil {
            facts.cgroup = try ProcText.read(folder + "/cgroup")?.split(separator: "\n").last.map(String.init)
        }
        facts.hasFlatpakInfo = try ProcText.hasFlatpakInfo(in: folder)
        return facts
    }
}

/// Reads files of proc(5).
enum ProcText {
    private static let maxBytes = 8 << 10
    private static let shortRead = 1 << 10

    /// The folder of a process, and what the kernel says about its pidfd, if that may be read.
    /// - Parameters:
    ///   - processID: its number for us. `/proc` may be of another process namespace, and have another number.
    ///   - process: its pidfd.
    /// - Throws: why it counts as confined.
    static func folder(of processID: Int32, process: CInt) throws(ConfinedClient) -> (String, pidfdText: String?) {
        guard let text = try read("/proc/self/fdinfo/\(process)") else {
            // Before Linux 5.14 only root may read it if authd is not dumpable.
            guard hasOurNumbers() else { throw .unreadable }
            return ("/proc/\(processID)", nil)
        }
        guard let number = number(inText: text) else { throw .unreadable }
        guard number > 0 else { throw number < 0 ? .ended : .unreadable }
        return ("/proc/\(number)", text)
    }

    /// `nil` if it does not exist or cannot be read.
    /// - Throws: what says nothing about the process, such as too few descriptors of our own.
    static func read(_ path: String) throws(ConfinedClient) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return try unknown(errno) }
        defer { close(descriptor) }
        var failure: CInt = 0
        let text: String? = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: maxBytes) { buffer in
            var count = 0
            while count < maxBytes {
                let more = unsafe Glibc.read(descriptor, buffer.baseAddress.map { unsafe $0 + count }, maxBytes - count)
                if more < 0 {
                    failure = errno
                    return nil
                }
                if more == 0 { break }
                count += more
                // What is shorter than a page is read at once: the next read would only find the end.
                if more < shortRead { break }
            }
            return unsafe String(decoding: UnsafeBufferPointer(rebasing: buffer[..<count]), as: UTF8.self)
        }
        guard let text else { return try unknown(failure) }
        return text
    }

    private static func unknown<Fact>(_ failure: CInt) throws(ConfinedClient) -> Fact? {
        switch failure {
        case EACCES, EPERM, ENOENT: return nil
        case ESRCH: throw .ended
        default: throw .failed(failure)
        }
    }

    /// The number of IDs in the line `NSpid:`.
    static func processNamespaces(inText text: String) -> Int? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("NSpid:") }) else { return nil }
        let count = line.split(whereSeparator: { $0 == "\t" || $0 == " " }).count - 1
        return count > 0 ? count : nil
    }

    /// The number in the line `Pid:`, in the process namespace of `/proc`: 0 without one, -1 if the process has ended.
    static func number(inText text: String) -> Int32? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Pid:") }) else { return nil }
        return line.split(whereSeparator: { $0 == "\t" || $0 == " " }).last.flatMap { Int32($0) }
    }

    /// Whether `/proc` is of our process namespace.
    static func hasOurNumbers() -> Bool {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16) { buffer in
            guard let start = buffer.baseAddress else { return false }
            let count = unsafe readlink("/proc/self", start, buffer.count)
            guard count > 0 else { return false }
            let bytes = unsafe buffer[..<count].map { UInt8(bitPattern: $0) }
            return Int32(String(decoding: bytes, as: UTF8.self)) == getpid()
        }
    }

    /// `nil`: unknown, as for a process that is not dumpable.
    static func hasFlatpakInfo(in folder: String) throws(ConfinedClient) -> Bool? {
        do throws(SystemFailure) {
            try ProcessReader.findFlatpakInfo(in: folder)
            return true
        } catch {
            return error.number == ENOENT ? false : try unknown(error.number)
        }
    }

    /// The inode that the link `ns/user` of a process leads to; `nil`: unknown, as for a process that is not dumpable.
    static func userNamespace(of folder: String) throws(ConfinedClient) -> UInt64? {
        do throws(SystemFailure) {
            return try ProcessReader.userNamespace(of: folder)
        } catch {
            return try unknown(error.number)
        }
    }

    /// `nil` without a security module that labels sockets.
    static func label(of socket: CInt) throws(ConfinedClient) -> String? {
        var failure: CInt = 0
        let label: String? = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
            let count = unsafe authd_peer_label(socket, buffer.baseAddress, CUnsignedInt(buffer.count))
            guard count >= 0 else {
                failure = errno
                return nil
            }
            return Self.label(inBytes: unsafe buffer[..<Int(count)].map { UInt8(bitPattern: $0) })
        }
        guard label != nil || failure == ENOPROTOOPT else { throw .failed(failure) }
        return label
    }

    /// The first line: AppArmor ends it with a line feed, SELinux with a NUL.
    static func label(inBytes bytes: [UInt8]) -> String {
        String(decoding: bytes.prefix { $0 != 0 && $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// When a process was started, in clock ticks since boot: field 22 of `/proc/PID/stat`.
    static func startTime(of processID: Int32) -> UInt64? {
        (try? read("/proc/\(processID)/stat")).flatMap { ProcessStatus($0)?.startTicks }
    }
}
