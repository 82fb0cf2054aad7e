import AuthConnection
import AuthFiles
import AuthProcesses
import AuthWire
import Glibc

/// The folder and the children of `authc try`. A program has at most one.
///
/// Invariant: however the program ends, except by SIGKILL, the folder is removed after the children have ended.
struct TrialPlace {
    /// authd finishes requests for 5 s at most.
    private static let endTime = Duration.seconds(6)
    /// A socket's path has 107 bytes at most (unix(7)); the rest of it needs up to 40.
    private static let longestBase = 60
    /// All that the children get of the user's environment.
    private static let kept = [
        "PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "NO_COLOR", "TZ", "SWIFT_BACKTRACE",
    ]

    // This program has one thread, and exit(3) calls a function without arguments.
    nonisolated(unsafe) private static var folder: String?
    nonisolated(unsafe) private static var children: [pid_t] = []

    let path: String

    /// Makes the folder, mode 0700, and replaces the environment of this process.
    init() throws(Failure) {
        let wanted = environmentValue("TMPDIR") ?? ""
        let base = wanted.hasPrefix("/") && wanted.utf8.count <= Self.longestBase ? wanted : "/tmp"
        var template = Array("\(base)/authc-try-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw .internalError("cannot make a folder in \(base) (\(SystemError.text(errno)))")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        unsafe Self.folder = path
        atexit { TrialPlace.removeOrReport() }
        replaceEnvironment()
    }

    /// No child finds the user's bus, agent, settings, sessions or proxy.
    private func replaceEnvironment() {
        var variables = Self.kept.compactMap { name in environmentValue(name).map { (name, $0) } }
        variables += [
            ("HOME", path), ("XDG_RUNTIME_DIR", path), ("XDG_CONFIG_HOME", path + "/config"),
            ("XDG_STATE_HOME", path + "/state"), ("DBUS_SESSION_BUS_ADDRESS", "unix:path=\(path)/no-bus"),
            ("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=\(path)/no-bus"),
        ]
        clearenv()
        for (name, value) in variables { unsafe setenv(name, value, 1) }
    }

    func write(_ bytes: some Sequence<UInt8>, to name: String) throws(Failure) {
        let file = "\(path)/\(name)"
        do throws(SystemFailure) {
            try PrivateFolder.make(PrivateFolder.parent(of: file))
            try AtomicFile(path: file).replace(with: Array(bytes), durably: false)
        } catch {
            throw .internalError(error.description)
        }
    }

    func open(_ name: String, _ flags: Int32) throws(Failure) -> Descriptor {
        let number = unsafe Glibc.open("\(path)/\(name)", flags | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .internalError("cannot open \(path)/\(name) (\(SystemError.text(errno)))") }
        return Descriptor(number)
    }

    /// Starts a child in a separate process group, so that ^C only reaches authc. It has no input, unless one is
    /// given.
    func start(_ command: [String], _ descriptors: [(number: Int32, file: Descriptor)]) throws(Failure) -> pid_t {
        var descriptors = descriptors
        if !descriptors.contains(where: { $0.number == STDIN_FILENO }) {
            descriptors.append((STDIN_FILENO, try Self.noInput()))
        }
        var mask = sigset_t()
        unsafe sigprocmask(SIG_BLOCK, nil, &mask)
        let child = try ChildProgram(command: command, variables: [], descriptors: descriptors)
            .start(mask: mask, ownGroup: true)
        unsafe Self.children.append(child)
        return child
    }

    private static func noInput() throws(Failure) -> Descriptor {
        let number = unsafe Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw .internalError("cannot open /dev/null (\(SystemError.text(errno)))") }
        return Descriptor(number)
    }

    /// Waits for a child's end.
    /// - Returns: its exit status; 128 + n for signal n.
    func end(of child: pid_t) -> Int32 {
        let status = ProcessEnd(of: child).shellStatus
        unsafe Self.children.removeAll { $0 == child }
        return status
    }

    func isRunning(_ child: pid_t) -> Bool {
        guard ProcessEnd(ofEnded: child) != nil else { return true }
        unsafe Self.children.removeAll { $0 == child }
        return false
    }

    /// Ends all children and removes the folder. A second call does nothing.
    /// - Throws: if the folder is still there.
    static func remove() throws(Failure) {
        guard let path = unsafe folder else { return }
        unsafe folder = nil
        for child in unsafe children {
            kill(child, SIGTERM)
            // A stopped process receives it only when it continues.
            kill(child, SIGCONT)
        }
        let deadline = Deadline.after(endTime)
        while !(unsafe children.isEmpty) {
            if deadline.hasPassed {
                for child in unsafe children { kill(child, SIGKILL) }
            }
            unsafe children.removeAll { ProcessEnd(ofEnded: $0) != nil }
            if !(unsafe children.isEmpty) { _ = poll(nil, 0, 10) }
        }
        FolderEntries.remove(path)
        guard unsafe access(path, F_OK) != 0, errno == ENOENT else {
            throw .internalError("cannot remove \(path), which nothing uses any more")
        }
    }

    /// As ``remove()``, if something else has failed already.
    static func removeOrReport() {
        do throws(Failure) { try remove() } catch { Output.note("authc: " + Visible.line(error.message)) }
    }
}
