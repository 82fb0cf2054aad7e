import Foundation

/// The file that shows that a systemd user manager is running.
enum SystemdManager {
    /// - Parameter folder: `$XDG_RUNTIME_DIR`.
    static func add(to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder + "/systemd", withIntermediateDirectories: true)
        try "".write(toFile: folder + "/systemd/private", atomically: false, encoding: .utf8)
    }
}
