import AuthClient
import Glibc

/// The user's browser, if there is one on this machine.
enum WebBrowser {
    /// Over SSH, in WSL and without a display, the user would not see a browser.
    static var isHere: Bool {
        let elsewhere = ["SSH_CONNECTION", "SSH_TTY", "WSL_DISTRO_NAME", "WSL_INTEROP"]
        guard !elsewhere.contains(where: isSet) else { return false }
        return ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].contains(where: isSet)
    }

    /// Whether ``open(_:)`` would show it on this screen.
    static var canOpen: Bool {
        let folders = (environmentValue("PATH") ?? "").split(separator: ":")
        return isHere && folders.contains { unsafe access($0 + "/xdg-open", X_OK) == 0 }
    }

    /// Makes the desktop open an address, through its portal if there is one (xdg-open(1)).
    /// - Returns: whether xdg-open was started. The user sees the address in any case.
    static func open(_ url: String) -> Bool {
        // Anything else could be read as a file or an option.
        guard url.hasPrefix("https://") || url.hasPrefix("http://") else { return false }
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0, unsafe posix_spawnattr_init(&attributes) == 0 else {
            return false
        }
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        // ^C must not end the browser, and its output is not for this terminal.
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        return unsafe spawn(["xdg-open", url], &actions, &attributes)
    }

    @unsafe private static func spawn(
        _ command: [String], _ actions: inout posix_spawn_file_actions_t, _ attributes: inout posix_spawnattr_t
    ) -> Bool {
        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { for index in command.indices { unsafe free(arguments[index]) } }
        var pid: pid_t = 0
        return unsafe posix_spawnp(&pid, command[0], &actions, &attributes, &arguments, environ) == 0
    }

    private static func isSet(_ name: String) -> Bool { environmentValue(name).map { !$0.isEmpty } ?? false }
}
