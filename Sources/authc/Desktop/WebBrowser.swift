import AuthClient
import Glibc

/// The person's own browser, where there is one on this machine.
enum WebBrowser {
    /// On a terminal from elsewhere, in WSL and without a display nothing that opens would be seen.
    static var isHere: Bool {
        let elsewhere = ["SSH_CONNECTION", "SSH_TTY", "WSL_DISTRO_NAME", "WSL_INTEROP"]
        guard !elsewhere.contains(where: isSet) else { return false }
        return ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].contains(where: isSet)
    }

    /// Has the desktop open an address; it goes through the portal where there is one (xdg-open(1)).
    /// - Returns: whether somebody was asked to. The person has the address in any case.
    static func open(_ url: String) -> Bool {
        // What is not plainly an address would be a file or an option to whoever opens it.
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
        // What ends this program at the terminal does not end a browser, and its words are not for this terminal.
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
