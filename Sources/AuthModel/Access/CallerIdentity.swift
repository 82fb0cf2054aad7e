/// The client at the other end of a connection, as far as the kernel reports it; `nil`: unknown.
///
/// A program of the same user can fake most of it, so that it may only narrow what a client gets.
package struct CallerIdentity: Sendable, Hashable {
    /// Which kind of sandbox a client is in.
    package enum Sandbox: String, Sendable, CaseIterable {
        case processNamespace = "process-namespace"
        case userNamespace = "user-namespace"
        case flatpak
        case snap
        /// It is not known whether the client is in one.
        case unknown
    }

    package let listener: ListenerName
    package let processID: Int32
    package let userID: UInt32
    /// In clock ticks since boot (proc(5)). With the process ID it names one process.
    package var startTicks: UInt64?
    /// The path of its program, as it was when the kernel was asked. ` (deleted)` follows if the file was removed or replaced.
    package var executable: String?
    /// The file of its program, if a file number on its file system identifies one file. Another file may have the same
    /// path later.
    package var executableFile: FileNumber?
    /// ``executable`` does not identify the program: a user's process serves its file system, or the path leads to
    /// another file in the agent's view of the files.
    package var isExecutableUncertain = false
    /// A service or a scope of the user's manager, or one of the system's.
    package var unit: String?
    package var slice: String?
    /// The label of a security module.
    package var label: String?
    package var sandbox: Sandbox?
    /// logind's, of a process in the scope of one.
    package var loginSession: String?
    /// Such as `pts/3`.
    package var terminal: String?
    /// Its control group was read, so that ``unit``, ``slice`` and ``loginSession`` are known, even if there is none.
    package var isGroupKnown = false
    /// ``label`` is known, even if there is none.
    package var isLabelKnown = false
    /// The hard boundary applies to it.
    package var isConfined = false

    package init(listener: ListenerName, processID: Int32, userID: UInt32, sandbox: Sandbox? = nil) {
        self.listener = listener
        self.processID = processID
        self.userID = userID
        self.sandbox = sandbox
    }

    /// Ticks of ``startTicks`` in a second: `USER_HZ`, which is 100 on every architecture that Swift supports.
    private static let ticksPerSecond = 100

    /// When its process was started, to a hundredth of a second: the kernel counts no finer, and the two clocks of
    /// `now` are read one after the other.
    package func started(at now: Moment) -> WallTime? {
        guard let startTicks, let ticks = Int64(exactly: startTicks) else { return nil }
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: Int64(Self.ticksPerSecond))
        let start = BootInstant(sinceBoot: .seconds(seconds) + .milliseconds(rest * 1000 / Int64(Self.ticksPerSecond)))
        guard start <= now.boot else { return nil }
        let date = now.date(of: start).unixSeconds * Double(Self.ticksPerSecond)
        return WallTime(unixSeconds: date.rounded() / Double(Self.ticksPerSecond))
    }
}
