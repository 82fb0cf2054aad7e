import AuthConnection
import AuthConfiguration
import AuthFiles
import AuthWire
import CLinux
import Glibc

/// The settings file that `authc config` reads and changes, authd.toml(5).
struct SettingsFile {
    /// As for authd.
    static let longest = 256 << 10
    private static let system = "/etc/xdg/authd/authd.toml"

    /// The user's own, unless an option names another one.
    let path: String
    let isNamed: Bool

    init(named: String?) throws(Failure) {
        isNamed = named != nil
        if let named {
            guard !named.isEmpty else { throw .usage("--file is empty") }
            guard named != "-" else { throw .usage("--file: expected the path of a file, found -") }
            path = named
        } else {
            path = try Self.ownPath()
        }
    }

    private static func ownPath() throws(Failure) -> String {
        // A relative one is to be ignored (XDG Base Directory Specification).
        if let folder = environmentValue("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return folder + "/authd/authd.toml"
        }
        guard let home = try? HelperScript.home() else {
            throw .usage("there is no home folder", hint: "set HOME or XDG_CONFIG_HOME, or use --file")
        }
        return home + "/.config/authd/authd.toml"
    }

    /// What authd reads: only the first that exists.
    var pathInUse: String {
        isNamed || Self.isThere(path) || !Self.isThere(Self.system) ? path : Self.system
    }

    var exists: Bool { Self.isThere(pathInUse) }

    /// The text of the file in use; empty if there is none.
    func current() throws(Failure) -> String {
        try checkKind()
        return exists ? try FileText.read(pathInUse, atMost: Self.longest, isBlocking: false) : ""
    }

    /// - Throws: if there is something other than a file: opening a pipe would wait for its writer, and a device would
    ///   be replaced.
    private func checkKind() throws(Failure) {
        var info = stat()
        guard unsafe stat(pathInUse, &info) == 0, info.st_mode & S_IFMT != S_IFREG else { return }
        throw .usage("\(pathInUse) is not a regular file")
    }

    /// What a new version of the file keeps; `nil` if there is no file.
    var attributes: AtomicFile.Attributes? {
        var info = stat()
        guard unsafe stat(path, &info) == 0 else { return nil }
        return AtomicFile.Attributes(mode: info.st_mode & 0o7777, user: info.st_uid, group: info.st_gid)
    }

    /// What a change starts with: the file itself, otherwise a copy of the system's, because authd reads one file only; without
    /// both, the sample.
    func base() throws(Failure) -> String {
        exists ? try current() : String(decoding: PackageResources.authd_toml, as: UTF8.self)
    }

    /// What a message says about a new file.
    var origin: String? {
        if Self.isThere(path) { return nil }
        return exists ? "created as a copy of \(pathInUse), which authd no longer reads" : "created from the sample"
    }

    /// - Throws: where the text is not TOML.
    static func parse(_ text: String, _ path: String) throws(Failure) -> TOMLText {
        do throws(TOMLText.Refusal) {
            return try TOMLText(text)
        } catch {
            guard case .syntax(let refusal) = error else { throw .internalError("\(error)") }
            throw Failure(
                status: .badSettings, kind: "settings",
                message: "\(path):\(refusal.line): expected \(refusal.expected), found \(refusal.found)",
                hint: "`authc config edit` opens it in an editor")
        }
    }

    /// Keeps others from changing the file at the same time, until the result is released.
    func lock() throws(Failure) -> Descriptor {
        MissingFolders.create(for: path)
        let number = unsafe open(PrivateFolder.parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else {
            throw .usage("cannot open \(PrivateFolder.parent(of: path)): \(SystemError.text(errno))")
        }
        let folder = Descriptor(number)
        while linux_lock_waiting(number) != 0, errno == EINTR {}
        return folder
    }

    /// Replaces the file as a whole. A link stays, and the mode and the owner too.
    func write(_ text: String) throws(Failure) {
        try checkKind()
        var target = path
        if HelperScript.isLink(path) || Self.isThere(path) {
            guard let found = unsafe realpath(path, nil) else {
                throw .usage("\(path) is a link to a missing file: \(SystemError.text(errno))")
            }
            target = unsafe String(cString: found)
            unsafe free(found)
        }
        try Failure.ofFile { () throws(SystemFailure) in
            try AtomicFile(path: target).replace(with: Array(text.utf8), attributes: attributes)
        }
    }

    private static func isThere(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
}
