import AuthFiles
package import AuthWire
import CSandbox
import Glibc
package import Logging
import Synchronization

/// Restricts this process, and what it starts, to the files of ``FileRules`` (landlock(7)). That cannot be undone.
///
/// Landlock restricts a thread and those that it starts later, so this works before there is a second thread only.
package struct FileSandbox: Sendable {
    /// `off`, `on`, or `auto`: on if a service manager starts what the agent opens for the user.
    package static let variable = "AUTHD_LANDLOCK"

    package private(set) var state: LandlockState
    /// The rules in effect; `nil`: nothing is restricted.
    package private(set) var rules: FileRules?
    /// What the user should know while the restriction is in effect, for the log and `doctor`.
    package private(set) var notes: [String] = []
    /// Identifies clients while the restriction is in effect.
    private(set) var reader: ProcessReader?
    private var version: CInt = 0
    private var failure: SystemFailure?
    /// A failure ends the start.
    private let isRequired: Bool
    private let hidesAbstractSockets: Bool

    /// Decides, and starts the process that identifies clients if it will be needed.
    /// - Throws: if the variable has no meaning, or requires what fails.
    package init(environment: (String) -> String?) throws(StartRefusal) {
        hidesAbstractSockets = !Self.usesAbstractSockets(environment)
        let runtimeFolder = environment("XDG_RUNTIME_DIR")
        let mode = environment(Self.variable) ?? "auto"
        isRequired = mode == "on"
        switch mode {
        case "off":
            state = .off
            return
        case "auto", "":
            guard TransientUnit.isPossible(runtimeFolder: runtimeFolder) else {
                state = .noManager
                return
            }
        case "on": break
        case let other:
            throw StartRefusal(
                .badConfiguration, "\(Self.variable)=\(other) has no meaning: it is `auto`, `on` or `off`")
        }
        version = sandbox_landlock_version()
        guard version > 0 else {
            state = .unsupported
            return
        }
        state = .on
        do throws(SystemFailure) {
            reader = try ProcessReader()
        } catch {
            try fail(error)
        }
    }

    /// Restricts the process, unless that was decided otherwise.
    /// - Throws: if the variable requires it, and it fails.
    package mutating func restrict(to rules: FileRules) throws(StartRefusal) {
        guard state == .on else { return }
        do throws(SystemFailure) {
            let threads = try FolderEntries.names(in: "/proc/self/task").count
            guard threads == 1 else {
                throw SystemFailure("restrict the process", because: "it has \(threads) threads")
            }
            let ruleset = sandbox_landlock_create(version, hidesAbstractSockets ? 1 : 0)
            guard ruleset >= 0 else { throw SystemFailure("make Landlock's ruleset") }
            defer { close(ruleset) }
            for rule in rules.list {
                // What does not exist cannot be allowed. Most rules are for what only some systems have.
                guard unsafe sandbox_landlock_allow(ruleset, version, rule.path, rule.access.rawValue) == 0 else {
                    guard rule.isNeeded else { continue }
                    throw SystemFailure("allow access to \(rule.path)")
                }
            }
            guard sandbox_landlock_restrict(ruleset) == 0 else { throw SystemFailure("restrict the process") }
            self.rules = rules
            notes = rules.notes + (Self.hidesProcesses() ? [Self.hiddenProcesses] : [])
        } catch {
            try fail(error)
        }
    }

    /// Has this process identify its clients as the restriction requires.
    package func identifyClients() { ProcessReader.current.withLock { $0 = reader } }

    package func report(to logger: Logger) {
        switch state {
        case .on:
            logger.info("Landlock limits authd to its files.", metadata: ["landlock_version": "\(version)"])
            for note in notes { logger.warning("Landlock: \(note).") }
        case .off: logger.notice("\(Self.variable) is off: Landlock does not limit authd to its files.")
        case .noManager:
            logger.info(
                "Landlock does not limit authd to its files: without a service manager of this user it would limit hooks, too."
            )
        case .unsupported:
            logger.notice("Landlock does not limit authd to its files: this kernel does not have it.")
        case .failed:
            logger.warning(
                "Landlock does not limit authd to its files: \(failure?.description ?? "unknown reason")")
        }
    }

    private mutating func fail(_ reason: SystemFailure) throws(StartRefusal) {
        // The agent can read what it reads.
        reader = nil
        guard !isRequired else {
            throw StartRefusal(
                .refused, "\(Self.variable) is on, but Landlock cannot limit authd to its files: \(reason)")
        }
        state = .failed
        failure = reason
    }

    private static let hiddenProcesses =
        "/proc is mounted with hidepid, so authd does not know the unit, terminal and start time of its clients"

    /// Whether `/proc` shows a process only to who may trace it, which Landlock does not allow (`hidepid` of proc(5)).
    private static func hidesProcesses() -> Bool {
        // Without hidepid everybody can read it. 0: the parent is not in our process namespace.
        let parent = getppid()
        guard parent > 0 else { return false }
        return unsafe access("/proc/\(parent)/stat", R_OK) != 0
    }

    /// Whether the message bus or the service manager are reached through a socket without a file.
    private static func usesAbstractSockets(_ environment: (String) -> String?) -> Bool {
        let buses = ["DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS"].compactMap(environment)
        return buses.contains { $0.contains("abstract=") } || environment("NOTIFY_SOCKET")?.first == "@"
    }
}
