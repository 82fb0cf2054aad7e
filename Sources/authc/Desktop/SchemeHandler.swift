import AuthConnection
import AuthFiles
import AuthWire
import Glibc

/// Registers `authc redirect` with the desktop for addresses of a scheme while a sign-in is in progress.
///
/// Invariant: the last sign-in that uses the entry removes it. Each sign-in holds a lock on the entry. If one is killed, its
/// entry stays, and the next sign-in with that scheme removes it.
final class SchemeHandler {
    private let entry: DesktopEntry
    /// The user's applications, and their associations (Association between MIME types and applications 1.0.1).
    private let folder: String
    private let list: String
    private let entryFile: Descriptor

    /// Far above any real list.
    private static let longestList = 1 << 20

    /// - Parameter socket: the socket of the agent that waits for the address.
    init(scheme: String, socket: String) throws(Failure) {
        guard let data = Self.folder("XDG_DATA_HOME", default: "/.local/share"),
            let settings = Self.folder("XDG_CONFIG_HOME", default: "/.config")
        else { throw Self.failure("HOME is not set, nor are XDG_DATA_HOME and XDG_CONFIG_HOME") }
        guard let program = Self.ownPath(),
            let entry = DesktopEntry(scheme: scheme, command: [program, "redirect", "--socket", socket])
        else {
            throw Self.failure("the path of authc or of its socket has a character that a desktop entry cannot hold")
        }
        self.entry = entry
        folder = data + "/applications"
        list = settings + "/mimeapps.list"
        for needed in [folder, settings] {
            do { try PrivateFolder.make(needed) } catch { throw Self.failure("\(error)") }
        }
        let lock = try Self.lock(in: folder)
        defer { withExtendedLifetime(lock) {} }
        let path = folder + "/" + entry.fileName
        entryFile = Descriptor(unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o644))
        guard entryFile.number >= 0, flock(entryFile.number, LOCK_SH) == 0, Self.write(entry.text, to: entryFile) else {
            throw Self.failure("\(path): \(SystemError.text(errno))")
        }
        do throws(Failure) {
            try change { $0.setDefault(entry.fileName, for: entry.type) }
        } catch {
            unsafe unlink(path)
            throw Self.failure(error.message)
        }
    }

    /// Removes the entry after the sign-in. An entry that cannot be removed is harmless: the agent ignores its addresses.
    func remove() {
        guard let lock = try? Self.lock(in: folder) else { return }
        defer { withExtendedLifetime(lock) {} }
        guard flock(entryFile.number, LOCK_EX | LOCK_NB) == 0 else { return }
        unsafe unlink(folder + "/" + entry.fileName)
        try? change { $0.remove(entry.fileName, from: entry.type) }
    }

    private func change(_ edit: (inout DefaultApplications) -> Void) throws(Failure) {
        let isThere = unsafe access(list, F_OK) == 0
        let text = isThere ? try FileText.read(list, atMost: Self.longestList) : ""
        var applications = DefaultApplications(text)
        edit(&applications)
        guard applications.text != text else { return }
        guard !applications.text.isEmpty else {
            unsafe unlink(list)
            return
        }
        let file = try ResponseFile(list)
        try file.write(Array(applications.text.utf8))
        try file.finish()
    }

    /// Lets one authc at a time change the list. Other programs do not use this lock.
    private static func lock(in folder: String) throws(Failure) -> Descriptor {
        let lock = Descriptor(unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard lock.number >= 0, flock(lock.number, LOCK_EX) == 0 else {
            throw failure("\(folder): \(SystemError.text(errno))")
        }
        return lock
    }

    private static func write(_ text: String, to file: Descriptor) -> Bool {
        let bytes = Array(text.utf8)
        guard ftruncate(file.number, 0) == 0 else { return false }
        return unsafe pwrite(file.number, bytes, bytes.count, 0) == bytes.count
    }

    /// A relative path is ignored (XDG Base Directory Specification).
    private static func folder(_ variable: String, default fallback: String) -> String? {
        if let path = environmentValue(variable), path.hasPrefix("/") { return path }
        return environmentValue("HOME").flatMap { $0.hasPrefix("/") ? $0 + fallback : nil }
    }

    private static func ownPath() -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(validating: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func failure(_ reason: String) -> Failure {
        Failure(
            status: .internalError, kind: "desktop",
            message: "the desktop cannot return you from the browser (\(reason))",
            hint: "sign in with --method device or --paste")
    }
}
