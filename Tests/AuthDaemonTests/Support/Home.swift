import Foundation
import TestSupport

/// The folders of a new user.
struct Home: Sendable {
    let folder: TemporaryFolder
    var runtime: String { folder.path + "/run" }
    var socket: String { runtime + "/authd/socket" }

    init() throws {
        folder = try TemporaryFolder()
        mkdir(folder.path + "/run", 0o700)
    }

    var environment: [String: String] {
        [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin", "HOME": folder.path,
            "XDG_RUNTIME_DIR": runtime, "XDG_CONFIG_HOME": folder.path + "/config",
        ]
    }
}
